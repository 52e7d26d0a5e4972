package skin

import (
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// turned returns the motion on the rig's own joints, with its rest pose turned bone by bone to the rig's. to is
// the rig at rest in its space, rest the motion's joints in their parents. Joints that the motion does not move
// stand as at rest.
func (o *ontoRig) turned(to []m3.Xform, rest []m3.Quat) (*skel.Clip, *RigFit, error) {
	t := &rigTurn{ontoRig: o, to: to, from: make([]m3.Xform, o.motion.Skel.Len()), of: slices.Repeat([]int{-1}, o.rig.Len()), turn: make([]m3.Quat, o.rig.Len())}
	o.motion.Skel.LocalToModel(t.from, o.motion.Skel.Offsets, rest)
	own, its := bodyOf(o.rig, to), bodyOf(o.motion.Skel, t.from)
	if err := own.Unlike(anatomy.OfClip(o.motion, nil)); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrOtherRig, err)
	}
	// A body with another axis up is stood up. One that faces elsewhere is left so, unless its bones would have to turn
	// too far.
	whole, ok := its.TurnTo(own)
	ok = ok && whole.Angle(m3.Ident) > math.Pi/4
	if ok && its.Up.Dot(own.Up) < 0.7 {
		t.turnWhole(whole)
		ok = false
	}
	for j, k := range o.at {
		if k >= 0 && !o.motion.Skel.EndSite[j] {
			t.of[k] = j
			t.fit.Turned++
		} else {
			o.at[j] = -1
		}
	}
	err := t.align()
	if err != nil && ok {
		t.turnWhole(whole)
		t.fit.Bones = 0
		err = t.align()
	}
	if err != nil {
		return nil, nil, err
	}
	t.scale = t.legs()
	t.fit.Scale = float64(t.scale)
	out, err := t.clip()
	return out, &t.fit, err
}

// bodyOf finds the roles of joints that stand at rest.
func bodyOf(sk *skel.Skeleton, rest []m3.Xform) *anatomy.Body {
	at := make([]m3.Vec3, len(rest))
	for j, x := range rest {
		at[j] = x.Pos
	}
	return anatomy.Find(anatomy.Rig{Skel: sk, At: at})
}

// rigTurn turns a motion from one rest pose to another.
type rigTurn struct {
	*ontoRig
	from, to []m3.Xform // the motion's joints and the rig's, at rest
	of       []int      // (rig's joints) joint of the motion, −1 for none
	turn     []m3.Quat  // (rig's joints) from the frame of the motion's joint to its own
	scale    float32    // of the motion's lengths
	fit      RigFit
}

// turnWhole turns the motion and its rest pose as a whole.
func (t *rigTurn) turnWhole(by m3.Quat) {
	turn := m3.Xform{Rot: by}
	for j := range t.from {
		t.from[j] = turn.Mul(t.from[j])
	}
	c, n := *t.motion, t.motion.Skel.Len()
	c.Pos, c.Rot = slices.Clone(c.Pos), slices.Clone(c.Rot)
	for j, p := range c.Skel.Parents {
		for i := j; p < 0 && i < len(c.Pos); i += n {
			c.Pos[i], c.Rot[i] = by.Rotate(c.Pos[i]), by.Mul(c.Rot[i])
		}
	}
	t.motion = &c
}

// above returns the nearest paired joint of the motion above joint j, or −1.
func (t *rigTurn) above(j int) int {
	for j = int(t.motion.Skel.Parents[j]); j >= 0 && t.at[j] < 0; j = int(t.motion.Skel.Parents[j]) {
	}
	return j
}

// align turns the motion's rest pose, joint by joint, to the rig's.
func (t *rigTurn) align() error {
	n := t.motion.Skel.Len()
	below := make([][]int, n) // paired joints below each, apart from it
	for j := range n {
		p := t.above(j)
		if t.at[j] < 0 || p < 0 {
			continue
		}
		if t.to[t.at[j]].Pos.Dist(t.to[t.at[p]].Pos) > 1e-5 && t.from[j].Pos.Dist(t.from[p].Pos) > 1e-9 {
			below[p] = append(below[p], j)
			t.fit.Bones++
		}
	}
	if t.fit.Bones == 0 {
		return fmt.Errorf("%w: its bones have no length", ErrOtherRig)
	}
	swung := make([]m3.Quat, n)
	bent := 0
	for j := range n {
		if swung[j] = m3.Ident; t.at[j] < 0 {
			continue
		}
		p := t.above(j)
		if p >= 0 {
			swung[j] = swung[p]
		}
		var from, to []m3.Vec3
		for _, k := range below[j] {
			from = append(from, swung[j].Rotate(t.from[k].Pos.Sub(t.from[j].Pos)).Normalize(m3.Up))
			to = append(to, t.to[t.at[k]].Pos.Sub(t.to[t.at[j]].Pos).Normalize(m3.Up))
		}
		swing := fitDirections(from, to)
		if p >= 0 && swing.Angle(m3.Ident) > 1.9 {
			bent++
		}
		swung[j] = swing.Mul(swung[j])
		t.turn[t.at[j]] = swung[j].Mul(t.from[j].Rot).Conj().Mul(t.to[t.at[j]].Rot)
	}
	if bent > 1 {
		return fmt.Errorf("%w: the same names, but at rest %d bones point elsewhere by more than 110°", ErrOtherRig, bent)
	}
	return nil
}

// legs returns the ratio of the rig's and the motion's lengths from the joint that is lowest in the rig up to
// the highest joint above it: of a leg, so that feet come to the ground.
func (t *rigTurn) legs() float32 {
	low := -1
	for j, k := range t.at {
		if k >= 0 && t.above(j) >= 0 && (low < 0 || t.to[k].Pos.Y < t.to[t.at[low]].Pos.Y) {
			low = j
		}
	}
	var ours, theirs float32
	for p := low; p >= 0; low = p {
		if p = t.above(low); p >= 0 {
			ours += t.to[t.at[low]].Pos.Dist(t.to[t.at[p]].Pos)
			theirs += t.from[low].Pos.Dist(t.from[p].Pos)
		}
	}
	if !(ours > 0 && theirs > 0) {
		return 1
	}
	return ours / theirs
}

// fitDirections returns the rotation that brings the directions from nearest to the directions to: the shortest
// for the first pair, then about it.
func fitDirections(from, to []m3.Vec3) m3.Quat {
	if len(from) == 0 {
		return m3.Ident
	}
	q := m3.Between(from[0], to[0])
	// Alternate steps toward each pair come to the least squares' rotation closely enough.
	for range 30 {
		var turn m3.Vec3
		for i := range from {
			turn = turn.Add(q.Rotate(from[i]).Cross(to[i]))
		}
		q = m3.FromRotationVector(turn.Scale(1 / float32(len(from)))).Mul(q).Normalize()
	}
	return q
}

// clip returns the motion on the rig.
func (t *rigTurn) clip() (*skel.Clip, error) {
	still := make([]m3.Quat, t.rig.Len())
	t.rig.ModelToLocal(make([]m3.Vec3, t.rig.Len()), still, t.to)
	c := skel.NewClip(t.rig, t.motion.FPS, t.motion.Frames)
	model, world := make([]m3.Xform, t.motion.Skel.Len()), make([]m3.Xform, t.rig.Len())
	for f := range c.Frames {
		t.motion.Model(model, f)
		pos, rot := c.Frame(f)
		for k, p := range t.rig.Parents {
			up := m3.Identity
			if p >= 0 {
				up = world[p]
			}
			rot[k] = still[k]
			if j := t.of[k]; j >= 0 {
				if !model[j].Pos.Finite() || !model[j].Rot.Finite() {
					return nil, fmt.Errorf("frame %d, joint %s: not finite", f, t.motion.Skel.Names[j])
				}
				rot[k] = up.Rot.Conj().Mul(model[j].Rot.Mul(t.turn[k])).Normalize()
				if t.above(j) < 0 {
					pos[k] = up.Rot.Conj().Rotate(model[j].Pos.Scale(t.scale).Sub(up.Pos))
				}
			}
			world[k] = up.Mul(m3.Xform{Pos: pos[k], Rot: rot[k]})
		}
	}
	return c, nil
}
