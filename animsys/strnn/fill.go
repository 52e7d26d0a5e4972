package strnn

// fillRounds is how often what was filled in is decoded again: more often makes it no
// better.
const fillRounds = 1

// Curves over gaps have the slopes of so many frames at Rate beside them, of fewer ones
// noise is in them, and go on with these for so many frames at most.
const (
	tangent = 2
	reach   = 12
)

// Fill writes rows, (frames, columns) raw, into dst, which may be rows, with what is
// missing of them, (frames, columns), made; all else stays as it is. What rows hold there
// does not count, nor need it be finite. Gaps are bridged by curves from what is known
// before to what is after, held where that is on one side only, and the mean of all
// motion where a value is never known. That is decoded, and moved so that it meets what
// is known. Errors are as those of Denoise.
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
	tangents := tangent * d.every
	for round := 0; ; round++ {
		for i, gone := range missing {
			if x[i] = 0; !gone {
				x[i] = rows[i] - y[i]
			}
		}
		for c := range cols {
			bridge(x[c:], missing[c:], cols, tangents, reach*d.every)
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
		tangents = 0 // what is decoded has its slopes
	}
	copy(dst, x)
	return nil
}

// bridge fills the runs of missing values of x, one every stride, by cubics between the
// known ones beside them. Their slopes there are those of lines through tangents values,
// and go on for reach values at most; less than 2 tangents are level. What is known on
// one side only is held.
func bridge(x []float32, missing []bool, stride, tangents, reach int) {
	n := (len(x) + stride - 1) / stride
	at := func(i int) *float32 { return &x[i*stride] }
	known := func(i int) bool { return i >= 0 && i < n && !missing[i*stride] }
	slope := func(end, step int) float32 { // per value, from the end of what is known
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
