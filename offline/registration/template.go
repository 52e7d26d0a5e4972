package registration

import "math"

// template holds features on a timeline, to which takes are registered.
type template struct {
	frames int
	cyclic bool
	hold   int       // frames for which a template that does not repeat is held before it begins and after it ends
	rows   []float64 // (frames, columns)
}

// fit sets the gain and the offset of each column of a take that bring it nearest to the
// template, by least squares with a pull toward a gain of 1. Gains are bounded, so that left
// does not become right, nor noise a swing.
func fit(gain, offset []float64, f *features, t *template, times []float64) {
	const pull, bound = 0.2, 3
	n := f.cols
	row := make([]float64, n)
	mx, mr := make([]float64, n), make([]float64, n)
	xx, xr := make([]float64, n), make([]float64, n)
	count := 0.0
	for i, at := range times {
		if !t.row(row, at) {
			continue
		}
		count++
		for k, x := range f.rows[i*n:][:n] {
			mx[k] += x
			mr[k] += row[k]
			xx[k] += x * x
			xr[k] += x * row[k]
		}
	}
	if count < 3 {
		return
	}
	for k := range n {
		mx[k] /= count
		mr[k] /= count
		variance, covariance := xx[k]/count-mx[k]*mx[k], xr[k]/count-mx[k]*mr[k]
		gain[k] = min(max((covariance+pull)/(variance+pull), 1./bound), bound)
		offset[k] = mr[k] - gain[k]*mx[k]
	}
}

// row writes the template's row at a time, and reports whether it reaches there.
func (t *template) row(dst []float64, at float64) bool {
	n := len(dst)
	whole := math.Floor(at)
	share := at - whole
	a, b := int(whole), int(whole)+1
	if t.cyclic {
		a, b = wrap(a, t.frames), wrap(b, t.frames)
	} else if a < 0 || b >= t.frames {
		if a < 0 || a >= t.frames || share > 0 {
			return false
		}
		b = a
	}
	for k := range dst {
		dst[k] = t.rows[a*n+k] + share*(t.rows[b*n+k]-t.rows[a*n+k])
	}
	return true
}

func wrap(i, n int) int { return ((i % n) + n) % n }

// moments returns the mean and the deviation of each of the template's columns.
func (t *template) moments(cols int) (mean, dev []float64) {
	mean, dev = make([]float64, cols), make([]float64, cols)
	v := make([]float64, t.frames)
	for k := range cols {
		for i := range v {
			v[i] = t.rows[i*cols+k]
		}
		mean[k], dev[k] = moments(v)
	}
	return mean, dev
}

// average makes the template the mean of all takes on the timeline, scaled and offset. Each
// counts once, whatever its length. Columns keep the deviation of the first template: the
// mean of takes that are not yet aligned is flatter than each of them.
func (r *registrar) average() {
	cols, frames := r.feat[0].cols, r.template.frames
	sum, count := make([]float64, frames*cols), make([]float64, frames)
	for i, f := range r.feat {
		own, seen := make([]float64, frames*cols), make([]float64, frames)
		r.each(r.times[i], func(bin int, at float64) {
			a := int(at)
			b, share := min(a+1, f.frames-1), at-float64(a)
			for k := range cols {
				x := f.rows[a*cols+k] + share*(f.rows[b*cols+k]-f.rows[a*cols+k])
				own[bin*cols+k] += r.gain[i][k]*x + r.offset[i][k]
			}
			seen[bin]++
		})
		for bin, n := range seen {
			if n == 0 {
				continue
			}
			for k := range cols {
				sum[bin*cols+k] += own[bin*cols+k] / n
			}
			count[bin]++
		}
	}
	for bin, n := range count {
		for k := range cols {
			if n > 0 { // otherwise the old value stays
				r.template.rows[bin*cols+k] = sum[bin*cols+k] / n
			}
		}
	}
	mean, dev := r.template.moments(cols)
	for k := range cols {
		if dev[k] > 0 {
			for bin := range frames {
				v := &r.template.rows[bin*cols+k]
				*v = (*v - mean[k]) * min(r.spread[k]/dev[k], 2)
			}
		}
	}
}

// each calls visit for each whole frame of the timeline that a take's times pass, with the
// frame of the template and the fractional frame of the take.
func (r *registrar) each(times []float64, visit func(bin int, at float64)) {
	f := 0
	for t := math.Ceil(times[0]); t <= times[len(times)-1]; t++ {
		for f+1 < len(times) && times[f+1] < t {
			f++
		}
		at := float64(f)
		if f+1 < len(times) {
			at += (t - times[f]) / (times[f+1] - times[f])
		}
		switch bin := int(t); {
		case r.cyclic:
			visit(wrap(bin, r.template.frames), at)
		case bin >= 0 && bin < r.template.frames:
			visit(bin, at)
		}
	}
}
