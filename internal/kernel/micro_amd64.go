//go:build amd64 && !noasm

package kernel

//go:generate env GOFLAGS=-tags=noasm go run asm/gemm.go -out gemm_amd64.s -stubs gemm_amd64.go -pkg kernel
//go:generate env GOFLAGS=-tags=noasm go run asm/elem.go -out elem_amd64.s -stubs elem_amd64.go -pkg kernel

// The microkernels by rows − 1, one panel wide and several.
var (
	tall512 = [12]func(*tile){
		gemmAVX512_1x1, gemmAVX512_2x1, gemmAVX512_3x1, gemmAVX512_4x1, gemmAVX512_5x1, gemmAVX512_6x1,
		gemmAVX512_7x1, gemmAVX512_8x1, gemmAVX512_9x1, gemmAVX512_10x1, gemmAVX512_11x1, gemmAVX512_12x1,
	}
	wide512 = [3]func(*tile){gemmAVX512_1x4, gemmAVX512_2x2, gemmAVX512_3x2}
	tall256 = [6]func(*tile){gemmAVX2_1x1, gemmAVX2_2x1, gemmAVX2_3x1, gemmAVX2_4x1, gemmAVX2_5x1, gemmAVX2_6x1}
	wide256 = [3]func(*tile){gemmAVX2_1x4, gemmAVX2_2x2, gemmAVX2_3x2}
)

// micro runs the family's microkernel of the given size.
func (k Kind) micro(rows, panels int, t *tile) {
	switch {
	case k == Generic:
		generic(rows, t)
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
