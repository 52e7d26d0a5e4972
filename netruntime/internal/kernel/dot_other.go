//go:build !arm64 || noasm

package kernel

func dot4(k int, a []float32, as int, b []float32, bs int) [4]float32 { return dot4Go(k, a, as, b, bs) }
