package netruntime

import (
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime/internal/pool"
)

// Work in parts, with pauses for others between them, has the same result.
func TestAside(t *testing.T) {
	names, nets, factors := GraphCases()
	for i, n := range nets {
		for _, batch := range []int{1, 5} {
			length := 24 * factors[i]
			s := openWith(t, n, SessionOptions{Batch: batch, Length: length, Workers: 1})
			out, in := arrays(n, 1, batch, length)
			want, _ := arrays(n, 1, batch, length)
			must.Do(t, s.RunSequences(want, in, batch, length))
			must.Do(t, pool.Aside(func() error { return s.RunSequences(out, in, batch, length) }))
			for k := range out {
				if at := different(out[k], want[k]); at >= 0 {
					t.Errorf("%s: output %d of %d sequences differs at %d", names[i], k, batch, at)
				}
			}
			s.Close()
		}
	}
}
