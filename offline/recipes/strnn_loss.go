package recipes

import (
	"math"
	"slices"
	"strings"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
)

// strnnLoss computes the loss of a strnnNet.
type strnnLoss struct {
	m       *STRNN
	net     *strnnNet
	linear  *strnn.Linear // the network predicts differences from it; nil: it predicts frames
	batch   *windows
	manners [2][]float32 // (2·columns) mean and deviation of the manners of the training windows
	kl      float64      // weight of the divergence in this epoch
	noise   float64      // deviation of the noise on the given frames in this epoch
	tunes   bool         // only the filter learns
	fixed   bool         // batch normalisation uses the running statistics
	sums    [6]float64   // sums over the held-out windows, and their number
}

func newSTRNNLoss(m *STRNN) (*strnnLoss, error) {
	groups, err := strnn.GroupsOf(m.Train.Layout)
	if err != nil {
		return nil, err
	}
	l := &strnnLoss{m: m, net: newSTRNN(m, groups, m.Train.Layout.Columns(), m.Seed), batch: m.windows()}
	if m.Start != nil {
		if l.linear, err = m.load(l.net); err != nil {
			return nil, err
		}
	}
	if m.Linear && l.linear == nil {
		if l.linear, err = fitLinear(m.Train, m.Encode, m.Predict); err != nil {
			return nil, err
		}
	}
	if m.Manner > 0 {
		l.manners = mannerNorm(m.Train)
	}
	return l, nil
}

// klRamp is the share of the epochs in which the weight of the divergence rises.
const klRamp = 0.2

// begin prepares an epoch.
func (l *strnnLoss) begin(epoch int) {
	l.tunes = l.m.Filter && float64(epoch) >= (1-l.m.Tune)*float64(l.m.Epochs)
	filter := l.net.filter.params() // the loss does not reach them before, but they must not be frozen when a run begins
	ahead := l.net.ahead()
	for _, p := range l.net.params() {
		if !strings.HasSuffix(p.Name, ".norm.mean") && !strings.HasSuffix(p.Name, ".norm.var") && !slices.Contains(filter, p) {
			p.Frozen = l.tunes || l.m.Ahead && !slices.Contains(ahead, p)
		}
	}
	l.fixed = l.tunes || l.m.Start != nil || float64(epoch) >= l.m.NormEnd*float64(l.m.Epochs)
	l.kl = l.m.KL * min(1, (float64(epoch)+0.5)/(klRamp*float64(l.m.Epochs)))
	l.noise = 0
	if end := l.m.Noise[1] * float64(l.m.Epochs); end > 0 {
		l.noise = max(0, l.m.Noise[0]*(1-float64(epoch)/end))
	}
}

// frames returns n frames of each window, (batch·n, columns) normalised, at 30 per second. In
// training they are played a little faster or slower than recorded.
func (w *windows) frames(t *grad.Tape, rows []int32, isHeldOut bool, n int, stretch float64) *grad.Mat {
	set := w.set(isHeldOut)
	cols := set.Layout.Columns()
	x := t.Const(len(rows)*n, cols)
	for i, r := range rows {
		sampleFrames(x.Val[i*n*cols:][:n*cols], set, set.Clips[set.Windows[r].Clip].Rows[w.start(r, isHeldOut)*cols:], w.speed(r, isHeldOut, stretch))
	}
	return x
}

// sampleFrames fills dst, (n, columns) normalised, with every second frame of the raw rows, played
// at a speed: see strnn.HalveRate.
func sampleFrames(dst []float32, set *dataset.MotionSet, rows []float32, speed float64) {
	l := set.Layout
	cols, body := l.Columns(), l.Body()
	last := len(rows)/cols - 2
	at := func(f float64, c int) float32 {
		i := min(int(f), last)
		k := float32(f - float64(i))
		return rows[i*cols+c] + k*(rows[(i+1)*cols+c]-rows[i*cols+c])
	}
	for i := range len(dst) / cols {
		f := 2 * speed * float64(i)
		for c := range cols {
			var v float32
			switch {
			case c < body:
				v = at(f, c)
			case c < body+feature.MotionLen:
				v = float32(speed) * (at(f, c) + at(f+speed, c)) / 2
			default:
				v = rows[min(int(f+0.5), last)*cols+c]
			}
			dst[i*cols+c] = (v - set.Mean[c]) / set.Std[c]
		}
	}
}

// addNoise adds normal noise to x.
func addNoise(x []float32, deviation float64, key uint64) {
	if deviation == 0 {
		return
	}
	for i := range x {
		x[i] += float32(deviation * normal(grad.Hash(key, uint64(2*i)), grad.Hash(key, uint64(2*i+1))))
	}
}

// corrupted returns the last encode frames of the first windows of all, n frames each, as they are
// and with noise.
func (l *strnnLoss) corrupted(t *grad.Tape, all *grad.Mat, n, windows int, key uint64) (clean, noisy *grad.Mat) {
	encode := l.m.Encode
	clean = t.Frames(t.Frames(all, all.Rows, 0, windows*n), n, n-encode, n)
	noisy = t.Const(clean.Rows, clean.Cols)
	copy(noisy.Val, clean.Val)
	for i := range windows {
		l.corrupt(noisy.Val[i*encode*all.Cols:][:encode*all.Cols], grad.Hash(key, uint64(i)+1<<41))
	}
	return clean, noisy
}

// corrupt adds noise to a motion, (frames, columns) normalised. key draws its deviation; half of
// the time contacts have another one.
func (l *strnnLoss) corrupt(x []float32, key uint64) {
	cols, contacts := l.m.Train.Layout.Columns(), l.m.Train.Layout.Contact(0)
	d := share01(grad.Hash(key, 1)) * l.m.Corrupt[0]
	onContacts := d
	if grad.Hash(key, 2)&1 == 0 {
		onContacts = share01(grad.Hash(key, 3)) * l.m.Corrupt[1]
	}
	for at := 0; at < len(x); at += cols {
		addNoise(x[at:at+contacts], d, grad.Hash(key, uint64(2*at+4)))
		addNoise(x[at+contacts:at+cols], onContacts, grad.Hash(key, uint64(2*at+5)))
	}
}

// base returns frames from to from+n−1 of those that the linear filters make of x, (batch·encode,
// columns): (batch·n, columns). Without filters it returns nil.
func (l *strnnLoss) base(t *grad.Tape, x *grad.Mat, from, n int) *grad.Mat {
	if l.linear == nil {
		return nil
	}
	encode := l.m.Encode
	b := t.Const(x.Rows/encode*n, x.Cols)
	for i := range x.Rows / encode {
		l.linear.Apply(b.Val[i*n*x.Cols:][:n*x.Cols], x.Val[i*encode*x.Cols:][:encode*x.Cols], nil, nil, from)
	}
	return b
}

// based returns frames from to from+n−1 from the network's output y and the linear filters' base.
func (l *strnnLoss) based(t *grad.Tape, y, base *grad.Mat, from, n int) *grad.Mat {
	if base == nil {
		return y
	}
	return t.Add(t.Mul(y, l.each(t, y, n, func(f int) float32 { return l.linear.Scale[from+f] })), base)
}

// each returns a constant of y's shape, with n frames per motion. Its values in frame f are of(f).
func (l *strnnLoss) each(t *grad.Tape, y *grad.Mat, n int, of func(f int) float32) *grad.Mat {
	m := t.Const(y.Rows, y.Cols)
	for r := range y.Rows {
		v := of(r % n)
		for c := range y.Cols {
			m.Val[r*y.Cols+c] = v
		}
	}
	return m
}

// error returns the error of y, frames from to from+n−1 of each motion, against want: the mean
// square of all values. With m.Distance, joints of predicted frames count by their distance
// instead. With linear filters, a frame counts less, the farther the filters are from the truth in
// it, so easy frames matter too.
func (l *strnnLoss) error(t *grad.Tape, y, want *grad.Mat, from, n int) *grad.Mat {
	miss := t.Sub(y, want)
	square := func(x *grad.Mat) *grad.Mat { return l.weighted(t, t.Mul(x, x), from, n) }
	if l.m.Distance == 0 || from < l.m.Encode {
		return square(miss)
	}
	body := l.m.Train.Layout.Body()
	off := t.Norm(t.Affine(t.Columns(miss, 0, body), l.m.Train.Std[:body], nil), 3)
	joints := float32(body) / float32(y.Cols)
	return t.WeightedSum(grad.Term{Loss: l.weighted(t, off, from, n), Weight: joints * float32(l.m.Distance)},
		grad.Term{Loss: square(t.Columns(miss, body, y.Cols)), Weight: 1 - joints})
}

// weighted returns the mean of x, frames from to from+n−1 of each motion, with the frames' weights.
func (l *strnnLoss) weighted(t *grad.Tape, x *grad.Mat, from, n int) *grad.Mat {
	if l.linear == nil {
		return t.Mean(x)
	}
	sum := float32(0)
	for f := range n {
		sum += 1 / l.linear.Scale[from+f]
	}
	return t.Mean(t.Mul(x, l.each(t, x, n, func(f int) float32 { return float32(n) / (sum * l.linear.Scale[from+f]) })))
}

// loss is train.Job.Loss.
func (l *strnnLoss) loss(t *grad.Tape, rows []int32, isHeldOut bool, key uint64) *grad.Mat {
	m := l.m
	chain := m.Chain
	if isHeldOut {
		chain, key = 1, grad.Hash(m.Seed, uint64(rows[0])) // the same noise in all epochs
	}
	batch, encode, predict := len(rows), m.Encode, m.Predict
	n := encode + chain*predict
	all := l.batch.frames(t, rows, isHeldOut, n, m.Stretch)
	cols := all.Cols
	s := &strnnPass{train: !isHeldOut && !l.fixed, keep: dropout(m.Keep, isHeldOut || l.tunes), key: key}
	filters := m.Filter && (l.tunes || isHeldOut)
	reconstructs := !m.Ahead || isHeldOut

	var clean, noisy *grad.Mat // additional frames that are only reconstructed
	again := 0
	if m.Corrupt != [2]float64{} && reconstructs {
		again = (batch + 1) / 2
		clean, noisy = l.corrupted(t, all, n, again, key)
	}
	seen := t.Const(batch*encode, cols) // the frames that each motion continues
	copy(seen.Val, t.Frames(all, n, 0, encode).Val)
	if !isHeldOut {
		addNoise(seen.Val, l.noise, grad.Hash(key, 1<<42))
	}
	code := l.codes(t, rows, isHeldOut, key)
	var terms []grad.Term
	term := func(x *grad.Mat, weight float64) {
		terms = append(terms, grad.Term{Loss: x, Weight: float32(weight)})
	}
	var losses [5]float64
	for turn := range chain {
		x, from := seen, seen // frames to encode, frames to reconstruct
		if turn == 0 && again > 0 {
			x, from = t.Join(1, seen, noisy), noisy
		}
		h, c := l.net.state(t, x, encode, s)
		want := t.Frames(all, n, encode+turn*predict, encode+(turn+1)*predict)
		ahead := func(x *grad.Mat) *grad.Mat { return t.Frames(x, x.Rows, 0, batch) }
		base := l.base(t, seen, encode, predict)
		z, kl := l.latents(t, known(t, ahead(h), code), base, want, isHeldOut, m.Mean, key, turn)
		if kl != nil {
			term(kl, l.kl/float64(predict*cols*chain))
		}
		units := l.net.after(t, ahead(h), ahead(c), known(t, z, code), base, predict)
		first := 0
		var baseBefore *grad.Mat
		if turn == 0 && reconstructs {
			bh, bc := h, c
			if again > 0 {
				bh, bc = t.Frames(h, h.Rows, batch, batch+again), t.Frames(c, c.Rows, batch, batch+again)
			} else {
				clean = t.Frames(all, n, 0, encode)
			}
			baseBefore = l.base(t, from, 0, encode)
			units = t.Join(1, l.net.before(t, bh, bc, baseBefore, encode), units)
			first = from.Rows
		}
		y := l.net.frames(t, units, s)
		if first > 0 {
			before := l.based(t, t.Frames(y, y.Rows, 0, first), baseBefore, 0, encode)
			if filters {
				before = l.net.filtered(t, before, encode)
			}
			term(l.error(t, before, clean, 0, encode), 0.5)
			losses[0] = meanSquare(before, clean)
			l.horizon(t, before, encode, term, 0.5)
			y = t.Frames(y, y.Rows, first, y.Rows)
		}
		after := l.based(t, y, base, encode, predict)
		near := min(strnn.FilterNear, encode)
		given := t.Frames(seen, encode, encode-near, encode) // the last frames before the predicted ones
		whole := t.Join(batch, given, after)
		if filters {
			after = t.Frames(l.net.filtered(t, whole, near+predict), near+predict, near, near+predict)
			whole = t.Join(batch, given, after)
		}
		term(l.error(t, after, want, encode, predict), 0.5/float64(chain))
		losses[1] = meanSquare(after, want)
		l.horizon(t, whole, near+predict, term, 0.5/float64(chain))
		if turn < chain-1 {
			seen = l.next(t, seen, after, all, turn, key)
		}
	}
	if isHeldOut {
		losses[2] = l.zeroVelocity(all, n)
		if m.Latent > 0 {
			losses[3], losses[4] = l.withPosterior(t, seen, all, code, n, s)
		}
		for i, v := range losses {
			l.sums[i] += float64(batch) * v
		}
		l.sums[5] += float64(batch)
	}
	return t.WeightedSum(terms...)
}

// isMean reports whether window i of a batch is one of the share that continues in the mean.
func (l *strnnLoss) isMean(i int, key uint64, share float64) bool {
	return share01(grad.Hash(key, uint64(i)+1<<44)) < share
}

// latents returns latent values, (batch, latents), for motions in states h, beside which are the codes
// of their manners, and their divergence
// from the prior in nats. Values are drawn from the posterior, given the wanted frames and the
// linear filters' base. The share mean of the windows, and all held-out ones, have the prior's
// means instead.
func (l *strnnLoss) latents(t *grad.Tape, h, base, want *grad.Mat, isHeldOut bool, mean float64, key uint64, turn int) (z, kl *grad.Mat) {
	if l.m.Latent == 0 {
		return nil, nil
	}
	mu, logVar := l.net.prior.forward(t, h)
	if isHeldOut || mean == 1 {
		return mu, nil
	}
	off := want
	if base != nil {
		off = t.Sub(want, base)
	}
	more, moreLogVar := l.net.posteriorOf(t, h, off) // beyond the prior: a network to start from knows its latent values, but its file has no posterior
	post, postLogVar := t.Add(mu, more), t.Add(logVar, moreLogVar)
	mask := l.each(t, mu, mu.Rows, func(i int) float32 {
		if l.isMean(i, key, mean) {
			return 0
		}
		return 1
	})
	drawn := sample(t, post, postLogVar, grad.Hash(key, uint64(turn)+1<<43))
	return t.Add(mu, t.Mul(t.Sub(drawn, mu), mask)), relativeEntropy(t, post, postLogVar, mu, logVar, mask)
}

// relativeEntropy returns the mean over the batch of the divergence of one normal distribution from
// another, in nats, where mask is 1.
func relativeEntropy(t *grad.Tape, mean, logVar, ofMean, ofLogVar, mask *grad.Mat) *grad.Mat {
	d, more := t.Sub(mean, ofMean), t.Sub(logVar, ofLogVar)
	one := t.Const(mask.Rows, mask.Cols)
	for i := range one.Val {
		one.Val[i] = 1
	}
	sum := t.Add(t.Sub(t.Exp(more), more), t.Mul(t.Mul(d, d), t.Exp(t.Scale(ofLogVar, -1))))
	return t.Scale(t.Sum(t.Mul(t.Sub(sum, one), mask)), 0.5/float32(mask.Rows))
}

// next returns the frames that motions continue after a turn: the predicted ones, or recorded ones
// if the prediction was the mean.
func (l *strnnLoss) next(t *grad.Tape, seen, after, all *grad.Mat, turn int, key uint64) *grad.Mat {
	encode, predict, cols := l.m.Encode, l.m.Predict, all.Cols
	batch := seen.Rows / encode
	n := all.Rows / batch
	x := t.Const(seen.Rows, cols)
	for i := range batch {
		to := x.Val[i*encode*cols:][:encode*cols]
		if l.m.Latent > 0 && l.isMean(i, key, l.m.Mean) {
			copy(to, all.Val[(i*n+(turn+1)*predict)*cols:])
			addNoise(to, l.noise, grad.Hash(key, uint64(i)+1<<45))
			continue
		}
		kept := (encode - predict) * cols
		copy(to, seen.Val[(i*encode+predict)*cols:][:kept])
		copy(to[kept:], after.Val[i*predict*cols:][:predict*cols])
	}
	return x
}

// horizon adds the long-horizon cost (eq. 7) of frames y: the mean square of the accelerations of
// all columns except the contacts.
func (l *strnnLoss) horizon(t *grad.Tape, y *grad.Mat, length int, term func(*grad.Mat, float64), weight float64) {
	if l.m.Horizon == 0 || length < 3 {
		return
	}
	y = t.Columns(y, 0, l.m.Train.Layout.Contact(0))
	b := t.Diff(t.Diff(y, length), length-1)
	term(t.Mean(t.Mul(b, b)), l.m.Horizon*weight)
}

// withPosterior returns the squared error of frames predicted with latent values from the
// posterior, and the divergence of the posterior from the prior in nats.
func (l *strnnLoss) withPosterior(t *grad.Tape, seen, all, code *grad.Mat, n int, s *strnnPass) (square, nats float64) {
	m := l.m
	h, c := l.net.state(t, seen, m.Encode, s)
	want := t.Frames(all, n, m.Encode, m.Encode+m.Predict)
	base := l.base(t, seen, m.Encode, m.Predict)
	z, kl := l.latents(t, known(t, h, code), base, want, false, 0, 0, 0)
	after := l.based(t, l.net.frames(t, l.net.after(t, h, c, known(t, z, code), base, m.Predict), s), base, m.Encode, m.Predict)
	return meanSquare(after, want), float64(kl.Val[0])
}

// meanSquare returns the mean square of a − b.
func meanSquare(a, b *grad.Mat) float64 {
	sum := 0.0
	for i, v := range a.Val {
		d := float64(v - b.Val[i])
		sum += d * d
	}
	return sum / float64(len(a.Val))
}

// zeroVelocity returns the mean squared error of a prediction that repeats the last given frame.
func (l *strnnLoss) zeroVelocity(all *grad.Mat, n int) float64 {
	sum, count := 0.0, 0
	for at := 0; at < all.Rows; at += n {
		for f := l.m.Encode; f < n; f++ {
			for c := range all.Cols {
				d := float64(all.Val[(at+f)*all.Cols+c] - all.Val[(at+l.m.Encode-1)*all.Cols+c])
				sum += d * d
				count++
			}
		}
	}
	return sum / float64(max(1, count))
}

// losses returns the terms of the held-out loss since the last call.
func (l *strnnLoss) losses() map[string]float64 {
	n := math.Max(1, l.sums[5])
	p := map[string]float64{"decoded": l.sums[0] / n, "predicted": l.sums[1] / n, "zero velocity": l.sums[2] / n}
	if l.m.Latent > 0 {
		p["predicted in the right way"], p["nats"] = l.sums[3]/n, l.sums[4]/n
	}
	l.sums = [6]float64{}
	return p
}
