package fbx

import (
	"math"
	"sort"
)

// curve is a number over time: keys, each with the way to the next.
type curve struct {
	times         []int64 // ticks, growing
	values        []float64
	shape         []shape // of the way from each key to the next
	before, after beyond
}

// curve7 reads a curve of version 7.
func (s *scene) curve7(r *record) (*curve, error) {
	c := &curve{}
	times, values := r.child("KeyTime"), r.child("KeyValueFloat")
	if times == nil || values == nil {
		return nil, s.errorf(r.at, "the curve has no keys")
	}
	var err error
	if c.times, err = s.wholes(times, MaxKeys); err != nil {
		return nil, err
	}
	if c.values, err = s.numbers(values, MaxKeys); err != nil {
		return nil, err
	}
	if len(c.times) != len(c.values) || len(c.times) == 0 {
		return nil, s.errorf(r.at, "the curve has %d times and %d values", len(c.times), len(c.values))
	}
	read := func(name string, whole bool) (x []float64, n []int64, err error) {
		k := r.child(name)
		if k == nil {
			return nil, nil, nil
		}
		if whole {
			n, err = s.wholes(k, MaxKeys)
			return nil, n, err
		}
		x, err = s.numbers(k, 4*MaxKeys)
		return x, nil, err
	}
	_, flags, err := read("KeyAttrFlags", true)
	if err != nil {
		return nil, err
	}
	data, _, err := read("KeyAttrDataFloat", false)
	if err != nil {
		return nil, err
	}
	if k := r.child("KeyAttrDataFloat"); s.ascii && k != nil && bits(data) {
		for i, x := range data {
			data[i] = float64(math.Float32frombits(uint32(int64(x))))
		}
	}
	_, counts, err := read("KeyAttrRefCount", true)
	if err != nil {
		return nil, err
	}
	keys := make([]key, len(c.times))
	k := 0
	for i, flag := range flags {
		n := int64(1)
		if i < len(counts) {
			n = counts[i]
		}
		var d [4]float64
		if len(data) >= 4*i+4 {
			copy(d[:], data[4*i:4*i+4])
		}
		for ; n > 0 && k < len(keys); n, k = n-1, k+1 {
			keys[k] = key7(flag, d)
		}
	}
	for ; k < len(keys); k++ {
		keys[k].flags = linear
	}
	return c, s.finish(r, c, keys)
}

// bits reports whether the data of keys in a text are the bits of numbers, as newer writers have it:
// the packed weights that each key has look like large whole numbers.
func bits(data []float64) bool {
	large := false
	for _, x := range data {
		if x != math.Trunc(x) || math.Abs(x) > math.MaxUint32 {
			return false
		}
		large = large || math.Abs(x) > 1e6
	}
	return large
}

// finish refuses curves whose times do not grow, and sets their shapes.
func (s *scene) finish(r *record, c *curve, keys []key) error {
	for k, t := range c.times {
		if k > 0 && t <= c.times[k-1] || t > 1e6*ticks || t < -1e6*ticks {
			return s.errorf(r.at, "key %d of the curve is at %g s: want times that grow", k, float64(t)/ticks)
		}
		if !(c.values[k] > -1e12 && c.values[k] < 1e12) {
			return s.errorf(r.at, "key %d of the curve has the value %g", k, c.values[k])
		}
	}
	c.setShapes(keys)
	for i, name := range []string{"Pre-Extrapolation", "Post-Extrapolation"} {
		var err error
		if *[]*beyond{&c.before, &c.after}[i], err = s.beyond(r.child(name)); err != nil {
			return err
		}
	}
	return nil
}

// at returns the value at a time in ticks.
func (c *curve) at(t int64) float64 {
	first, last := c.times[0], c.times[len(c.times)-1]
	switch {
	case t < first:
		return c.before.at(c, t, true)
	case t > last:
		return c.after.at(c, t, false)
	}
	return c.between(t)
}

// between returns the value at a time from the first to the last key.
func (c *curve) between(t int64) float64 {
	k := sort.Search(len(c.times), func(k int) bool { return c.times[k] > t }) - 1
	if k == len(c.times)-1 {
		return c.values[k]
	}
	w, a, b := &c.shape[k], c.values[k], c.values[k+1]
	span := float64(c.times[k+1] - c.times[k])
	u := float64(t-c.times[k]) / span
	switch w.kind {
	case 0:
		if w.next && t > c.times[k] {
			return b
		}
		return a
	case 1:
		return a + u*(b-a)
	}
	// A cubic Bézier curve in time and value. Its control points lie at the weights' shares of the time.
	seconds := span / ticks
	if w.outW != usualWeight || w.inW != usualWeight {
		u = solve(w.outW, 1-w.inW, u)
	}
	p1, p2 := a+w.out*w.outW*seconds, b-w.in*w.inW*seconds
	v := 1 - u
	return v*v*v*a + 3*v*v*u*p1 + 3*v*u*u*p2 + u*u*u*b
}

// solve returns the parameter at which the Bézier curve of 0, p1, p2, 1 has the value x.
func solve(p1, p2, x float64) float64 {
	lo, hi := 0.0, 1.0
	for range 60 {
		u := (lo + hi) / 2
		v := 1 - u
		if 3*v*v*u*p1+3*v*u*u*p2+u*u*u < x {
			lo = u
		} else {
			hi = u
		}
	}
	return (lo + hi) / 2
}
