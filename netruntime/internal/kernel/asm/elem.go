//go:build generate

// This program writes the elementwise kernels and the transposing pack:
//
//	go run elem.go act.go isa.go -out ../elem_amd64.s -stubs ../elem_amd64.go -pkg kernel
//
// Every kernel runs whole vectors, then one masked vector with the same instructions, so an element
// has the same bits at any position.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

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

// two emits dst = f(x, y).
func (v *isa) two(name string, f func(x, y reg.VecVirtual) reg.VecVirtual) {
	text(name+v.name, "func(dst, x, y *float32, n int)")
	p, n := ptrs("dst", "x", "y"), Load(Param("n"), GP64())
	v.each(n, p, func(m []Mem) { v.store(f(v.load(m[1]), v.load(m[2])), m[0]) })
}

func (v *isa) mul() {
	v.two("mul", func(x, y reg.VecVirtual) reg.VecVirtual { VMULPS(y, x, x); return x })
}

func (v *isa) add() {
	v.two("add", func(x, y reg.VecVirtual) reg.VecVirtual { VADDPS(y, x, x); return x })
}

// max passes a NaN in y as the second operand, and one in x by a blend.
func (v *isa) max() {
	v.two("max", func(x, y reg.VecVirtual) reg.VecVirtual {
		VMAXPS(y, x, y)
		return v.choose(unordered, x, x, x, y)
	})
}

func (v *isa) normalize() {
	text("normalize"+v.name, "func(dst, x, mean, inv *float32, n int)")
	p, n := ptrs("dst", "x", "mean", "inv"), Load(Param("n"), GP64())
	v.each(n, p, func(m []Mem) {
		x := v.load(m[1])
		VSUBPS(v.load(m[2]), x, x)
		VMULPS(v.load(m[3]), x, x)
		v.store(x, m[0])
	})
}

func (v *isa) affine() {
	text("affine"+v.name, "func(dst, x, scale, shift *float32, n int)")
	p, n := ptrs("dst", "x", "scale", "shift"), Load(Param("n"), GP64())
	v.each(n, p, func(m []Mem) {
		x := v.load(m[1])
		VFMADD213PS(v.load(m[3]), v.load(m[2]), x)
		v.store(x, m[0])
	})
}

// toBF16 emits ToBF16.
func (v *isa) toBF16() {
	text("toBF16"+v.name, "func(dst *uint16, src *float32, n int)")
	p, n := ptrs("dst", "src"), Load(Param("n"), GP64())
	half, one, quiet := v.fill(0x7fff), v.fill(1), v.fill(0x40)
	v.eachOf(n, p, []int{v.bytes / 2, v.bytes}, func(m []Mem) {
		x, odd, nan := v.load(m[1]), v.vec(), v.vec()
		VPSRLD(U8(16), x, nan)
		VPANDD(one, nan, odd)
		VPORD(quiet, nan, nan)
		VPADDD(half, odd, odd)
		VPADDD(x, odd, odd)
		VPSRLD(U8(16), odd, odd)
		y := v.choose(unordered, x, x, nan, odd)
		if v.mask == nil {
			VPMOVDW(y, m[0])
		} else {
			VPMOVDW(y, v.mask, m[0])
		}
	})
}

// adamW emits AdamW. keep = 1 − lr·wd, c1 = 1/bc1, c2 = 1/bc2.
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

// transpose8 sets dst[8·cols·b + cols·i + r] = src[8·b + i + r·ld] for r, i < 8 and b < blocks.
// cols and ld count elements.
func transpose8() {
	text("transpose8", "func(dst *float32, cols int, src *float32, ld, blocks int)")
	dst, cols := Load(Param("dst"), GP64()), Load(Param("cols"), GP64())
	src, ld, n := Load(Param("src"), GP64()), Load(Param("ld"), GP64()), Load(Param("blocks"), GP64())
	SHLQ(U8(2), cols)
	SHLQ(U8(2), ld)
	// Rows 0, 1, 2 of a group of three are at base + {0, 1, 2}·stride.
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
	end()
}

func main() {
	begin()
	for _, v := range families("tailMasks") {
		v.exp()
		v.elu()
		v.relu()
		v.sigmoid()
		v.tanh()
		v.eluGrad()
		v.reluGrad()
		v.sigmoidGrad()
		v.tanhGrad()
		v.lstmCells()
		v.axpy()
		v.scale()
		v.add()
		v.mul()
		v.max()
		v.normalize()
		v.affine()
		v.adamW()
		if v.bytes == 64 {
			v.toBF16()
		}
	}
	transpose8()
	Generate()
}
