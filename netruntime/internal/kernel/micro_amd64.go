//go:build amd64 && !noasm

package kernel

// The microkernels by rows − 1, half a panel wide, one and several.
var (
	half512 = [12]func(*tile){
		gemmAVX512_1x0, gemmAVX512_2x0, gemmAVX512_3x0, gemmAVX512_4x0, gemmAVX512_5x0, gemmAVX512_6x0,
		gemmAVX512_7x0, gemmAVX512_8x0, gemmAVX512_9x0, gemmAVX512_10x0, gemmAVX512_11x0, gemmAVX512_12x0,
	}
	tall512 = [12]func(*tile){
		gemmAVX512_1x1, gemmAVX512_2x1, gemmAVX512_3x1, gemmAVX512_4x1, gemmAVX512_5x1, gemmAVX512_6x1,
		gemmAVX512_7x1, gemmAVX512_8x1, gemmAVX512_9x1, gemmAVX512_10x1, gemmAVX512_11x1, gemmAVX512_12x1,
	}
	wide512 = [3]func(*tile){gemmAVX512_1x4, gemmAVX512_2x2, gemmAVX512_3x2}
	half256 = [6]func(*tile){gemmAVX2_1x0, gemmAVX2_2x0, gemmAVX2_3x0, gemmAVX2_4x0, gemmAVX2_5x0, gemmAVX2_6x0}
	tall256 = [6]func(*tile){gemmAVX2_1x1, gemmAVX2_2x1, gemmAVX2_3x1, gemmAVX2_4x1, gemmAVX2_5x1, gemmAVX2_6x1}
	wide256 = [3]func(*tile){gemmAVX2_1x4, gemmAVX2_2x2, gemmAVX2_3x2}
)

// micro runs the family's microkernel of the given size; no panel is the first
// half of one.
func (k Kind) micro(rows, panels int, t *tile) {
	switch {
	case k == Generic:
		generic(rows, t)
	case k == AVX512 && panels == 0:
		half512[rows-1](t)
	case panels == 0:
		half256[rows-1](t)
	case k == AVX512 && panels > 1:
		wide512[rows-1](t)
	case k == AVX512:
		tall512[rows-1](t)
	case panels > 1:
		wide256[rows-1](t)
	default:
		tall256[rows-1](t)
	}
}

// transpose writes eight columns of a packed panel of the given width from
// eight rows of src, 8·blocks elements each.
func (k Kind) transpose(dst []float32, cols int, src []float32, ld, blocks int) {
	_, _ = dst[(8*blocks-1)*cols+7], src[7*ld+8*blocks-1]
	transpose8(&dst[0], cols, &src[0], ld, blocks)
}

func expAsm(dst, x []float32) bool {
	switch active {
	case AVX512:
		expAVX512(&dst[0], &x[0], len(dst))
	case AVX2:
		expAVX2(&dst[0], &x[0], len(dst))
	}
	return active != Generic
}

func eluAsm(dst, x []float32) bool {
	switch active {
	case AVX512:
		eluAVX512(&dst[0], &x[0], len(dst))
	case AVX2:
		eluAVX2(&dst[0], &x[0], len(dst))
	}
	return active != Generic
}

func eluGradAsm(dx, dy, y []float32) bool {
	switch active {
	case AVX512:
		eluGradAVX512(&dx[0], &dy[0], &y[0], len(dx))
	case AVX2:
		eluGradAVX2(&dx[0], &dy[0], &y[0], len(dx))
	}
	return active != Generic
}

func axpyAsm(dst []float32, a float32, x []float32) bool {
	switch active {
	case AVX512:
		axpyAVX512(&dst[0], a, &x[0], len(dst))
	case AVX2:
		axpyAVX2(&dst[0], a, &x[0], len(dst))
	}
	return active != Generic
}

func scaleAsm(dst []float32, a float32, x []float32) bool {
	switch active {
	case AVX512:
		scaleAVX512(&dst[0], a, &x[0], len(dst))
	case AVX2:
		scaleAVX2(&dst[0], a, &x[0], len(dst))
	}
	return active != Generic
}

func mulAsm(dst, x, y []float32) bool {
	switch active {
	case AVX512:
		mulAVX512(&dst[0], &x[0], &y[0], len(dst))
	case AVX2:
		mulAVX2(&dst[0], &x[0], &y[0], len(dst))
	}
	return active != Generic
}

func adamWAsm(w, g, m, v []float32, lr, keep, beta1, beta2, rest1, rest2, eps, c1, c2 float32) bool {
	switch active {
	case AVX512:
		adamWAVX512(&w[0], &g[0], &m[0], &v[0], len(w), lr, keep, beta1, beta2, rest1, rest2, eps, c1, c2)
	case AVX2:
		adamWAVX2(&w[0], &g[0], &m[0], &v[0], len(w), lr, keep, beta1, beta2, rest1, rest2, eps, c1, c2)
	}
	return active != Generic
}
