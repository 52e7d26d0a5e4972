package kernel

import (
	"math"
	"time"
)

// BF16 reports whether the active family multiplies in bfloat16: AVX-512 on a processor with
// AVX512_BF16.
func BF16() bool { return active == AVX512 && hasBF16 }

// ToBF16 rounds to bfloat16, the upper half of a float32: to nearest, ties to even. NaN stays NaN.
func ToBF16(dst []uint16, src []float32) {
	same("ToBF16", len(dst), len(src))
	if len(dst) == 0 || toBF16Asm(dst, src) {
		return
	}
	for i, v := range src {
		u := math.Float32bits(v)
		if v != v {
			dst[i] = uint16(u>>16) | 0x40
			continue
		}
		dst[i] = uint16((u + 0x7fff + u>>16&1) >> 16)
	}
}

// PackBF16 is Pack with the matrices rounded to bfloat16, for left sides in bfloat16. Products and
// sums are float32, computed in pairs of products; subnormal numbers count as zero. It panics if
// BF16 is false.
func PackBF16(trans bool, parts, k, n int, b []float32, ldb int) *Packed {
	if !BF16() {
		panic("kernel: PackBF16: no bfloat16 kernels here")
	}
	p := &Packed{layout: newLayout(true, parts, k, n)}
	p.half = aligned16(p.panel(p.panels, 0))
	wide, rounded := make([]float32, k*p.cols), make([]uint16, k*p.cols)
	p.eachPanel(trans, b, ldb, func(q, e int, part []float32, cols int) {
		p.kind.pack(wide, trans, part, ldb, 0, k, q*p.cols, cols)
		ToBF16(rounded, wide)
		dst := p.half[p.panel(q, e):][:p.part()]
		for l := range k {
			row := dst[l/2*2*p.cols+l%2:]
			for j, v := range rounded[l*p.cols:][:p.cols] {
				row[2*j] = v
			}
		}
	})
	return p
}

// Peak measures how many billion floating-point operations per second one core reaches with the
// active family's multiply-adds, in bfloat16 or float32. It returns the best of many short blocks
// within d.
func Peak(bf16 bool, d time.Duration) float64 {
	if bf16 && !BF16() {
		panic("kernel: Peak: no bfloat16 kernels here")
	}
	best := 0.0
	for start := time.Now(); best == 0 || time.Since(start) < d; {
		t := time.Now()
		flop := peakAsm(bf16, 1<<13)
		if flop == 0 {
			flop = peakGeneric(1 << 13)
		}
		best = max(best, float64(flop)/float64(time.Since(t).Nanoseconds()))
	}
	return best
}

var peakSink float32

func peakGeneric(rounds int) (flop int) {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	x := peakSink
	for range rounds {
		s0 += float32(s0 * x)
		s1 += float32(s1 * x)
		s2 += float32(s2 * x)
		s3 += float32(s3 * x)
		s4 += float32(s4 * x)
		s5 += float32(s5 * x)
		s6 += float32(s6 * x)
		s7 += float32(s7 * x)
	}
	peakSink = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7
	return rounds * 16
}
