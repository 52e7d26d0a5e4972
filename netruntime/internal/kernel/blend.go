package kernel

//go:generate env GOFLAGS=-tags=noasm go run asm/blend.go -out blend_amd64.s -stubs blend_amd64.go -pkg kernel

// BlendGrad is the step of a blended layer's backward pass that follows the
// product with one expert's weights. g holds n rows of len(w) values, the
// gradient of the expert's scaled input, transposed; x holds the input
// likewise, w the expert's gating weight for each column:
//
//	dx[i] = dx[i] + w·g[i]    for each row i
//	dw    = dw + Σ_i x[i]·g[i]
//
// element by element. len(w) is a multiple of PanelCols.
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
			dx[at+c] += float32(w[c] * v)
			dw[c] += float32(x[at+c] * v)
		}
	}
}
