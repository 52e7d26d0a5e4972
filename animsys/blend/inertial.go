// Package blend joins poses: inertialised switches that ease jumps out of sight.
package blend

import (
	"math"
	"slices"

	"mannequin/animsys/generator"
	"mannequin/engine/m3"
)

// Inertial passes the poses of many characters through and hides their jumps: where a character's
// pose does not continue the one before, the difference, with its velocity, is kept as an offset
// and decays along a critically damped spring (Bollo, "Inertialization", GDC 2018). Only one pose
// per character is ever computed, unlike in a cross-fade.
//
// Jumps are announced with Jump, or found: where a joint would turn faster or slower all at once,
// the excess becomes part of the offset. Bounds that sound motion hardly reaches leave it as it is.
//
// Poses are local transforms. Rotations, and joint 0's place, are eased in the space of the
// character's root on the ground: a body that jumps does not drag the legs along, and a character
// that is moved elsewhere keeps its posture and does not fly through the world. Local translations
// of the other joints pass unchanged: bones keep their lengths.
//
// State is one entry per row in every slice; rows are independent. One more row is for LeaveShown.
type Inertial struct {
	Halflife float32   // of a jump, s
	DT       float32   // seconds between calls of Run
	Turn     []float32 // (joints) angular acceleration in root space beyond which a joint jumps, rad/s²; nil: no jump is found
	Move     float32   // acceleration of joint 0 in root space beyond which it jumps, m/s²; 0: no jump is found

	parents []int16
	state   []rowState
	in      []m3.Quat // (rows, joints) rotations that came in, all in root space
	last    []m3.Quat // (rows, joints) given out last
	older   []m3.Quat // (rows, joints) given out the tick before
	off     []m3.Quat // (rows, joints) what is added
	spin    []m3.Vec3 // (rows, joints) its angular velocity, rad/s
	hips    []hips
}

type rowState struct {
	seen   uint8 // how many of last and older are known, 0 to 2
	jumps  bool  // the next pose does not continue the last
	put    bool  // nor does the next root
	begun  bool  // the last pose did not continue the one before: how fast the new motion goes shows in the next
	fading bool  // off is not nothing
}

// hips is joint 0's place in root space, as for the rotations, and where the root was.
type hips struct {
	last, older, off, vel, in m3.Vec3
	root, before              m3.Xform // in the last tick, and in the one before
}

// NewInertial returns the state of rows characters whose joints have the given parents (−1, or a
// joint before), at 60 Hz with a half-life of 0.1 s.
func NewInertial(rows int, parents []int16) *Inertial {
	rows = max(rows, 0)
	n := (rows + 1) * len(parents)
	b := &Inertial{
		Halflife: 0.1, DT: 1.0 / 60, parents: parents, state: make([]rowState, rows+1), hips: make([]hips, rows+1),
		in: make([]m3.Quat, n), last: make([]m3.Quat, n), older: make([]m3.Quat, n), off: make([]m3.Quat, n), spin: make([]m3.Vec3, n),
	}
	for r := range rows {
		b.Reset(r)
	}
	return b
}

// Reset forgets row: its next pose is taken as it is.
func (b *Inertial) Reset(row int) {
	b.state[row] = rowState{}
	b.settle(row)
}

func (b *Inertial) settle(row int) {
	b.hips[row].off, b.hips[row].vel = m3.Vec3{}, m3.Vec3{}
	n := len(b.parents)
	for k := row * n; k < (row+1)*n; k++ {
		b.off[k], b.spin[k] = m3.Ident, m3.Vec3{}
	}
}

// Jump announces that the next pose of row does not continue the last.
func (b *Inertial) Jump(row int) { b.state[row].jumps = true }

// Put is Jump for a row whose root has been put elsewhere: it has not gone there.
func (b *Inertial) Put(row int) { b.state[row].jumps, b.state[row].put = true, true }

// Pause says that row's next pose comes after another time than DT, so its velocity is unknown.
func (b *Inertial) Pause(row int) { b.state[row].seen = min(b.state[row].seen, 1) }

// Copy makes row dst the same as row src.
func (b *Inertial) Copy(dst, src int) {
	b.state[dst], b.hips[dst] = b.state[src], b.hips[src]
	n := len(b.parents)
	copy(b.last[dst*n:(dst+1)*n], b.last[src*n:])
	copy(b.older[dst*n:(dst+1)*n], b.older[src*n:])
	copy(b.in[dst*n:(dst+1)*n], b.in[src*n:])
	copy(b.off[dst*n:(dst+1)*n], b.off[src*n:])
	copy(b.spin[dst*n:(dst+1)*n], b.spin[src*n:])
}

// Shift says that row is moved by by between two calls of Run, as its ground is or its space's origin: that is no motion of its own.
func (b *Inertial) Shift(row int, by m3.Vec3) {
	h := &b.hips[row]
	h.root.Pos, h.before.Pos = h.root.Pos.Add(by), h.before.Pos.Add(by)
}

// TurnRow is Shift for a row that is turned.
func (b *Inertial) TurnRow(row int, by m3.Turn) {
	h := &b.hips[row]
	h.root, h.before = by.Xform(h.root), by.Xform(h.before)
}

// Before returns joint 0 of row in the space of its root as the last call of Run but one gave it out, and
// whether that is known.
func (b *Inertial) Before(row int) (x m3.Xform, ok bool) {
	if b.state[row].seen < 2 {
		return m3.Xform{}, false
	}
	return m3.Xform{Pos: b.hips[row].older, Rot: b.older[row*len(b.parents)]}, true
}

// JointBefore returns the rotation of joint j of row, which has a parent, in that parent's space, at the
// time of Before.
func (b *Inertial) JointBefore(row, j int) m3.Quat {
	at := row * len(b.parents)
	return b.older[at+int(b.parents[j])].Conj().Mul(b.older[at+j])
}

// Visit writes or reads the state of a row. One that no row can have is an error of reading.
func (b *Inertial) Visit(st *generator.State, row int) {
	b.visit(st, row)
	if st.Reading() && st.Err() == nil {
		if err := b.check(row, finites); err != nil {
			b.Reset(row)
			st.Fail(err)
		}
	}
}

func (b *Inertial) visit(st *generator.State, row int) {
	s, n := &b.state[row], len(b.parents)
	faded := s.fading
	generator.Value(st, &s.seen)
	st.Bool(&s.jumps)
	st.Bool(&s.put)
	st.Bool(&s.fading)
	st.Bool(&s.begun)
	generator.Value(st, &b.hips[row])
	generator.Values(st, b.last[row*n:][:n])
	generator.Values(st, b.older[row*n:][:n])
	if s.begun {
		generator.Values(st, b.in[row*n:][:n])
	}
	if !s.fading {
		if st.Reading() {
			b.hips[row].off, b.hips[row].vel = m3.Vec3{}, m3.Vec3{}
			if faded { // other rows are settled already
				b.settle(row)
			}
		}
		return
	}
	generator.Values(st, b.off[row*n:][:n])
	generator.Values(st, b.spin[row*n:][:n])
}

// Run smooths the poses of the rows from r0 up to r1. pos and rot, (rows, joints), are the poses
// going in, their joint 0 in world space, and are changed in place; root, (rows), is where the
// characters stand on the ground. A pose that is not finite passes through and is not remembered, and
// so does any for which settings give none that is finite.
func (b *Inertial) Run(pos []m3.Vec3, rot []m3.Quat, root []m3.Xform, r0, r1 int) {
	n := len(b.parents)
	decay := m3.NewDecay(b.Halflife, b.DT)
	for r := r0; r < r1; r++ {
		b.row(r, &pos[r*n], rot[r*n:(r+1)*n], root[r], &decay)
	}
}

func (b *Inertial) row(r int, pos0 *m3.Vec3, rot []m3.Quat, root m3.Xform, d *m3.Decay) {
	s, at := &b.state[r], r*len(b.parents)
	local := root.Inv().Mul(m3.Xform{Pos: *pos0, Rot: rot[0]})
	if !local.Pos.Finite() || !finite(rot) {
		b.Reset(r)
		return
	}
	begun := s.jumps && s.seen > 0
	if begun {
		b.begin(r, local, rot, root, d)
	}
	h, learns := &b.hips[r], s.begun && !begun
	if learns {
		h.vel = b.learn(r, h.vel, h.last.Sub(h.older), local.Pos.Sub(h.in), moreSpeed)
	}
	s.jumps, s.put, s.begun, h.in = false, false, begun, local.Pos
	h.before, h.root = h.root, root
	out, left := b.place(r, local.Pos, d)
	if out != local.Pos {
		*pos0 = root.Apply(out)
	}
	in, last := b.in[at:at+len(rot)], b.last[at:at+len(rot)]
	for j, p := range b.parents {
		was := in[j]
		in[j] = local.Rot
		if p >= 0 {
			in[j] = in[p].Mul(rot[j])
		}
		if k := at + j; learns {
			shown := last[j].Mul(b.older[k].Conj()).RotationVector()
			b.spin[k] = b.learn(r, b.spin[k], shown, b.off[k].Rotate(in[j].Mul(was.Conj()).RotationVector()), moreSpin)
		}
		q, more := b.turn(r, j, d)
		left = left || more
		b.older[at+j], last[j] = last[j], q
		// What nothing has changed stays as it is, to the bit.
		switch {
		case p < 0 && q != in[j]:
			rot[j] = root.Rot.Mul(q).Normalize()
		case p >= 0 && (q != in[j] || last[p] != in[p]):
			rot[j] = last[p].Conj().Mul(q).Normalize()
		}
	}
	if !b.hips[r].off.Finite() || !pos0.Finite() || !finite(rot) {
		b.undo(r, local, pos0, rot, root)
		return
	}
	if s.fading && !left {
		b.settle(r)
	}
	s.fading, s.seen = left, min(s.seen+1, 2)
}

// undo gives row r the pose that came in, and forgets the row.
func (b *Inertial) undo(r int, local m3.Xform, pos0 *m3.Vec3, rot []m3.Quat, root m3.Xform) {
	in := b.in[r*len(rot):]
	*pos0, rot[0] = root.Apply(local.Pos), root.Rot.Mul(in[0]).Normalize()
	for j, p := range b.parents {
		if p >= 0 {
			rot[j] = in[p].Conj().Mul(in[j]).Normalize()
		}
	}
	b.Reset(r)
}

func finite(rot []m3.Quat) bool {
	return !slices.ContainsFunc(rot, func(q m3.Quat) bool { return !q.Finite() })
}

// begin starts the offset of row r: the pose that would have followed the last one, minus the new pose. The velocity of the
// offset is the velocity of the last pose in the world, minus the velocity of the new root. In the next tick, when two poses
// of the new motion are known, learn subtracts the velocity of the new motion.
func (b *Inertial) begin(r int, local m3.Xform, rot []m3.Quat, root m3.Xform, d *m3.Decay) {
	s, h, at := &b.state[r], &b.hips[r], r*len(b.parents)
	var goes, turns m3.Vec3
	keep := float32(1)
	if s.begun { // jumps in each tick must not keep it going
		keep = m3.Exp(-2 * math.Ln2 * b.DT / max(b.Halflife, 1e-6))
	}
	if s.seen == 2 {
		if !s.put {
			goes, turns = b.rootExcess(h, root)
		}
		goes = goes.Add(h.last.Sub(h.older).Scale(1 / b.DT)).Scale(keep)
	}
	h.off = h.last.Add(goes.Scale(b.DT)).Sub(local.Pos)
	h.off, h.vel = d.Vec(h.off, m3.Vec3{})
	h.vel = h.vel.Add(goes)
	for j, p := range b.parents {
		k := at + j
		b.in[k] = local.Rot
		if p >= 0 {
			b.in[k] = b.in[at+int(p)].Mul(rot[j])
		}
		spins := turns
		if s.seen == 2 {
			spins = spins.Add(b.last[k].Mul(b.older[k].Conj()).RotationVector().Scale(1 / b.DT)).Scale(keep)
		}
		b.off[k] = m3.FromRotationVector(spins.Scale(b.DT)).Mul(b.last[k]).Mul(b.in[k].Conj())
		b.off[k], b.spin[k] = d.Quat(b.off[k], m3.Vec3{})
		b.spin[k] = b.spin[k].Add(spins)
	}
	s.fading = true
}

// rootExcess returns how much faster the root went and turned before it came to root, in its space: m/s and rad/s.
// A root that was put elsewhere has none.
func (b *Inertial) rootExcess(h *hips, root m3.Xform) (way, turn m3.Vec3) {
	most := fastest * b.DT
	before, now := h.root.Pos.Sub(h.before.Pos), root.Pos.Sub(h.root.Pos)
	turned, turns := h.root.Rot.Mul(h.before.Rot.Conj()).RotationVector(), root.Rot.Mul(h.root.Rot.Conj()).RotationVector()
	if before.Len() > most || now.Len() > most || turned.Len() > most || turns.Len() > most {
		return way, turn
	}
	back := root.Rot.Conj()
	return back.Rotate(before.Sub(now)).Scale(1 / b.DT), back.Rotate(turned.Sub(turns)).Scale(1 / b.DT)
}

// fastest is the speed beyond which a root has been put elsewhere, m/s and rad/s.
const fastest = 20

// The new motion may be faster than the shown pose by this much, m/s and rad/s. More is a jump that was not announced.
const moreSpeed, moreSpin = 4, 10

// learn subtracts the velocity of the new motion from v, the velocity of an offset that began in the last tick. Since then the
// new motion has moved by step, and the shown pose by shown. If the last tick had another length than DT, the velocity is
// unknown, and the result is 0.
func (b *Inertial) learn(r int, v, shown, step m3.Vec3, more float32) m3.Vec3 {
	if b.state[r].seen < 2 {
		return m3.Vec3{}
	}
	if l, most := step.Len(), shown.Len()+more*b.DT; l > most {
		step = step.Scale(most / l)
	}
	return v.Sub(step.Scale(1 / b.DT))
}

// What is left of an offset below these is not worth another tick.
const (
	still = 5e-4 // rad and m
	slow  = 5e-3 // rad/s and m/s
)

// place returns where joint 0 of row r goes whose pose has it at in, both in root space, and
// whether an offset is left.
func (b *Inertial) place(r int, in m3.Vec3, d *m3.Decay) (out m3.Vec3, left bool) {
	s, h := &b.state[r], &b.hips[r]
	if out = in; s.fading {
		if !s.begun {
			h.off, h.vel = d.Vec(h.off, h.vel)
		}
		out = in.Add(h.off)
		left = h.off.Len() > still || h.vel.Len() > slow
	}
	if limit := b.Move * b.DT * b.DT; limit > 0 && s.seen == 2 {
		step := h.last.Sub(h.older)
		more := out.Sub(h.last).Sub(step)
		if l := more.Len(); l > limit {
			out = h.last.Add(step).Add(more.Scale(limit / l))
			h.off, left = out.Sub(in), true
		}
	}
	h.older, h.last = h.last, out
	return out, left
}

// turn returns how joint j of row r is turned that comes in as b.in says, in root space, and
// whether an offset is left.
func (b *Inertial) turn(r, j int, d *m3.Decay) (out m3.Quat, left bool) {
	s, k := &b.state[r], r*len(b.parents)+j
	in, last := b.in[k], b.last[k]
	if out = in; s.fading {
		if !s.begun {
			b.off[k], b.spin[k] = d.Quat(b.off[k], b.spin[k])
		}
		out = b.off[k].Mul(in).Normalize()
		left = 1-m3.Abs(b.off[k].W) > still*still/8 || b.spin[k].Len() > slow
	}
	if j >= len(b.Turn) || s.seen < 2 {
		return out, left
	}
	limit := b.Turn[j] * b.DT * b.DT
	before, step := last.Mul(b.older[k].Conj()), out.Mul(last.Conj())
	if small(step).Dist(small(before)) <= limit {
		return out, left
	}
	from := before.RotationVector()
	more := step.RotationVector().Sub(from)
	if l := more.Len(); l > limit {
		out = m3.FromRotationVector(from.Add(more.Scale(limit / l))).Mul(last).Normalize()
		b.off[k], left = out.Mul(in.Conj()).Normalize(), true
	}
	return out, left
}

// small returns the rotation vector of a small rotation.
func small(q m3.Quat) m3.Vec3 {
	v := m3.V(2*q.X, 2*q.Y, 2*q.Z)
	if q.W < 0 {
		v = v.Neg()
	}
	return v
}
