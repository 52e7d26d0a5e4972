package keypose

import "mannequin/engine/m3"

// smoother smooths a motion between its keys, and leaves the keys as they are: each value becomes a
// smoothing spline (Reinsch 1967), which has no corner at keys. The correction of an interpolation
// has some there, and wherever a frame of the network is. The half-power frequency of a spline is
// 1/(2π·time).
type smoother struct {
	spline band
	was    []float64 // (frames, values) of a group
}

// Times of the splines, s.
const (
	rootTime  = 0.018
	jointTime = 0.012
)

// maxValues is the largest number of values of a group: the root's tilt and height.
const maxValues = 5

// run smooths a track whose gaps are filled.
func (s *smoother) run(t *Track) {
	s.was = grow(s.was, t.Frames*maxValues)
	for g := range t.Layout.Groups() {
		switch g {
		case GroupPath:
			s.group(t, g, 3, rootTime)
		case GroupRoot:
			s.group(t, g, 5, rootTime)
		default:
			s.group(t, g, 4, jointTime)
		}
	}
}

// group smooths the values of a group.
func (s *smoother) group(t *Track, g, values int, time float32) {
	at := func(f int) []float64 { return s.was[f*values:][:values] }
	var last m3.Quat
	for f := range t.Frames {
		last = t.read(at(f), g, f, last)
	}
	weight := float64(time * t.FPS)
	weight *= weight
	weight *= weight
	s.spline.reset(t.Frames, values)
	for f := range t.Frames {
		s.spline.place(f, 1)
		if f > 1 {
			a, b, c := at(f-2), at(f-1), at(f)
			var by [maxValues]float64
			for i := range b {
				by[i] = a[i] - 2*b[i] + c[i]
			}
			s.spline.turn(f-1, weight, by[:values])
		}
	}
	keyed := func(f int) bool { return t.Weight[f*t.Layout.Groups()+g] == 1 }
	s.spline.fixAll(keyed)
	s.spline.solve()
	for f := range t.Frames {
		if keyed(f) {
			continue
		}
		v := at(f)
		for i, x := range s.spline.x(f) {
			v[i] += x
		}
		t.write(v, g, f)
	}
}

// read reads the values of a group in a frame: of the path x, z and yaw, of a joint its rotation,
// with the sign that is nearest to last, and of the root its height, too. It returns the rotation.
func (t *Track) read(v []float64, g, f int, last m3.Quat) m3.Quat {
	if g == GroupPath {
		p := t.Place[f]
		v[0], v[1], v[2] = float64(p.Pos.X), float64(p.Pos.Z), float64(p.Yaw)
		return last
	}
	q := t.Rot[f*len(t.Layout.Joints)+g-groupJoint]
	if q.Dot(last) < 0 {
		q = q.Neg()
	}
	v[0], v[1], v[2], v[3] = float64(q.X), float64(q.Y), float64(q.Z), float64(q.W)
	if g == GroupRoot {
		v[4] = float64(t.Height[f])
	}
	return q
}

// write writes what read has read.
func (t *Track) write(v []float64, g, f int) {
	if g == GroupPath {
		p := &t.Place[f]
		p.Pos.X, p.Pos.Z, p.Yaw = float32(v[0]), float32(v[1]), float32(v[2])
		return
	}
	q := m3.Quat{X: float32(v[0]), Y: float32(v[1]), Z: float32(v[2]), W: float32(v[3])}
	t.Rot[f*len(t.Layout.Joints)+g-groupJoint] = q.Normalize()
	if g == GroupRoot {
		t.Height[f] = float32(v[4])
	}
}
