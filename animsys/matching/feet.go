package matching

import (
	"slices"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// brakes returns how hard the feet of loops brake, m/s², 0 without loops: that of the loop whose feet brake the hardest.
// The ground solver eases over what is harder than its bound, and a foot of a fast loop that is eased slides. One frame of fifty
// may be harder.
func (d *Database) brakes() (most float32) {
	var all []float32
	for i := range d.clips {
		c := &d.clips[i]
		if !c.loop {
			continue
		}
		all = all[:0]
		for f := c.first; f < c.end; f++ {
			next := c.next(f)
			beyond := c.next(next)
			if d.tags[f]&d.acts != 0 {
				continue
			}
			to := d.moves[f].after(feature.Place{})
			there, far := xform(to), xform(d.moves[next].after(to))
			for leg := range d.legs {
				was, is, will := d.foot(f, leg), there.Apply(d.foot(next, leg)), far.Apply(d.foot(beyond, leg))
				all = append(all, will.Sub(is.Scale(2)).Add(was).Len()*TickRate*TickRate)
			}
		}
		if len(all) > 0 {
			slices.Sort(all)
			most = max(most, all[int(0.98*float64(len(all)-1))])
		}
	}
	return most
}

// foot returns where the tip of a leg is in a frame, in the space of the root, m.
func (d *Database) foot(frame int32, leg int) m3.Vec3 {
	var x [maxColumns]float32
	return d.Character.foot(d.AppendFeatures(x[:0], int(frame)), leg)
}

// foot returns where the tip of a leg is in features or a state, in the space of the root, m.
func (c *Character) foot(x []float32, leg int) m3.Vec3 { return c.vector(x, 3*leg) }

// vector returns the three features from a column on, in the space of the root, m or m/s.
func (c *Character) vector(x []float32, column int) m3.Vec3 {
	var v [3]float32
	for k := range v {
		j := column + k
		if v[k] = c.mean[j]; c.scale[j] > 0 { // it counts
			v[k] += x[j] / c.scale[j]
		}
	}
	return m3.V(v[0], v[1], v[2])
}

// Speed, m/s, and height, m, below which a foot in features or a state stands.
const standSpeed, standHeight = 1, 0.09

// stands returns a bit for each leg that stands in features or a state. The ground solver cannot see that in poses: roots are drawn
// to their bodies, and poses follow other ones.
func (c *Character) stands(x []float32) (bits uint8) {
	for leg := range c.legs {
		at, v := 3*leg, c.footVelocity()+3*leg
		if c.vector(x, v).Len() < standSpeed && c.vector(x, at).Y < standHeight {
			bits |= 1 << leg
		}
	}
	return bits
}

// aloft returns how far all feet are above the ground in features or a state, from 0 to 1.
func (c *Character) aloft(x []float32) float32 {
	const low, high = 0.1, 0.5 // m
	lowest := float32(high)
	for leg := range c.legs {
		lowest = min(lowest, c.foot(x, leg).Y)
	}
	return m3.SmoothStep(low, high, lowest)
}
