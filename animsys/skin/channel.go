package skin

import (
	"sort"

	"github.com/qmuntal/gltf"

	"mannequin/engine/m3"
)

// channel is the values of one property of a node.
type channel struct {
	times  *elements
	values *elements
	kind   gltf.Interpolation
}

// channel reads a sampler. Two keys at one time are a jump, which glTF does not allow and some programs write.
func (r *motionReader) channel(where string, s *gltf.AnimationSampler, path gltf.TRSProperty) (*channel, error) {
	times, err := r.accessor(where+".input", s.Input, MaxKeys, gltf.AccessorScalar)
	if err != nil {
		return nil, err
	}
	kind, per := gltf.AccessorVec3, 1
	if path == gltf.TRSRotation {
		kind = gltf.AccessorVec4
	}
	if s.Interpolation == gltf.InterpolationCubicSpline {
		per = 3
	}
	values, err := r.accessor(where+".output", s.Output, 3*MaxKeys, kind)
	if err != nil {
		return nil, err
	}
	if values.count < per*times.count {
		return nil, r.errorf(where, "%d values for %d keys", values.count, times.count)
	}
	if err := r.finite(where+".input", times, 1e5); err != nil {
		return nil, err
	}
	if err := r.finite(where+".output", values, 1e6); err != nil {
		return nil, err
	}
	for k := range times.count {
		if t := times.at(k, 0); t < 0 || k > 0 && t < times.at(k-1, 0) {
			return nil, r.errorf(where+".input", "key %d is at %g s: want times from 0 on that grow", k, t)
		}
	}
	return &channel{times, values, s.Interpolation}, nil
}

// early is how much earlier than a key its step may be taken, s: times of keys are rounded to float32, and a frame would
// else show the key before now and then.
const early = 1e-4

// at returns the value at a time, three or four numbers.
func (c *channel) at(t float64) []float64 {
	if c.kind == gltf.InterpolationStep {
		t += early
	}
	k := sort.Search(c.times.count, func(k int) bool { return c.times.at(k, 0) > t }) - 1
	value := func(k, part int) (v [4]float64) { // of a cubic spline: 0 in, 1 value, 2 out
		if c.kind == gltf.InterpolationCubicSpline {
			k = 3*k + part
		}
		for i := range c.values.width {
			v[i] = c.values.at(k, i)
		}
		return v
	}
	a := value(max(k, 0), 1)
	if k < 0 || k == c.times.count-1 || c.kind == gltf.InterpolationStep {
		return a[:c.values.width]
	}
	b := value(k+1, 1)
	span := c.times.at(k+1, 0) - c.times.at(k, 0)
	u := (t - c.times.at(k, 0)) / span
	if c.kind == gltf.InterpolationCubicSpline {
		out, in := value(k, 2), value(k+1, 0)
		for i := range a {
			a[i] = (1+u*u*(2*u-3))*a[i] + span*u*(1+u*(u-2))*out[i] + u*u*(3-2*u)*b[i] + span*u*u*(u-1)*in[i]
		}
		return a[:c.values.width]
	}
	if c.values.width == 4 {
		q := func(v [4]float64) m3.Quat {
			return m3.Quat{X: float32(v[0]), Y: float32(v[1]), Z: float32(v[2]), W: float32(v[3])}.Normalize()
		}
		s := q(a).Slerp(q(b), float32(u))
		return []float64{float64(s.X), float64(s.Y), float64(s.Z), float64(s.W)}
	}
	for i := range a {
		a[i] += u * (b[i] - a[i])
	}
	return a[:c.values.width]
}
