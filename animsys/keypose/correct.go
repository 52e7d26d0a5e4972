package keypose

import (
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// Correction writes the correction that turns the interpolated track t into motion: the inverse of
// Apply. dst is (Frames, Columns()).
func (t *Track) Correction(dst []float32, motion *Track) {
	if t.Layout == nil {
		return
	}
	l := t.Layout
	n, cols := len(l.Joints), l.Columns()
	for f := range t.Frames {
		out := dst[f*cols:][:cols]
		p, q := t.Place[f], motion.Place[f]
		v := m3.YawQuat(-p.Yaw).Rotate(q.Pos.Sub(p.Pos))
		out[colX], out[colZ], out[colYaw] = v.X, v.Z, m3.WrapAngle(q.Yaw-p.Yaw)
		out[colHeight] = motion.Height[f] - t.Height[f]
		for i := range n {
			v := t.Rot[f*n+i].Conj().Mul(motion.Rot[f*n+i]).RotationVector()
			c := colTilt + 3*i
			out[c], out[c+1], out[c+2] = v.X, v.Y, v.Z
		}
	}
}

// Apply corrects frame f.
func (t *Track) Apply(f int, correction []float32) {
	if t.Layout == nil {
		return
	}
	n := len(t.Layout.Joints)
	p := &t.Place[f]
	p.Pos = p.Pos.Add(m3.YawQuat(p.Yaw).Rotate(m3.V(correction[colX], 0, correction[colZ])))
	p.Yaw += correction[colYaw]
	t.Height[f] += correction[colHeight]
	for i := range n {
		c := correction[colTilt+3*i:]
		t.Rot[f*n+i] = t.Rot[f*n+i].Mul(m3.FromRotationVector(m3.V(c[0], c[1], c[2]))).Normalize()
	}
}

// replacer replaces the motion of a track that was interpolated or filled with a clip, except at
// keys: these stay, and the clip is bent towards them on both sides. It keeps its scratch.
type replacer struct {
	other       *Track
	raw, pinned []float32
}

// run replaces t with a clip on the layout's skeleton of as many frames.
func (b *replacer) run(t *Track, c *skel.Clip) {
	l := t.Layout
	cols := l.Columns()
	if b.other == nil || b.other.Frames != t.Frames {
		b.other = l.NewTrack(t.Frames, t.FPS)
	}
	near := float32(0)
	for f := range t.Frames {
		pos, rot := c.Frame(f)
		b.other.Set(f, pos, rot, near)
		near = b.other.Place[f].Yaw
	}
	b.raw, b.pinned = grow(b.raw, t.Frames*cols), grow(b.pinned, t.Frames*cols)
	t.Correction(b.raw, b.other)
	t.pin(b.pinned, b.raw)
	t.applyAll(b.pinned)
}

// pin writes raw corrections, (Frames, Columns()), that vanish at keys into dst, of the same size.
func (t *Track) pin(dst, raw []float32) {
	pins := netruntime.Pins{Group: t.Layout.Group(), Prev: t.Prev, Next: t.Next, U: t.Between, Weight: t.Weight}
	pins.Apply(dst, raw, t.Frames)
}

// applyAll corrects all frames. corrections are (Frames, Columns()).
func (t *Track) applyAll(corrections []float32) {
	cols := t.Layout.Columns()
	for f := range t.Frames {
		t.Apply(f, corrections[f*cols:][:cols])
	}
}
