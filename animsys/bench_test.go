package animsys_test

import (
	"fmt"
	"testing"
)

func BenchmarkTick(b *testing.B) {
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprintf("agents=%d", n), func(b *testing.B) {
			w := newWorld(b, n, 0)
			for i := range n {
				w.goal(w.spawn(i), i, 5)
			}
			for b.Loop() {
				w.step()
			}
		})
	}
}
