package netruntime

import (
	"fmt"
	"testing"

	"mannequin/internal/kernel"
)

func BenchmarkMANN(b *testing.B) {
	n := paper.net(b, 1)
	for _, kind := range kernel.Kinds() {
		for _, workers := range []int{1, 2} {
			for _, rows := range []int{1, 4, 16, 64, 256, 1024} {
				if kind == kernel.Generic && rows > 64 {
					continue
				}
				b.Run(fmt.Sprintf("kernel=%v/workers=%d/agents=%d", kind, workers, rows), func(b *testing.B) {
					defer kernel.Force(kind)()
					s := open(b, n, rows, workers)
					x, y := randomRows(1, rows*paper.in), make([]float32, rows*paper.out)
					for b.Loop() {
						if err := s.Run(y, x, rows); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(rows)*float64(b.N)/(b.Elapsed().Seconds()*1e3), "agents/ms")
				})
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	in := encoded(b, paper.net(b, 1))
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if _, err := Decode(in); err != nil {
			b.Fatal(err)
		}
	}
}
