package mar

import (
	"cmp"
	"math"

	"mannequin/engine/m3"
	"mannequin/netruntime/vec"
)

// Options are the parameters of the translation. The defaults are those of Xia et al. 2015, sec. 7,
// if given there. 0 means the default.
type Options struct {
	Neighbours int     // K, neighbours of each class; 40; smaller classes use all windows
	Focus      float32 // how much more near neighbours count than far ones (regression.weigh); 1; below 0 all count alike, as in the paper
	Ridge      float32 // λ of the regression's slopes, for radians and metres and a nearest neighbour of weight 1; 0.1; at least 0.001
	Width      float32 // δ of eq. 4: the more, the more distant classes count; 0.7
	Confidence float32 // κ of sec. 5.3: range of trusted input, in standard deviations of the neighbours; 2
	Keep       float32 // ρ of eq. 7: share of the input beyond that range that is kept; 0.7; below 0 none
	Switch     float32 // half-life of changes of style weights, s; 0.1; below 0 they change at once
}

// leastRidge keeps regressions solvable despite the rounding of float32 sums.
const leastRidge = 1e-3

func (o Options) withDefaults() Options {
	o.Neighbours = cmp.Or(o.Neighbours, 40)
	o.Focus = cmp.Or(o.Focus, 1)
	o.Ridge = max(cmp.Or(o.Ridge, 0.1), leastRidge)
	o.Width = cmp.Or(o.Width, 0.7)
	o.Confidence = cmp.Or(o.Confidence, 2)
	o.Keep = max(cmp.Or(o.Keep, 0.7), 0)
	o.Switch = cmp.Or(o.Switch, 0.1)
	return o
}

// The sums of a regression on u = (x₋, y₋, x), each a row of columns: Σu, Σy, the upper triangle of
// Σuuᵀ, and Σuy.
const (
	sumXpXp = iota
	sumXpYp
	sumXpX
	sumXp
	sumYpYp
	sumYpX
	sumYp
	sumXX
	sumX
	sumXpY
	sumYpY
	sumXY
	sumY
	numSums
)

// regression is the workspace of one ridge regression.
type regression struct {
	cols   int
	sums   []float32    // (numSums, columns)
	yp, y  []float32    // (neighbours, columns) the output of each and the one before
	window []int32      // (neighbours)
	d      []float32    // (neighbours) distances from the query
	w      []float32    // (neighbours) weights
	part   []float32    // (columns)
	four   [][4]float32 // (neighbours) squared distances for the timing
	out    []float32    // (columns) the prediction
	beyond float32      // Σ|bias| over Σ|x − mean| of the joints: the share of input that is not trusted
	n      int
}

func newRegression(k, cols int) *regression {
	return &regression{cols: cols, sums: make([]float32, numSums*cols), yp: make([]float32, k*cols), y: make([]float32, k*cols),
		window: make([]int32, k), d: make([]float32, k), w: make([]float32, k), part: make([]float32, cols), four: make([][4]float32, k), out: make([]float32, cols)}
}

// gather reads the neighbours' outputs in a blend of styles: weights, (styles); the neighbours' own
// style fills up to 1. Neighbours without a counterpart in one of the styles are left out.
func (r *regression) gather(db *Database, nb []neighbour, weights []float32) {
	r.n = 0
	styles := len(db.Styles)
next:
	for _, b := range nb {
		f, own := int(b.window), float32(1)
		y, yp := r.output(r.n)
		clear(y)
		clear(yp)
		for s, w := range weights {
			if w == 0 {
				continue
			}
			at := db.match[f*styles+s]
			if at < 0 {
				continue next
			}
			own -= w
			first := int(db.takes[db.partner[int(db.takeOf[f])*styles+s]].first)
			db.addRow(y, w, first, at)
			db.addRow(yp, w, first, at-db.step[f*styles+s])
		}
		if own > 1e-6 {
			vec.Axpy(y, own, db.Row(f))
			vec.Axpy(yp, own, db.Row(f-1))
		}
		r.window[r.n], r.d[r.n] = b.window, b.d
		r.n++
	}
}

// output returns the i-th neighbour's output and the one before.
func (r *regression) output(i int) (y, yp []float32) {
	return r.y[i*r.cols:][:r.cols], r.yp[i*r.cols:][:r.cols]
}

// addRow adds w times the row at frame first + at, a fraction between two.
func (db *Database) addRow(dst []float32, w float32, first int, at float32) {
	i := int(at)
	a := at - float32(i)
	vec.Axpy(dst, w*(1-a), db.Row(first+i))
	if a > 0 {
		vec.Axpy(dst, w*a, db.Row(first+i+1))
	}
}

// predict writes the prediction of the ridge regression (eq. 2) into r.out, from the input x, the
// input before and the output before. Input far from the neighbours' has the bias of eq. 6 and 7;
// r.beyond becomes the share of such input. share is the neighbours' share of their class. The
// ridge shrinks slopes but not the constant: without slopes the neighbours' mean remains.
func (r *regression) predict(db *Database, x, xp, yp []float32, share float32, o *Options) {
	clear(r.sums)
	total := r.weigh(o.Focus, share)
	sum := func(i int) []float32 { return r.sums[i*r.cols:][:r.cols] }
	for i, w := range r.w[:r.n] {
		f := int(r.window[i])
		nx, nxp := db.Row(f), db.Row(f-1)
		ny, nyp := r.output(i)
		t := r.part
		vec.Scale(t, w, nxp)
		vec.MulAdd(sum(sumXpXp), t, nxp)
		vec.MulAdd(sum(sumXpYp), t, nyp)
		vec.MulAdd(sum(sumXpX), t, nx)
		vec.MulAdd(sum(sumXpY), t, ny)
		vec.Add(sum(sumXp), sum(sumXp), t)
		vec.Scale(t, w, nyp)
		vec.MulAdd(sum(sumYpYp), t, nyp)
		vec.MulAdd(sum(sumYpX), t, nx)
		vec.MulAdd(sum(sumYpY), t, ny)
		vec.Add(sum(sumYp), sum(sumYp), t)
		vec.Scale(t, w, nx)
		vec.MulAdd(sum(sumXX), t, nx)
		vec.MulAdd(sum(sumXY), t, ny)
		vec.Add(sum(sumX), sum(sumX), t)
		vec.Axpy(sum(sumY), w, ny)
	}
	n, s, cols := 1/float64(total), r.sums, r.cols
	ridge := float64(o.Ridge)
	var beyond, apart float64
	for c := range cols {
		at := func(i int) float64 { return float64(s[i*cols+c]) }
		mxp, myp, mx, my := n*at(sumXp), n*at(sumYp), n*at(sumX), n*at(sumY)
		xx := max(0, at(sumXX)-mx*at(sumX))
		reach := float64(o.Confidence) * math.Sqrt(n*xx)
		v := float64(x[c])
		bias := v - min(max(v, mx-reach), mx+reach)
		kept := float64(o.Keep) * bias
		if c >= colJoints {
			beyond += math.Abs(bias)
			apart += math.Abs(v - mx)
		}
		b := solve3([6]float64{at(sumXpXp) - mxp*at(sumXp) + ridge, at(sumXpYp) - mxp*at(sumYp), at(sumXpX) - mxp*at(sumX),
			at(sumYpYp) - myp*at(sumYp) + ridge, at(sumYpX) - myp*at(sumX), xx + ridge},
			[3]float64{at(sumXpY) - mxp*at(sumY), at(sumYpY) - myp*at(sumY), at(sumXY) - mx*at(sumY)})
		r.out[c] = float32(my + b[0]*(float64(xp[c])-bias-mxp) + b[1]*(float64(yp[c])-kept-myp) + b[2]*(v-bias-mx) + kept)
	}
	r.beyond = float32(beyond / max(apart, 1e-12))
}

// smallClassFocus is how much more the neighbours of a small class are focused. If forty are much
// of a class, the far ones show other moments.
const smallClassFocus = 20

// weigh sets the neighbours' weights to exp(−focus (1 + smallClassFocus share) d²/mean d²),
// relative to the nearest, and returns their sum.
func (r *regression) weigh(focus, share float32) (total float32) {
	focus = max(focus, 0) * (1 + smallClassFocus*share)
	var mean float32
	for _, d := range r.d[:r.n] {
		mean += d * d / float32(r.n)
	}
	least := r.d[0] // neighbours come nearest first
	for i, d := range r.d[:r.n] {
		r.w[i] = m3.Exp(-focus * (d*d - least*least) / max(mean, 1e-12))
		total += r.w[i]
	}
	return total
}

// solve3 returns the solution of a·x = b. a is the upper triangle, by rows, of a symmetric matrix
// that a ridge makes positive definite.
func solve3(a [6]float64, b [3]float64) [3]float64 {
	// a = LDLᵀ
	d0 := 1 / a[0]
	l1, l2 := a[1]*d0, a[2]*d0
	e1 := 1 / (a[3] - l1*a[1])
	m2 := a[4] - l1*a[2]
	k2 := m2 * e1
	f2 := 1 / (a[5] - l2*a[2] - k2*m2)
	y0 := b[0]
	y1 := b[1] - l1*y0
	y2 := b[2] - l2*y0 - k2*y1
	x2 := y2 * f2
	x1 := y1*e1 - k2*x2
	x0 := y0*d0 - l1*x1 - l2*x2
	return [3]float64{x0, x1, x2}
}

// If more than the first share of the input is beyond the neighbours, the output begins to keep the
// input's time, and from the second share on it keeps it altogether: the neighbours show other
// motion. Of another person's walk and run at most half is beyond them, of dances and fights three
// quarters and more.
const ownTimeFrom, ownTimeTo = 0.7, 0.8

// timing returns how many frames pass in the output from the one before to the predicted one: the
// neighbours' frames in the styles, weighted by a Gaussian of their distances in pose and velocity
// of input and output. The four distances count alike: each is divided by its mean over the
// neighbours. Call predict first.
func (r *regression) timing(db *Database, x, xp, yp, weights []float32) float32 {
	var mean [4]float32
	d := r.four[:r.n]
	for i := range d {
		f := int(r.window[i])
		nx, nxp := db.Row(f), db.Row(f-1)
		ny, nyp := r.output(i)
		d[i] = [4]float32{poseGap(x, nx), velocityGap(x, xp, nx, nxp), poseGap(r.out, ny), velocityGap(r.out, yp, ny, nyp)}
		for k, v := range d[i] {
			mean[k] += v / float32(r.n)
		}
	}
	var total, step float32
	styles := len(db.Styles)
	for i := range d {
		sq := float32(0)
		for k, v := range d[i] {
			if mean[k] > 0 {
				sq += v / mean[k]
			}
		}
		w := float32(m3.Exp64(-float64(sq) / 2))
		f, own, t := int(r.window[i]), float32(1), float32(0)
		for s, sw := range weights {
			own -= sw
			t += sw * db.step[f*styles+s]
		}
		total += w
		step += w * (t + own)
	}
	own := m3.Clamp((r.beyond-ownTimeFrom)/(ownTimeTo-ownTimeFrom), 0, 1)
	return own + (1-own)*step/total
}

// poseGap returns the squared distance of the joints' columns.
func poseGap(a, b []float32) float32 {
	var s float32
	a = a[colJoints:]
	b = b[colJoints:][:len(a)]
	for i, v := range a {
		e := v - b[i]
		s += e * e
	}
	return s
}

// velocityGap returns the squared distance of the joints' velocities, a − ap and b − bp.
func velocityGap(a, ap, b, bp []float32) float32 {
	var s float32
	a = a[colJoints:]
	ap, b, bp = ap[colJoints:][:len(a)], b[colJoints:][:len(a)], bp[colJoints:][:len(a)]
	for i, v := range a {
		e := v - ap[i] - b[i] + bp[i]
		s += e * e
	}
	return s
}
