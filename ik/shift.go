package ik

import "mannequin/engine/m3"

// Shift moves what the solver remembers of the foot along with its body: the space of the pose has
// another origin from now on. by is flat, m.
func (f *Foot) Shift(by m3.Vec3) {
	if !f.seen {
		return
	}
	for _, p := range [...]*m3.Vec3{&f.prev, &f.lockPos, &f.target, &f.path.out, &f.knee.out, &f.ankle.out, &f.tip.out, &f.toes.out} {
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
		s.goal, s.to, s.shoulder = s.goal.Add(by), s.to.Add(by), s.shoulder.Add(by)
	}
}

// Shift moves the place to which the foot goes; see [Foot.Shift].
func (p *Step) Shift(by m3.Vec3) {
	if p.Target = p.Target.Add(by); p.on {
		p.goal = p.goal.Add(by)
	}
}

// Pace says that the next step of the solver is by times as long as the last one: what moves goes on as fast.
func (f *Foot) Pace(by float32) {
	for _, l := range [...]*limiter{&f.path, &f.knee, &f.ankle, &f.tip, &f.toes} {
		l.step = l.step.Scale(by)
	}
}

// Pace says how long the next step of the solver is; see [Foot.Pace].
func (b *Body) Pace(by float32) {
	for _, chain := range [...][]limiter{b.ground[:], b.head[:], b.tail[:]} {
		for i := range chain {
			chain[i].step = chain[i].step.Scale(by)
		}
	}
}

// Turn turns what the solver remembers of the foot along with its body.
func (f *Foot) Turn(t m3.Turn) {
	if !f.seen {
		return
	}
	for _, p := range [...]*m3.Vec3{&f.prev, &f.lockPos, &f.target} {
		*p = t.Point(*p)
	}
	for _, v := range [...]*m3.Vec3{&f.offset, &f.vel, &f.slope} {
		*v = t.Rot.Rotate(*v)
	}
	for _, l := range [...]*limiter{&f.path, &f.knee, &f.ankle, &f.tip, &f.toes} {
		l.turn(t)
	}
}

// Turn turns what the solver remembers of the body; see [Foot.Turn].
func (b *Body) Turn(t m3.Turn) {
	if !b.seen {
		return
	}
	b.at, b.shift = t.Point(b.at), t.Rot.Rotate(b.shift)
	for _, l := range [...]*springVec{&b.lean, &b.over} {
		l.x, l.v = t.Rot.Rotate(l.x), t.Rot.Rotate(l.v)
	}
	for i := range b.tail { // of ground, only heights are kept
		b.tail[i].turn(t)
		b.head[i].turn(t)
	}
}

func (l *limiter) turn(t m3.Turn) {
	l.out, l.step, l.offset, l.vel = t.Point(l.out), t.Rot.Rotate(l.step), t.Rot.Rotate(l.offset), t.Rot.Rotate(l.vel)
}

// Turn turns the places to which the hand goes; see [Foot.Turn].
func (s *HandState) Turn(t m3.Turn) {
	if s.on {
		s.to, s.shoulder = t.Point(s.to), t.Point(s.shoulder)
		s.turn(t)
	}
}

// Turn turns the place to which the foot goes; see [Foot.Turn].
func (p *Step) Turn(t m3.Turn) {
	if p.Target = t.Point(p.Target); p.on {
		p.turn(t)
	}
}

func (s *timed) turn(t m3.Turn) {
	s.goal, s.off, s.rate, s.from = t.Point(s.goal), t.Rot.Rotate(s.off), t.Rot.Rotate(s.rate), t.Rot.Rotate(s.from)
}
