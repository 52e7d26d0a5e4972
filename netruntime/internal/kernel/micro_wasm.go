//go:build simd128

package kernel

func families() []Kind {
	if ready := simdReady(); ready > 0 {
		unfused = ready == 1
		return []Kind{Generic, SIMD128}
	}
	return []Kind{Generic}
}

// micro runs the family's microkernel, always for a whole panel.
func (k Kind) micro(rows, _ int, t *tile) {
	if k == Generic {
		generic(rows, t)
		return
	}
	simdTile(int32(rows), int32(t.k), &t.a[0], int32(t.rs), int32(t.cs), &t.b[0], int32(t.bs),
		&t.c[0], int32(t.ldc), &t.w[0], int32(t.ws), t.first)
}

// atOnce returns how many of the given panels are computed together. It fills the strip, because a
// call costs as much as a hundred products.
func (k Kind) atOnce(rows, panels int, _ bool) int {
	return max(1, min(panels, stripRows*maxCols/(rows*k.PanelCols())))
}

// strip runs the family's packed microkernel, for whole panels.
func (k Kind) strip(rows, _ int, _ bool, t *strip) {
	if k == Generic {
		stripGeneric(rows, t)
		return
	}
	simdStrip(int32(rows), int32(t.groups), int32(t.tiles), int32(t.k), &t.a[0], int32(t.rs), int32(t.hop),
		&t.b[0], int32(t.ps), &t.c[0], int32(t.cs), &t.w[0], int32(t.ws), t.first)
}

func expAsm(dst, x []float32) bool     { return apply(simdExp, dst, x) }
func eluAsm(dst, x []float32) bool     { return apply(simdELU, dst, x) }
func sigmoidAsm(dst, x []float32) bool { return apply(simdSigmoid, dst, x) }
func tanhAsm(dst, x []float32) bool    { return apply(simdTanh, dst, x) }

func apply(f func(dst, x *float32, n int32), dst, x []float32) bool {
	if active == Generic {
		return false
	}
	f(&dst[0], &x[0], int32(len(x)))
	return true
}

func lstmCellsAsm(h, c Matrix, gates Panels, bias []float32, biasStride, rows int) bool {
	if active == Generic {
		return false
	}
	simdLSTMCells(&h.Data[0], int32(h.Stride), &c.Data[0], int32(c.Stride), &gates.Data[0], int32(gates.Stride),
		&bias[0], int32(biasStride), int32(rows))
	return true
}

// long reports whether a call is worth its cost if Go gives the same bits.
func long(x []float32) bool { return active != Generic && (len(x) >= 48 || unfused) }

func axpyAsm(dst []float32, a float32, x []float32) bool  { return scaled(simdAxpy, dst, a, x) }
func scaleAsm(dst []float32, a float32, x []float32) bool { return scaled(simdScale, dst, a, x) }

func scaled(f func(dst *float32, a float32, x *float32, n int32), dst []float32, a float32, x []float32) bool {
	if long(x) {
		f(&dst[0], a, &x[0], int32(len(x)))
	}
	return long(x)
}

func addAsm(dst, x, y []float32) bool    { return combine(simdAdd, dst, x, y) }
func subAsm(dst, x, y []float32) bool    { return combine(simdSub, dst, x, y) }
func mulAsm(dst, x, y []float32) bool    { return combine(simdMul, dst, x, y) }
func mulAddAsm(dst, x, y []float32) bool { return combine(simdMulAdd, dst, x, y) }

func combine(f func(dst, x, y *float32, n int32), dst, x, y []float32) bool {
	if long(x) {
		f(&dst[0], &x[0], &y[0], int32(len(x)))
	}
	return long(x)
}

func normalizeAsm(dst, x, mean, inv []float32) bool {
	return combine3(simdNormalize, dst, x, mean, inv)
}
func affineAsm(dst, x, scale, shift []float32) bool {
	return combine3(simdAffine, dst, x, scale, shift)
}

func combine3(f func(dst, x, y, z *float32, n int32), dst, x, y, z []float32) bool {
	if long(x) {
		f(&dst[0], &x[0], &y[0], &z[0], int32(len(x)))
	}
	return long(x)
}

func dotAsm(s *lanes, x, y []float32) bool {
	if long(x) {
		simdDot(&s[0], &x[0], &y[0], int32(len(x)))
	}
	return long(x)
}

func distances16Asm(d *[16]float32, sums *[48]float32, x, q, turned []float32, plane, tall int) bool {
	if active == Generic || len(turned) == 0 {
		return false
	}
	simdDistances16(&d[0], &sums[0], &x[0], &q[0], &turned[0], int32(plane), int32(tall))
	return true
}
