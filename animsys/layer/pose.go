package layer

import (
	"math"

	"mannequin/animsys/blend"
	"mannequin/engine/m3"
)

// Below is the pose that layers lie over.
type Below struct {
	Root m3.Xform        // where the agent stands
	DT   float32         // s since the pose before
	Last *blend.Inertial // gave it out, and remembers the pose before; nil takes that to be the same
}

// Pose puts the layers of row r on a pose. pos0 and rot are changed in place: joint 0 is in the space of
// b.Root's parent, the others in those of their parents. Joints that no clip plays on and no blend fades
// keep their bits.
//
// A clip that starts or ends changes the pose at once. Pose compares the poses with and without that
// change, now and one step before. The difference and its velocity are added to the new pose, and fade
// along a quintic polynomial. Differences of rotations are those in the space of the root: rotations
// that were found from places turn about their bones by chance, and their children turn back.
func (p *Player) Pose(r int, pos0 *m3.Vec3, rot []m3.Quat, b *Below) {
	w := &p.rows[r]
	if !w.busy {
		return
	}
	n := p.sk.Len()
	off, hips := p.off[r*n:(r+1)*n], &p.hips[r]
	if w.fading {
		w.fading = hips.advance(b.DT)
		for j := range off {
			left := off[j].advance(b.DT)
			w.fading = w.fading || left
		}
		if w.ch != nil {
			for i := range w.ch.Further() {
				left := p.spin[r*p.width+i].advance(b.DT)
				w.fading = w.fading || left
			}
		}
	}
	local := b.Root.Inv().Mul(m3.Xform{Pos: *pos0, Rot: rot[0]})
	if changed, over := w.changes(); changed {
		p.change(r, local, rot, b, over)
	}
	v := w.look(now)
	to := m3.Xform{Pos: hips.add(v.hips(local.Pos), 0), Rot: v.rot(0, local.Rot)}
	for j := 1; j < n; j++ {
		rot[j] = v.rot(j, rot[j])
	}
	if w.fading {
		to.Rot = p.fade(off, to.Rot, rot)
	}
	if w.ch != nil {
		p.turn(r, &v)
	}
	if to != local { // what nothing has changed stays as it is, to the bit
		x := b.Root.Mul(to)
		*pos0, rot[0] = x.Pos, x.Rot.Normalize()
	}
	if b.Root.Pos.Finite() && b.Root.Rot.Finite() {
		w.root = b.Root
	}
	w.busy = w.fading || w.landed
	for l := range w.slots {
		s := &w.slots[l]
		s.was = s.time
		w.busy = w.busy || s.clip != nil
	}
}

// fade adds the offsets to a pose whose joint 0 is at rot0 in root space, and returns where that is then.
func (p *Player) fade(off []offset, rot0 m3.Quat, rot []m3.Quat) m3.Quat {
	var plain, faded [maxJoints]m3.Quat // in root space
	plain[0], faded[0] = rot0, off[0].turn(rot0, 0)
	for j := 1; j < len(off); j++ {
		up := p.sk.Parents[j]
		plain[j] = plain[up].Mul(rot[j])
		faded[j] = off[j].turn(plain[j], 0)
		if faded[j] != plain[j] || faded[up] != plain[up] {
			rot[j] = faded[up].Conj().Mul(faded[j]).Normalize()
		}
	}
	return faded[0]
}

// changes reports whether a clip of the row starts or ends in this pose, and the longest time to blend.
func (w *row) changes() (changed bool, over float32) {
	for l := range w.slots {
		s, o := &w.slots[l], &w.orders[l]
		switch {
		case o.given && (o.clip != nil || s.clip != nil):
			changed, over = true, max(over, o.in)
		case s.clip != nil && s.ended == 1 && s.held == 0:
			changed, over = true, max(over, s.fades)
		default:
			o.given = false
		}
	}
	return changed, over
}

// change starts and ends the clips of row r, and has what that changes of the pose fade over a time.
func (p *Player) change(r int, local m3.Xform, rot []m3.Quat, b *Below, over float32) {
	w, n := &p.rows[r], p.sk.Len()
	off, hips := p.off[r*n:(r+1)*n], &p.hips[r]
	old, older := w.look(now), w.look(before)
	moved := w.mover() != nil
	for l := range w.slots {
		s, o := &w.slots[l], &w.orders[l]
		switch {
		case o.given:
			*s, *o = o.slot, order{}
			s.was = s.time - float64(s.speed)*float64(b.DT)
		case s.clip != nil && s.ended == 1 && s.hold == 1:
			s.held, s.time = 1, s.clip.Seconds(false)
			s.was = s.time
		case s.clip != nil && s.ended == 1:
			*s = slot{}
		}
	}
	w.landed = w.landed || moved && w.mover() == nil
	next, nexter := w.look(now), w.look(before)
	last := m3.Xform{Pos: local.Pos, Rot: local.Rot} // the pose below, a step before
	known := false
	if b.Last != nil {
		if at, ok := b.Last.Before(r); ok {
			last, known = at, true
		}
	}
	var was, is, was1, is1 [maxJoints]m3.Quat // in root space, without and with the change
	for j := range n {
		q, q1 := rot[j], rot[j]
		if j == 0 {
			q, q1 = local.Rot, last.Rot
		} else if known {
			q1 = b.Last.JointBefore(r, j)
		}
		was[j], is[j], was1[j], is1[j] = old.rot(j, q), next.rot(j, q), older.rot(j, q1), nexter.rot(j, q1)
		if up := p.sk.Parents[j]; up >= 0 {
			was[j], is[j], was1[j], is1[j] = was[up].Mul(was[j]), is[up].Mul(is[j]), was1[up].Mul(was1[j]), is1[up].Mul(is1[j])
		}
		if was[j] == is[j] && was1[j] == is1[j] {
			continue // this joint is not changed
		}
		x := off[j].turn(was[j], 0).Mul(is[j].Conj()).RotationVector()
		y := nearest(off[j].turn(was1[j], b.DT).Mul(is1[j].Conj()).RotationVector(), x)
		off[j].begin(x, x.Sub(y).Scale(1/b.DT), over)
	}
	a, c, a1, c1 := old.hips(local.Pos), next.hips(local.Pos), older.hips(last.Pos), nexter.hips(last.Pos)
	if a != c || a1 != c1 {
		x, y := hips.add(a, 0).Sub(c), hips.add(a1, b.DT).Sub(c1)
		hips.begin(x, x.Sub(y).Scale(1/b.DT), over)
	}
	if w.ch != nil {
		p.changeTurns(r, &old, &older, &next, &nexter, b.DT, over)
	}
	w.fading = w.fading || over > 0
}

// nearest returns the rotation vector of the same rotation as v that is nearest to x: half a turn has two.
func nearest(v, x m3.Vec3) m3.Vec3 {
	if l := v.Len(); l > 1 {
		if o := v.Scale(1 - 2*math.Pi/l); o.Dist(x) < v.Dist(x) {
			return o
		}
	}
	return v
}

// maxJoints bounds the joints of a skeleton whose poses are on the stack.
const maxJoints = 128

// offset is what is added to a joint: it fades over a time.
type offset struct {
	x, v   m3.Vec3 // rotation vector in the space of the root, rad, or place, m; at the begin, and its velocity
	t, all float32 // s since the begin, and until it has faded; 0 is none
}

// begin starts an offset.
func (o *offset) begin(x, v m3.Vec3, over float32) {
	if *o = (offset{}); over > 0 && x.Finite() && v.Finite() {
		*o = offset{x: x, v: v, all: over}
	}
}

// advance moves an offset on and reports whether there is one left.
func (o *offset) advance(dt float32) bool {
	if o.all == 0 {
		return false
	}
	if o.t += dt; o.t >= o.all {
		*o = offset{}
	}
	return o.all > 0
}

// at returns the offset of back seconds ago: a quintic polynomial with the given value and velocity and
// no acceleration at the begin, and none of the three at the end.
func (o *offset) at(back float32) m3.Vec3 {
	s := max(o.t-back, 0) / o.all
	x := 1 + s*s*s*(-10+s*(15-6*s))
	v := o.all * s * (1 + s*s*(-6+s*(8-3*s)))
	return o.x.Scale(x).Add(o.v.Scale(v))
}

// turn adds the offset to a rotation.
func (o *offset) turn(q m3.Quat, back float32) m3.Quat {
	if o.all == 0 {
		return q
	}
	return m3.FromRotationVector(o.at(back)).Mul(q).Normalize()
}

// add adds the offset to a place.
func (o *offset) add(p m3.Vec3, back float32) m3.Vec3 {
	if o.all == 0 {
		return p
	}
	return p.Add(o.at(back))
}

// when says at which of their times slots are looked at.
type when int

const (
	now when = iota
	before
)

// view is the slots of a row at a time.
type view struct {
	slots [MaxLayers]slot
	at    [MaxLayers]sample
	n     int
}

// sample is a clip at a time. Beyond the ends of a clip that is played once, it moves on with the
// velocity that it has there: what fades in or out has no step in its velocity.
type sample struct {
	moment
	beyond         bool
	edge, mirrored moment // the end, and the time as far before it
}

func (w *row) look(at when) (v view) {
	for l := range w.slots {
		s := &w.slots[l]
		if s.clip == nil || s.weight == 0 {
			continue
		}
		t := s.time
		if at == before {
			t = s.was
		}
		loop := s.loop == 1
		a := sample{moment: s.clip.moment(t, loop)}
		if end := s.clip.Seconds(false); !loop && s.held == 0 && (t < 0 || t > end) {
			edge := min(max(t, 0), end)
			a.beyond, a.edge, a.mirrored = true, s.clip.moment(edge, false), s.clip.moment(2*edge-t, false)
		}
		v.slots[v.n], v.at[v.n] = *s, a
		v.n++
	}
	return v
}

// rot returns the rotation of joint j with the view's clips, over one of q.
func (v *view) rot(j int, q m3.Quat) m3.Quat {
	for i := range v.n {
		s := &v.slots[i]
		w := s.share(j)
		if w == 0 {
			continue
		}
		from, at, stride := s.clip.rot, j, s.clip.joints()
		if j == 0 && s.root == 1 {
			from, at, stride = s.clip.ownRot, 0, 1
		}
		q = v.at[i].onto(q, s, from, at, stride, w)
	}
	return q
}

// onto returns what becomes of the rotation q below a layer with the share w: from has the clip's rotations, stride
// apart, from at on.
func (a *sample) onto(q m3.Quat, s *slot, from []m3.Quat, at, stride int, w float32) m3.Quat {
	to := a.rotation(from, at, stride)
	if a.beyond {
		e := a.edge.rotation(from, at, stride)
		to = e.Mul(a.mirrored.rotation(from, at, stride).Conj().Mul(e)).Normalize()
	}
	if s.add == 0 {
		return over(q, to, w)
	}
	ref := from[s.clip.ref*stride+at]
	if to == ref {
		return q
	}
	by := ref.Conj().Mul(to).Normalize()
	if w < 1 {
		by = m3.Ident.Slerp(by, w)
	}
	return q.Mul(by).Normalize()
}

// over returns the rotation to over q, with the share w.
func over(q, to m3.Quat, w float32) m3.Quat {
	if w >= 1 {
		return to
	}
	return q.Slerp(to, w)
}

// hips returns the place of joint 0 in the space of the root, over one of p.
func (v *view) hips(p m3.Vec3) m3.Vec3 {
	for i := range v.n {
		s := &v.slots[i]
		w := s.share(0)
		if w == 0 {
			continue
		}
		from := s.clip.hips
		if s.root == 1 {
			from = s.clip.ownHips
		}
		to := v.at[i].place(from)
		if a := &v.at[i]; a.beyond {
			to = a.edge.place(from).Scale(2).Sub(a.mirrored.place(from))
		}
		switch {
		case s.add == 1:
			if by := to.Sub(from[s.clip.ref]); by != (m3.Vec3{}) {
				p = p.Add(by.Scale(w))
			}
		case w >= 1:
			p = to
		default:
			p = p.Lerp(to, w)
		}
	}
	return p
}

// Stands replaces the contacts of feet whose legs a clip plays. tips, (legs), are the joints at their
// ends.
func (p *Player) Stands(r int, tips []int, stand []bool) {
	for l := range p.rows[r].slots {
		s := &p.rows[r].slots[l]
		if s.clip == nil || s.add == 1 {
			continue
		}
		for leg, tip := range tips {
			if s.share(tip) < 0.5 {
				continue
			}
			for i, j := range s.clip.tips {
				if j == tip {
					m := s.clip.moment(s.time, s.loop == 1)
					stand[leg] = s.clip.stand[m.frame[1]]>>i&1 == 1
				}
			}
		}
	}
}
