package mar

import (
	"math"

	"mannequin/engine/m3"
	"mannequin/netruntime/vec"
)

// Options are the parameters of the translation. Defaults are those of Xia et al.
// 2015, sec. 7, where it names them.
type Options struct {
	Neighbours int     // K, of each class; 0 means 40. A class of fewer windows uses all that it has
	Focus      float32 // how much more near neighbours count than far ones; see regression.weigh; 0 means 1, below 0 all count alike, as in the paper
	Ridge      float32 // λ of the regression's slopes, on values in radians and metres, the nearest neighbour counting 1; 0 means 0.1, less than 0.001 that
	Width      float32 // δ of eq. 4: how fast classes that are farther count less; 0 means 0.7
	Confidence float32 // κ of sec. 5.3: how many standard deviations of the neighbours the input is trusted over; 0 means 2
	Keep       float32 // ρ of eq. 7: the part of the input that lies beyond that is kept; 0 means 0.7, below 0 none
	Switch     float32 // half-life of the way to new weights of styles, s; 0 means 0.1, below 0 they count at once
}

// leastRidge keeps regressions solvable, whose float32 sums are rounded.
const leastRidge = 1e-3

func (o Options) withDefaults() Options {
	if o.Neighbours == 0 {
		o.Neighbours = 40
	}
	if o.Focus == 0 {
		o.Focus = 1
	}
	if o.Ridge == 0 {
		o.Ridge = 0.1
	}
	if o.Width == 0 {
		o.Width = 0.7
	}
	if o.Confidence == 0 {
		o.Confidence = 2
	}
	if o.Keep == 0 {
		o.Keep = 0.7
	}
	if o.Switch == 0 {
		o.Switch = 0.1
	}
	o.Keep = max(o.Keep, 0)
	o.Ridge = max(o.Ridge, leastRidge)
	return o
}

// The sums of a regression on u = (x₋, y₋, x), each a row of columns: Σu, Σy, the
// upper triangle of Σuuᵀ, and Σuy.
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

// regression is the room of one.
type regression struct {
	cols   int
	sums   []float32    // (numSums, columns)
	yp, y  []float32    // (neighbours, columns) the output of each and the one before
	window []int32      // (neighbours) whose they are
	d      []float32    // (neighbours) their distances from the query
	w      []float32    // (neighbours) how much they count, in sum as many as they are
	part   []float32    // (columns)
	four   [][4]float32 // (neighbours) squared distances for the timing
	out    []float32    // (columns) the prediction
	beyond float32      // Σ|bias| over Σ|x − mean| of the joints: the share of the input that is not trusted
	n      int
}

func newRegression(k, cols int) *regression {
	return &regression{cols: cols, sums: make([]float32, numSums*cols), yp: make([]float32, k*cols), y: make([]float32, k*cols),
		window: make([]int32, k), d: make([]float32, k), w: make([]float32, k), part: make([]float32, cols), four: make([][4]float32, k), out: make([]float32, cols)}
}

// gather fetches the neighbours' outputs in a blend of styles: weights, (styles),
// of which the rest to 1 is the neighbours' own. Neighbours without a counterpart
// in one of the styles are left out.
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
			first := int(db.takes[db.partner[int(db.of[f])*styles+s]].first)
			db.addRow(y, w, first, at)
			db.addRow(yp, w, first, at-db.step[f*styles+s])
		}
		if own > 1e-6 {
			vec.Axpy(y, own, db.row(f))
			vec.Axpy(yp, own, db.row(f-1))
		}
		r.window[r.n], r.d[r.n] = b.window, b.d
		r.n++
	}
}

// output returns the i-th neighbour's output and the one before.
func (r *regression) output(i int) (y, yp []float32) {
	return r.y[i*r.cols:][:r.cols], r.yp[i*r.cols:][:r.cols]
}

func (db *Database) row(f int) []float32 {
	cols := db.layout.columns()
	return db.rows[f*cols:][:cols]
}

// addRow adds w times the row at frame first + at, a fraction between two.
func (db *Database) addRow(dst []float32, w float32, first int, at float32) {
	i := int(at)
	a := at - float32(i)
	vec.Axpy(dst, w*(1-a), db.row(first+i))
	if a > 0 {
		vec.Axpy(dst, w*a, db.row(first+i+1))
	}
}

// predict writes into r.out what the ridge regression on the neighbours says of
// the input x, the one before, and the output before (eq. 2), with the bias of eq.
// 6 and 7 for input far from the neighbours', and into r.beyond how much of the
// input that is. share is the neighbours' of their class. The ridge shrinks slopes,
// not the constant: without slopes the neighbours' mean is left.
func (r *regression) predict(db *Database, x, xp, yp []float32, share float32, o *Options) {
	clear(r.sums)
	total := r.weigh(o.Focus, share)
	sum := func(i int) []float32 { return r.sums[i*r.cols:][:r.cols] }
	for i, w := range r.w[:r.n] {
		f := int(r.window[i])
		nx, nxp := db.row(f), db.row(f-1)
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

// narrow is how much more the neighbours of a small class are narrowed down: where
// forty of them are much of all there are, the far ones are of other moments.
const narrow = 20

// weigh sets how much the neighbours count, exp(−focus (1 + narrow share) d²/mean d²)
// of what the nearest does, and returns the sum.
func (r *regression) weigh(focus, share float32) (total float32) {
	focus = max(focus, 0) * (1 + narrow*share)
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

// solve3 returns the solution of a·x = b, a the upper triangle by rows of a
// symmetric matrix that a ridge makes positive definite.
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

// Input of which more than these shares is beyond the neighbours begins to keep its
// own time, and has it altogether: theirs is of other motion. Of another person's
// walk and run half is beyond them at most, of dances and fights three quarters and
// more.
const beyondSome, beyondAll = 0.7, 0.8

// timing returns how many frames pass in the output from the one before to the
// predicted one: the neighbours' in the styles, weighed by a Gaussian of how near
// they are to pose and velocity of input and output. The four count alike: each is
// divided by its mean over the neighbours. It goes by what predict has found.
func (r *regression) timing(db *Database, x, xp, yp, weights []float32) float32 {
	var mean [4]float32
	d := r.four[:r.n]
	for i := range d {
		f := int(r.window[i])
		nx, nxp := db.row(f), db.row(f-1)
		ny, nyp := r.output(i)
		d[i] = [4]float32{gap(x, nx), gap2(x, xp, nx, nxp), gap(r.out, ny), gap2(r.out, yp, ny, nyp)}
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
		w := float32(math.Exp(-float64(sq) / 2))
		f, own, t := int(r.window[i]), float32(1), float32(0)
		for s, sw := range weights {
			own -= sw
			t += sw * db.step[f*styles+s]
		}
		total += w
		step += w * (t + own)
	}
	own := m3.Clamp((r.beyond-beyondSome)/(beyondAll-beyondSome), 0, 1)
	return own + (1-own)*step/total
}

// gap returns the squared distance of the joints' columns.
func gap(a, b []float32) float32 {
	var s float32
	a = a[colJoints:]
	b = b[colJoints:][:len(a)]
	for i, v := range a {
		e := v - b[i]
		s += e * e
	}
	return s
}

// gap2 returns that of the joints' velocities, a − ap and b − bp.
func gap2(a, ap, b, bp []float32) float32 {
	var s float32
	a = a[colJoints:]
	ap, b, bp = ap[colJoints:][:len(a)], b[colJoints:][:len(a)], bp[colJoints:][:len(a)]
	for i, v := range a {
		e := v - ap[i] - b[i] + bp[i]
		s += e * e
	}
	return s
}
