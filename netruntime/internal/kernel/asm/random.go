//go:build generate

// This program writes the kernel that draws dropout's masks:
//
//	go run random.go isa.go -out ../random_amd64.s -stubs ../random_amd64.go -pkg kernel
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func (v *isa) fill64(x uint64) reg.VecVirtual {
	g, low, r := GP64(), XMM(), v.vec()
	MOVQ(U64(x), g)
	VMOVQ(g, low)
	VPBROADCASTQ(low, r)
	return r
}

func (v *isa) xor(a, b, to reg.VecVirtual) {
	if v.bytes == 64 {
		VPXORQ(a, b, to)
	} else {
		VPXOR(a, b, to)
	}
}

// mul returns the low halves of the products with a constant. hi has the constant's upper half in
// the lower half of every lane.
func (v *isa) mul(x, by, hi reg.VecVirtual) reg.VecVirtual {
	if v.bytes == 64 {
		r := ZMM()
		VPMULLQ(by, x, r)
		return r
	}
	a, b, c := YMM(), YMM(), YMM()
	VPSRLQ(U8(32), x, a)
	VPMULUDQ(by, a, a)
	VPMULUDQ(hi, x, b)
	VPADDQ(a, b, b)
	VPSLLQ(U8(32), b, b)
	VPMULUDQ(by, x, c)
	VPADDQ(b, c, c)
	return c
}

// dropoutMask emits Mask. n is a multiple of the lanes, next is key + (first+1)·step, and limit is
// the bound of the upper 24 bits.
func (v *isa) dropoutMask() {
	lanes := v.bytes / 8
	const step, mul1, mul2 = 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb
	text("mask"+v.name, "func(dst *float32, n int, next, limit uint64, value float32)")
	dst, n := Load(Param("dst"), GP64()), Load(Param("n"), GP64())
	lane := GLOBL("steps"+v.name, RODATA|NOPTR)
	var sum uint64
	for i := range lanes {
		DATA(8*i, U64(sum))
		sum += step
	}
	broadcast := func(name string) reg.VecVirtual {
		p, err := Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		r := v.vec()
		VPBROADCASTQ(p.Addr, r)
		return r
	}
	next, limit := broadcast("next"), broadcast("limit")
	VPADDQ(lane, next, next)
	advance := v.fill64(sum)
	m1, h1 := v.fill64(mul1), v.fill64(mul1>>32)
	m2, h2 := v.fill64(mul2), v.fill64(mul2>>32)
	p, err := Param("value").Resolve()
	if err != nil {
		panic(err)
	}
	half := XMM()
	wide := YMM()
	if lanes == 8 {
		VBROADCASTSS(p.Addr, wide)
	} else {
		VBROADCASTSS(p.Addr, half)
	}
	Label("loop")
	z, t := v.vec(), v.vec()
	VPSRLQ(U8(30), next, t)
	v.xor(t, next, z)
	z = v.mul(z, m1, h1)
	VPSRLQ(U8(27), z, t)
	v.xor(t, z, z)
	z = v.mul(z, m2, h2)
	VPSRLQ(U8(31), z, t)
	v.xor(t, z, z)
	VPSRLQ(U8(40), z, z)
	if lanes == 8 {
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
	ADDQ(U8(uint8(4*lanes)), dst)
	SUBQ(U8(uint8(lanes)), n)
	JNZ(LabelRef("loop"))
	end()
}

func main() {
	begin()
	(&isa{name: "AVX2", bytes: 32}).dropoutMask()
	(&isa{name: "AVX512", bytes: 64}).dropoutMask()
	Generate()
}
