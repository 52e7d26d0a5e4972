package metrics

import (
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// SkateHeight is the height in metres under which a paw counts as planted.
const SkateHeight = 0.025

// perFrame returns f of each frame: of its joints in model space and of those in the frame before it.
// Before frame 0 comes frame 0 itself.
func perFrame(c *skel.Clip, f func(now, before []m3.Xform) float64) []float64 {
	out := make([]float64, c.Frames)
	now, before := make([]m3.Xform, c.Skel.Len()), make([]m3.Xform, c.Skel.Len())
	for i := range out {
		c.Model(now, i)
		if i == 0 {
			copy(before, now)
		}
		out[i] = f(now, before)
		now, before = before, now
	}
	return out
}

// Skate returns how far the paws slide at each frame: the horizontal distance, in cm, from the frame
// before, times 2 − 2^(h/SkateHeight) for a paw at height h, mean over the paws. The factor is 1 on the
// ground and below it, and 0 from SkateHeight up. Frame 0 has no slide. The paper's text has 2 − 2^h/H
// with the exponent clamped to [0, 1].
func Skate(c *skel.Clip, paws []int) []float64 {
	return perFrame(c, func(now, before []m3.Xform) (sum float64) {
		for _, p := range paws {
			a, b := before[p].Pos, now[p].Pos
			h := min(max(float64(b.Y)/SkateHeight, 0), 1)
			sum += 100 * math.Hypot(float64(b.X-a.X), float64(b.Z-a.Z)) * (2 - math.Exp2(h)) / float64(len(paws))
		}
		return sum
	})
}

// Bend returns how far the joints turn at each frame: the angle, in degrees, from a joint's local
// rotation in the frame before, mean over the joints. Frame 0 has none. Stiff legs bend little.
func Bend(c *skel.Clip, joints []int) []float64 {
	out := make([]float64, c.Frames)
	if len(joints) == 0 {
		return out
	}
	for f := 1; f < c.Frames; f++ {
		_, a := c.Frame(f - 1)
		_, b := c.Frame(f)
		for _, j := range joints {
			out[f] += float64(a[j].Angle(b[j])) * 180 / math.Pi / float64(len(joints))
		}
	}
	return out
}

// Low returns the share of the paws below SkateHeight at each frame.
func Low(c *skel.Clip, paws []int) []float64 {
	return perFrame(c, func(now, _ []m3.Xform) (share float64) {
		for _, p := range paws {
			if now[p].Pos.Y < SkateHeight {
				share += 1 / float64(len(paws))
			}
		}
		return share
	})
}

// Height returns the height of a joint at each frame, in metres.
func Height(c *skel.Clip, joint int) []float64 {
	return perFrame(c, func(now, _ []m3.Xform) float64 { return float64(now[joint].Pos.Y) })
}

// Pitch returns the angle of the head above the horizontal at each frame, in degrees, from head to nose.
func Pitch(c *skel.Clip, head, nose int) []float64 {
	return perFrame(c, func(now, _ []m3.Xform) float64 {
		d := now[nose].Pos.Sub(now[head].Pos)
		return math.Atan2(float64(d.Y), math.Hypot(float64(d.X), float64(d.Z))) * 180 / math.Pi
	})
}

// Speed returns a joint's speed over the ground from the frame before, m/s. Frame 0 has none.
func Speed(c *skel.Clip, joint int) []float64 {
	return perFrame(c, func(now, before []m3.Xform) float64 {
		a, b := before[joint].Pos, now[joint].Pos
		return c.FPS * math.Hypot(float64(b.X-a.X), float64(b.Z-a.Z))
	})
}

// Look returns the angle of the head into the turn at each frame, degrees, from above: from the
// body's direction (root to neck) to the head's (head to nose). It is positive toward the side to
// which the body turns over the second around; 0 if that is by less than 20 degrees.
func Look(c *skel.Clip, neck, head, nose int) []float64 {
	const least = 20 * math.Pi / 180
	body, look := make([]float32, c.Frames), make([]float32, c.Frames)
	model := make([]m3.Xform, c.Skel.Len())
	for f := range c.Frames {
		c.Model(model, f)
		body[f] = m3.YawOf(model[neck].Pos.Sub(model[0].Pos))
		look[f] = m3.YawOf(model[nose].Pos.Sub(model[head].Pos))
	}
	out, half := make([]float64, c.Frames), int(c.FPS/2)
	for f := range out {
		turn := float64(m3.WrapAngle(body[min(f+half, c.Frames-1)] - body[max(f-half, 0)]))
		if math.Abs(turn) >= least {
			out[f] = math.Copysign(1, turn) * float64(m3.WrapAngle(look[f]-body[f])) * 180 / math.Pi
		}
	}
	return out
}

// Jerk returns the mean jerk of the joints' positions at each frame, in m/s³, from the three frames
// before. Frames 0 to 2 get the value of frame 3.
func Jerk(c *skel.Clip) []float64 {
	out := make([]float64, c.Frames)
	rates(c, func(_, f int, r Rates) { out[f] += r.Jerk / float64(c.Skel.Len()) })
	for f := range min(3, c.Frames) {
		out[f] = out[min(3, c.Frames-1)]
	}
	return out
}

// Deviation is the distance and angle of a character from a path.
type Deviation struct {
	Distance float64 // from the path's nearest point, mean, m
	Farthest float64 // the largest such distance, m
	Angle    float64 // radians in [0, π] between facing and the path's direction there, mean
}

// The stretch of path, around the nearest point of the last frame, that holds the next one, m.
const pathBack, pathAhead = 0.5, 1

// PathDeviation returns the deviation of a walk from a path. pos and facing hold the character's
// position and direction at each frame, at least one. Heights are ignored. If the path crosses
// itself, the walk stays on its branch.
func PathDeviation(path *control.Path, pos, facing []m3.Vec3) Deviation {
	if len(pos) != len(facing) {
		panic("metrics: PathDeviation: want one facing per position")
	}
	var sum Deviation
	var s, dist float32
	for i, p := range pos {
		if i == 0 {
			s, dist = path.Nearest(p)
		} else {
			s, dist = path.NearestFrom(p, s, pathBack, pathAhead)
		}
		_, dir := path.At(s)
		sum.Distance += float64(dist)
		sum.Farthest = max(sum.Farthest, float64(dist))
		sum.Angle += math.Abs(float64(m3.WrapAngle(m3.YawOf(facing[i]) - m3.YawOf(dir))))
	}
	n := float64(len(pos))
	return Deviation{sum.Distance / n, sum.Farthest, sum.Angle / n}
}
