//go:build amd64 && !noasm

package kernel

import "golang.org/x/sys/cpu"

// The microkernels by rows − 1: for half a panel, one and several.
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

// micro runs the family's microkernel of the given size. 0 panels means the first half of one.
func (k Kind) micro(rows, panels int, t *tile) {
	switch k {
	case Generic:
		generic(rows, t)
	case AVX512:
		pick(panels, wide512[:], tall512[:], half512[:])[rows-1](t)
	default:
		pick(panels, wide256[:], tall256[:], half256[:])[rows-1](t)
	}
}

// transpose writes eight columns of a packed panel of the given width from eight rows of src, of
// 8·blocks elements each.
func (k Kind) transpose(dst []float32, cols int, src []float32, ld, blocks int) {
	_, _ = dst[(8*blocks-1)*cols+7], src[7*ld+8*blocks-1]
	transpose8(&dst[0], cols, &src[0], ld, blocks)
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

// The packed microkernels by rows − 1: for several panels, one and half of one.
var (
	wideStrip512  = [4]func(*strip){packedAVX512_1x2, packedAVX512_2x2, packedAVX512_3x2, packedAVX512_4x2}
	wideStripBF16 = [4]func(*strip){packedBF16_1x4, packedBF16_2x2, packedBF16_3x2, packedBF16_4x2}
	wideStrip256  = [3]func(*strip){packedAVX2_1x4, packedAVX2_2x2, packedAVX2_3x2}

	strip512 = [12]func(*strip){
		packedAVX512_1x1, packedAVX512_2x1, packedAVX512_3x1, packedAVX512_4x1, packedAVX512_5x1, packedAVX512_6x1,
		packedAVX512_7x1, packedAVX512_8x1, packedAVX512_9x1, packedAVX512_10x1, packedAVX512_11x1, packedAVX512_12x1,
	}
	stripBF16 = [12]func(*strip){
		packedBF16_1x1, packedBF16_2x1, packedBF16_3x1, packedBF16_4x1, packedBF16_5x1, packedBF16_6x1,
		packedBF16_7x1, packedBF16_8x1, packedBF16_9x1, packedBF16_10x1, packedBF16_11x1, packedBF16_12x1,
	}
	strip256 = [6]func(*strip){
		packedAVX2_1x1, packedAVX2_2x1, packedAVX2_3x1, packedAVX2_4x1, packedAVX2_5x1, packedAVX2_6x1,
	}

	halfStrip512 = [12]func(*strip){
		packedAVX512_1xHalf, packedAVX512_2xHalf, packedAVX512_3xHalf, packedAVX512_4xHalf, packedAVX512_5xHalf, packedAVX512_6xHalf,
		packedAVX512_7xHalf, packedAVX512_8xHalf, packedAVX512_9xHalf, packedAVX512_10xHalf, packedAVX512_11xHalf, packedAVX512_12xHalf,
	}
	halfStripBF16 = [12]func(*strip){
		packedBF16_1xHalf, packedBF16_2xHalf, packedBF16_3xHalf, packedBF16_4xHalf, packedBF16_5xHalf, packedBF16_6xHalf,
		packedBF16_7xHalf, packedBF16_8xHalf, packedBF16_9xHalf, packedBF16_10xHalf, packedBF16_11xHalf, packedBF16_12xHalf,
	}
	halfStrip256 = [6]func(*strip){
		packedAVX2_1xHalf, packedAVX2_2xHalf, packedAVX2_3xHalf, packedAVX2_4xHalf, packedAVX2_5xHalf, packedAVX2_6xHalf,
	}
)

// wide returns how many panels the microkernels for the given rows compute at once. With few rows,
// one panel has too few sums to keep the multipliers busy.
func (k Kind) wide(rows int, bf16 bool) int {
	switch {
	case bf16 && rows == 1:
		return 4
	case k == AVX512 && rows <= len(wideStrip512):
		return 2
	case k == AVX2 && rows <= len(wideStrip256):
		return [...]int{4, 2, 2}[rows-1]
	}
	return 1
}

// atOnce returns how many of the given panels are computed together.
func (k Kind) atOnce(rows, panels int, bf16 bool) int {
	if n := k.wide(rows, bf16); n <= panels {
		return n
	}
	return 1
}

// strip runs the family's packed microkernel of the given size. 0 panels means the first half of
// one.
func (k Kind) strip(rows, panels int, bf16 bool, t *strip) {
	switch {
	case k == Generic:
		stripGeneric(rows, t)
	case bf16:
		pick(panels, wideStripBF16[:], stripBF16[:], halfStripBF16[:])[rows-1](t)
	case k == AVX512:
		pick(panels, wideStrip512[:], strip512[:], halfStrip512[:])[rows-1](t)
	default:
		pick(panels, wideStrip256[:], strip256[:], halfStrip256[:])[rows-1](t)
	}
}

func pick[F any](panels int, wide, one, half []F) []F {
	switch panels {
	case 0:
		return half
	case 1:
		return one
	}
	return wide
}

func families() []Kind {
	x, f := &cpu.X86, []Kind{Generic}
	if x.HasAVX2 && x.HasFMA {
		f = append(f, AVX2)
		if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasBMI2 {
			f = append(f, AVX512)
		}
	}
	return f
}
