package keypose

import (
	"mannequin/engine/m3"
)

// The inputs of the network at a frame, in the order of columns, all seen from the interpolated
// root's place on the ground, in its heading:
//
//	interpolated positions of all joints (joints, 3), m
//	positions at the last frame with a key of the pose, and at the next (2, joints, 3)
//	the root's motion over the ground: x, z in m/s, yaw in rad/s
//	of each group the nearness of its last key, and of its next: weight·exp(−t/reach)
//	the time since the last key of the pose, and to the next: each s, and exp(−t/reach)
//
// A key of the pose is a key of any group except the path. Without one before or after, the
// positions are the interpolated ones and the time is maxTime.
const (
	reach   = 0.3 // s
	maxTime = 2   // s
)

// Inputs returns the number of the network's inputs per frame.
func (l *Layout) Inputs() int {
	if l.Skel == nil {
		return 0
	}
	return 9*l.Skel.Len() + 3 + 2*l.Groups() + 4
}

// InputEncoder writes the inputs of the network. It belongs to one goroutine.
type InputEncoder struct {
	layout *Layout
	pos    []m3.Vec3
	rot    []m3.Quat
	model  []m3.Xform
	world  []m3.Vec3 // (frames, joints)
	last   []int32   // (frames) last frame with a key of the pose; −1: none
	next   []int32
	near   []float32 // exp(−t/reach) by frames
}

// NewInputEncoder returns an encoder for tracks of the layout.
func (l *Layout) NewInputEncoder() *InputEncoder {
	if l.Skel == nil {
		return &InputEncoder{}
	}
	n := l.Skel.Len()
	return &InputEncoder{layout: l, pos: make([]m3.Vec3, n), rot: make([]m3.Quat, n), model: make([]m3.Xform, n)}
}

// Encode writes the inputs of every step-th frame of an interpolated track into dst,
// (⌈Frames/step⌉, Inputs()).
func (r *InputEncoder) Encode(dst []float32, t *Track, step int) {
	if r.layout == nil {
		return
	}
	n, groups := r.layout.Skel.Len(), r.layout.Groups()
	r.prepare(t)
	cols := r.layout.Inputs()
	for f, row := 0, 0; f < t.Frames; f, row = f+step, row+1 {
		out := dst[row*cols:][:cols]
		heading := m3.YawQuat(-t.Place[f].Yaw)
		origin := t.Place[f].Pos
		see := func(out []float32, from int) {
			for j, p := range r.world[from*n:][:n] {
				v := heading.Rotate(p.Sub(origin))
				out[3*j], out[3*j+1], out[3*j+2] = v.X, v.Y, v.Z
			}
		}
		see(out, f)
		last, next := int(r.last[f]), int(r.next[f])
		for i, k := range [2]int{last, next} {
			if k < 0 {
				k = f
			}
			see(out[3*n*(i+1):], k)
		}
		out = out[9*n:]
		a, b := max(f-step, 0), min(f+step, t.Frames-1)
		dt := float32(b-a) / t.FPS
		v := heading.Rotate(t.Place[b].Pos.Sub(t.Place[a].Pos)).Scale(1 / dt)
		out[0], out[1], out[2] = v.X, v.Z, m3.WrapAngle(t.Place[b].Yaw-t.Place[a].Yaw)/dt
		out = out[3:]
		for g := range groups {
			i := f*groups + g
			out[2*g], out[2*g+1] = 0, 0
			if k := t.Prev[i]; k >= 0 {
				out[2*g] = t.Weight[int(k)*groups+g] * r.near[f-int(k)]
			}
			if k := t.Next[i]; k >= 0 {
				out[2*g+1] = t.Weight[int(k)*groups+g] * r.near[int(k)-f]
			}
		}
		out = out[2*groups:]
		out[0], out[1], out[2], out[3] = maxTime, 0, maxTime, 0
		if last >= 0 {
			out[0], out[1] = min(float32(f-last)/t.FPS, maxTime), r.near[f-last]
		}
		if next >= 0 {
			out[2], out[3] = min(float32(next-f)/t.FPS, maxTime), r.near[next-f]
		}
	}
}

// prepare computes the positions of joints and the neighbouring keys of the pose.
func (r *InputEncoder) prepare(t *Track) {
	n, groups := r.layout.Skel.Len(), r.layout.Groups()
	if len(r.world) < t.Frames*n {
		r.world, r.last, r.next = make([]m3.Vec3, t.Frames*n), make([]int32, t.Frames), make([]int32, t.Frames)
		r.near = make([]float32, t.Frames)
	}
	for f := range t.Frames {
		r.near[f] = m3.Exp(-float32(f) / t.FPS / reach)
		t.Pose(f, r.pos, r.rot)
		r.layout.Skel.LocalToModel(r.model, r.pos, r.rot)
		for j, x := range r.model {
			r.world[f*n+j] = x.Pos
		}
		last, next := int32(-1), int32(-1)
		for g := GroupRoot; g < groups; g++ {
			last = max(last, t.Prev[f*groups+g])
			if k := t.Next[f*groups+g]; k >= 0 && (next < 0 || k < next) {
				next = k
			}
		}
		r.last[f], r.next[f] = last, next
	}
}

// Places writes the positions of joints in a motion, seen as the inputs are, from the interpolated
// root in t: (frames, joints, 3), m. t and motion have equal numbers of frames.
func (r *InputEncoder) Places(dst []float32, t, motion *Track) {
	if r.layout == nil {
		return
	}
	n := r.layout.Skel.Len()
	for f := range t.Frames {
		heading := m3.YawQuat(-t.Place[f].Yaw)
		motion.Pose(f, r.pos, r.rot)
		r.layout.Skel.LocalToModel(r.model, r.pos, r.rot)
		for j, x := range r.model {
			v := heading.Rotate(x.Pos.Sub(t.Place[f].Pos))
			i := 3 * (f*n + j)
			dst[i], dst[i+1], dst[i+2] = v.X, v.Y, v.Z
		}
	}
}
