package kernel

// Repack fills b anew, with matrices of another size too, as Pack does. It
// reuses b's memory where that is large enough. b may be zero.
func (b *Packed) Repack(trans bool, parts, k, n int, src []float32, ld int) {
	_, cols := active.tile()
	panels := (n + cols - 1) / cols
	data := b.data
	if need := parts * k * panels * cols; cap(data) < need {
		data = aligned(need)
	} else {
		data = data[:need]
	}
	*b = Packed{kind: active, parts: parts, k: k, n: n, panels: panels, data: data}
	size := k * ld
	if trans {
		size = n * ld
	}
	for e := range parts {
		part := src[e*size:]
		check("B", trans, k, n, part, ld)
		for l := 0; l < k; l += BlockK {
			kc := min(BlockK, k-l)
			for q := range panels {
				active.pack(data, trans, part, ld, l, kc, q*cols, min(cols, n-q*cols))
				data = data[kc*cols:]
			}
		}
	}
}
