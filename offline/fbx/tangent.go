package fbx

import "math"

// shape is the way from a key to the next: slopes per second at its two ends.
type shape struct {
	kind      byte // 0 stays, 1 goes straight, 2 is cubic
	next      bool // of one that stays: at the next key's value
	out, in   float64
	outW, inW float64 // weights of tangents, as shares of the time; 1/3 is usual
}

// key is what a file says of a key besides its time and value.
type key struct {
	flags     int64
	data      [3]float64
	outW, inW float64
}

// Flags of keys.
const (
	constant  = 0x2
	linear    = 0x4
	cubic     = 0x8
	auto      = 0x100  // of cubic keys: slopes follow from the neighbours, data are biases; of constant ones: the next key's value
	tcb       = 0x200  // data are tension, continuity, bias
	user      = 0x400  // data are slopes: after the key, and before the next
	broken    = 0x800  // slopes before and after the key differ
	clamped   = 0x1000 // automatic slopes are flat beside an equal value
	even      = 0x2000 // automatic slopes do not depend on how far the neighbours are
	gentle    = 0x4000 // of even ones: they do not overshoot
	weightOut = 0x1000000
	weightIn  = 0x2000000

	usualWeight  = 1.0 / 3
	packedWeight = 9999
)

// key7 returns a key of version 7. The velocities of tangents are not read: Autodesk's SDK does not use them.
func key7(flags int64, d [4]float64) key {
	k := key{flags: flags, data: [3]float64(d[:3]), outW: usualWeight, inW: usualWeight}
	weights := math.Float32bits(float32(d[2]))
	if flags&weightOut != 0 {
		k.outW = float64(weights&0xffff) / packedWeight
	}
	if flags&weightIn != 0 {
		k.inW = float64(weights>>16) / packedWeight
	}
	return k
}

// setShapes sets the ways between the keys.
func (c *curve) setShapes(keys []key) {
	c.shape = make([]shape, len(keys))
	for k := range keys {
		w, key := &c.shape[k], &keys[k]
		switch {
		case key.flags&constant != 0:
			w.next = key.flags&auto != 0
		case key.flags&cubic == 0:
			w.kind = 1
		default:
			*w = shape{2, false, c.slopeAfter(keys, k), 0, key.outW, key.inW}
			if k+1 < len(keys) {
				w.in = c.slopeBefore(keys, k+1)
			}
			if !finite(w.out) || !finite(w.in) || !(w.outW >= 0 && w.outW <= 1) || !(w.inW >= 0 && w.inW <= 1) {
				w.kind = 1
			}
		}
	}
}

func finite(x float64) bool { return math.Abs(x) < 1e12 }

// slopeAfter returns the slope after a key.
func (c *curve) slopeAfter(keys []key, k int) float64 {
	switch key := &keys[k]; {
	case key.flags&user != 0:
		return key.data[0]
	case key.flags&tcb != 0:
		return c.bent(k, key.data, 1)
	case key.flags&auto != 0:
		return c.slope(keys, k, key.flags, key.data[0], 1)
	}
	return 0
}

// slopeBefore returns the slope before a key. It is said by the key before, or follows from its neighbours.
// What happens at tangents of different kinds is as Autodesk's SDK has it.
func (c *curve) slopeBefore(keys []key, k int) float64 {
	was, key := &keys[k-1], &keys[k]
	kind := key.flags & (auto | tcb | user)
	if key.flags&cubic == 0 {
		kind = 0
	}
	switch {
	case kind&user == 0 && kind&tcb != 0:
		return c.bent(k, key.data, -1)
	case was.flags&tcb != 0 && was.flags&user == 0: // it says nothing of the next key's slope
		switch {
		case key.flags&constant != 0 || kind&auto == 0 && key.flags&broken == 0 && k == len(keys)-1:
			return 0
		case key.flags&cubic == 0:
			_, after := c.rises(k)
			return after
		case key.flags&broken == 0:
			return c.slopeAfter(keys, k)
		case kind == auto:
			before, _ := c.rises(k)
			return before
		}
		return c.bent(k, was.data, -1)
	case kind == auto:
		return c.slope(keys, k, key.flags, was.data[1], -1)
	case kind&user == 0 && was.flags&user == 0 && was.flags&auto != 0:
		return c.slope(keys, k, was.flags&^clamped, was.data[1], -1)
	case was.flags&(auto|user) == 0:
		return 0
	}
	return was.data[1]
}

// rises returns the slopes of straight lines to a key from the one before, and on to the next. One without a
// neighbour has that of the other side.
func (c *curve) rises(k int) (before, after float64) {
	rise := func(i, j int) float64 { return (c.values[j] - c.values[i]) * ticks / float64(c.times[j]-c.times[i]) }
	n := len(c.times) - 1
	switch {
	case n == 0:
		return 0, 0
	case k == 0:
		after = rise(0, 1)
		return after, after
	case k == n:
		before = rise(n-1, n)
		return before, before
	}
	return rise(k-1, k), rise(k, k+1)
}

// slope returns the automatic slope at a key, per second: through the neighbours. A bias takes it to the line to the
// neighbour on that side, in percent; a negative one to the other. side is 1 after the key and -1 before it.
func (c *curve) slope(keys []key, k int, flags int64, bias, side float64) float64 {
	before, after := c.rises(k)
	end := k == 0 || k == len(c.times)-1
	gently := flags&even != 0 && flags&gentle != 0
	switch {
	case gently && end:
		return 0
	case !end && flags&clamped != 0 && (c.level(k) || c.level(k-1) && (side < 0 || keys[k-1].flags&cubic != 0)):
		return 0
	case gently:
		if before*after <= 0 {
			return 0
		}
		most := 3 * min(math.Abs(before), math.Abs(after))
		return min(max(c.through(k), -most), most)
	case bias == 0 && flags&even != 0 && !end:
		return c.through(k)
	}
	mean := (before + after) / 2
	toward := after
	if (bias < 0) == (side > 0) {
		toward = before
	}
	out := mean + math.Abs(bias)/100*(toward-mean)
	if over := (math.Abs(bias) - 500) / 100; over > 0 {
		sign := side
		if (bias < 0) != (after < before) {
			sign = -side
		}
		out += sign * 40 * over * over
	}
	return out
}

// level reports whether a key has the value of the next.
func (c *curve) level(k int) bool { return math.Abs(c.values[k]-c.values[k+1]) < 1e-4 }

// through returns the slope of the line through both neighbours of a key.
func (c *curve) through(k int) float64 {
	return (c.values[k+1] - c.values[k-1]) * ticks / float64(c.times[k+1]-c.times[k-1])
}

// bent returns the slope of a key by tension, continuity and bias. side is 1 after the key and -1 before it.
func (c *curve) bent(k int, d [3]float64, side float64) float64 {
	before, after := c.rises(k)
	switch n := len(c.times) - 1; {
	case n == 0:
		return 0
	case k == 0:
		before, after = 0, 2*after
	case k == n:
		before, after = 2*before, 0
	}
	tension, continuity, bias := d[0], side*d[1], d[2]
	return (1 - tension) / 2 * ((1+continuity)*(1+bias)*before + (1-continuity)*(1-bias)*after)
}
