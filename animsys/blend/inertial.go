// Package blend joins poses: inertialised switches that ease jumps out of sight.
package blend

import "mannequin/engine/m3"

// Inertial passes the poses of many characters through and hides their jumps:
// where a character's pose does not continue the one before, the difference,
// with its velocity, is kept as an offset and decays along a critically damped
// spring (Bollo, "Inertialization", GDC 2018). Only one pose per character is
// ever computed, unlike in a cross-fade.
//
// Poses are local transforms. A character's root joint is smoothed in the space
// of its root on the ground, so that a character that is moved elsewhere keeps
// its posture and does not fly through the world. Local translations of the
// other joints pass unchanged: bones keep their lengths.
//
// State is one entry per row in every slice; rows are independent.
type Inertial struct {
	Halflife float32 // of a jump, s
	DT       float32 // seconds between calls of Run

	joints int
	state  []rowState
	last   []m3.Quat // (rows, joints) rotations given out last; the root joint's in root space
	older  []m3.Quat // and the tick before
	off    []m3.Quat // (rows, joints) what is added to the rotations, in parent space
	spin   []m3.Vec3 // its angular velocity, rad/s
	hips   []hips
}

type rowState struct {
	seen   uint8 // how many of last and older are known, 0 to 2
	jumps  bool  // the next pose does not continue the last
	fading bool  // off is not nothing
}

// hips is the root joint's place in root space, as for the rotations.
type hips struct{ last, older, off, vel m3.Vec3 }

// NewInertial returns the state of rows characters with joints joints each, at
// 60 Hz with a half-life of 0.1 s.
func NewInertial(rows, joints int) *Inertial {
	n := rows * joints
	return &Inertial{
		Halflife: 0.1, DT: 1.0 / 60, joints: joints, state: make([]rowState, rows), hips: make([]hips, rows),
		last: make([]m3.Quat, n), older: make([]m3.Quat, n), off: make([]m3.Quat, n), spin: make([]m3.Vec3, n),
	}
}

// Reset forgets row: its next pose is taken as it is.
func (b *Inertial) Reset(row int) { b.state[row] = rowState{} }

// Jump announces that the next pose of row does not continue the last.
func (b *Inertial) Jump(row int) { b.state[row].jumps = true }

// Copy makes row dst the same as row src.
func (b *Inertial) Copy(dst, src int) {
	b.state[dst], b.hips[dst] = b.state[src], b.hips[src]
	n := b.joints
	copy(b.last[dst*n:(dst+1)*n], b.last[src*n:])
	copy(b.older[dst*n:(dst+1)*n], b.older[src*n:])
	copy(b.off[dst*n:(dst+1)*n], b.off[src*n:])
	copy(b.spin[dst*n:(dst+1)*n], b.spin[src*n:])
}

// Run smooths the poses of the rows from r0 up to r1. pos and rot, (rows,
// joints), are the poses going in, their joint 0 in world space, and are changed
// in place; root, (rows), is where the characters stand on the ground. A pose
// that is not finite passes through and is not remembered.
func (b *Inertial) Run(pos []m3.Vec3, rot []m3.Quat, root []m3.Xform, r0, r1 int) {
	n := b.joints
	for r := r0; r < r1; r++ {
		b.row(r, &pos[r*n], rot[r*n:(r+1)*n], root[r])
	}
}

func (b *Inertial) row(r int, pos0 *m3.Vec3, rot []m3.Quat, root m3.Xform) {
	s, h, at := &b.state[r], &b.hips[r], r*b.joints
	local := root.Inv().Mul(m3.Xform{Pos: *pos0, Rot: rot[0]})
	if !finite(local.Pos, rot) {
		*s = rowState{}
		return
	}
	if s.jumps && s.seen > 0 {
		b.begin(r, local, rot)
	}
	s.jumps = false
	if s.fading {
		rot[0] = local.Rot
		s.fading = b.decay(r, rot)
		local.Rot = rot[0].Normalize()
		local.Pos = local.Pos.Add(h.off)
		world := root.Mul(local)
		*pos0, rot[0] = world.Pos, world.Rot
	}
	h.older, h.last = h.last, local.Pos
	copy(b.older[at:at+b.joints], b.last[at:])
	copy(b.last[at:at+b.joints], rot)
	b.last[at] = local.Rot
	s.seen = min(s.seen+1, 2)
}

func finite(p m3.Vec3, rot []m3.Quat) bool {
	ok := p.Finite()
	for _, q := range rot {
		ok = ok && q.Finite()
	}
	return ok
}

// begin takes the difference between the last pose and the new one as row r's
// offset, and the last pose's velocity as its velocity.
func (b *Inertial) begin(r int, local m3.Xform, rot []m3.Quat) {
	s, h, at := &b.state[r], &b.hips[r], r*b.joints
	h.off, h.vel = h.last.Sub(local.Pos), m3.Vec3{}
	if s.seen == 2 {
		h.vel = h.last.Sub(h.older).Scale(1 / b.DT)
	}
	for j := range rot {
		to := rot[j]
		if j == 0 {
			to = local.Rot
		}
		b.off[at+j], b.spin[at+j] = b.last[at+j].Mul(to.Conj()), m3.Vec3{}
		if s.seen == 2 {
			b.spin[at+j] = b.last[at+j].Mul(b.older[at+j].Conj()).RotationVector().Scale(1 / b.DT)
		}
	}
	s.fading = true
}

// decay advances row r's offset, applies it to rot, and reports whether enough
// is left to be worth another tick.
func (b *Inertial) decay(r int, rot []m3.Quat) bool {
	const still, slow = 5e-4, 5e-3 // rad and m; rad/s and m/s
	h, at := &b.hips[r], r*b.joints
	h.off, h.vel = m3.DecayVec(h.off, h.vel, b.Halflife, b.DT)
	left := h.off.Len() > still || h.vel.Len() > slow
	for j := range rot {
		q, w := m3.DecayQuat(b.off[at+j], b.spin[at+j], b.Halflife, b.DT)
		b.off[at+j], b.spin[at+j] = q, w
		rot[j] = q.Mul(rot[j]).Normalize()
		left = left || 1-m3.Abs(q.W) > still*still/8 || w.Len() > slow
	}
	return left
}
