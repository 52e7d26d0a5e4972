package kernel

import "math"

//go:generate env GOFLAGS=-tags=noasm go run asm/random.go -out random_amd64.s -stubs random_amd64.go -pkg kernel

// Hash mixes two numbers into 64 random bits: the source of randomness that
// needs no state, so that there is none to save.
func Hash(key, i uint64) uint64 {
	z := key + (i+1)*hashStep // splitmix64, started at key
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

const hashStep = 0x9e3779b97f4a7c15

// Mask draws dropout's mask for the values first, first+1, …: dst is value
// with the probability keep in [0, 1], which Hash of key and the number of the
// value decides, and 0 otherwise. All families give the same.
func Mask(dst []float32, key, first uint64, keep, value float32) {
	limit := uint64(math.Ceil(float64(keep) * (1 << 24))) // of Hash's upper 24 bits
	fast := 0
	if len(dst) >= 8 {
		fast = maskAsm(dst[:len(dst)&^7], key+(first+1)*hashStep, limit, value)
	}
	for i := range dst[fast:] {
		m := float32(0)
		if Hash(key, first+uint64(fast+i))>>40 < limit {
			m = value
		}
		dst[fast+i] = m
	}
}
