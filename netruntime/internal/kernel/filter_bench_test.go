package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkFilter times convolutions over 240 frames by minimal filtering, the
// planes included, and as products, in turns on one core. saved is the part of
// the product's time that the filter does without.
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
							direct.packed.Mul(&s, Matrix{direct.c, direct.n}, Matrix{Data: unit}, Matrix{direct.a, direct.stride}, 240, false, Epilogue{Bias: direct.ep.Bias, Act: ActReLU}, 0, direct.panels())
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
