//go:build generate

// This program writes the elementwise kernels and the transposing pack:
//
//	go run elem.go -out ../elem_amd64.s -stubs ../elem_amd64.go -pkg kernel
//
// Every kernel runs whole vectors, then one masked vector through the same
// instructions: an element has the same bits wherever it stands.
package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa emits for one instruction set.
type isa struct {
	name  string
	bytes int
	mask  reg.Register // of the last, partial vector; nil for whole ones
	tail  Mem          // AVX2: table of masks

	consts map[uint32]Mem
}

func (v *isa) vec() reg.VecVirtual {
	if v.bytes == 64 {
		return ZMM()
	}
	return YMM()
}

func (v *isa) load(m Op) reg.VecVirtual {
	r := v.vec()
	switch {
	case v.mask == nil:
		VMOVUPS(m, r)
	case v.bytes == 64:
		VMOVUPS_Z(m, v.mask, r)
	default:
		VMASKMOVPS(m, v.mask, r)
	}
	return r
}

func (v *isa) store(r reg.VecVirtual, m Op) {
	switch {
	case v.mask == nil:
		VMOVUPS(r, m)
	case v.bytes == 64:
		VMOVUPS(r, v.mask, m)
	default:
		VMASKMOVPS(r, v.mask, m)
	}
}

// fill returns a register that holds bits in every lane.
func (v *isa) fill(bits uint32) reg.VecVirtual {
	g, x, r := GP32(), XMM(), v.vec()
	MOVL(U32(bits), g)
	VMOVD(g, x)
	VPBROADCASTD(x, r)
	return r
}

func (v *isa) konst(f float32) reg.VecVirtual { return v.fill(math.Float32bits(f)) }

// operand is fill where a first operand is wanted: AVX2 has too few registers
// and reads the constant from memory.
func (v *isa) operand(bits uint32) Op {
	if v.bytes == 64 {
		return v.fill(bits)
	}
	m, ok := v.consts[bits]
	if !ok {
		m = GLOBL(fmt.Sprintf("lanes_%08x", bits), RODATA|NOPTR)
		for i := range 8 {
			DATA(4*i, U32(bits))
		}
		v.consts[bits] = m
	}
	return m
}

func (v *isa) float(f float64) Op { return v.operand(math.Float32bits(float32(f))) }

func (v *isa) param(name string) reg.VecVirtual {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	r := v.vec()
	VBROADCASTSS(p.Addr, r)
	return r
}

func (v *isa) round(x, to reg.VecVirtual) {
	if v.bytes == 64 {
		VRNDSCALEPS(U8(8), x, to)
	} else {
		VROUNDPS(U8(8), x, to)
	}
}

// each runs body over n elements of the given arrays. body gets one address
// per array.
func (v *isa) each(n reg.Register, ptrs []reg.Register, body func(m []Mem)) {
	lanes := v.bytes / 4
	at := make([]Mem, len(ptrs))
	for i, p := range ptrs {
		at[i] = Mem{Base: p}
	}
	Label("loop")
	CMPQ(n, U8(uint8(lanes)))
	JLT(LabelRef("tail"))
	v.mask = nil
	body(at)
	for _, p := range ptrs {
		ADDQ(U32(uint32(v.bytes)), p)
	}
	SUBQ(U8(uint8(lanes)), n)
	JMP(LabelRef("loop"))
	Label("tail")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	if v.bytes == 64 {
		k, one := K(), GP32()
		// 2ⁿ − 1
		MOVL(U32(0xffffffff), one)
		BZHIL(n.(reg.GP).As32(), one, one)
		KMOVW(one, k)
		v.mask = k
	} else {
		p, m := GP64(), YMM()
		LEAQ(v.tail, p)
		SHLQ(U8(2), n)
		SUBQ(n, p)
		VMOVUPS(Mem{Base: p, Disp: 32}, m)
		v.mask = m
	}
	body(at)
	Label("done")
	VZEROUPPER()
	RET()
}

// expo emits e^x. Exponent n = round(x/ln 2) and r = x − n·ln 2, |r| ≤ 0.347,
// where the Taylor polynomial of degree 7 leaves 6e-9. 2ⁿ is applied in two
// halves, so that overflow and underflow happen in the last product.
type expo struct {
	lo, hi              reg.VecVirtual
	log2e, ln2hi, ln2lo Op
	c                   [8]Op
	bias                Op
}

func (v *isa) expo() *expo {
	e := &expo{lo: v.konst(-104), hi: v.konst(89), log2e: v.float(math.Log2E), bias: v.operand(127)}
	// 12 bits of ln 2, so that n·ln2hi is exact.
	hi := math.Round(math.Ln2*4096) / 4096
	e.ln2hi, e.ln2lo = v.float(hi), v.float(math.Ln2-hi)
	e.c[0] = v.float(1)
	e.c[1] = e.c[0]
	f := 1.0
	for i := 2; i < len(e.c); i++ {
		f *= float64(i)
		e.c[i] = v.float(1 / f)
	}
	return e
}

// emit returns e^x and keeps x. NaN passes: the limits are the first operands.
func (e *expo) emit(v *isa, x reg.VecVirtual) reg.VecVirtual {
	t, n, p := v.vec(), v.vec(), v.vec()
	VMINPS(x, e.hi, t)
	VMAXPS(t, e.lo, t)
	VMULPS(e.log2e, t, n)
	v.round(n, n)
	VFNMADD231PS(e.ln2hi, n, t)
	VFNMADD231PS(e.ln2lo, n, t)
	VMOVUPS(e.c[7], p)
	for i := 6; i >= 0; i-- {
		VFMADD213PS(e.c[i], t, p)
	}
	half := v.vec()
	VCVTPS2DQ(n, n)
	VPSRAD(U8(1), n, half)
	VPSUBD(half, n, n)
	for _, s := range []reg.VecVirtual{half, n} {
		VPADDD(e.bias, s, s)
		VPSLLD(U8(23), s, s)
		VMULPS(s, p, p)
	}
	return p
}

func text(name, sig string) {
	TEXT(name, NOSPLIT, sig)
	Pragma("noescape")
}

func ptrs(names ...string) []reg.Register {
	var out []reg.Register
	for _, n := range names {
		out = append(out, Load(Param(n), GP64()))
	}
	return out
}

func (v *isa) exp() {
	text("exp"+v.name, "func(dst, x *float32, n int)")
	p, n := ptrs("dst", "x"), Load(Param("n"), GP64())
	e := v.expo()
	v.each(n, p, func(m []Mem) { v.store(e.emit(v, v.load(m[1])), m[0]) })
}

func (v *isa) elu() {
	text("elu"+v.name, "func(dst, x *float32, n int)")
	p, n := ptrs("dst", "x"), Load(Param("n"), GP64())
	e, zero := v.expo(), v.konst(0)
	v.each(n, p, func(m []Mem) {
		x := v.load(m[1])
		pos, neg := v.vec(), v.vec()
		VMAXPS(x, zero, pos)
		VMINPS(x, zero, neg)
		y := e.emit(v, neg)
		VSUBPS(e.c[0], y, y)
		VADDPS(pos, y, y)
		v.store(y, m[0])
	})
}

// eluGrad: dx = dy·(1 + min(y, 0)).
func (v *isa) eluGrad() {
	text("eluGrad"+v.name, "func(dx, dy, y *float32, n int)")
	p, n := ptrs("dx", "dy", "y"), Load(Param("n"), GP64())
	one, zero := v.konst(1), v.konst(0)
	v.each(n, p, func(m []Mem) {
		y := v.load(m[2])
		VMINPS(y, zero, y)
		VADDPS(one, y, y)
		VMULPS(v.load(m[1]), y, y)
		v.store(y, m[0])
	})
}

func (v *isa) axpy() {
	text("axpy"+v.name, "func(dst *float32, a float32, x *float32, n int)")
	p, n := ptrs("dst", "x"), Load(Param("n"), GP64())
	a := v.param("a")
	v.each(n, p, func(m []Mem) {
		y := v.load(m[0])
		VFMADD231PS(a, v.load(m[1]), y)
		v.store(y, m[0])
	})
}

func (v *isa) scale() {
	text("scale"+v.name, "func(dst *float32, a float32, x *float32, n int)")
	p, n := ptrs("dst", "x"), Load(Param("n"), GP64())
	a := v.param("a")
	v.each(n, p, func(m []Mem) {
		x := v.load(m[1])
		VMULPS(a, x, x)
		v.store(x, m[0])
	})
}

func (v *isa) mul() {
	text("mul"+v.name, "func(dst, x, y *float32, n int)")
	p, n := ptrs("dst", "x", "y"), Load(Param("n"), GP64())
	v.each(n, p, func(m []Mem) {
		x := v.load(m[1])
		VMULPS(v.load(m[2]), x, x)
		v.store(x, m[0])
	})
}

// adamW: see AdamW. keep = 1 − lr·wd, c1 = 1/bc1, c2 = 1/bc2.
func (v *isa) adamW() {
	text("adamW"+v.name, "func(w, grad, m, v *float32, n int, lr, keep, beta1, beta2, rest1, rest2, eps, c1, c2 float32)")
	p, n := ptrs("w", "grad", "m", "v"), Load(Param("n"), GP64())
	lr, keep, beta1, beta2 := v.param("lr"), v.param("keep"), v.param("beta1"), v.param("beta2")
	rest1, rest2, eps := v.param("rest1"), v.param("rest2"), v.param("eps")
	c1, c2 := v.param("c1"), v.param("c2")
	v.each(n, p, func(at []Mem) {
		g, m, s := v.load(at[1]), v.load(at[2]), v.load(at[3])
		VMULPS(beta1, m, m)
		VFMADD231PS(rest1, g, m)
		v.store(m, at[2])
		VMULPS(g, g, g)
		VMULPS(beta2, s, s)
		VFMADD231PS(rest2, g, s)
		v.store(s, at[3])
		VMULPS(c1, m, m)
		VMULPS(c2, s, s)
		VSQRTPS(s, s)
		VADDPS(eps, s, s)
		VDIVPS(s, m, m)
		w := v.load(at[0])
		VMULPS(keep, w, w)
		VFNMADD231PS(lr, m, w)
		v.store(w, at[0])
	})
}

// transpose8: dst[8·cols·b + cols·i + r] = src[8·b + i + r·ld] for r, i < 8
// and b < blocks. cols and ld count elements.
func transpose8() {
	text("transpose8", "func(dst *float32, cols int, src *float32, ld, blocks int)")
	dst, cols := Load(Param("dst"), GP64()), Load(Param("cols"), GP64())
	src, ld, n := Load(Param("src"), GP64()), Load(Param("ld"), GP64()), Load(Param("blocks"), GP64())
	SHLQ(U8(2), cols)
	SHLQ(U8(2), ld)
	// rows 0, 1, 2 of a group of three are at base + {0, 1, 2}·stride.
	bases := func(p, s reg.Register) []reg.Register {
		out := []reg.Register{p}
		for len(out) < 3 {
			q := GP64()
			LEAQ(Mem{Base: out[len(out)-1], Index: s, Scale: 2}, q)
			ADDQ(s, q)
			out = append(out, q)
		}
		return out
	}
	from, to := bases(src, ld), bases(dst, cols)
	at := func(b []reg.Register, s reg.Register, i int) Mem {
		m := Mem{Base: b[i/3]}
		if i%3 > 0 {
			m.Index, m.Scale = s, uint8(i%3)
		}
		return m
	}
	step := GP64()
	MOVQ(cols, step)
	SHLQ(U8(3), step)
	Label("loop")
	var r, s [8]reg.VecVirtual
	for i := range r {
		r[i], s[i] = YMM(), YMM()
		VMOVUPS(at(from, ld, i), r[i])
	}
	for i := 0; i < 8; i += 2 { // pairs of rows interleaved
		VUNPCKLPS(r[i+1], r[i], s[i])
		VUNPCKHPS(r[i+1], r[i], s[i+1])
	}
	for i := 0; i < 8; i += 4 { // columns of four rows: 0, 1, 2, 3 | 4, 5, 6, 7
		VUNPCKLPD(s[i+2], s[i], r[i])
		VUNPCKHPD(s[i+2], s[i], r[i+1])
		VUNPCKLPD(s[i+3], s[i+1], r[i+2])
		VUNPCKHPD(s[i+3], s[i+1], r[i+3])
	}
	for i := range 4 {
		VPERM2F128(U8(0x20), r[i+4], r[i], s[i])
		VPERM2F128(U8(0x31), r[i+4], r[i], s[i+4])
	}
	for i := range s {
		VMOVUPS(s[i], at(to, cols, i))
	}
	for i := range from {
		ADDQ(U8(32), from[i])
		ADDQ(step, to[i])
	}
	DECQ(n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func main() {
	Package("mannequin/internal/kernel")
	ConstraintExpr("amd64,!noasm")
	// n lanes of a partial AVX2 vector are the 8 words from 8 − n.
	tail := GLOBL("tailMasks", RODATA|NOPTR)
	for i := range 16 {
		w := uint32(0xffffffff)
		if i >= 8 {
			w = 0
		}
		DATA(4*i, U32(w))
	}
	for _, v := range []*isa{{name: "AVX2", bytes: 32, tail: tail, consts: map[uint32]Mem{}}, {name: "AVX512", bytes: 64}} {
		v.exp()
		v.elu()
		v.eluGrad()
		v.axpy()
		v.scale()
		v.mul()
		v.adamW()
	}
	transpose8()
	Generate()
}
