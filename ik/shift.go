package ik

import "mannequin/engine/m3"

// Shift moves what the solver remembers of the foot along with its body: the space of the pose has
// another origin from now on. by is flat, m.
func (f *Foot) Shift(by m3.Vec3) {
	if !f.seen {
		return
	}
	for _, p := range [...]*m3.Vec3{&f.prev, &f.lockPos, &f.target, &f.path.out, &f.knee.out, &f.ankle.out, &f.tip.out} {
		*p = p.Add(by)
	}
}

// Shift moves what the solver remembers of the body; see [Foot.Shift].
func (b *Body) Shift(by m3.Vec3) {
	if !b.seen {
		return
	}
	b.at = b.at.Add(by)
	for i := range b.tail { // of ground, only heights are kept
		b.tail[i].out, b.head[i].out = b.tail[i].out.Add(by), b.head[i].out.Add(by)
	}
}

// Shift moves the places to which the hand goes; see [Foot.Shift].
func (s *HandState) Shift(by m3.Vec3) {
	if s.on {
		s.goal, s.to = s.goal.Add(by), s.to.Add(by)
	}
}

// Shift moves the place to which the foot goes; see [Foot.Shift].
func (p *Step) Shift(by m3.Vec3) {
	if p.Target = p.Target.Add(by); p.on {
		p.goal = p.goal.Add(by)
	}
}
