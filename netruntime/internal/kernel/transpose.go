package kernel

// Transpose writes the transpose of src, rows×cols with row length ld, to dst,
// whose rows have length ldd.
func Transpose(dst []float32, ldd int, src []float32, ld, rows, cols int) {
	if rows == 0 || cols == 0 {
		return
	}
	if ld < cols || ldd < rows || len(src) < (rows-1)*ld+cols || len(dst) < (cols-1)*ldd+rows {
		panic("kernel: Transpose: a matrix is too small")
	}
	r, fast := 0, 0
	if active >= AVX2 {
		fast = cols / 8 * 8
	}
	for ; fast > 0 && r+8 <= rows; r += 8 {
		active.transpose(dst[r:], ldd, src[r*ld:], ld, fast/8)
		for c := fast; c < cols; c++ {
			for i := range 8 {
				dst[c*ldd+r+i] = src[(r+i)*ld+c]
			}
		}
	}
	for ; r < rows; r++ {
		for c, v := range src[r*ld:][:cols] {
			dst[c*ldd+r] = v
		}
	}
}
