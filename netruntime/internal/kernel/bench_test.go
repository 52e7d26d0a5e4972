package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkPackedMul runs the products of the project's networks on one core. It reports the
// fastest run relative to the multiply-add peak, which it measures in between. The products are the
// experts of a MANN, all layers in turn, since every call reads them again; a convolution over 240
// frames and its backward pass; and a recurrent step.
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
							x.packed.Mul(&s, c, w, x.left(0), rows, false, x.ep, 0, x.panels())
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

// BenchmarkFilter times convolutions over 240 frames by minimal filtering, including the planes,
// and as products, in turns on one core. saved is the part of the product's time that the filter
// saves.
func BenchmarkFilter(b *testing.B) {
	for _, c := range [][3]int{ // width, channels, columns
		{3, 64, 256}, {4, 64, 256}, {5, 64, 128}, {6, 64, 128}, {7, 64, 128}, {8, 64, 128}, {9, 64, 128}, {10, 64, 128},
		{3, 128, 128}, {3, 512, 64}, {5, 256, 256}, {7, 256, 32}, {13, 256, 146}, {15, 128, 256}, {25, 64, 128}, {25, 73, 256}, {25, 256, 73}, {45, 7, 128},
	} {
		for _, kind := range []Kind{AVX2, AVX512} {
			if kind > Best() {
				continue
			}
			b.Run(fmt.Sprintf("width=%d/channels=%d/columns=%d/kernel=%v", c[0], c[1], c[2], kind), func(b *testing.B) {
				defer Force(kind)()
				r := rand.New(rand.NewPCG(1, 1))
				g := Taps{c[0], c[0] / 2, c[1]}
				x := newFilterCase(r, g, c[2], 1, 240, ActReLU)
				direct := newPackedCase(r, 240, g.Width*g.Channels, c[2], 1, g.Channels, false, false, ActReLU)
				y := x.result()
				var s Scratch
				var least [2]time.Duration
				for b.Loop() {
					for i := range least {
						from := time.Now()
						if i == 0 {
							x.Planes(x.planes, x.x, x.frames, -x.Lead(), x.frames+x.Trail())
							x.filter.Mul(&s, Windows{y, 1, x.frames, x.stride, x.skip}, x.planes, 0, x.blocks(), x.ep, 0, x.filter.Panels())
						} else {
							direct.packed.Mul(&s, Matrix{direct.c, direct.n}, Matrix{Data: unit}, direct.left(0), 240, false, Epilogue{Bias: direct.ep.Bias, Act: ActReLU}, 0, direct.panels())
						}
						if d := time.Since(from); least[i] == 0 || d < least[i] {
							least[i] = d
						}
					}
				}
				b.ReportMetric(least[0].Seconds()*1e3, "ms-filter")
				b.ReportMetric(least[1].Seconds()*1e3, "ms-product")
				b.ReportMetric(100-100*float64(least[0])/float64(least[1]), "%saved")
			})
		}
	}
}
