//go:build generate

// This program writes the kernels that change weights and gradients, except AdamW's:
//
//	go run optim.go isa.go -out ../optim_amd64.s -stubs ../optim_amd64.go -pkg kernel
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// adaDelta emits AdaDelta. rest = 1 − rho.
func (v *isa) adaDelta() {
	text("adaDelta"+v.name, "func(w, grad, sq, step *float32, n int, lr, rho, rest, eps float32)")
	p, n := ptrs("w", "grad", "sq", "step"), Load(Param("n"), GP64())
	lr, rho, rest, eps := v.param("lr"), v.param("rho"), v.param("rest"), v.param("eps")
	v.each(n, p, func(at []Mem) {
		g, a, d := v.load(at[1]), v.load(at[2]), v.load(at[3])
		t, u := v.vec(), v.vec()
		VMULPS(g, g, t)
		VMULPS(rho, a, a)
		VFMADD231PS(rest, t, a)
		v.store(a, at[2])
		VADDPS(eps, d, u)
		VADDPS(eps, a, t)
		VDIVPS(t, u, u)
		VSQRTPS(u, u)
		VMULPS(g, u, u)
		VMULPS(u, u, t)
		VMULPS(rho, d, d)
		VFMADD231PS(rest, t, d)
		v.store(d, at[3])
		w := v.load(at[0])
		VFNMADD231PS(lr, u, w)
		v.store(w, at[0])
	})
}

// penalize emits Penalize.
func (v *isa) penalize() {
	text("penalize"+v.name, "func(grad, w *float32, n int, l1, l2 float32)")
	p, n := ptrs("grad", "w"), Load(Param("n"), GP64())
	l1, l2, zero, sign := v.param("l1"), v.param("l2"), v.konst(0), v.fill(1<<31)
	const equal = 0
	v.each(n, p, func(at []Mem) {
		g, w := v.load(at[0]), v.load(at[1])
		s := v.vec()
		VANDPS(sign, w, s)
		VORPS(l1, s, s)
		s = v.choose(equal, w, zero, zero, s)
		VADDPS(s, g, g)
		VFMADD231PS(l2, w, g)
		v.store(g, at[0])
	})
}

// clamp emits Clamp. A NaN passes, because the limits are the first operands.
func (v *isa) clamp() {
	text("clamp"+v.name, "func(dst *float32, n int, limit float32)")
	p, n := ptrs("dst"), Load(Param("n"), GP64())
	hi, lo := v.param("limit"), v.vec()
	VXORPS(v.fill(1<<31), hi, lo)
	v.each(n, p, func(at []Mem) {
		x := v.load(at[0])
		VMINPS(x, hi, x)
		VMAXPS(x, lo, x)
		v.store(x, at[0])
	})
}

func main() {
	begin()
	for _, v := range families("optimTailMasks") {
		v.adaDelta()
		v.penalize()
		v.clamp()
	}
	Generate()
}
