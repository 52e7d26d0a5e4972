package blend

import (
	"errors"
	"fmt"
	"math"

	"mannequin/animsys/generator"
	"mannequin/engine/m3"
)

// leftMagic begins what Leave writes. The last byte is the version.
const leftMagic = "inertia\x01"

// Leave appends what a row has shown and still has to ease to the state of an agent, which goes on with it in another Inertial: see Resume.
func (b *Inertial) Leave(st *generator.State, row int) {
	var magic [len(leftMagic)]byte
	copy(magic[:], leftMagic)
	joints, dt := int32(len(b.parents)), b.DT
	generator.Value(st, &magic)
	generator.Value(st, &joints)
	generator.Value(st, &dt)
	b.Visit(st, row)
}

// LeaveShown is Leave for a row that was drawn differently from what Run returned, for example with locked feet: shown is the pose as drawn, and
// stood the pose as the other side will draw it, both (joints), with the row's root at root. The difference is eased, too. Only one LeaveShown runs at
// a time.
func (b *Inertial) LeaveShown(st *generator.State, row int, root m3.Xform, shown, stood []m3.Xform) {
	n, one := len(b.parents), len(b.state)-1 // the row itself stays as it is
	b.Copy(one, row)
	if len(shown) == n && len(stood) == n && n > 0 && b.state[one].seen > 0 {
		back := root.Rot.Conj()
		by := back.Rotate(shown[0].Pos.Sub(stood[0].Pos))
		h := &b.hips[one]
		h.last, h.older, h.off = h.last.Add(by), h.older.Add(by), h.off.Add(by)
		for j := range n {
			k := one*n + j
			turn := back.Mul(shown[j].Rot).Mul(stood[j].Rot.Conj()).Mul(root.Rot)
			b.last[k], b.older[k], b.off[k] = turn.Mul(b.last[k]).Normalize(), turn.Mul(b.older[k]).Normalize(), turn.Mul(b.off[k]).Normalize()
		}
		b.state[one].fading = true
	}
	b.Leave(st, one)
}

// Resume reads what Leave wrote at the end of an agent's state into a row, which goes on with it, in the space that the other row had: see
// Shift. The row forgets all if the state ends before. It is an error, after which the row has forgotten all, if something else follows, or if
// numbers are not sound.
func (b *Inertial) Resume(st *generator.State, row int) error {
	b.Reset(row)
	if st.Err() != nil || st.Read() == len(st.Data) {
		return st.Err()
	}
	var magic [len(leftMagic)]byte
	var joints int32
	var dt float32
	generator.Value(st, &magic)
	generator.Value(st, &joints)
	generator.Value(st, &dt)
	const name = len(leftMagic) - 1
	switch {
	case st.Err() != nil:
	case string(magic[:name]) != leftMagic[:name]:
		st.Fail(errors.New("something follows the agent's motion that is not what inertialization has left"))
	case magic[name] != leftMagic[name]:
		st.Fail(fmt.Errorf("the state has inertialization of version %d, and this program reads version %d", magic[name], leftMagic[name]))
	case int(joints) != len(b.parents):
		st.Fail(fmt.Errorf("the state has inertialization of %d joints, want %d", joints, len(b.parents)))
	}
	if st.Err() == nil {
		b.visit(st, row)
	}
	if st.Err() == nil {
		if err := b.check(row, carried); err != nil {
			st.Fail(err)
		}
	}
	if st.Err() == nil && st.Read() != len(st.Data) {
		st.Fail(errors.New("the state goes on after its agent"))
	}
	if st.Err() != nil {
		b.Reset(row)
		return st.Err()
	}
	if dt != b.DT { // how fast it went does not follow from poses of another tick
		b.Pause(row)
	}
	return nil
}

// bounds are the largest numbers that a row may have.
type bounds struct {
	way   float32 // m, from the root
	speed float32 // m/s, rad/s
	turn  float32 // number of a rotation: Run does not make a generator's rotations unit ones
}

var (
	carried = bounds{1e3, 1e4, 1e3} // of a row that comes from another Inertial
	finites = bounds{math.MaxFloat32, math.MaxFloat32, math.MaxFloat32}
)

// check returns an error for a row that was read, if Run leaves none like it, or if it is not within bounds.
func (b *Inertial) check(row int, most bounds) error {
	s, h, n := &b.state[row], &b.hips[row], len(b.parents)
	if s.seen > 2 {
		return fmt.Errorf("inertialization of the state knows %d poses", s.seen)
	}
	if s.seen == 0 { // what is in the arrays is never read
		if s.begun || s.fading {
			return errors.New("inertialization of the state eases a jump without a pose before it")
		}
		return nil
	}
	placed := func(x m3.Xform) bool { return x.Pos.Finite() && x.Rot.Finite() }
	within := func(v m3.Vec3, most float32) bool {
		return v.Finite() && max(m3.Abs(v.X), m3.Abs(v.Y), m3.Abs(v.Z)) <= most
	}
	turns := func(all []m3.Quat) bool {
		for _, q := range all[row*n:][:n] {
			if !(max(m3.Abs(q.X), m3.Abs(q.Y), m3.Abs(q.Z), m3.Abs(q.W)) <= most.turn) {
				return false
			}
		}
		return true
	}
	ok := within(h.last, most.way) && within(h.in, most.way) && placed(h.root) && turns(b.last)
	if s.seen == 2 {
		ok = ok && within(h.older, most.way) && placed(h.before) && turns(b.older)
	}
	if s.begun {
		ok = ok && turns(b.in)
	}
	if s.fading {
		ok = ok && within(h.off, most.way) && within(h.vel, most.speed)
		for k := row * n; ok && k < (row+1)*n; k++ {
			ok = m3.Abs(b.off[k].Dot(b.off[k])-1) < 1e-2 && within(b.spin[k], most.speed)
		}
	}
	if !ok {
		return errors.New("inertialization of the state has numbers that are not finite, or too large")
	}
	return nil
}
