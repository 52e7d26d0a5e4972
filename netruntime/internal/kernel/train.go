package kernel

import "math"

//go:generate env GOFLAGS=-tags=noasm go run asm/optim.go asm/isa.go -out optim_amd64.s -stubs optim_amd64.go -pkg kernel

// AdaDelta makes one optimiser step on weights w with gradient g (Zeiler 2012, algorithm 1, scaled
// by lr). sq and step are the running means of the squared gradients and steps:
//
//	sq   = rho·sq + (1 − rho)·g²
//	u    = √((step + eps)/(sq + eps))·g
//	step = rho·step + (1 − rho)·u²
//	w    = w − lr·u
func AdaDelta(w, g, sq, step []float32, lr, rho, eps float32) {
	same("AdaDelta", len(w), len(g), len(sq), len(step))
	rest := 1 - rho
	if len(w) == 0 || adaDeltaAsm(w, g, sq, step, lr, rho, rest, eps) {
		return
	}
	for i, gi := range g {
		a := fma(rest, float32(gi*gi), float32(rho*sq[i]))
		u := float32(sqrt((step[i]+eps)/(a+eps)) * gi)
		sq[i], step[i] = a, fma(rest, float32(u*u), float32(rho*step[i]))
		w[i] = fma(-lr, u, w[i])
	}
}

// Penalize adds to the gradient g of weights w the gradient of l1·Σ|w| + l2/2·Σw²:
//
//	g = g + l1·sign(w) + l2·w
//
// The sign of 0 is 0.
func Penalize(g, w []float32, l1, l2 float32) {
	same("Penalize", len(g), len(w))
	if len(g) == 0 || penalizeAsm(g, w, l1, l2) {
		return
	}
	for i, v := range w {
		s := l1
		switch {
		case v < 0:
			s = -l1
		case v == 0:
			s = 0
		}
		g[i] = fma(l2, v, g[i]+s)
	}
}

// Clamp limits every value of x to [−limit, limit]. NaN stays NaN.
func Clamp(x []float32, limit float32) {
	if len(x) == 0 || clampAsm(x, limit) {
		return
	}
	for i, v := range x {
		switch {
		case v > limit:
			x[i] = limit
		case v < -limit:
			x[i] = -limit
		}
	}
}

// SumSquares returns Σ x², summed in float64 in an order that depends only on the length and is the
// same in all families.
func SumSquares(x []float32) float64 {
	var s [8]float64
	for ; len(x) >= len(s); x = x[len(s):] {
		for i, v := range x[:len(s)] {
			s[i] += float64(v) * float64(v)
		}
	}
	for i, v := range x {
		s[i] += float64(v) * float64(v)
	}
	return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
}

//go:generate env GOFLAGS=-tags=noasm go run asm/blend.go asm/isa.go -out blend_amd64.s -stubs blend_amd64.go -pkg kernel

// BlendGrad is the step after the product with one expert's weights in a blended layer's backward
// pass. g holds n rows of len(w) values: the gradient of the expert's scaled input, transposed. x
// holds the input, transposed too, and w the expert's gating weight for each column. Element by
// element:
//
//	dx[i] = dx[i] + w·g[i]    for each row i
//	dw    = dw + Σ_i x[i]·g[i]
//
// len(w) is a multiple of PanelCols.
func BlendGrad(dx, dw, g, x, w []float32, n int) {
	width := len(w)
	if n < 0 || len(dx) < n*width || len(g) < n*width || len(x) < n*width || len(dw) != width || width%active.PanelCols() != 0 {
		panic("kernel: BlendGrad: slices of wrong lengths")
	}
	if n == 0 || width == 0 || blendGradAsm(dx, dw, g, x, w, n) {
		return
	}
	for i := range n {
		at := i * width
		for c, v := range g[at:][:width] {
			dx[at+c] = fma(v, w[c], dx[at+c])
			dw[c] = fma(x[at+c], v, dw[c])
		}
	}
}

//go:generate env GOFLAGS=-tags=noasm go run asm/random.go asm/isa.go -out random_amd64.s -stubs random_amd64.go -pkg kernel

// Hash mixes two numbers into 64 random bits. It is a random source without state, so there is none
// to save.
func Hash(key, i uint64) uint64 {
	z := key + (i+1)*hashStep // splitmix64, started at key
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

const hashStep = 0x9e3779b97f4a7c15

// Mask draws a dropout mask for the values first, first+1, …. dst is value with probability keep in
// [0, 1], and 0 otherwise. Hash of key and the value's number decides, so all families give the
// same.
func Mask(dst []float32, key, first uint64, keep, value float32) {
	limit := uint64(math.Ceil(float64(keep) * (1 << 24))) // of Hash's upper 24 bits
	fast := 0
	if len(dst) >= 8 {
		fast = maskAsm(dst[:len(dst)&^7], key+(first+1)*hashStep, limit, value)
	}
	for i := range dst[fast:] {
		m := float32(0)
		if Hash(key, first+uint64(fast+i))>>40 < limit {
			m = value
		}
		dst[fast+i] = m
	}
}
