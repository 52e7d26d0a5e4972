//go:build generate

// This program writes the kernels of losses and their gradients:
//
//	go run vector.go isa.go -out ../vector_amd64.s -stubs ../vector_amd64.go -pkg kernel
package main

import (
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

// sign: the sign of x on a, 0 where x is 0, and 0·x added for what is not
// finite.
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

// lanes emits a loop over n elements, a multiple of 32, that keeps 32 sums and
// adds them to those at sum.
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
	VZEROUPPER()
	RET()
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

func main() {
	Package("mannequin/internal/kernel")
	ConstraintExpr("amd64,!noasm")
	tail := GLOBL("vectorTailMasks", RODATA|NOPTR)
	for i := range 16 {
		w := uint32(0xffffffff)
		if i >= 8 {
			w = 0
		}
		DATA(4*i, U32(w))
	}
	for _, v := range []*isa{{name: "AVX2", bytes: 32, tail: tail, consts: map[uint32]Mem{}}, {name: "AVX512", bytes: 64}} {
		v.sub()
		v.mulAdd()
		v.sign()
		v.dot()
		v.sumAbs()
	}
	Generate()
}
