package fbx

import (
	"math"
	"sort"
)

// curve is a number over time: keys, each with the way to the next.
type curve struct {
	times  []int64 // ticks, growing
	values []float64
	shape  []shape // of the way from each key to the next
}

// shape is the way from a key to the next: slopes per second at its two ends.
type shape struct {
	kind      byte // 0 stays, 1 goes straight, 2 is cubic
	next      bool // of one that stays: at the next key's value
	out, in   float64
	outW, inW float64 // weights of tangents, as shares of the time; 1/3 is usual

	auto        bool // slopes follow from the neighbours: out the key's, in the next key's
	clamp, even bool // of automatic slopes at the key
	gentle      bool
}

// Flags of keys.
const (
	constant     = 0x2
	linear       = 0x4
	cubic        = 0x8
	auto         = 0x100 // of cubic keys; of constant ones: the next key's value
	tcb          = 0x200 // by tension, continuity and bias: read as automatic
	user         = 0x400
	weightOut    = 0x1000000
	weightIn     = 0x2000000
	clamped      = 0x1000 // automatic slopes are flat beside an equal value
	even         = 0x2000 // automatic slopes do not depend on how far the neighbours are
	gentle       = 0x4000 // automatic slopes do not overshoot
	usualWeight  = 1.0 / 3
	packedWeight = 9999
)

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
	c.shape = make([]shape, len(c.times))
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
		for ; n > 0 && k < len(c.shape); n, k = n-1, k+1 {
			c.set(k, flag, d)
		}
	}
	for ; k < len(c.shape); k++ {
		c.shape[k].kind = 1
	}
	return c, s.check(r, c)
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

// set sets the shape after key k from its flags and data.
func (c *curve) set(k int, flag int64, d [4]float64) {
	w := &c.shape[k]
	w.clamp, w.even, w.gentle = flag&clamped != 0, flag&even != 0, flag&gentle != 0
	switch {
	case flag&constant != 0:
		w.next = flag&auto != 0
	case flag&cubic != 0:
		w.kind, w.out, w.in, w.outW, w.inW = 2, d[0], d[1], usualWeight, usualWeight
		bits := math.Float32bits(float32(d[2]))
		if flag&weightOut != 0 {
			w.outW = float64(bits&0xffff) / packedWeight
		}
		if flag&weightIn != 0 {
			w.inW = float64(bits>>16) / packedWeight
		}
		if flag&(auto|tcb) != 0 && flag&user == 0 {
			w.auto = true // check sets the slopes
		}
	default:
		w.kind = 1
	}
}

// check refuses curves whose times do not grow, and sets automatic slopes.
func (s *scene) check(r *record, c *curve) error {
	for k, t := range c.times {
		if k > 0 && t <= c.times[k-1] || t > 1e6*ticks || t < -1e6*ticks {
			return s.errorf(r.at, "key %d of the curve is at %g s: want times that grow", k, float64(t)/ticks)
		}
		if !(c.values[k] > -1e12 && c.values[k] < 1e12) {
			return s.errorf(r.at, "key %d of the curve has the value %g", k, c.values[k])
		}
	}
	for k := range c.shape {
		w := &c.shape[k]
		if w.auto {
			w.out = c.slope(k)
		}
		if k+1 < len(c.shape) && c.shape[k+1].auto {
			w.in = c.slope(k + 1)
		}
		if !finite(w.out) || !finite(w.in) || !(w.outW >= 0 && w.outW <= 1) || !(w.inW >= 0 && w.inW <= 1) {
			w.kind = 1
		}
	}
	return nil
}

func finite(x float64) bool { return math.Abs(x) < 1e12 }

// slope returns the automatic slope at key k, per second: through the neighbours.
func (c *curve) slope(k int) float64 {
	n := len(c.times) - 1
	if n == 0 {
		return 0
	}
	rise := func(i, j int) float64 { return (c.values[j] - c.values[i]) * ticks / float64(c.times[j]-c.times[i]) }
	w := &c.shape[k]
	switch {
	case k > 0 && k < n:
	case w.gentle:
		return 0
	case k == 0:
		return rise(0, 1)
	default:
		return rise(n-1, n)
	}
	if w.clamp && (math.Abs(c.values[k]-c.values[k-1]) < 1e-3 || math.Abs(c.values[k]-c.values[k+1]) < 1e-3) {
		return 0
	}
	if before, after := rise(k-1, k), rise(k, k+1); w.gentle {
		if before*after <= 0 {
			return 0
		}
		most := 3 * min(math.Abs(before), math.Abs(after))
		return min(max(rise(k-1, k+1), -most), most)
	}
	if w.even {
		return rise(k-1, k+1)
	}
	return (rise(k-1, k) + rise(k, k+1)) / 2
}

// at returns the value at a time in ticks.
func (c *curve) at(t int64) float64 {
	k := sort.Search(len(c.times), func(k int) bool { return c.times[k] > t }) - 1
	switch {
	case k < 0:
		return c.values[0]
	case k == len(c.times)-1:
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
