//go:build generate

// This program writes the kernels of losses and their gradients:
//
//	go run vector.go isa.go -out ../vector_amd64.s -stubs ../vector_amd64.go -pkg kernel
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func (v *isa) sub() {
	text("sub"+v.name, "func(dst, x, y *float32, n int)")
	p, n := ptrs("dst", "x", "y"), Load(Param("n"), GP64())
	v.each(n, p, func(m []Mem) {
		x, y := v.load(m[1]), v.load(m[2])
		VSUBPS(y, x, x)
		v.store(x, m[0])
	})
}

func (v *isa) mulAdd() {
	text("mulAdd"+v.name, "func(dst, x, y *float32, n int)")
	p, n := ptrs("dst", "x", "y"), Load(Param("n"), GP64())
	v.each(n, p, func(m []Mem) {
		s := v.load(m[0])
		VFMADD231PS(v.load(m[1]), v.load(m[2]), s)
		v.store(s, m[0])
	})
}

func (v *isa) and(a, b, to reg.VecVirtual) {
	if v.bytes == 64 {
		VPANDD(a, b, to)
	} else {
		VPAND(a, b, to)
	}
}

// sign emits the sign of x on a, 0 if x is 0, plus 0·x for values that are not finite.
func (v *isa) sign() {
	text("sign"+v.name, "func(dst *float32, a float32, x *float32, n int)")
	p, n := ptrs("dst", "x"), Load(Param("n"), GP64())
	a, zero, bit := v.param("a"), v.konst(0), v.fill(1<<31)
	v.each(n, p, func(m []Mem) {
		x := v.load(m[1])
		s := v.vec()
		v.and(x, bit, s)
		if v.bytes == 64 {
			VPXORD(a, s, s)
		} else {
			VPXOR(a, s, s)
		}
		s = v.choose(equal, x, zero, zero, s)
		VFMADD231PS(x, zero, s)
		v.store(s, m[0])
	})
}

const equal = 0x00 // and ordered: a predicate of VCMPPS

// lanes emits a loop over n elements, a multiple of 32, that keeps 32 sums and adds them to those
// in sum.
func (v *isa) lanes(names []string, body func(sum reg.VecVirtual, x []reg.VecVirtual)) {
	to, p, n := Load(Param("sum"), GP64()), ptrs(names...), Load(Param("n"), GP64())
	v.mask = nil
	sums := make([]reg.VecVirtual, 128/v.bytes)
	for i := range sums {
		sums[i] = v.vec()
		VMOVUPS(Mem{Base: to, Disp: i * v.bytes}, sums[i])
	}
	Label("loop")
	for i, s := range sums {
		var x []reg.VecVirtual
		for _, q := range p {
			x = append(x, v.load(Mem{Base: q, Disp: i * v.bytes}))
		}
		body(s, x)
	}
	for _, q := range p {
		SUBQ(I8(-128), q)
	}
	SUBQ(U8(32), n)
	JNZ(LabelRef("loop"))
	for i, s := range sums {
		VMOVUPS(s, Mem{Base: to, Disp: i * v.bytes})
	}
	end()
}

func (v *isa) dot() {
	text("dot"+v.name, "func(sum, x, y *float32, n int)")
	v.lanes([]string{"x", "y"}, func(sum reg.VecVirtual, x []reg.VecVirtual) { VFMADD231PS(x[0], x[1], sum) })
}

func (v *isa) sumAbs() {
	text("sumAbs"+v.name, "func(sum, x *float32, n int)")
	rest := v.fill(1<<31 - 1)
	v.lanes([]string{"x"}, func(sum reg.VecVirtual, x []reg.VecVirtual) {
		v.and(x[0], rest, x[0])
		VADDPS(x[0], sum, sum)
	})
}

// distances16 emits Distances16. Sums of even and odd rows stay separate until the end.
func (v *isa) distances16() {
	text("distances16"+v.name, "func(d, sums, x, q, turned *float32, plane, tall int)")
	d, sums, x := Load(Param("d"), GP64()), Load(Param("sums"), GP64()), Load(Param("x"), GP64())
	v.mask = nil
	two := v.konst(2)
	zero := v.konst(0)
	for part := range 64 / v.bytes {
		at := part * v.bytes
		row, q, turned := GP64(), Load(Param("q"), GP64()), Load(Param("turned"), GP64())
		MOVQ(x, row)
		re := [2]reg.VecVirtual{v.load(Mem{Base: sums, Disp: at}), v.konst(0)}
		im := [2]reg.VecVirtual{v.load(Mem{Base: sums, Disp: 64 + at}), v.konst(0)}
		h := [2]reg.VecVirtual{v.load(Mem{Base: sums, Disp: 128 + at}), v.konst(0)}
		name := func(s string) string { return fmt.Sprintf("%s%d", s, part) }
		broadcast := func(p reg.Register, i int) reg.VecVirtual {
			b := v.vec()
			VBROADCASTSS(Mem{Base: p, Disp: 4 * i}, b)
			return b
		}
		// loop runs one for n rows, two at a time.
		loop := func(label string, n reg.Register, ptrs []reg.Register, one func(i int)) {
			JMP(LabelRef(name(label + "more")))
			Label(name(label + "two"))
			one(0)
			one(1)
			ADDQ(U32(128), row)
			for _, p := range ptrs {
				ADDQ(U8(8), p)
			}
			Label(name(label + "more"))
			SUBQ(U8(2), n)
			JGE(LabelRef(name(label + "two")))
			ADDQ(U8(2), n)
			JZ(LabelRef(name(label + "done")))
			one(0)
			ADDQ(U8(64), row)
			for _, p := range ptrs {
				ADDQ(U8(4), p)
			}
			Label(name(label + "done"))
		}
		n := Load(Param("plane"), GP64())
		loop("plane", n, []reg.Register{q, turned}, func(i int) {
			r := v.load(Mem{Base: row, Disp: 64*i + at})
			VFMADD231PS(r, broadcast(q, i), re[i])
			VFMADD231PS(r, broadcast(turned, i), im[i])
		})
		n = Load(Param("tall"), GP64())
		loop("tall", n, []reg.Register{q}, func(i int) {
			VFMADD231PS(Mem{Base: row, Disp: 64*i + at}, broadcast(q, i), h[i])
		})
		for i, s := range [][2]reg.VecVirtual{re, im, h} {
			VADDPS(s[1], s[0], s[0])
			VMOVUPS(s[0], Mem{Base: sums, Disp: 64*i + at})
		}
		z, t := v.vec(), v.vec()
		VMULPS(im[0], im[0], z)
		VFMADD231PS(re[0], re[0], z)
		VSQRTPS(z, z)
		VADDPS(Mem{Base: row, Disp: 64 + at}, broadcast(q, 1), t)
		VSUBPS(h[0], t, t)
		VSUBPS(z, t, t)
		VMULPS(two, t, t)
		VMAXPS(t, zero, t) // NaN stays NaN
		rest := v.vec()
		VSUBPS(Mem{Base: row, Disp: at}, broadcast(q, 0), rest)
		VFMADD231PS(rest, rest, t)
		VSQRTPS(t, t)
		VMOVUPS(t, Mem{Base: d, Disp: at})
	}
	end()
}

// boxes16 emits BoxDistances16. Sums of even and odd rows stay separate until the end.
func (v *isa) boxes16() {
	text("boxes16"+v.name, "func(d, low, high, q *float32, n int)")
	d, low, high, q := Load(Param("d"), GP64()), Load(Param("low"), GP64()), Load(Param("high"), GP64()), Load(Param("q"), GP64())
	n := Load(Param("n"), GP64())
	v.mask = nil
	zero := v.konst(0)
	parts := 64 / v.bytes
	var sums [2][]reg.VecVirtual
	for i := range sums {
		for range parts {
			sums[i] = append(sums[i], v.konst(0))
		}
	}
	one := func(i int) {
		value := v.vec()
		VBROADCASTSS(Mem{Base: q, Disp: 4 * i}, value)
		for part := range parts {
			at := 64*i + part*v.bytes
			below, above := v.vec(), v.vec()
			VSUBPS(value, v.load(Mem{Base: low, Disp: at}), below)
			VSUBPS(Mem{Base: high, Disp: at}, value, above)
			VMAXPS(above, below, below)
			VMAXPS(below, zero, below) // NaN stays NaN
			VFMADD231PS(below, below, sums[i][part])
		}
	}
	JMP(LabelRef("more"))
	Label("two")
	one(0)
	one(1)
	for _, p := range []reg.Register{low, high} {
		SUBQ(I8(-128), p)
	}
	ADDQ(U8(8), q)
	Label("more")
	SUBQ(U8(2), n)
	JGE(LabelRef("two"))
	ADDQ(U8(2), n)
	JZ(LabelRef("done"))
	one(0)
	Label("done")
	for part := range parts {
		VADDPS(sums[1][part], sums[0][part], sums[0][part])
		VMOVUPS(sums[0][part], Mem{Base: d, Disp: part * v.bytes})
	}
	end()
}

// eachBits is each for at most 64 elements, with bit i of the parameter bits for element i. body
// gets the vector's bits: an AVX-512 mask, or AVX2 lanes of all ones or zeros.
func (v *isa) eachBits(names []string, body func(m []Mem, bits reg.Register)) {
	p, n, word := ptrs(names...), Load(Param("n"), GP64()), Load(Param("bits"), GP64()).(reg.GPVirtual)
	v.each(n, p, func(m []Mem) {
		if v.bytes == 64 {
			k := K()
			KMOVW(word.As32(), k)
			body(m, k)
			SHRQ(U8(16), word)
			return
		}
		x, b, lane := XMM(), YMM(), YMM()
		VMOVD(word.As32(), x)
		VPBROADCASTD(x, b)
		VMOVDQU(v.bits, lane)
		VPAND(lane, b, b)
		VPCMPEQD(lane, b, b)
		body(m, b)
		SHRQ(U8(8), word)
	})
}

func (v *isa) deal() {
	text("deal"+v.name, "func(first, second, x *float32, n int, bits uint64)")
	v.eachBits([]string{"first", "second", "x"}, func(m []Mem, bits reg.Register) {
		x, a, b := v.load(m[2]), v.vec(), v.vec()
		if v.bytes == 64 {
			not := K()
			KNOTW(bits, not)
			VMOVAPS_Z(x, not, a)
			VMOVAPS_Z(x, bits, b)
		} else {
			VANDNPS(x, bits, a)
			VANDPS(x, bits, b)
		}
		v.store(a, m[0])
		v.store(b, m[1])
	})
}

func (v *isa) pick() {
	text("pick"+v.name, "func(dst, first, second *float32, n int, bits uint64)")
	v.eachBits([]string{"dst", "first", "second"}, func(m []Mem, bits reg.Register) {
		a, b := v.load(m[1]), v.load(m[2])
		if v.bytes == 64 {
			VBLENDMPS(b, a, bits, a)
		} else {
			VBLENDVPS(bits, b, a, a)
		}
		v.store(a, m[0])
	})
}

func main() {
	begin()
	isas := families("vectorTailMasks")
	bits := GLOBL("vectorBits", RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(1<<i))
	}
	isas[0].bits = bits
	for _, v := range isas {
		v.sub()
		v.mulAdd()
		v.sign()
		v.dot()
		v.distances16()
		v.boxes16()
		v.sumAbs()
		v.deal()
		v.pick()
	}
	Generate()
}
