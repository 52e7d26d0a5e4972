package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkPackedMul runs the products of the project's networks on one core,
// and shows the fastest run beside the multiply-add peak measured in between:
// the experts of a MANN, all layers in turn, as they are read anew by every
// call; a convolution over 240 frames and its way back; a recurrent step.
func BenchmarkPackedMul(b *testing.B) {
	mann := [][3]int{{8, 480, 512}, {8, 512, 512}, {8, 512, 363}} // parts, k, n
	for _, w := range []struct {
		name   string
		shapes [][3]int
		stride int // of A; 0 is k
		rows   []int
	}{
		{"mann", mann, 0, []int{1, 2, 3, 4, 8, 12, 16, 24, 32, 64, 192, 512}},
		{"conv-in", [][3]int{{1, 25 * 73, 256}}, 73, []int{240}},
		{"conv-out", [][3]int{{1, 13 * 256, 146}}, 256, []int{240}},
		{"lstm", [][3]int{{1, 512, 2048}}, 0, []int{1, 16, 256}},
	} {
		for _, rows := range w.rows {
			for _, family := range []string{"avx2", "avx512", "bf16"} {
				kind := AVX512
				if family == "avx2" {
					kind = AVX2
				}
				half := family == "bf16"
				if kind > Best() || half && !BF16() {
					continue
				}
				b.Run(fmt.Sprintf("net=%s/rows=%d/kernel=%s", w.name, rows, family), func(b *testing.B) {
					defer Force(kind)()
					r := rand.New(rand.NewPCG(1, 1))
					var cases []*packedCase
					flop := 0.0
					for _, s := range w.shapes {
						stride := w.stride
						if stride == 0 {
							stride = s[1]
						}
						cases = append(cases, newPackedCase(r, rows, s[1], s[2], s[0], stride, false, half, ActIdentity))
						flop += 2 * float64(rows*s[0]*s[1]*s[2])
					}
					var s Scratch
					best, peak := time.Duration(1<<62), 0.0
					for b.Loop() {
						t := time.Now()
						for _, x := range cases {
							c, w := Matrix{x.c, x.n}, Matrix{x.w, x.parts}
							if half {
								x.half.Mul(&s, c, w, MatrixBF16{x.a16, x.stride}, rows, false, x.ep, 0, x.panels())
							} else {
								x.packed.Mul(&s, c, w, Matrix{x.a, x.stride}, rows, false, x.ep, 0, x.panels())
							}
						}
						best = min(best, time.Since(t))
					}
					peak = max(peak, Peak(half, 10*time.Millisecond))
					rate := flop / float64(best.Nanoseconds())
					b.ReportMetric(best.Seconds()*1e3, "ms-min")
					b.ReportMetric(rate, "GFLOP/s")
					b.ReportMetric(100*rate/peak, "%peak")
				})
			}
		}
	}
}
