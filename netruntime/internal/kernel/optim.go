package kernel

//go:generate env GOFLAGS=-tags=noasm go run asm/optim.go asm/isa.go -out optim_amd64.s -stubs optim_amd64.go -pkg kernel

// AdaDelta makes one optimiser step on weights w with gradient g (Zeiler 2012,
// algorithm 1, scaled by lr). sq and step are the running means of the squared
// gradients and steps:
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
		a := float32(rho*sq[i]) + float32(rest*float32(gi*gi))
		u := float32(sqrt((step[i]+eps)/(a+eps)) * gi)
		sq[i], step[i] = a, float32(rho*step[i])+float32(rest*float32(u*u))
		w[i] -= float32(lr * u)
	}
}

// Penalize adds to the gradient g of weights w that of l1·Σ|w| + l2/2·Σw²:
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
		g[i] = g[i] + s + float32(l2*v)
	}
}

// Clamp brings every value of x into [−limit, limit]. NaN stays NaN.
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

// SumSquares returns Σ x², summed in float64 in an order that depends on the
// length alone, the same in all families.
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
