package ik

import "mannequin/engine/m3"

const (
	// maxLegs bounds the scratch that a row keeps on the stack.
	maxLegs = 8
	// soleFade is the flat height over which a paw stops following the
	// terrain's slope, m.
	soleFade = 0.1
	// stretch is the share of its length that a leg uses freely. A standing leg
	// that would need more makes the body sink; others stretch softly.
	stretch = 0.97
	// near is how close CCD must bring a paw before the two-bone step, m.
	near = 5e-4
	// gap is the least height of tail and hocks above the terrain, m.
	gap = 0.015
	// A paw slower than slow stands: it may pull the body down unless it is
	// faster than fast, and is pressed to the ground unless it is faster than
	// flies. Paws come down quicker than they slide: dips is slow downward. m/s.
	slow, dips, fast, flies = 0.15, 0.7, 1.0, 3.0
	// half is the share of the way that pelvis and chest turn with the terrain.
	half = 0.5
)

// plan is where one leg goes within a row, world space.
type plan struct {
	tip   m3.Vec3 // the tip's place on the terrain
	wrist m3.Vec3 // the paw joint's place that goes with it
	paw   m3.Quat // the paw's rotation there
	bend  m3.Vec3 // normal of the plane in which the limb bends, in the upper joint's frame
	load  float32 // how much the body must help the paw to reach its place, 0–1
	reach float32 // the share of its length that the leg uses freely
}

// plan reads a leg's place from the flat pose m: over the terrain as high as it
// was over the flat ground, the sole along the terrain while it is near it.
func (s *Quadruped) plan(m []m3.Xform, l Leg, foot *Foot) plan {
	flat, paw, lower, upper := m[l.tip()].Pos, m[l.paw()], m[l.lower()].Pos, m[l.upper()]
	velocity := foot.velocity(flat, s.DT)
	stand := 1 - m3.Clamp(flat.Y/soleFade, 0, 1)
	var p plan
	// A paw that flies by low must not pull the body down.
	p.load = stand * (1 - m3.Clamp((velocity.Flat().Len()-slow)/(fast-slow), 0, 1))
	// A folded leg has less room to leave its paw behind.
	length := upper.Pos.Dist(lower) + lower.Dist(paw.Pos)
	room := upper.Pos.Dist(paw.Pos) / max(length, tiny)
	p.reach = max(stretch, room) // straight legs may stay so
	p.tip = foot.place(flat, velocity, &s.Lock, room, s.DT)
	p.tip.Y = s.Ground.Height(p.tip.X, p.tip.Z) + s.press(flat.Y, velocity)
	lean := m3.Between(m3.Up, s.Ground.Normal(p.tip.X, p.tip.Z))
	lean = m3.Ident.Slerp(lean, stand)
	p.paw = lean.Mul(paw.Rot)
	// A hock that would dip into the terrain turns the paw up about its tip.
	up := lean.Rotate(paw.Pos.Sub(flat))
	if y := s.Ground.Height(p.tip.X+up.X, p.tip.Z+up.Z) + gap - p.tip.Y; up.Y < y {
		to := tilt(up, y, up.Flat())
		p.paw, up = m3.Between(up.Normalize(m3.Up), to.Normalize(m3.Up)).Mul(p.paw), to
	}
	p.wrist = p.tip.Add(up)
	normal := upper.Pos.Sub(lower).Cross(paw.Pos.Sub(lower))
	p.bend = upper.Rot.Conj().Rotate(normal)
	return p
}

// press returns the height above the terrain for a paw that has height h above
// the flat ground and velocity v. Recorded and generated paws stand at −1 to
// 4 cm; up to Press those that stand come out between 5 and 8 mm, which plants
// them. From 2.5 times Press on, and for paws in flight, the height is h itself:
// a paw that is pressed down as it leaves stretches its leg and has to catch up.
// None goes underground.
func (s *Quadruped) press(h float32, v m3.Vec3) float32 {
	if s.Press == 0 {
		return h
	}
	u := m3.Clamp((h/s.Press-1)/1.5, 0, 1)
	pressed := 1 - u*u*(3-2*u)
	pressed *= 1 - m3.Clamp((v.Flat().Len()-slow)/(flies-slow), 0, 1)
	pressed *= 1 - m3.Clamp((m3.Abs(v.Y)-dips)/(flies-dips), 0, 1)*m3.Clamp(2*(h/s.Press-1), 0, 1)
	return max(m3.Lerp(h, 0.006+0.04*h, pressed), 0.004)
}

// spine lifts the flat pose m to the terrain: the hips move, half of the pelvis
// turns toward the neck's lifted place, the rest of the spine follows until
// chest and neck stand over the terrain as they stood over the flat ground, and
// the chest rolls with the ground under the forelegs. Hips and chest sink as
// the feet ask.
func (s *Quadruped) spine(m []m3.Xform, feet []Foot) {
	var sinkHips, sinkChest float32
	for i := range feet {
		if s.Rig.fore[i] {
			sinkChest = max(sinkChest, feet[i].sink)
		} else {
			sinkHips = max(sinkHips, feet[i].sink)
		}
	}
	t, joints, neck := s.Rig.Tree, s.Rig.Roles.Spine, s.Rig.Roles.Neck
	lift := func(j int, sink float32) m3.Vec3 {
		p := m[j].Pos
		p.Y += s.Ground.Height(p.X, p.Z) - sink
		return p
	}
	last := len(joints) - 1
	hips, chest := joints[0], joints[last]
	neckTo, chestTo := lift(neck, sinkChest), lift(chest, (sinkHips+sinkChest)/2)
	var line, lineTo m3.Vec3
	if a, b := s.Rig.sides[0], s.Rig.sides[1]; a >= 0 {
		line, lineTo = m[a].Pos.Sub(m[b].Pos), lift(a, 0).Sub(lift(b, 0))
	}
	up := m3.V(0, lift(hips, sinkHips).Y-m[hips].Pos.Y, 0)
	for j := hips; j < int(t.ends[hips]); j++ {
		m[j].Pos = m[j].Pos.Add(up)
	}
	t.aim(m, hips, m[neck].Pos, neckTo, half)
	for i := 1; i < last; i++ {
		t.aim(m, joints[i], m[chest].Pos, chestTo, 1/float32(last-i))
	}
	t.aim(m, chest, m[neck].Pos, neckTo, 1)
	t.aim(m, chest, m[chest].Pos.Add(line), m[chest].Pos.Add(lineTo), half)
}

// ease lets the body rise again.
func ease(feet []Foot, halflife, dt float32) {
	for i := range feet {
		feet[i].sink = m3.DampTo(feet[i].sink, 0, halflife, dt)
	}
}

// sink notes in the feet how much further the body has to sink for standing
// paws to reach their places, and reports whether it has to.
func (s *Quadruped) sink(m []m3.Xform, legs []plan, feet []Foot) bool {
	more := false
	for i, l := range s.Rig.Roles.Legs {
		top, knee, end := m[l.upper()].Pos, m[l.lower()].Pos, m[l.paw()].Pos
		reach := legs[i].reach * (top.Dist(knee) + knee.Dist(end))
		d := top.Sub(legs[i].wrist)
		flat := d.Flat().Len()
		short := legs[i].load * (d.Y - m3.Sqrt(max(reach*reach-flat*flat, 0)))
		// Half a millimetre is not worth another pass.
		if short > 5e-4 && feet[i].sink < s.MaxDrop {
			feet[i].sink = min(feet[i].sink+short, s.MaxDrop)
			more = true
		}
	}
	return more
}

// leg takes a leg to its plan: CCD for the paw joint, the exact two-bone step,
// the sole; a paw joint that cannot get there leaves the rest to the paw.
func (s *Quadruped) leg(m []m3.Xform, l Leg, p *plan) {
	t := s.Rig.Tree
	t.ccd(m, l[:len(l)-1], p.wrist, s.Iterations, near)
	t.twoBone(m, l.upper(), l.lower(), l.paw(), p.wrist, m[l.upper()].Rot.Rotate(p.bend), p.reach)
	t.turn(m, l.paw(), p.paw.Mul(m[l.paw()].Rot.Conj()))
	if m[l.tip()].Pos.Dist(p.tip) > 1e-4 {
		t.aim(m, l.paw(), m[l.tip()].Pos, p.tip, 1)
	}
}

// tail lifts what of the tail dips into the terrain, bone by bone. The bones
// below a lifted one keep their directions: turning with it, they would flip up.
func (s *Quadruped) tail(m []m3.Xform) {
	t, tail := s.Rig.Tree, s.Rig.Roles.Tail
	for i := 1; i < len(tail); i++ {
		a, b := tail[i-1], tail[i]
		was := m[a].Rot
		back := m[tail[len(tail)-1]].Pos.Sub(m[tail[0]].Pos).Flat().Normalize(m3.V(0, 0, -1))
		if s.raise(m, a, b, back) {
			t.turn(m, b, was.Mul(m[a].Rot.Conj()))
		}
	}
}

// raise turns joint a until its descendant b is gap above the terrain, if
// it was lower, keeping b's heading from a, and reports whether it did. The
// deeper b was, the more its heading gives way to back: that of a bone which
// points straight down means nothing.
func (s *Quadruped) raise(m []m3.Xform, a, b int, back m3.Vec3) bool {
	raised := false
	// The terrain under b changes as b moves; the second pass sees to that.
	for range 2 {
		p, from := m[b].Pos, m[a].Pos
		y := s.Ground.Height(p.X, p.Z) + gap
		if p.Y >= y {
			break
		}
		d := p.Sub(from)
		s.Rig.Tree.aim(m, a, p, from.Add(tilt(d, y-from.Y, d.Flat().Add(back.Scale(y-p.Y)))), 1)
		raised = true
	}
	return raised
}

// tilt returns a vector as long as d that rises by rise, as far as it can, in
// the direction heading over the ground.
func tilt(d m3.Vec3, rise float32, heading m3.Vec3) m3.Vec3 {
	length := d.Len()
	rise = m3.Clamp(rise, -length, length)
	to := heading.Flat().Normalize(m3.V(0, 0, -1)).Scale(m3.Sqrt(length*length - rise*rise))
	to.Y = rise
	return to
}
