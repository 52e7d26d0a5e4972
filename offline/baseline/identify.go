package baseline

import "math"

// search holds the settings with which a system of one output is identified.
type search struct {
	maxOrder int
	horizon  int     // h of windows, frames
	folds    int     // of the cross-validation; 1: none
	radius   float64 // the largest magnitude of a pole
	summed   bool    // errors are of the output's running sum: times are sums of steps
}

// The most windows and frames in a least squares problem. Similar neighbours are left out.
const (
	maxWindows = 8000
	maxFrames  = 6000
)

// choice is the result of cross-validation.
type choice struct {
	order  int
	shrink float64
	rest   bool
}

// errorSums are sums of squared errors over held-out frames.
type errorSums struct {
	run     float64 // of a translation, with a guess for the first state
	settled float64 // of the system alone, with its first state fitted
}

// shrinks are the ridges tried, relative to the largest singular value, strongest first.
var shrinks = []float64{1, 1e-1, 1e-2, 1e-3, 0}

// spans cuts the records into folds: whole records, or pieces of the only one.
func (s search) spans(records []record) []span {
	var out []span
	for i, rec := range records {
		frames := len(rec.y)
		if len(records) > 1 {
			out = append(out, span{i, 0, frames, i % s.folds})
			continue
		}
		for f := range s.folds {
			out = append(out, span{i, frames * f / s.folds, frames * (f + 1) / s.folds, f})
		}
	}
	return out
}

// strides returns the strides of windows and frames.
func (s search) strides(spans []span, m int) (window, frame int) {
	windows, frames := 0, 0
	for _, sp := range spans {
		windows += windowCount(sp, s.horizon)
		frames += sp.to - sp.from
	}
	// A system of few parameters needs no thinning.
	most := maxFrames * max(1, 4/m)
	return 1 + (windows-1)/maxWindows, 1 + (frames-1)/most
}

// enough reports whether every training set of the cross-validation has enough windows.
func (s search) enough(spans []span, m int) bool {
	for f := range s.folds {
		count := 0
		for _, sp := range spans {
			if s.folds == 1 || sp.fold != f {
				count += windowCount(sp, s.horizon)
			}
		}
		if count < windowColumns(s.horizon, m) {
			return false
		}
	}
	return true
}

// identify fits a system of m inputs to records. pick chooses order, shrinkage and start by
// simulating held-out frames. If the records are too short to hold anything out, it uses the
// training error, raised as in Akaike's final prediction error.
func (s search) identify(records []record, m int) *system {
	if len(records) > 1 {
		s.folds = min(s.folds, len(records))
	}
	spans := s.spans(records)
	if s.folds > 1 && !s.enough(spans, m) {
		s.folds = 1
		spans = s.spans(records)
	}
	var power float64
	frames := 0
	for _, rec := range records {
		for _, v := range rec.y {
			power += v * v
		}
		frames += len(rec.y)
	}
	windowStride, frameStride := s.strides(spans, m)
	parts := make([]*windows, s.folds)
	for f := range parts {
		parts[f] = newWindows(s.horizon, m)
	}
	for _, sp := range spans {
		parts[sp.fold].take(records[sp.record], sp, windowStride)
	}
	errors := s.tryAll(parts, records, spans, frameStride, m)
	all := parts[0]
	if s.folds > 1 {
		all = newWindows(s.horizon, m)
		for _, p := range parts {
			all.r.add(p.r, 0)
		}
		// Whole records again: the cuts between folds are not seams.
		spans = search{folds: 1}.spans(records)
	}
	picked := s.pick(errors, power, frames, m)
	solved := s.leastSquares(all, records, spans, picked.order, frameStride, m)
	if solved == nil {
		// The decomposition failed, which was never seen with finite data. The static system is left.
		return &system{m: m, d: make([]float64, m)}
	}
	best := solved.system(picked.shrink)
	best.rest = picked.rest
	return best
}

// tryAll returns the errors of all choices. Each fold, whose windows are in parts, is held out
// once. A single fold is judged on itself.
func (s search) tryAll(parts []*windows, records []record, spans []span, frameStride, m int) map[choice]errorSums {
	errors := map[choice]errorSums{}
	for f := range s.folds {
		training, heldOut := spans, spans
		train := parts[0]
		if s.folds > 1 {
			training, heldOut = nil, nil
			train = newWindows(s.horizon, m)
			for g, p := range parts {
				if g != f {
					train.r.add(p.r, 0)
				}
			}
			for _, sp := range spans {
				if sp.fold == f {
					heldOut = append(heldOut, sp)
				} else {
					training = append(training, sp)
				}
			}
		}
		s.score(errors, train, records, training, heldOut, frameStride, m)
	}
	return errors
}

// leastSquares solves for one order; nil if a decomposition fails.
func (s search) leastSquares(w *windows, records []record, training []span, order, stride, m int) *solved {
	basis := w.observability()
	if basis == nil {
		return nil
	}
	a, c, ok := dynamics(basis, order, s.radius)
	if !ok {
		return nil
	}
	g := newGains(a, c, m)
	for _, sp := range training {
		g.take(records[sp.record], sp, stride)
	}
	return g.solve()
}

// score adds the squared errors of all choices on the held-out spans.
func (s search) score(errors map[choice]errorSums, w *windows, records []record, training, heldOut []span, stride, m int) {
	for order := 0; order <= s.maxOrder; order++ {
		ls := s.leastSquares(w, records, training, order, stride, m)
		if ls == nil {
			for _, shrink := range shrinks {
				errors[choice{order, shrink, false}] = errorSums{math.Inf(1), math.Inf(1)}
				errors[choice{order, shrink, true}] = errorSums{math.Inf(1), math.Inf(1)}
			}
			continue
		}
		for _, sp := range heldOut {
			t := newTrial(ls, records[sp.record], sp, s.summed)
			for _, shrink := range shrinks {
				zero, rest, settled := t.errors(ls.system(shrink))
				for i, run := range []float64{zero, rest} {
					key := choice{order, shrink, i == 1}
					errors[key] = errorSums{errors[key].run + run, errors[key].settled + settled}
				}
			}
		}
	}
}

// pick returns the simplest of the best choices. The best choices
// translate within 5 % of the lowest error, since the unknown first state adds some. Of these, the
// systems alone, without that state, are within 5 % of the best. Simple means a low order, then
// much shrinkage. Rounding errors count as equal.
func (s search) pick(errors map[choice]errorSums, power float64, frames, m int) (best choice) {
	floor := 1e-18 * power
	raised := func(key choice, e float64) float64 {
		if s.folds > 1 {
			return e + floor
		}
		params := float64(key.order*(m+1) + m + 1)
		return (e + floor) * (float64(frames) + params) / max(float64(frames)-params, 1)
	}
	least := math.Inf(1)
	for key, e := range errors {
		least = min(least, raised(key, e.run)) // in any order
	}
	lowest := math.Inf(1)
	for key, e := range errors {
		if raised(key, e.run) <= 1.05*least {
			lowest = min(lowest, raised(key, e.settled))
		}
	}
	for order := 0; order <= s.maxOrder; order++ {
		for _, shrink := range shrinks {
			run := math.Inf(1)
			for _, rest := range []bool{false, true} {
				key := choice{order, shrink, rest}
				r, e := raised(key, errors[key].run), raised(key, errors[key].settled)
				if r <= 1.05*least && e <= 1.05*lowest && r < 0.999*run {
					best, run = key, r
				}
			}
			if run < math.Inf(1) {
				return best
			}
		}
	}
	return best
}
