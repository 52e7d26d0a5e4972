package strnn

// fillRounds is the number of reconstructions of the filled motion. More do not improve it.
const fillRounds = 1

// Slopes of curves over gaps come from tangent frames at Rate beside them, because fewer frames are
// noisy. They extend over at most reach frames.
const (
	tangent = 2
	reach   = 12
)

// Fill writes rows, (frames, columns) raw, with its missing values filled into dst, which may be
// rows. missing, (frames, columns), marks them; their values are ignored and need not be finite.
// Everything else stays. Gaps are bridged by curves between the known ends; a gap with one known
// end holds it, and a value that is never known is the mean of the training data. The network
// reconstructs the result, which is then shifted to meet the known values. Errors are those of
// Denoise.
func (d *Denoiser) Fill(dst, rows []float32, missing []bool) error {
	if err := d.check(dst, rows, missing); err != nil {
		return err
	}
	cols := d.m.Layout.Columns()
	x, y := make([]float32, len(rows)), make([]float32, len(rows))
	if mean, ok := d.m.Net.Tensor("mean"); ok && len(mean.Data) == cols {
		for at := 0; at < len(y); at += cols {
			copy(y[at:], mean.Data)
		}
	}
	tangents := tangent * d.factor
	for round := 0; ; round++ {
		for i, gone := range missing {
			if x[i] = 0; !gone {
				x[i] = rows[i] - y[i]
			}
		}
		for c := range cols {
			bridge(x[c:], missing[c:], cols, tangents, reach*d.factor)
		}
		for i, gone := range missing {
			if x[i] += y[i]; !gone {
				x[i] = rows[i]
			}
		}
		d.clamp(x, missing)
		if round == fillRounds {
			break
		}
		if err := d.project(y, x); err != nil {
			return err
		}
		tangents = 0 // reconstructed values already have the slopes
	}
	copy(dst, x)
	return nil
}

// bridge fills the runs of missing values of x, one every stride, with cubics between the known
// ends. Slopes are those of lines through tangents values and extend over at most reach values;
// fewer than 2 tangents give slope 0. A gap with one known end holds it.
func bridge(x []float32, missing []bool, stride, tangents, reach int) {
	n := (len(x) + stride - 1) / stride
	at := func(i int) *float32 { return &x[i*stride] }
	known := func(i int) bool { return i >= 0 && i < n && !missing[i*stride] }
	slope := func(end, step int) float32 { // per value, at the end of the known values
		k := 0
		for k < tangents && known(end+k*step) {
			k++
		}
		var along, square float32
		for i := range k {
			t := float32(i) - float32(k-1)/2
			along, square = along+t**at(end + i*step), square+t*t
		}
		if square == 0 {
			return 0
		}
		return float32(step) * along / square
	}
	for from := 0; from < n; from++ {
		if known(from) {
			continue
		}
		to := from
		for to < n && !known(to) {
			to++
		}
		var a, b, va, vb float32
		long := float32(to - from + 1)
		switch {
		case from > 0 && to < n:
			far := min(long, float32(reach))
			a, b, va, vb = *at(from - 1), *at(to), far*slope(from-1, -1), far*slope(to, 1)
		case from > 0:
			a, b = *at(from - 1), *at(from - 1)
		case to < n:
			a, b = *at(to), *at(to)
		}
		for i := from; i < to; i++ {
			t := float32(i-from+1) / long
			t2, t3 := t*t, t*t*t
			*at(i) = (2*t3-3*t2+1)*a + (t3-2*t2+t)*va + (3*t2-2*t3)*b + (t3-t2)*vb
		}
		from = to
	}
}
