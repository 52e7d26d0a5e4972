package terrain

import (
	"fmt"
	"math"

	"mannequin/engine/m3"
)

// Grid is the area that a generator covers: a square of Size metres centred on the origin, with
// nodes Cell metres apart.
type Grid struct {
	Size float32 // m, at least one Cell, at most a thousand kilometres
	Cell float32 // m, at least a micrometre
}

// maxSize is the widest grid and the highest step, m. At this size float32 is exact to a few
// centimetres.
const maxSize = 1e6

// field returns the empty field of g.
func (g Grid) field() (*Field, error) {
	n := math.Round(float64(g.Size)/float64(g.Cell)) + 1
	if !(g.Size > 0 && g.Size <= maxSize) || !(g.Cell >= minCell) || !(n >= 2) || n*n > MaxNodes {
		return nil, fmt.Errorf("terrain: a grid of %g m with %g m cells: want at least one cell of at least %g m, at most %d nodes and %g m",
			g.Size, g.Cell, float32(minCell), MaxNodes, maxSize)
	}
	side := int(n)
	edge := -float32(side-1) * g.Cell / 2
	return &Field{X0: edge, Z0: edge, Cell: g.Cell, NX: side, NZ: side, Y: make([]float32, side*side)}, nil
}

// fill sets every height to y of its position.
func (f *Field) fill(y func(x, z float32) float32) {
	for k := range f.NZ {
		for i := range f.NX {
			f.Y[k*f.NX+i] = y(f.X0+float32(i)*f.Cell, f.Z0+float32(k)*f.Cell)
		}
	}
}

// Flat returns level ground at height zero.
func Flat(g Grid) (*Field, error) { return g.field() }

// Slope returns a plane through the origin that rises by angle radians (|angle| < π/2) toward
// heading, a yaw in radians: 0 is +Z, π/2 is +X.
func Slope(g Grid, angle, heading float32) (*Field, error) {
	if !(m3.Abs(angle) < math.Pi/2-0.01) || !m3.Finite(heading) {
		return nil, fmt.Errorf("terrain: a slope of %g rad toward %g rad: want an angle below a right angle", angle, heading)
	}
	f, err := g.field()
	if err != nil {
		return nil, err
	}
	t := float32(math.Tan(float64(angle)))
	s, c := m3.Sin(heading), m3.Cos(heading)
	f.fill(func(x, z float32) float32 { return t * (x*s + z*c) })
	return f.valid()
}

// StairCell is a good Cell of a grid for Steps, in metres: the risers are narrow, yet visible.
const StairCell = 0.15

// Steps returns stairs along +Z. Treads are run metres long, and each is rise metres above the one
// before. The tread at the origin is centred on it, at height zero. A riser is one cell wide, so a
// run must span at least two cells.
func Steps(g Grid, rise, run float32) (*Field, error) {
	if !(m3.Abs(rise) <= maxSize) || !(run >= 2*g.Cell && run <= maxSize) {
		return nil, fmt.Errorf("terrain: steps of %g m every %g m: want a finite rise and a run of at least two cells (%g m), both up to %g m",
			rise, run, 2*g.Cell, maxSize)
	}
	f, err := g.field()
	if err != nil {
		return nil, err
	}
	f.fill(func(_, z float32) float32 {
		return rise * float32(math.Floor(float64((z+run/2)/run)))
	})
	return f.valid()
}

// HillsOptions are the options of Hills.
type HillsOptions struct {
	Seed       uint64
	Wavelength float32 // distance between neighbouring hills, m; 0 means 12
	MaxSlope   float32 // the steepest angle anywhere, radians in [0, 1.2]; 0 is flat
}

// Hills returns smooth rolling ground: two octaves of gradient noise (Perlin 2002), scaled so that
// the steepest angle is exactly MaxSlope. The same options give the same ground.
func Hills(g Grid, opt HillsOptions) (*Field, error) {
	if opt.Wavelength == 0 {
		opt.Wavelength = 12
	}
	if !(opt.Wavelength >= 4*g.Cell) || !(opt.MaxSlope >= 0 && opt.MaxSlope <= 1.2) {
		return nil, fmt.Errorf("terrain: hills of %g m with slopes up to %g rad: want a wavelength of at least four cells (%g m) and a slope in [0, 1.2]",
			opt.Wavelength, opt.MaxSlope, 4*g.Cell)
	}
	f, err := g.field()
	if err != nil {
		return nil, err
	}
	// A gradient-noise lattice makes about one hill per two of its cells.
	k := 2 / opt.Wavelength
	f.fill(func(x, z float32) float32 {
		return noise(opt.Seed, x*k, z*k) + 0.25*noise(opt.Seed+1, 2*x*k, 2*z*k)
	})
	scale := float32(math.Tan(float64(opt.MaxSlope)) / math.Max(math.Tan(float64(f.MaxSlope())), 1e-6))
	mid := f.Height(0, 0)
	for i := range f.Y {
		f.Y[i] = (f.Y[i] - mid) * scale
	}
	return f.valid()
}

// noise is gradient noise on the integer lattice with the quintic fade.
func noise(seed uint64, x, z float32) float32 {
	fx, fz := float32(math.Floor(float64(x))), float32(math.Floor(float64(z)))
	i, k := int64(fx), int64(fz)
	u, v := x-fx, z-fz
	corner := func(di, dk int64) float32 {
		a := lattice(seed, i+di, k+dk)
		return m3.Cos(a)*(u-float32(di)) + m3.Sin(a)*(v-float32(dk))
	}
	s, t := fade(u), fade(v)
	return m3.Lerp(m3.Lerp(corner(0, 0), corner(1, 0), s), m3.Lerp(corner(0, 1), corner(1, 1), s), t)
}

func fade(t float32) float32 { return t * t * t * (t*(t*6-15) + 10) }

// lattice returns the gradient's angle at a lattice point: the SplitMix64 finaliser over the seed
// and the coordinates.
func lattice(seed uint64, i, k int64) float32 {
	h := seed*0x9e3779b97f4a7c15 ^ uint64(i)*0xbf58476d1ce4e5b9 ^ uint64(k)*0x94d049bb133111eb
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	h ^= h >> 31
	return float32(h>>40) * (2 * math.Pi / (1 << 24))
}
