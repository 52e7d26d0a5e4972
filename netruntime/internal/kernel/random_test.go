package kernel

import "testing"

// The mask is that of the definition, whatever the part and its alignment.
func TestMask(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		for _, keep := range []float32{0, 1e-6, 0.3, 0.7, 1} {
			for n := range 40 {
				first, key := uint64(n*1000), uint64(n)*0x123456789abcdef
				got := make([]float32, n)
				Mask(got, key, first, keep, 3)
				for i, v := range got {
					want := float32(0)
					if float32(Hash(key, first+uint64(i))>>40) < keep*(1<<24) {
						want = 3
					}
					if v != want {
						t.Fatalf("keep %v: value %d of %d is %v, want %v", keep, i, n, v, want)
					}
				}
			}
		}
	})
}
