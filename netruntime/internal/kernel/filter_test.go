package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"mannequin/internal/testing/must"
)

// filterCase is a convolution over time with the data that a test needs.
type filterCase struct {
	Taps
	n, batch, frames int
	x, w             []float32
	ep               Epilogue
	filter           *Filter
	planes           []float32
	stride, skip     int // of y
}

func newFilterCase(r *rand.Rand, g Taps, n, batch, frames int, act Activation) *filterCase {
	x := &filterCase{Taps: g, n: n, batch: batch, frames: frames, stride: n + r.IntN(3), ep: Epilogue{Act: act}}
	x.skip = frames*x.stride + r.IntN(3)*x.stride
	if r.IntN(2) == 0 {
		x.ep.Bias = randoms(r, n)
	}
	x.x, x.w = randoms(r, batch*frames*g.Channels), randoms(r, g.Width*g.Channels*n)
	x.filter = PackFilter(g, n, x.w)
	x.makePlanes(r)
	return x
}

func (x *filterCase) String() string {
	return fmt.Sprintf("%+v, %d columns, %d sequences of %d, %v, bias %v", x.Taps, x.n, x.batch, x.frames, x.ep.Act, x.ep.Bias != nil)
}

// makePlanes computes the planes in two parts.
func (x *filterCase) makePlanes(r *rand.Rand) {
	size := x.PlaneSize(x.frames)
	x.planes = make([]float32, x.batch*size)
	for i := range x.planes {
		x.planes[i] = nan
	}
	for q := range x.batch {
		dst, src := x.planes[q*size:][:size], x.x[q*x.frames*x.Channels:][:x.frames*x.Channels]
		cut := r.IntN(x.frames+1+x.Lead()+x.Trail()) - x.Lead()
		x.Planes(dst, src, x.frames, -x.Lead(), cut)
		x.Planes(dst, src, x.frames, cut, x.frames+x.Trail())
	}
}

// result returns memory for y, filled with NaN.
func (x *filterCase) result() []float32 {
	y := make([]float32, x.batch*x.skip+7)
	for i := range y {
		y[i] = nan
	}
	return y
}

// blocks returns the number of blocks of all sequences.
func (x *filterCase) blocks() int { return x.batch * ((x.frames + x.Block() - 1) / x.Block()) }

func (x *filterCase) mul(y []float32, b0, b1, p0, p1 int) {
	var s Scratch
	x.filter.Mul(&s, Windows{y, x.batch, x.frames, x.stride, x.skip}, x.planes, b0, b1, x.ep, p0, p1)
}

// want returns y[t, o] of a sequence before the activation, and the magnitude of its sum.
func (x *filterCase) want(q, t, o int) (sum, mag float64) {
	if x.ep.Bias != nil {
		sum = float64(x.ep.Bias[o])
	}
	mag = math.Abs(sum)
	for w := range x.Width {
		if f := t - x.Before + w; f >= 0 && f < x.frames {
			for c := range x.Channels {
				v := float64(x.x[(q*x.frames+f)*x.Channels+c]) * float64(x.w[(w*x.Channels+c)*x.n+o])
				sum, mag = sum+v, mag+math.Abs(v)
			}
		}
	}
	return sum, mag
}

// check compares with the convolution in float64, then with the same computed in parts.
func (x *filterCase) check(t *testing.T, r *rand.Rand) {
	t.Helper()
	y := x.result()
	x.mul(y, 0, x.blocks(), 0, x.filter.Panels())
	for i, v := range y {
		q, f, o := i/x.skip, i%x.skip/x.stride, i%x.skip%x.stride
		if q >= x.batch || f >= x.frames || o >= x.n {
			if v == v {
				t.Fatalf("%v: wrote to frame %d, column %d", x, f, o)
			}
			continue
		}
		sum, mag := x.want(q, f, o)
		if want := x.ep.Act.float64(sum); !(math.Abs(float64(v)-want) <= 1e-6*mag+1e-6) {
			t.Fatalf("%v: y[%d,%d,%d] = %v, want %v", x, q, f, o, v, want)
		}
	}
	for range 3 {
		z := x.result()
		b0, p0 := r.IntN(x.blocks()+1), r.IntN(x.filter.Panels()+1)
		b1 := min(x.blocks(), b0+r.IntN(3))
		for _, b := range [][2]int{{0, b0}, {b0, b1}, {b1, x.blocks()}} {
			x.mul(z, b[0], b[1], 0, p0)
			x.mul(z, b[0], b[1], p0, x.filter.Panels())
		}
		for i := range y {
			if math.Float32bits(y[i]) != math.Float32bits(z[i]) {
				t.Fatalf("%v, cut at blocks %d and %d, panel %d: element %d is %v, whole %v", x, b0, b1, p0, i, z[i], y[i])
			}
		}
	}
}

// TestFilter takes widths of every remainder by three, and lengths around
// multiples of a block, in few and in many sequences.
func TestFilter(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(21, 22))
		for _, width := range []int{1, 2, 3, 4, 5, 7, 9, 13, 25, 26, 45} {
			block := Taps{Width: width}.Block()
			for i, frames := range []int{1, 2, block/2 + 1, block - 1, block, block + 1, 2 * block, 3*block + 1} {
				if frames < 1 {
					continue
				}
				g := Taps{width, []int{(width - 1) / 2, 0, width - 1, r.IntN(width)}[r.IntN(4)], 1 + r.IntN(9)}
				n := []int{1, 3, 8, 16, 17, 31, 33, 70}[r.IntN(8)]
				newFilterCase(r, g, n, 1+r.IntN(5), frames, Activation(i%5)).check(t, r)
			}
		}
		newFilterCase(r, Taps{15, 7, 110}, 33, 1, 61, ActELU).check(t, r)       // a sum of several blocks
		newFilterCase(r, Taps{9, 4, 2}, 5, 3, 4*stripRows, ActReLU).check(t, r) // several strips
		newFilterCase(r, Taps{9, 4, 3}, 5, 70, 7, ActTanh).check(t, r)
		newFilterCase(r, Taps{MaxFilterWidth, 100, 1}, 5, 2, 500, ActIdentity).check(t, r)
	})
}

// TestFilterPairsByFrameNumber runs sequences with zeros after them. Their first frames must have
// the same bits, because a frame's pair does not depend on the length.
func TestFilterPairsByFrameNumber(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(31, 32))
		for _, frames := range []int{1, 3, 5, 9, 10, 11, 17, 30} {
			x := newFilterCase(r, Taps{15, 7, 5}, 20, 1, frames, ActELU)
			want := x.result()
			x.mul(want, 0, x.blocks(), 0, x.filter.Panels())
			for more := range 25 {
				y := *x
				y.frames += more
				y.skip = y.frames * y.stride
				y.x = append(append([]float32(nil), x.x...), make([]float32, more*x.Channels)...)
				y.makePlanes(r)
				got := y.result()
				y.mul(got, 0, y.blocks(), 0, y.filter.Panels())
				for f := range frames {
					for o := range x.n {
						if i := f*x.stride + o; math.Float32bits(got[i]) != math.Float32bits(want[i]) {
							t.Fatalf("%v: with %d frames of zeros after it y[%d,%d] is %v instead of %v", x, more, f, o, got[i], want[i])
						}
					}
				}
			}
		}
	})
}

// TestFilterKeepsNaNInItsSequence puts a NaN into one of several sequences. It must not reach the
// others, nor frames whose taps, padded to nine, do not see it.
func TestFilterKeepsNaNInItsSequence(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(23, 24))
		x := newFilterCase(r, Taps{7, 3, 3}, 40, 4, 50, ActTanh)
		want := x.result()
		x.mul(want, 0, x.blocks(), 0, x.filter.Panels())
		x.x[(2*50+20)*3+1] = nan // frame 20 of sequence 2
		x.makePlanes(r)
		y := x.result()
		x.mul(y, 0, x.blocks(), 0, x.filter.Panels())
		for q := range 4 {
			for f := range 50 {
				for o := range 40 {
					i := q*x.skip + f*x.stride + o
					sees := q == 2 && f >= 20-3 && f <= 20+3
					near := q == 2 && f >= 20-3-2 && f <= 20+3
					if nan := y[i] != y[i]; nan && !near || !nan && sees || !near && y[i] != want[i] {
						t.Fatalf("frame 20 of sequence 2 is NaN, y[%d,%d,%d] = %v, without it %v", q, f, o, y[i], want[i])
					}
				}
			}
		}
	})
}

// TestFilterIsAsExactAsAProduct compares both forms of a convolution with float64, on signals as
// smooth and as far from zero as motion.
func TestFilterIsAsExactAsAProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	for _, offset := range []float32{0, 3} {
		g := Taps{25, 12, 64}
		x := newFilterCase(r, g, 16, 1, 120, ActIdentity)
		for f := range x.frames {
			for c := range g.Channels {
				x.x[f*g.Channels+c] = offset + float32(math.Sin(0.07*float64(f*(1+c%5)+c)))
			}
		}
		x.makePlanes(r)
		padded := make([]float32, (x.frames+g.Width)*g.Channels)
		copy(padded[g.Before*g.Channels:], x.x)
		y, direct := x.result(), make([]float32, x.frames*x.n)
		x.mul(y, 0, x.blocks(), 0, x.filter.Panels())
		var s Scratch
		k := g.Width * g.Channels
		p := Pack(false, 1, k, x.n, x.w, x.n)
		p.Mul(&s, Matrix{direct, x.n}, Matrix{Data: unit}, Operand{F32: padded, Stride: g.Channels}, x.frames, false, x.ep, 0, p.Panels())
		var errs [2]float64
		var size float64
		for f := range x.frames {
			for o := range x.n {
				want, _ := x.want(0, f, o)
				size += want * want
				for i, got := range []float32{y[f*x.stride+o], direct[f*x.n+o]} {
					errs[i] += (float64(got) - want) * (float64(got) - want)
				}
			}
		}
		filter, product := math.Sqrt(errs[0]/size), math.Sqrt(errs[1]/size)
		t.Logf("offset %g: relative error %.2g, as a product %.2g", offset, filter, product)
		if !(filter <= 3*product+1e-7) {
			t.Errorf("offset %g: relative error %.2g, as a product %.2g", offset, filter, product)
		}
	}
}

// TestReservedScratchIsEnough multiplies with new scratch memory every time.
func TestReservedScratchIsEnough(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(27, 28))
		x := newFilterCase(r, Taps{9, 4, 3}, 40, 2, 30, ActELU)
		z := newPackedCase(r, 20, 33, 40, 2, 33, false, false, ActELU)
		y := x.result()
		var s [11]Scratch
		for i := range s {
			s[i].Reserve(true)
		}
		i := 0
		if n := testing.AllocsPerRun(len(s)-1, func() {
			x.Planes(x.planes, x.x, x.frames, -x.Lead(), x.frames+x.Trail())
			x.filter.Mul(&s[i], Windows{y, x.batch, x.frames, x.stride, x.skip}, x.planes, 0, x.blocks(), x.ep, 0, x.filter.Panels())
			z.packed.Mul(&s[i], Matrix{z.c, 40}, Matrix{z.w, 2}, z.left(0), 20, false, z.ep, 0, z.panels())
			i++
		}); n != 0 {
			t.Fatalf("%v allocations", n)
		}
	})
}

func TestFilterPanicsOnShortSlices(t *testing.T) {
	x := newFilterCase(rand.New(rand.NewPCG(29, 30)), Taps{9, 4, 3}, 40, 2, 30, ActELU)
	y := make([]float32, x.skip+29*x.stride+40)
	x.mul(y, 0, x.blocks(), 0, x.filter.Panels())
	for name, f := range map[string]func(){
		"y":       func() { x.mul(y[1:], 0, 1, 0, x.filter.Panels()) },
		"blocks":  func() { x.mul(y, 0, x.blocks()+1, 0, 1) },
		"panels":  func() { x.mul(y, 0, 1, 0, x.filter.Panels()+1) },
		"planes":  func() { z := *x; z.planes = z.planes[1:]; z.mul(y, 0, 1, 0, 1) },
		"bias":    func() { z := *x; z.ep.Bias = make([]float32, 3); z.mul(y, 0, 1, 0, 1) },
		"weights": func() { PackFilter(x.Taps, 40, x.w[1:]) },
		"taps":    func() { PackFilter(Taps{MaxFilterWidth + 1, 0, 1}, 1, make([]float32, 10000)) },
		"Planes":  func() { x.Planes(x.planes, x.x[:30*3-1], 30, 0, 30) },
	} {
		t.Run(name, func(t *testing.T) { must.Panic(t, "kernel: ", f) })
	}
}
