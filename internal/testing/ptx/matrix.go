package ptx

import "math"

// loadMatrices loads four matrices of 8 rows of 16 bytes. Lane l gives the address of row l%8 of matrix l/8, and gets 4 bytes of row
// l/4 of each.
func (w *warp) loadMatrices(in *instruction) {
	w.together()
	var rows [lanes]int
	for l := range lanes {
		w.lane = l
		rows[l] = w.block.find(w.words[in.s[0]][l]+uint32(in.offset), 16)
	}
	for l := range lanes {
		now := w.now(l)
		for m := range 4 {
			w.words[in.d[m]][l] = w.readShared(rows[8*m+l/4]+4*(l%4), now)
		}
	}
}

// fragment returns a register of a lane as a number.
func (w *warp) fragment(r, l int) float32 { return math.Float32frombits(w.words[r][l]) }

// multiplyBF16 adds a (16, 16) times b (16, 8) to c (16, 8). With g = l/4 and t = l%4, lane l holds columns 2t and 2t+1 of rows g and
// g+8 of c; columns 2t, 2t+1 of rows g, g+8 of a, then columns 2t+8, 2t+9 of both; rows 2t, 2t+1 and 2t+8, 2t+9 of column g of b.
func (w *warp) multiplyBF16(in *instruction) {
	w.together()
	var a [16][16]float32
	var b [16][8]float32
	for l := range lanes {
		g, t := l/4, l%4
		for i := range 4 {
			u := w.words[in.s[i]][l]
			row, column := g+i%2*8, 2*t+i/2*8
			a[row][column], a[row][column+1] = math.Float32frombits(u<<16), math.Float32frombits(u&^0xffff)
		}
		for i := range 2 {
			u := w.words[in.s[4+i]][l]
			b[2*t+i*8][g], b[2*t+i*8+1][g] = math.Float32frombits(u<<16), math.Float32frombits(u&^0xffff)
		}
	}
	w.multiply(in, a[:], b[:])
}

// multiplyTF32 adds a (16, 8) times b (8, 8) to c (16, 8). Of lane l, c is as above; a holds column t of rows g and g+8, then column
// t+4 of both; b holds rows t and t+4 of column g. A GPU does not read the low 13 bits; here they must be zero, as after rounding.
func (w *warp) multiplyTF32(in *instruction) {
	w.together()
	var a [16][16]float32
	var b [16][8]float32
	for l := range lanes {
		g, t := l/4, l%4
		for i := range 6 {
			if w.words[in.s[i]][l]&(1<<13-1) != 0 {
				w.lane = l
				panic(troublef("an operand was not rounded to TF32"))
			}
		}
		for i := range 4 {
			a[g+i%2*8][t+i/2*4] = w.fragment(in.s[i], l)
		}
		for i := range 2 {
			b[t+i*4][g] = w.fragment(in.s[4+i], l)
		}
	}
	w.multiply(in, a[:], b[:8])
}

func (w *warp) multiply(in *instruction, a [][16]float32, b [][8]float32) {
	var c [16][8]float32
	for l := range lanes {
		for i := range 4 {
			c[l/4+i/2*8][l%4*2+i%2] = w.fragment(in.s[6+i], l)
		}
	}
	for i := range c {
		row := &c[i]
		for k := range b {
			v := a[i][k]
			for j := range row {
				row[j] += v * b[k][j]
			}
		}
	}
	for l := range lanes {
		for i := range 4 {
			w.words[in.d[i]][l] = math.Float32bits(c[l/4+i/2*8][l%4*2+i%2])
		}
	}
}
