//go:build generate

// This program writes the kernels of blended layers:
//
//	go run blend.go isa.go -out ../blend_amd64.s -stubs ../blend_amd64.go -pkg kernel
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// blendGrad emits BlendGrad. width is a multiple of two vectors.
func (v *isa) blendGrad() {
	text("blendGrad"+v.name, "func(dx, dw, grad, x, w *float32, width, n int)")
	ptr := func(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }
	dx, dw, g, x, w := ptr("dx"), ptr("dw"), ptr("grad"), ptr("x"), ptr("w")
	width, n := ptr("width"), ptr("n")
	stride, off, i := GP64(), GP64(), GP64()
	MOVQ(width, stride)
	SHLQ(U8(2), stride)
	Label("columns")
	var wv, sum [2]reg.VecVirtual
	for k := range wv {
		wv[k], sum[k] = v.vec(), v.vec()
		VMOVUPS(Mem{Base: w, Disp: k * v.bytes}, wv[k])
		VMOVUPS(Mem{Base: dw, Disp: k * v.bytes}, sum[k])
	}
	XORQ(off, off)
	MOVQ(n, i)
	Label("rows")
	for k := range wv {
		at := func(p reg.Register) Mem { return Mem{Base: p, Index: off, Scale: 1, Disp: k * v.bytes} }
		gv, dv := v.vec(), v.vec()
		VMOVUPS(at(g), gv)
		VMOVUPS(at(dx), dv)
		VFMADD231PS(gv, wv[k], dv)
		VMOVUPS(dv, at(dx))
		VFMADD231PS(at(x), gv, sum[k])
	}
	ADDQ(stride, off)
	DECQ(i)
	JNZ(LabelRef("rows"))
	for k := range sum {
		VMOVUPS(sum[k], Mem{Base: dw, Disp: k * v.bytes})
	}
	for _, p := range []reg.Register{dx, dw, g, x, w} {
		ADDQ(U32(uint32(2*v.bytes)), p)
	}
	SUBQ(U8(uint8(2*v.bytes/4)), width)
	JNZ(LabelRef("columns"))
	end()
}

func main() {
	begin()
	(&isa{name: "AVX2", bytes: 32}).blendGrad()
	(&isa{name: "AVX512", bytes: 64}).blendGrad()
	Generate()
}
