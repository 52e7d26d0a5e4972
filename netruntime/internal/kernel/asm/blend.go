//go:build generate

// This program writes the kernels of blended layers:
//
//	go run blend.go -out ../blend_amd64.s -stubs ../blend_amd64.go -pkg kernel
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// blendGrad emits BlendGrad. width is a multiple of two vectors.
func blendGrad(name string, bytes int, vec func() reg.VecVirtual) {
	TEXT("blendGrad"+name, NOSPLIT, "func(dx, dw, grad, x, w *float32, width, n int)")
	Pragma("noescape")
	ptr := func(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }
	dx, dw, g, x, w := ptr("dx"), ptr("dw"), ptr("grad"), ptr("x"), ptr("w")
	width, n := ptr("width"), ptr("n")
	stride, off, i := GP64(), GP64(), GP64()
	MOVQ(width, stride)
	SHLQ(U8(2), stride)
	Label("columns")
	var wv, sum [2]reg.VecVirtual
	for v := range wv {
		wv[v], sum[v] = vec(), vec()
		VMOVUPS(Mem{Base: w, Disp: v * bytes}, wv[v])
		VMOVUPS(Mem{Base: dw, Disp: v * bytes}, sum[v])
	}
	XORQ(off, off)
	MOVQ(n, i)
	Label("rows")
	for v := range wv {
		at := func(p reg.Register) Mem { return Mem{Base: p, Index: off, Scale: 1, Disp: v * bytes} }
		gv, dv := vec(), vec()
		VMOVUPS(at(g), gv)
		VMOVUPS(at(dx), dv)
		VFMADD231PS(gv, wv[v], dv)
		VMOVUPS(dv, at(dx))
		VFMADD231PS(at(x), gv, sum[v])
	}
	ADDQ(stride, off)
	DECQ(i)
	JNZ(LabelRef("rows"))
	for v := range sum {
		VMOVUPS(sum[v], Mem{Base: dw, Disp: v * bytes})
	}
	for _, p := range []reg.Register{dx, dw, g, x, w} {
		ADDQ(U32(uint32(2*bytes)), p)
	}
	SUBQ(U8(uint8(2*bytes/4)), width)
	JNZ(LabelRef("columns"))
	VZEROUPPER()
	RET()
}

func main() {
	Package("mannequin/netruntime/internal/kernel")
	ConstraintExpr("amd64,!noasm")
	blendGrad("AVX2", 32, func() reg.VecVirtual { return YMM() })
	blendGrad("AVX512", 64, func() reg.VecVirtual { return ZMM() })
	Generate()
}
