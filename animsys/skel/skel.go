// Package skel holds skeletons, poses and clips: flat, depth-first arrays for one forward loop.
package skel

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"mannequin/engine/m3"
)

// Limits on skeletons that come from files.
const (
	MaxJoints = 4096
	MaxDepth  = 256
)

// Skeleton is an immutable tree of joints in depth-first order. Slices have one entry per joint.
// Names lists the joints. Both shipped skeletons have
//
//	Hips Spine Spine1 Neck Head HeadSite
//	LeftShoulder LeftArm LeftForeArm LeftHand LeftUpLeg LeftLeg LeftFoot, and Right…
//
// Dogs (27 joints) add Tail, Tail1 and the End Sites Tail1Site, LeftHandSite, LeftFootSite, and
// Right…. Left and right arms are their fore legs. People (30 joints) add LowerBack, Neck1,
// LeftToeBase, LeftHandIndex1 and the End Sites LeftToeBaseSite, LeftHandIndex1Site, and Right….
type Skeleton struct {
	Names   []string
	Parents []int16   // index of the parent joint, −1 for a root
	Offsets []m3.Vec3 // rest translation in the parent's space
	EndSite []bool    // a leaf without rotation of its own (a BVH End Site)
}

// Len returns the number of joints, End Sites included.
func (s *Skeleton) Len() int { return len(s.Names) }

// Fingerprint returns a checksum of the skeleton: equal skeletons have the same.
func (s *Skeleton) Fingerprint() uint64 {
	h := fnv.New64a()
	for j, name := range s.Names {
		fmt.Fprintln(h, name, s.Parents[j], s.Offsets[j], s.EndSite[j])
	}
	return h.Sum64()
}

// Index returns the index of the joint called name, or −1 if there is none.
func (s *Skeleton) Index(name string) int { return slices.Index(s.Names, name) }

// EndSiteOf returns the End Site of joint j, or −1.
func (s *Skeleton) EndSiteOf(j int) int {
	for k := max(j+1, 0); k < s.Len(); k++ {
		if s.EndSite[k] && int(s.Parents[k]) == j {
			return k
		}
	}
	return -1
}

// Validate reports the first rule that s breaks: equal lengths, parents before children, the limits
// on joints and depth, finite offsets.
func (s *Skeleton) Validate() error {
	n := len(s.Names)
	switch {
	case n == 0:
		return fmt.Errorf("skel: skeleton has no joints")
	case n > MaxJoints:
		return fmt.Errorf("skel: %d joints, at most %d are allowed", n, MaxJoints)
	case len(s.Parents) != n || len(s.Offsets) != n || len(s.EndSite) != n:
		return fmt.Errorf("skel: %d names, %d parents, %d offsets, %d end-site flags: want equal counts",
			n, len(s.Parents), len(s.Offsets), len(s.EndSite))
	}
	depth := make([]int16, n)
	for i, p := range s.Parents {
		if p < -1 || int(p) >= i {
			return fmt.Errorf("skel: joint %d (%s) has parent %d: parents come before children", i, s.Names[i], p)
		}
		switch {
		case p >= 0:
			depth[i] = depth[p] + 1
		case s.EndSite[i]:
			return fmt.Errorf("skel: joint %d (%s) has no parent and is an end site: it has nothing to end", i, s.Names[i])
		}
		if depth[i] >= MaxDepth {
			return fmt.Errorf("skel: joint %d (%s) is deeper than %d", i, s.Names[i], MaxDepth)
		}
		if !s.Offsets[i].Finite() {
			return fmt.Errorf("skel: joint %d (%s) has a non-finite offset", i, s.Names[i])
		}
	}
	return nil
}

// LocalToModel writes into model the joints' transforms in the space of the skeleton's root parent,
// from the local transforms pos and rot, in the same unit of length. All slices have Len entries.
func (s *Skeleton) LocalToModel(model []m3.Xform, pos []m3.Vec3, rot []m3.Quat) {
	for i, p := range s.Parents {
		l := m3.Xform{Pos: pos[i], Rot: rot[i]}
		if p >= 0 {
			l = model[p].Mul(l)
		}
		model[i] = l
	}
}

// Rest returns the joints' transforms at rest, (Len), in the space of LocalToModel: no joint turns.
func (s *Skeleton) Rest() []m3.Xform {
	rest := make([]m3.Xform, s.Len())
	s.LocalToModel(rest, s.Offsets, slices.Repeat([]m3.Quat{m3.Ident}, s.Len()))
	return rest
}

// Interpolate writes the joints' transforms a fraction alpha in [0, 1] of the way between two poses
// in the space of LocalToModel. Joints turn on the way and the root goes straight; bones keep their
// rest lengths. All slices have Len entries.
func (s *Skeleton) Interpolate(dst, from, to []m3.Xform, alpha float32) {
	for j, p := range s.Parents {
		dst[j].Rot = from[j].Rot.Slerp(to[j].Rot, alpha)
		if p >= 0 {
			dst[j].Pos = dst[p].Apply(s.Offsets[j])
		} else {
			dst[j].Pos = from[j].Pos.Lerp(to[j].Pos, alpha)
		}
	}
}

// ModelToLocal is the inverse of LocalToModel: all slices have Len entries.
func (s *Skeleton) ModelToLocal(pos []m3.Vec3, rot []m3.Quat, model []m3.Xform) {
	for i, p := range s.Parents {
		l := model[i]
		if p >= 0 {
			l = model[p].Inv().Mul(l)
		}
		pos[i], rot[i] = l.Pos, l.Rot
	}
}

// Clip is motion sampled at a fixed rate: for frame f and joint j the local transform is
// Pos[f*Len+j], Rot[f*Len+j]. Lengths are in metres, or in the unit of the file it comes from.
type Clip struct {
	Skel   *Skeleton
	FPS    float64 // frames per second
	Frames int
	Pos    []m3.Vec3 // (frames, joints) local translations
	Rot    []m3.Quat // (frames, joints) local rotations
}

// NewClip returns a clip of the given size with every joint at rest.
func NewClip(s *Skeleton, fps float64, frames int) *Clip {
	frames = max(frames, 0)
	return &Clip{Skel: s, FPS: fps, Frames: frames, Pos: slices.Repeat(s.Offsets, frames), Rot: slices.Repeat([]m3.Quat{m3.Ident}, frames*s.Len())}
}

// skel returns the skeleton: the zero Clip has one without joints.
func (c *Clip) skel() *Skeleton {
	if c.Skel == nil {
		return &Skeleton{}
	}
	return c.Skel
}

// Frame returns the local transforms of frame f, aliasing the clip.
func (c *Clip) Frame(f int) ([]m3.Vec3, []m3.Quat) {
	n := c.skel().Len()
	return c.Pos[f*n : (f+1)*n : (f+1)*n], c.Rot[f*n : (f+1)*n : (f+1)*n]
}

// Model writes frame f's joint transforms in world space into dst (Len long).
func (c *Clip) Model(dst []m3.Xform, f int) {
	p, r := c.Frame(f)
	c.skel().LocalToModel(dst, p, r)
}

// Seconds returns the clip's duration: the time from the first frame to the end of the last.
func (c *Clip) Seconds() float64 { return float64(c.Frames) / c.FPS }

// Section returns frames first to end−1. They share the clip's memory.
func (c *Clip) Section(first, end int) *Clip {
	n := c.skel().Len()
	return &Clip{Skel: c.Skel, FPS: c.FPS, Frames: end - first, Pos: c.Pos[first*n : end*n], Rot: c.Rot[first*n : end*n]}
}

// Scaled returns a copy with every length multiplied by k (0.01 turns centimetres into metres).
func (c *Clip) Scaled(k float32) *Clip {
	s := *c.skel()
	s.Offsets = scaleAll(s.Offsets, k)
	return &Clip{Skel: &s, FPS: c.FPS, Frames: c.Frames, Pos: scaleAll(c.Pos, k), Rot: append([]m3.Quat(nil), c.Rot...)}
}

func scaleAll(v []m3.Vec3, k float32) []m3.Vec3 {
	out := make([]m3.Vec3, len(v))
	for i, p := range v {
		out[i] = p.Scale(k)
	}
	return out
}

// Resampled returns the clip at fps > 0 frames per second. Between frames positions and rotations follow cubic curves through them
// (Catmull–Rom), so that slow rates do not make joints jerk. The first frame stays the first; the last new frame is the last one at
// or before the old last frame. At its own rate the clip itself comes back, not a copy.
func (c *Clip) Resampled(fps float64) *Clip {
	if fps == c.FPS {
		return c
	}
	if c.Frames == 0 {
		return NewClip(c.skel(), fps, 0)
	}
	n := c.Skel.Len()
	// The small slack keeps a frame that rounding puts just past the end.
	frames := int(math.Floor(float64(c.Frames-1)*fps/c.FPS+1e-6)) + 1
	out := NewClip(c.Skel, fps, frames)
	for f := range frames {
		t := float64(f) * c.FPS / fps
		i := min(int(t), c.Frames-1)
		var at [4]int // frames around it
		for k := range at {
			at[k] = min(max(i-1+k, 0), c.Frames-1) * n
		}
		between := float32(t - float64(i))
		for j := range n {
			if between == 0 {
				out.Pos[f*n+j], out.Rot[f*n+j] = c.Pos[at[1]+j], c.Rot[at[1]+j]
				continue
			}
			out.Pos[f*n+j] = passage([4]m3.Vec3{c.Pos[at[0]+j], c.Pos[at[1]+j], c.Pos[at[2]+j], c.Pos[at[3]+j]}, between, i == 0, i+2 >= c.Frames)
			out.Rot[f*n+j] = curve([4]m3.Quat{c.Rot[at[0]+j], c.Rot[at[1]+j], c.Rot[at[2]+j], c.Rot[at[3]+j]}, between, i == 0, i+2 >= c.Frames)
		}
	}
	return out
}

// passage returns the place at a share of the way from the second of four to the third; see curve. A jump, a step of many times those
// beside it, is passed on a line.
func passage(p [4]m3.Vec3, between float32, first, last bool) (out m3.Vec3) {
	const jump = 8 // times
	before, step, after := p[0].Dist(p[1]), p[1].Dist(p[2]), p[2].Dist(p[3])
	if step > jump*max(before, after) && !(first && last) {
		return p[1].Lerp(p[2], between)
	}
	for k, w := range catmullRom(between, first || before > jump*step, last || after > jump*step) {
		out = out.Add(p[k].Scale(w))
	}
	return out
}

// curve returns the rotation at a share of the way from the second of four to the third. first and last say that these are the ends.
func curve(q [4]m3.Quat, between float32, first, last bool) m3.Quat {
	const far = 0.6 // rad from frame to frame, beyond which there is no curve to be seen
	if q[1].Angle(q[2]) > far {
		return q[1].Slerp(q[2], between)
	}
	var out m3.Quat
	for k, u := range catmullRom(between, first || q[0].Angle(q[1]) > far, last || q[2].Angle(q[3]) > far) {
		if q[k].Dot(q[1]) < 0 { // −q is the same rotation
			u = -u
		}
		out = m3.Quat{X: out.X + u*q[k].X, Y: out.Y + u*q[k].Y, Z: out.Z + u*q[k].Z, W: out.W + u*q[k].W}
	}
	return out.Normalize()
}

// catmullRom returns the weights of four points for a place between the second and the third, 0 to 1. Beyond the first or the last frame the
// parabola through the three outermost goes on, or the line through two.
func catmullRom(t float32, first, last bool) [4]float32 {
	w := [4]float32{((2-t)*t - 1) * t / 2, ((3*t-5)*t*t + 2) / 2, ((4-3*t)*t + 1) * t / 2, (t - 1) * t * t / 2}
	switch {
	case first && last:
		return [4]float32{0, 1 - t, t, 0}
	case first:
		return [4]float32{0, w[1] + 3*w[0], w[2] - 3*w[0], w[3] + w[0]}
	case last:
		return [4]float32{w[0] + w[3], w[1] - 3*w[3], w[2] + 3*w[3], 0}
	}
	return w
}
