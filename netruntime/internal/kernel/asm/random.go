//go:build generate

// This program writes the kernel that draws dropout's masks:
//
//	go run random.go -out ../random_amd64.s -stubs ../random_amd64.go -pkg kernel
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa emits for one instruction set, 64-bit lanes.
type isa struct {
	name  string
	lanes int
	vec   func() reg.VecVirtual
	xor   func(a, b, to reg.VecVirtual)
	// mul returns the low halves of the products with a constant. hi has the constant's upper half
	// in the lower half of every lane.
	mul func(v, by, hi reg.VecVirtual) reg.VecVirtual
}

func (s *isa) fill(v uint64) reg.VecVirtual {
	g, x, r := GP64(), XMM(), s.vec()
	MOVQ(U64(v), g)
	VMOVQ(g, x)
	VPBROADCASTQ(x, r)
	return r
}

// mask emits Mask. n is a multiple of the lanes, next is key + (first+1)·step, and limit is the
// bound of the upper 24 bits.
func (s *isa) mask() {
	const step, mul1, mul2 = 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb
	TEXT("mask"+s.name, NOSPLIT, "func(dst *float32, n int, next, limit uint64, value float32)")
	Pragma("noescape")
	dst, n := Load(Param("dst"), GP64()), Load(Param("n"), GP64())
	lane := GLOBL("steps"+s.name, RODATA|NOPTR)
	var sum uint64
	for i := range s.lanes {
		DATA(8*i, U64(sum))
		sum += step
	}
	broadcast := func(name string) reg.VecVirtual {
		p, err := Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		r := s.vec()
		VPBROADCASTQ(p.Addr, r)
		return r
	}
	next, limit := broadcast("next"), broadcast("limit")
	VPADDQ(lane, next, next)
	advance := s.fill(sum)
	m1, h1 := s.fill(mul1), s.fill(mul1>>32)
	m2, h2 := s.fill(mul2), s.fill(mul2>>32)
	p, err := Param("value").Resolve()
	if err != nil {
		panic(err)
	}
	half := XMM()
	wide := YMM()
	if s.lanes == 8 {
		VBROADCASTSS(p.Addr, wide)
	} else {
		VBROADCASTSS(p.Addr, half)
	}
	Label("loop")
	z, t := s.vec(), s.vec()
	VPSRLQ(U8(30), next, t)
	s.xor(t, next, z)
	z = s.mul(z, m1, h1)
	VPSRLQ(U8(27), z, t)
	s.xor(t, z, z)
	z = s.mul(z, m2, h2)
	VPSRLQ(U8(31), z, t)
	s.xor(t, z, z)
	VPSRLQ(U8(40), z, z)
	if s.lanes == 8 {
		k, out := K(), YMM()
		VPCMPUQ(U8(1), limit, z, k)
		VMOVAPS_Z(wide, k, out)
		VMOVUPS(out, Mem{Base: dst})
	} else {
		hi, out := XMM(), XMM()
		VPCMPGTQ(z, limit, z)
		VEXTRACTI128(U8(1), z, hi)
		VSHUFPS(U8(0x88), hi, z.(reg.Vec).AsX(), out)
		VANDPS(half, out, out)
		VMOVUPS(out, Mem{Base: dst})
	}
	VPADDQ(advance, next, next)
	ADDQ(U8(uint8(4*s.lanes)), dst)
	SUBQ(U8(uint8(s.lanes)), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func main() {
	Package("mannequin/netruntime/internal/kernel")
	ConstraintExpr("amd64,!noasm")
	avx2 := &isa{name: "AVX2", lanes: 4, vec: func() reg.VecVirtual { return YMM() },
		xor: func(a, b, to reg.VecVirtual) { VPXOR(a, b, to) },
		mul: func(v, by, hi reg.VecVirtual) reg.VecVirtual {
			a, b, c := YMM(), YMM(), YMM()
			VPSRLQ(U8(32), v, a)
			VPMULUDQ(by, a, a)
			VPMULUDQ(hi, v, b)
			VPADDQ(a, b, b)
			VPSLLQ(U8(32), b, b)
			VPMULUDQ(by, v, c)
			VPADDQ(b, c, c)
			return c
		}}
	avx512 := &isa{name: "AVX512", lanes: 8, vec: func() reg.VecVirtual { return ZMM() },
		xor: func(a, b, to reg.VecVirtual) { VPXORQ(a, b, to) },
		mul: func(v, by, _ reg.VecVirtual) reg.VecVirtual {
			r := ZMM()
			VPMULLQ(by, v, r)
			return r
		}}
	avx2.mask()
	avx512.mask()
	Generate()
}
