//go:build generate

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
	mask  reg.Register // of the last, partial vector; nil for whole vectors
	tail  Mem          // AVX2: table of masks
	bits  Mem          // AVX2: bit i in lane i, if needed

	consts map[uint32]Mem
}

// families returns AVX2 and AVX-512, and writes AVX2's table of masks under the
// given name: n lanes of a partial vector are the 8 words from 8 − n.
func families(masks string) []*isa {
	tail := GLOBL(masks, RODATA|NOPTR)
	for i := range 16 {
		w := uint32(0xffffffff)
		if i >= 8 {
			w = 0
		}
		DATA(4*i, U32(w))
	}
	return []*isa{{name: "AVX2", bytes: 32, tail: tail, consts: map[uint32]Mem{}}, {name: "AVX512", bytes: 64}}
}

func (v *isa) vec() reg.VecVirtual {
	if v.bytes == 64 {
		return ZMM()
	}
	return YMM()
}

func (v *isa) zero(r reg.Register) {
	if v.bytes == 64 {
		VPXORD(r, r, r)
	} else {
		VXORPS(r, r, r)
	}
}

// pointers sets p[i] = p[0] + i·n·stride; n is 2 or 3.
func pointers(p []reg.GPVirtual, stride reg.GPVirtual, n int) {
	for i := 1; i < len(p); i++ {
		LEAQ(Mem{Base: p[i-1], Index: stride, Scale: 2}, p[i])
		if n == 3 {
			ADDQ(stride, p[i])
		}
	}
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

// Predicates of VCMPPS.
const (
	unordered      = 0x03
	notLessOrEqual = 0x06 // or unordered
)

// choose returns yes if the predicate holds between a and b, else no.
func (v *isa) choose(predicate uint8, a, b, yes, no reg.VecVirtual) reg.VecVirtual {
	out := v.vec()
	if v.bytes == 64 {
		k := K()
		VCMPPS(U8(predicate), b, a, k)
		VBLENDMPS(yes, no, k, out)
	} else {
		VCMPPS(U8(predicate), b, a, out)
		VBLENDVPS(out, yes, no, out)
	}
	return out
}

// fill returns a register with the given bits in every lane.
func (v *isa) fill(bits uint32) reg.VecVirtual {
	g, x, r := GP32(), XMM(), v.vec()
	MOVL(U32(bits), g)
	VMOVD(g, x)
	VPBROADCASTD(x, r)
	return r
}

func (v *isa) konst(f float32) reg.VecVirtual { return v.fill(math.Float32bits(f)) }

// operand is fill for a first operand. AVX2 has too few registers and reads the constant from
// memory.
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

// each runs body over n elements of the given arrays. body gets one address per array.
func (v *isa) each(n reg.Register, ptrs []reg.Register, body func(m []Mem)) {
	steps := make([]int, len(ptrs))
	for i := range steps {
		steps[i] = v.bytes
	}
	v.eachOf(n, ptrs, steps, body)
}

// eachOf is each for arrays of the given bytes per vector.
func (v *isa) eachOf(n reg.Register, ptrs []reg.Register, steps []int, body func(m []Mem)) {
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
	for i, p := range ptrs {
		ADDQ(U32(uint32(steps[i])), p)
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
	end()
}

func begin() {
	Package("mannequin/netruntime/internal/kernel")
	ConstraintExpr("amd64,!noasm")
}

func end() {
	VZEROUPPER()
	RET()
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
