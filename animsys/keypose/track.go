package keypose

import (
	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Track is a motion of which some parts are keyed: the keys, and the motion between them.
type Track struct {
	Layout *Layout
	Frames int
	FPS    float32

	Place  []feature.Place // (Frames) place of the root over the ground, and its heading
	Height []float32       // (Frames) of the root, m
	Rot    []m3.Quat       // (Frames, joints that turn) local rotations; the root's is relative to its heading

	// Weight is the weight of each key, (Frames, groups): 0 is no key, 1 is met exactly.
	Weight []float32

	// Prev and Next are the neighbouring keys of each frame, (Frames, groups), −1 for none. Between
	// is the fraction of the way between them. Interpolate writes all three.
	Prev, Next []int32
	Between    []float32
}

// NewTrack returns a track without keys, in the bind pose at the origin.
func (l *Layout) NewTrack(frames int, fps float32) *Track {
	n, g := len(l.Joints), l.Groups()
	frames = max(frames, 0)
	t := &Track{Layout: l, Frames: frames, FPS: fps,
		Place: make([]feature.Place, frames), Height: make([]float32, frames), Rot: make([]m3.Quat, frames*n),
		Weight: make([]float32, frames*g), Prev: make([]int32, frames*g), Next: make([]int32, frames*g), Between: make([]float32, frames*g)}
	for i := range t.Rot {
		t.Rot[i].W = 1
	}
	return t
}

// Key keys all of frame f with weight 1.
func (t *Track) Key(f int) {
	if t.Layout == nil {
		return
	}
	groups := t.Layout.Groups()
	for i := range t.Weight[f*groups:][:groups] {
		t.Weight[f*groups+i] = 1
	}
}

// Copy copies the motion of another track, as many frames as both have. Keys stay.
func (t *Track) Copy(of *Track) {
	copy(t.Place, of.Place)
	copy(t.Height, of.Height)
	copy(t.Rot, of.Rot)
}

// Set writes a pose, local transforms of the skeleton's joints, into frame f. The heading is the
// one nearest to near. Keys stay.
func (t *Track) Set(f int, pos []m3.Vec3, rot []m3.Quat, near float32) {
	if t.Layout == nil {
		return
	}
	n := len(t.Layout.Joints)
	out := t.Rot[f*n:][:n]
	for i, j := range t.Layout.Joints {
		out[i] = rot[j].Normalize()
	}
	t.Place[f] = placeOf(pos[0], rot[0], near)
	t.Height[f] = pos[0].Y
	out[0] = m3.YawQuat(t.Place[f].Yaw).Conj().Mul(out[0])
}

// placeOf returns the place of a root, with its heading within half a turn of near. An upside-down
// root has no heading and gets near.
func placeOf(pos m3.Vec3, rot m3.Quat, near float32) feature.Place {
	yaw := near
	if rot.Y*rot.Y+rot.W*rot.W > 1e-6 {
		yaw = near + m3.WrapAngle(2*m3.Atan2(rot.Y, rot.W)-near)
	}
	return feature.Place{Pos: pos.Flat(), Yaw: yaw}
}

// SetClip writes a clip on the layout's skeleton into the whole track. Frame f is the clip's frame
// from + f·step, interpolated. Frames beyond the clip hold its ends.
func (t *Track) SetClip(c *skel.Clip, from, step float64) {
	if t.Layout == nil {
		return
	}
	near := float32(0)
	mixed := make([]m3.Quat, c.Skel.Len())
	place := make([]m3.Vec3, 1)
	for f := range t.Frames {
		at := min(max(from+float64(f)*step, 0), float64(c.Frames-1))
		i := int(at)
		u := float32(at - float64(i))
		pos, rot := c.Frame(i)
		if u > 0 {
			pos2, rot2 := c.Frame(i + 1)
			for j := range mixed {
				mixed[j] = rot[j].Slerp(rot2[j], u)
			}
			place[0] = pos[0].Lerp(pos2[0], u)
			pos, rot = place, mixed
		}
		t.Set(f, pos, rot, near)
		near = t.Place[f].Yaw
	}
}

// Pose writes frame f as local transforms of the skeleton's joints.
func (t *Track) Pose(f int, pos []m3.Vec3, rot []m3.Quat) {
	if t.Layout == nil {
		return
	}
	l := t.Layout
	l.straight(pos, rot)
	for i, j := range l.Joints {
		rot[j] = t.Rot[f*len(l.Joints)+i]
	}
	put(pos, rot, t.Place[f], t.Height[f])
}

// straight writes the pose in which no joint turns.
func (l *Layout) straight(pos []m3.Vec3, rot []m3.Quat) {
	copy(pos, l.Skel.Offsets)
	for j := range rot {
		rot[j] = m3.Quat{W: 1}
	}
}

// put puts a pose, whose root is turned from its heading, at a place and height.
func put(pos []m3.Vec3, rot []m3.Quat, root feature.Place, height float32) {
	pos[0] = m3.V(root.Pos.X, height, root.Pos.Z)
	rot[0] = m3.YawQuat(root.Yaw).Mul(rot[0])
}

// Interpolate fills the frames between keys: linearly between two keys of a group, rotations along
// the shortest arc. Before the first key and after the last these are held. A group without keys is
// held at frame 0.
func (t *Track) Interpolate() {
	if t.Layout == nil {
		return
	}
	groups := t.Layout.Groups()
	for g := range groups {
		last := int32(-1)
		for f := range t.Frames {
			if t.Weight[f*groups+g] > 0 {
				last = int32(f)
			}
			t.Prev[f*groups+g] = last
		}
		next := int32(-1)
		for f := t.Frames - 1; f >= 0; f-- {
			i := f*groups + g
			if t.Weight[i] > 0 {
				next = int32(f)
			}
			t.Next[i], t.Between[i] = next, 0
			if p := t.Prev[i]; p >= 0 && next > p {
				t.Between[i] = float32(f-int(p)) / float32(next-p)
			}
		}
		for f := range t.Frames {
			i := f*groups + g
			p, n, u := t.Prev[i], t.Next[i], t.Between[i]
			switch {
			case p == int32(f):
			case p >= 0 && n >= 0:
				t.mix(g, f, int(p), int(n), u)
			case p >= 0:
				t.mix(g, f, int(p), int(p), 0)
			case n >= 0:
				t.mix(g, f, int(n), int(n), 0)
			default:
				t.mix(g, f, 0, 0, 0)
			}
		}
	}
}

// mix writes group g of frame f, interpolated between frames a and b.
func (t *Track) mix(g, f, a, b int, u float32) {
	n := len(t.Layout.Joints)
	switch g {
	case GroupPath:
		p, q := t.Place[a], t.Place[b]
		t.Place[f] = feature.Place{Pos: p.Pos.Lerp(q.Pos, u), Yaw: p.Yaw + u*m3.WrapAngle(q.Yaw-p.Yaw)}
	case GroupRoot:
		t.Height[f] = m3.Lerp(t.Height[a], t.Height[b], u)
		fallthrough
	default:
		i := g - groupJoint
		if a == b {
			t.Rot[f*n+i] = t.Rot[a*n+i]
			return
		}
		t.Rot[f*n+i] = t.Rot[a*n+i].Slerp(t.Rot[b*n+i], u)
	}
}

// Rotations writes frame f for [Tree]: a quaternion x, y, z, w of each of its joints, the identity
// for the heading.
func (t *Track) Rotations(dst []float32, f int) {
	if t.Layout == nil {
		return
	}
	l := t.Layout
	for i := range dst {
		dst[i] = 0
		if i%4 == 3 {
			dst[i] = 1
		}
	}
	for i, j := range l.Joints {
		q := t.Rot[f*len(l.Joints)+i]
		copy(dst[4*(int(j)+1):], []float32{q.X, q.Y, q.Z, q.W})
	}
}
