package kernel

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// guarded allocates memory that ends at an inaccessible page: reading or writing an element beyond
// the end stops the test.
type guarded struct {
	t     *testing.T
	pages [][]byte
}

func (g *guarded) bytes(n int) unsafe.Pointer {
	page := syscall.Getpagesize()
	size := (n + page - 1) / page * page
	b, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		g.t.Fatal(err)
	}
	g.pages = append(g.pages, b)
	if err := syscall.Mprotect(b[size:], syscall.PROT_NONE); err != nil {
		g.t.Fatal(err)
	}
	return unsafe.Pointer(&b[size-n])
}

func (g *guarded) free() {
	for _, b := range g.pages {
		if err := syscall.Munmap(b); err != nil {
			g.t.Fatal(err)
		}
	}
	g.pages = g.pages[:0]
}

// floats returns zeros.
func (g *guarded) floats(n int) []float32 { return unsafe.Slice((*float32)(g.bytes(4*n)), n) }

func (g *guarded) copy(x []float32) []float32 {
	y := g.floats(len(x))
	copy(y, x)
	return y
}

func (g *guarded) half(n int) []uint16 { return unsafe.Slice((*uint16)(g.bytes(2*n)), n) }

func (g *guarded) copyHalf(x []uint16) []uint16 {
	y := g.half(len(x))
	copy(y, x)
	return y
}

func TestElementwiseStaysInside(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		g := &guarded{t: t}
		for n := range 70 {
			a, b, c, d := g.floats(n), g.floats(n), g.floats(n), g.floats(n)
			for act := ActIdentity; act <= ActTanh; act++ {
				act.Apply(a, b)
			}
			for _, grad := range []func(dx, dy, y []float32){ELUGrad, ReLUGrad, SigmoidGrad, TanhGrad, Add, Mul, Max, Sub, MulAdd} {
				grad(a, b, c)
			}
			if cols := active.PanelCols(); n <= cols {
				panels := (4*n + cols - 1) / cols
				LSTMCells(Matrix{Data: a}, Matrix{Data: b}, Panels{g.floats(panels * cols), cols, cols}, g.floats(4*n), 1, n)
			}
			Exp(a, b)
			Axpy(a, 2, b)
			Scale(a, 2, b)
			Sign(a, 2, b)
			Normalize(a, b, c, d)
			Affine(a, b, c, d)
			AdamW(a, b, c, d, 1, 0, 0.9, 0.9, 1, 1, 1)
			AdaDelta(a, b, c, d, 1, 0.9, 1)
			Penalize(a, b, 1, 1)
			Clamp(a, 1)
			Dot(a, b)
			SumAbs(a)
			SumSquares(a)
			ToBF16(g.half(n), a)
			Mask(a, 1, 2, 0.5, 2)
			if n <= 64 {
				Deal(a, b, c, 0xf0f0)
				Pick(a, b, c, 0xff00)
			}
			for m := range 20 {
				Transpose(g.floats(n*m), m, g.floats(n*m), n, m, n)
			}
			g.free()
		}
	})
}

func TestPackedMulReadsNothingBeyond(t *testing.T) {
	forPacked(t, func(t *testing.T, bf16 bool) {
		g, r := &guarded{t: t}, rand.New(rand.NewPCG(1, 2))
		for i := range 400 {
			m, k, n := 1+r.IntN(30), 1+r.IntN(40), 1+r.IntN(140)
			x := newPackedCase(r, m, k, n, 1+r.IntN(3), k, i%2 == 0, bf16, ActELU)
			x.a, x.w, x.c = g.copy(x.a), g.copy(x.w), g.copy(x.c)
			if x.ep.Bias != nil {
				x.ep.Bias = g.copy(x.ep.Bias)
			}
			if bf16 {
				x.a16, x.packed.half = g.copyHalf(x.a16), g.copyHalf(x.packed.half)
			} else {
				x.packed.data = g.copy(x.packed.data)
			}
			x.mul(x.c, 0, m, 0, x.panels())
			g.free()
		}
	})
}

func TestGemmReadsNothingBeyond(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		g, r := &guarded{t: t}, rand.New(rand.NewPCG(3, 4))
		p := NewPool(1)
		defer p.Close()
		for i := range 400 {
			tA, tB := i%2 == 0, i/2%2 == 0
			m, k, n := 1+r.IntN(30), 1+r.IntN(40), 1+r.IntN(140)
			lda, ldb := k, n
			if tA {
				lda = m
			}
			if tB {
				ldb = k
			}
			p.Gemm(tA, tB, m, n, k, g.floats(m*k), lda, g.floats(n*k), ldb, i%3 == 0, g.floats(m*n), n)
			g.free()
		}
	})
}

func TestFilterReadsNothingBeyond(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		g, r := &guarded{t: t}, rand.New(rand.NewPCG(5, 6))
		for i := range 300 {
			width := 1 + r.IntN(30)
			taps := Taps{Width: width, Before: r.IntN(width), Channels: 1 + r.IntN(9)}
			x := newFilterCase(r, taps, 1+r.IntN(70), 1+r.IntN(4), 1+r.IntN(60), Activation(i%5))
			x.x = g.copy(x.x)
			x.makePlanes(r)
			x.planes, x.filter.packed.data = g.copy(x.planes), g.copy(x.filter.packed.data)
			y := g.floats((x.batch-1)*x.skip + (x.frames-1)*x.stride + x.n)
			x.mul(y, 0, x.blocks(), 0, x.filter.Panels())
			g.free()
		}
	})
}
