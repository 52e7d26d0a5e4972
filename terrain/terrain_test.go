package terrain

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

var grid = Grid{Size: 20, Cell: 0.5}

const rad = math.Pi / 180

// valid returns f, or ends the test if it is not a valid field.
func valid(f *Field, err error) func(testing.TB) *Field {
	return func(t testing.TB) *Field {
		t.Helper()
		return must.Get(f, must.Get(f, err)(t).Validate())(t)
	}
}

// On a plane the height and the normal have closed forms everywhere inside.
func TestSlopeIsAPlane(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		angle := rapid.Float32Range(-60*rad, 60*rad).Draw(rt, "angle")
		heading := rapid.Float32Range(-4, 4).Draw(rt, "heading")
		x := rapid.Float32Range(-9.9, 9.9).Draw(rt, "x")
		z := rapid.Float32Range(-9.9, 9.9).Draw(rt, "z")
		f := valid(Slope(grid, angle, heading))(t)
		s, c := math.Sincos(float64(heading))
		want := math.Tan(float64(angle)) * (float64(x)*s + float64(z)*c)
		if got := f.Height(x, z); math.Abs(float64(got)-want) > 2e-5 {
			rt.Fatalf("height(%g, %g) = %g, want %g", x, z, got, want)
		}
		n := m3.V(-float32(s)*m3.Sin(angle), m3.Cos(angle), -float32(c)*m3.Sin(angle))
		if got := f.Normal(x, z); got.Dist(n) > 1e-4 {
			rt.Fatalf("normal(%g, %g) = %v, want %v", x, z, got, n)
		}
		if got := f.MaxSlope(); m3.Abs(got-m3.Abs(angle)) > 1e-3 {
			rt.Fatalf("steepest %g, want %g", got, m3.Abs(angle))
		}
	})
}

// x·z is bilinear: the field must reproduce it between its nodes.
func TestHeightIsBilinear(t *testing.T) {
	f := valid(mustGrid(t), nil)(t)
	f.fill(func(x, z float32) float32 { return 1 + 2*x - z + 0.5*x*z })
	for range 1000 {
		x, z := 20*(rnd()-0.5), 20*(rnd()-0.5)
		// The product is bilinear over the whole grid, so also in each cell.
		if got, want := f.Height(x, z), 1+2*x-z+0.5*x*z; m3.Abs(got-want) > 1e-4 {
			t.Fatalf("height(%g, %g) = %g, want %g", x, z, got, want)
		}
	}
}

var state = uint64(1)

func rnd() float32 {
	state = state*6364136223846793005 + 1442695040888963407
	return float32(state>>40) / (1 << 24)
}

func mustGrid(t *testing.T) *Field {
	return must.Get(grid.field())(t)
}

func TestOutsideClamps(t *testing.T) {
	f := valid(Slope(grid, 0.3, 0.5))(t)
	x0, z0, x1, z1 := f.Bounds()
	if x0 != -10 || z0 != -10 || x1 != 10 || z1 != 10 {
		t.Fatalf("bounds %g %g %g %g", x0, z0, x1, z1)
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct{ x, z, cx, cz float32 }{
		{100, 3, 10, 3}, {-100, 3, -10, 3}, {3, 1e30, 3, 10}, {3, -1e30, 3, -10},
		{inf, 0, 10, 0}, {-inf, 0, -10, 0}, {nan, 2, -10, 2}, {2, nan, 2, -10},
	} {
		if got, want := f.Height(c.x, c.z), f.Height(c.cx, c.cz); got != want || !m3.Finite(got) {
			t.Errorf("height(%g, %g) = %g, want the border's %g", c.x, c.z, got, want)
		}
		if n := f.Normal(c.x, c.z); !n.Finite() || m3.Abs(n.Len()-1) > 1e-6 {
			t.Errorf("normal(%g, %g) = %v", c.x, c.z, n)
		}
	}
}

func TestHillsKeepTheirSlope(t *testing.T) {
	for _, deg := range []float32{0, 5, 20, 35} {
		f := valid(Hills(Grid{60, 0.25}, HillsOptions{Seed: 7, MaxSlope: deg * rad}))(t)
		if got := f.MaxSlope() / rad; m3.Abs(got-deg) > 0.01 {
			t.Errorf("asked for %g°, the steepest place has %g°", deg, got)
		}
		if f.Height(0, 0) != 0 {
			t.Errorf("the origin is at %g", f.Height(0, 0))
		}
		// An independent probe: no finite difference may be steeper, and the normals may not lean
		// further.
		tan := float32(math.Tan(float64(deg*rad))) + 2e-3
		for range 5000 {
			x, z, a := 58*(rnd()-0.5), 58*(rnd()-0.5), 2*math.Pi*rnd()
			d := (f.Height(x+0.02*m3.Cos(a), z+0.02*m3.Sin(a)) - f.Height(x, z)) / 0.02
			if m3.Abs(d) > tan {
				t.Fatalf("%g° hills: slope %g at (%g, %g)", deg, d, x, z)
			}
			if n := f.Normal(x, z); m3.Acos(n.Y) > (deg+0.2)*rad {
				t.Fatalf("%g° hills: normal leans %g°", deg, m3.Acos(n.Y)/rad)
			}
		}
	}
}

func TestHillsFollowTheirSeed(t *testing.T) {
	opt := HillsOptions{Seed: 3, MaxSlope: 0.3}
	a := valid(Hills(grid, opt))(t)
	b, _ := Hills(grid, opt)
	if !slices.Equal(a.Y, b.Y) {
		t.Error("the same seed gives other hills")
	}
	opt.Seed = 4
	c, _ := Hills(grid, opt)
	if slices.Equal(a.Y, c.Y) {
		t.Error("another seed gives the same hills")
	}
	var lo, hi float32
	for _, y := range a.Y {
		lo, hi = min(lo, y), max(hi, y)
	}
	if hi-lo < 0.3 {
		t.Errorf("hills of %g m are flat", hi-lo)
	}
}

func TestStepsAndFlat(t *testing.T) {
	f := valid(Steps(grid, 0.2, 2))(t)
	for _, c := range []struct{ z, y float32 }{{0, 0}, {0.4, 0}, {-0.9, 0}, {1.2, 0.2}, {2, 0.2}, {-2, -0.2}, {3.1, 0.4}} {
		if got := f.Height(1.7, c.z); m3.Abs(got-c.y) > 1e-6 {
			t.Errorf("step height at z = %g is %g, want %g", c.z, got, c.y)
		}
	}
	g := valid(Flat(grid))(t)
	if g.Height(3, 4) != 0 || g.Normal(3, 4) != m3.Up || g.MaxSlope() != 0 {
		t.Error("flat ground is not flat")
	}
}

func TestNodeNormalIsTheNormalThere(t *testing.T) {
	f := valid(Hills(grid, HillsOptions{Seed: 1, MaxSlope: 0.4}))(t)
	for k := range f.NZ {
		for i := range f.NX {
			a, b := f.NodeNormal(i, k), f.Normal(f.X0+float32(i)*f.Cell, f.Z0+float32(k)*f.Cell)
			if a.Dist(b) > 1e-5 {
				t.Fatalf("node (%d, %d): %v and %v", i, k, a, b)
			}
		}
	}
}

func TestBadOptions(t *testing.T) {
	nan := float32(math.NaN())
	for name, f := range map[string]func() (*Field, error){
		"no size":        func() (*Field, error) { return Flat(Grid{0, 1}) },
		"NaN cell":       func() (*Field, error) { return Flat(Grid{10, nan}) },
		"too many":       func() (*Field, error) { return Flat(Grid{1e6, 0.01}) },
		"less than cell": func() (*Field, error) { return Flat(Grid{1, 10}) },
		"vertical":       func() (*Field, error) { return Slope(grid, math.Pi/2, 0) },
		"short run":      func() (*Field, error) { return Steps(grid, 1, 0.1) },
		"steep hills":    func() (*Field, error) { return Hills(grid, HillsOptions{MaxSlope: 2}) },
		"NaN hills":      func() (*Field, error) { return Hills(grid, HillsOptions{MaxSlope: nan}) },
		"short hills":    func() (*Field, error) { return Hills(grid, HillsOptions{Wavelength: 0.1}) },
	} {
		if got, err := f(); err == nil || got != nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Whatever its arguments, a generator returns a valid field or an error.
func TestGeneratorsReturnValidFields(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		wild := rapid.OneOf(rapid.Float32(), rapid.Float32Range(-2, 2), rapid.SampledFrom([]float32{0, 1e30, 3e38, float32(math.Inf(1)), float32(math.NaN())}))
		g := Grid{Size: 20, Cell: 1}
		if k := wild.Draw(rt, "scale"); rapid.Bool().Draw(rt, "wild grid") {
			g = Grid{Size: 20 * k, Cell: k}
		}
		a, b := wild.Draw(rt, "a"), wild.Draw(rt, "b")
		for name, f := range map[string]func() (*Field, error){
			"flat":  func() (*Field, error) { return Flat(g) },
			"slope": func() (*Field, error) { return Slope(g, a, b) },
			"steps": func() (*Field, error) { return Steps(g, a, b) },
			"hills": func() (*Field, error) { return Hills(g, HillsOptions{Wavelength: a, MaxSlope: b}) },
		} {
			if field, err := f(); err == nil && field.Validate() != nil {
				rt.Fatalf("%s %+v %g %g: %v", name, g, a, b, field.Validate())
			} else if err != nil && field != nil {
				rt.Fatalf("%s: a field beside the error", name)
			}
		}
	})
}

func TestValidate(t *testing.T) {
	good := func() *Field { f, _ := Flat(grid); return f }
	nan := float32(math.NaN())
	for name, spoil := range map[string]func(*Field){
		"zero":       func(f *Field) { *f = Field{} },
		"one row":    func(f *Field) { f.NZ, f.Y = 1, f.Y[:f.NX] },
		"short":      func(f *Field) { f.Y = f.Y[1:] },
		"cell":       func(f *Field) { f.Cell = -1 },
		"tiny cell":  func(f *Field) { f.Cell = 1e-30 },
		"origin":     func(f *Field) { f.X0 = nan },
		"far":        func(f *Field) { f.Z0 = 1e7 },
		"NaN height": func(f *Field) { f.Y[5] = nan },
		"too high":   func(f *Field) { f.Y[5] = 1.01 * MaxHeight },
		"too low":    func(f *Field) { f.Y[5] = -1e30 },
		"overflow":   func(f *Field) { f.NX, f.NZ = math.MaxInt, math.MaxInt },
	} {
		f := good()
		spoil(f)
		if f.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// The steepest valid fields have finite heights and normals everywhere.
func TestSteepestFields(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, cell := range []float32{minCell, 1, math.MaxFloat32 / 2} {
		f := &Field{X0: -cell, Z0: -cell, Cell: cell, NX: 3, NZ: 3, Y: make([]float32, 9)}
		for i := range f.Y {
			f.Y[i] = MaxHeight * float32(1-i%2*2)
		}
		must.Do(t, f.Validate())
		for _, x := range []float32{-inf, -1e30, -1, 0, 0.3, 1e30, inf, float32(math.NaN())} {
			for _, z := range []float32{-1, 0.7, inf} {
				if y, n := f.Height(x, z), f.Normal(x, z); !m3.Finite(y) || !n.Finite() || !(n.Len() > 0.99) {
					t.Errorf("cells of %g m: at (%g, %g) the height is %g and the normal %v", cell, x, z, y, n)
				}
			}
		}
		if s := f.MaxSlope(); !m3.Finite(s) {
			t.Errorf("cells of %g m: a slope of %g", cell, s)
		}
		for i := range 9 {
			if n := f.NodeNormal(i%3, i/3); !n.Finite() {
				t.Errorf("cells of %g m: a node's normal is %v", cell, n)
			}
		}
	}
}

func TestQueriesDoNotAllocate(t *testing.T) {
	f := valid(Hills(grid, HillsOptions{MaxSlope: 0.3}))(t)
	var sum float32
	if n := testing.AllocsPerRun(100, func() { sum += f.Height(1, 2) + f.Normal(3, 4).Y }); n != 0 {
		t.Errorf("%g allocations per query", n)
	}
	if !m3.Finite(sum) {
		t.Error("not finite")
	}
}

func BenchmarkQuery(b *testing.B) {
	f, _ := Hills(grid, HillsOptions{MaxSlope: 0.3})
	var sum float32
	for b.Loop() {
		sum += f.Height(1.3, 2.2) + f.Normal(-3, 4).Y
	}
	_ = sum
}

func ExampleHills() {
	f, err := Hills(Grid{Size: 40, Cell: 0.25}, HillsOptions{Seed: 1, MaxSlope: 20 * math.Pi / 180})
	if err != nil {
		panic(err)
	}
	_ = f.Height(1, 2) // metres
	_ = f.Normal(1, 2) // unit, upward
}
