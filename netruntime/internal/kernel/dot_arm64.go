//go:build !noasm

package kernel

// dot4 is dot4Go. The processor rounds once by itself.
func dot4(k int, a []float32, as int, b []float32, bs int) (sums [4]float32) {
	if k > 0 {
		_, _ = a[(k-1)*as], b[(k-1)*bs+3]
		dot4NEON(k, &a[0], as, &b[0], bs, &sums)
	}
	return sums
}

//go:noescape
func dot4NEON(k int, a *float32, as int, b *float32, bs int, sums *[4]float32)
