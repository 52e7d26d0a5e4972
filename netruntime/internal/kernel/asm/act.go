//go:build generate

package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// expo emits e^x. The exponent is n = round(x/ln 2). For r = x − n·ln 2, |r| ≤ 0.347, the Taylor
// polynomial of degree 7 has an error of 6e-9. 2ⁿ is applied in two halves, so that overflow and
// underflow happen in the last product.
type expo struct {
	log2e, ln2hi, ln2lo Op
	c                   [8]Op
	bias                Op
}

func (v *isa) expo() *expo {
	e := &expo{log2e: v.float(math.Log2E), bias: v.operand(127)}
	// 12 bits of ln 2, so that n·ln2hi is exact.
	ln2 := math.Round(math.Ln2*4096) / 4096
	e.ln2hi, e.ln2lo = v.float(ln2), v.float(math.Ln2-ln2)
	e.c[0] = v.float(1)
	e.c[1] = e.c[0]
	f := 1.0
	for i := 2; i < len(e.c); i++ {
		f *= float64(i)
		e.c[i] = v.float(1 / f)
	}
	return e
}

// limits are the least and the greatest exponent. A nil low is no limit.
type limits struct{ low, high reg.VecVirtual }

// reduce returns n as an integer and r for x within the limits, and keeps x. A NaN passes, because
// the limits are the first operands.
func (e *expo) reduce(v *isa, x reg.VecVirtual, l limits) (n, r reg.VecVirtual) {
	n, r = v.vec(), v.vec()
	VMINPS(x, l.high, r)
	if l.low != nil {
		VMAXPS(r, l.low, r)
	}
	VMULPS(e.log2e, r, n)
	v.round(n, n)
	VFNMADD231PS(e.ln2hi, n, r)
	VFNMADD231PS(e.ln2lo, n, r)
	VCVTPS2DQ(n, n)
	return n, r
}

// polynomial returns Σ r^(i−from)/i! for i from from to 7.
func (e *expo) polynomial(v *isa, r reg.VecVirtual, from int) reg.VecVirtual {
	p := v.vec()
	VMOVUPS(e.c[7], p)
	for i := 6; i >= from; i-- {
		VFMADD213PS(e.c[i], r, p)
	}
	return p
}

// power turns integers n ≥ −126 into 2ⁿ.
func (e *expo) power(n reg.VecVirtual) {
	VPADDD(e.bias, n, n)
	VPSLLD(U8(23), n, n)
}

// whole returns the range in which e^x goes from 0 to infinity.
func (v *isa) whole() limits { return limits{v.konst(-104), v.konst(89)} }

// emit returns e^x and keeps x.
func (e *expo) emit(v *isa, x reg.VecVirtual, whole limits) reg.VecVirtual {
	n, r := e.reduce(v, x, whole)
	p := e.polynomial(v, r, 0)
	half := v.vec()
	VPSRAD(U8(1), n, half)
	VPSUBD(half, n, n)
	for _, s := range []reg.VecVirtual{half, n} {
		e.power(s)
		VMULPS(s, p, p)
	}
	return p
}

func (v *isa) exp() {
	text("exp"+v.name, "func(dst, x *float32, n int)")
	p, n := ptrs("dst", "x"), Load(Param("n"), GP64())
	e, l := v.expo(), v.whole()
	v.each(n, p, func(m []Mem) { v.store(e.emit(v, v.load(m[1]), l), m[0]) })
}

func (v *isa) elu() {
	text("elu"+v.name, "func(dst, x *float32, n int)")
	p, n := ptrs("dst", "x"), Load(Param("n"), GP64())
	e, l, zero := v.expo(), v.whole(), v.konst(0)
	v.each(n, p, func(m []Mem) {
		x := v.load(m[1])
		pos, neg := v.vec(), v.vec()
		VMAXPS(x, zero, pos)
		VMINPS(x, zero, neg)
		y := e.emit(v, neg, l)
		VSUBPS(e.c[0], y, y)
		VADDPS(pos, y, y)
		v.store(y, m[0])
	})
}

// eluGrad: dx = dy·(1 + min(y, 0)).
func (v *isa) eluGrad() {
	v.slope("elu", func() func(y reg.VecVirtual) {
		one, zero := v.konst(1), v.konst(0)
		return func(y reg.VecVirtual) {
			VMINPS(y, zero, y)
			VADDPS(one, y, y)
		}
	})
}

// slope emits dx = dy·f(y).
func (v *isa) slope(name string, prepare func() (f func(y reg.VecVirtual))) {
	text(name+"Grad"+v.name, "func(dx, dy, y *float32, n int)")
	p, n := ptrs("dx", "dy", "y"), Load(Param("n"), GP64())
	f := prepare()
	v.each(n, p, func(m []Mem) {
		y := v.load(m[2])
		f(y)
		VMULPS(v.load(m[1]), y, y)
		v.store(y, m[0])
	})
}

// relu passes a NaN as the second operand.
func (v *isa) relu() {
	text("relu"+v.name, "func(dst, x *float32, n int)")
	p, n := ptrs("dst", "x"), Load(Param("n"), GP64())
	zero := v.konst(0)
	v.each(n, p, func(m []Mem) {
		x := v.load(m[1])
		VMAXPS(x, zero, x)
		v.store(x, m[0])
	})
}

// reluGrad is dy if y is not ≤ 0.
func (v *isa) reluGrad() {
	text("reluGrad"+v.name, "func(dx, dy, y *float32, n int)")
	p, n := ptrs("dx", "dy", "y"), Load(Param("n"), GP64())
	zero := v.konst(0)
	v.each(n, p, func(m []Mem) {
		v.store(v.choose(notLessOrEqual, v.load(m[2]), zero, v.load(m[1]), zero), m[0])
	})
}

// squash holds the constants of the sigmoid and the hyperbolic tangent.
type squash struct {
	*expo
	sigmoidLimits, tanhLimits limits
	sign, two                 Op
}

func (v *isa) squash() *squash {
	return &squash{
		expo:          v.expo(),
		sigmoidLimits: limits{v.konst(-87), v.konst(89)}, // the range in which 2ⁿ is a normal number or infinite
		tanhLimits:    limits{nil, v.konst(20)},          // from there on tanh(x/2) is 1
		sign:          v.operand(1 << 31), two: v.float(2),
	}
}

// sigmoid returns the denominator of 1/(1 + e^−x).
func (s *squash) sigmoid(v *isa, x reg.VecVirtual) reg.VecVirtual {
	minus := v.vec()
	VXORPS(s.sign, x, minus)
	n, r := s.reduce(v, minus, s.sigmoidLimits)
	p := s.polynomial(v, r, 0)
	s.power(n)
	VFMADD213PS(s.c[0], n, p)
	return p
}

// tanh returns the parts of m/(m + 2), with m = e^2|x| − 1 and x's sign in the numerator. m =
// 2ⁿ·(e^r − 1) + (2ⁿ − 1) keeps small x exact.
func (s *squash) tanh(v *isa, x reg.VecVirtual) (num, den reg.VecVirtual) {
	z, sign := v.vec(), v.vec()
	VADDPS(x, x, z)
	VANDPS(s.sign, z, sign)
	VXORPS(sign, z, z)
	n, r := s.reduce(v, z, s.tanhLimits)
	p := s.polynomial(v, r, 1)
	VMULPS(r, p, p)
	s.power(n)
	VMULPS(n, p, p)
	VSUBPS(s.c[0], n, n)
	VADDPS(n, p, p)
	den = v.vec()
	VADDPS(s.two, p, den)
	VORPS(sign, p, p)
	return p, den
}

func (v *isa) sigmoid() {
	text("sigmoid"+v.name, "func(dst, x *float32, n int)")
	p, n := ptrs("dst", "x"), Load(Param("n"), GP64())
	s, one := v.squash(), v.konst(1)
	v.each(n, p, func(m []Mem) {
		y := s.sigmoid(v, v.load(m[1]))
		VDIVPS(y, one, y)
		v.store(y, m[0])
	})
}

func (v *isa) tanh() {
	text("tanh"+v.name, "func(dst, x *float32, n int)")
	p, n := ptrs("dst", "x"), Load(Param("n"), GP64())
	s := v.squash()
	v.each(n, p, func(m []Mem) {
		y, d := s.tanh(v, v.load(m[1]))
		VDIVPS(d, y, y)
		v.store(y, m[0])
	})
}

func (v *isa) sigmoidGrad() {
	v.slope("sigmoid", func() func(y reg.VecVirtual) {
		one := v.konst(1)
		return func(y reg.VecVirtual) {
			rest := v.vec()
			VSUBPS(y, one, rest)
			VMULPS(rest, y, y)
		}
	})
}

func (v *isa) tanhGrad() {
	v.slope("tanh", func() func(y reg.VecVirtual) {
		one := v.konst(1)
		return func(y reg.VecVirtual) { VFNMADD213PS(one, y, y) }
	})
}

// lstmCells emits LSTMCells for rows of two vectors, the columns of a panel. Strides count
// elements. σ(a)·tanh(b) is one division.
func (v *isa) lstmCells() {
	text("lstmCells"+v.name, "func(h *float32, hs int, c *float32, cs int, gates *float32, stride int, bias *float32, biasStride, rows int)")
	h, c, rows := Load(Param("h"), GP64()), Load(Param("c"), GP64()), Load(Param("rows"), GP64())
	bytes := func(name string) reg.Register {
		r := Load(Param(name), GP64())
		SHLQ(U8(2), r)
		return r
	}
	hs, cs := bytes("hs"), bytes("cs")
	// The addresses of i, f, g and o.
	four := func(name, stride string) []reg.Register {
		p, s := []reg.Register{Load(Param(name), GP64())}, Load(Param(stride), GP64())
		for len(p) < 4 {
			next := GP64()
			LEAQ(Mem{Base: p[len(p)-1], Index: s, Scale: 4}, next)
			p = append(p, next)
		}
		return p
	}
	gates, bias := four("gates", "stride"), four("bias", "biasStride")
	s := v.squash()
	product := func(gate, x reg.VecVirtual) reg.VecVirtual {
		num, den := s.tanh(v, x)
		VMULPS(s.sigmoid(v, gate), den, den)
		VDIVPS(den, num, num)
		return num
	}
	v.mask = nil
	Label("loop")
	for _, d := range []int{0, v.bytes} {
		at := func(base reg.Register) Mem { return Mem{Base: base, Disp: d} }
		gate := func(i int) reg.VecVirtual {
			x := v.load(at(gates[i]))
			VADDPS(at(bias[i]), x, x)
			return x
		}
		x := v.load(at(c))
		VDIVPS(s.sigmoid(v, gate(1)), x, x)
		VADDPS(product(gate(0), gate(2)), x, x)
		v.store(x, at(c))
		v.store(product(gate(3), x), at(h))
	}
	ADDQ(hs, h)
	ADDQ(cs, c)
	for _, g := range gates {
		ADDQ(U32(uint32(2*v.bytes)), g)
	}
	DECQ(rows)
	JNZ(LabelRef("loop"))
	end()
}
