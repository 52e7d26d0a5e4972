package grad

// kept is dropout's decision, in float32 as defined.
func kept(key, i uint64, keep float32) bool {
	return float32(Hash(key, i)>>40) < keep*(1<<24)
}
