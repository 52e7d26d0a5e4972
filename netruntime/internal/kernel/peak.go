package kernel

import "time"

// Peak measures how many floating-point operations a second one core makes in
// the active family's multiply-adds, or in those of bfloat16, when it does
// nothing else, in 10⁹. It takes the best of many short blocks within d.
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
