package anatomy

import "mannequin/engine/m3"

// Exercise returns transforms of the space of the places at rest that move each joint into a test pose:
// limbs swing by amount, −1 to 1, knees and elbows bend, trunk, head and tails turn. In it wrong roles show.
// parents has the parent of each joint, −1 for none. A foot that hangs elsewhere moves with its leg.
func (b *Body) Exercise(parents []int16, amount float32) []m3.Xform {
	n := len(b.at)
	up, ahead := b.Up, b.Ahead
	left := up.Cross(ahead)
	turn, above := make([]m3.Quat, n), make([]int, n)
	for j := range n {
		turn[j], above[j] = m3.Ident, -1
		if j < len(parents) {
			above[j] = int(parents[j])
		}
	}
	add := func(j int, q m3.Quat) {
		if j >= 0 && j < n {
			turn[j] = q.Mul(turn[j])
		}
	}
	about := func(axis m3.Vec3, angle float32) m3.Quat { return m3.AxisAngle(axis, angle) }
	swing := func(l Limb, phase float32, arm bool) {
		side := float32(1)
		if l.Side == Right {
			side = -1
		}
		s := phase * side * amount
		if l.Middle < 0 || l.Upper < 0 {
			add(l.Upper, about(left, -0.5*s))
			return
		}
		if arm && b.Kind == TwoLegs {
			// Down from a T-pose.
			d := b.at[l.Middle].Sub(b.at[l.Upper]).Normalize(up.Neg())
			if d.Dot(up) > -0.6 {
				add(l.Upper, about(ahead, -side*0.9))
			}
			add(l.Middle, about(left, -0.5-0.3*s))
		} else if bend := 0.5 + 0.4*s; arm {
			add(l.Middle, about(left, -bend))
		} else {
			add(l.Middle, about(left, bend))
		}
		add(l.Upper, about(left, -0.6*s))
		if l.Foot >= 0 {
			for i := 1; i < len(l.Chain); i++ {
				if l.Chain[i] == l.Foot {
					above[l.Foot] = l.Chain[i-1]
				}
			}
		}
	}
	legs := b.Legs
	for i, l := range legs {
		fore := len(legs) == 4 && i < 2
		swing(l, [2]float32{1, -1}[(i/2)%2], fore)
	}
	for _, l := range b.Arms {
		swing(l, -1, true)
	}
	for _, l := range b.Wings {
		side := float32(1)
		if l.Side == Right {
			side = -1
		}
		add(l.Upper, about(ahead, side*0.6*amount))
		add(l.Middle, about(ahead, side*0.3*amount))
	}
	axis := up
	for _, chain := range append([][]int{b.Neck}, b.Tails...) {
		for _, j := range chain {
			add(j, about(axis, 0.6*amount/float32(len(chain))))
		}
	}
	for _, j := range b.Spine {
		add(j, about(up, -0.3*amount/float32(len(b.Spine))))
	}
	add(b.Head, about(up, 0.5*amount))
	out, done := make([]m3.Xform, n), make([]bool, n)
	var move func(j, depth int) m3.Xform
	move = func(j, depth int) m3.Xform {
		if done[j] || depth > n {
			return out[j]
		}
		x := m3.Xform{Pos: b.at[j].Sub(turn[j].Rotate(b.at[j])), Rot: turn[j]}
		if p := above[j]; p >= 0 && p < n {
			x = move(p, depth+1).Mul(x)
		}
		out[j], done[j] = x, true
		return x
	}
	for j := range n {
		move(j, 0)
	}
	return out
}

// Role is a group of joints in pictures and lists.
type Role string

// Roles returns the role of each joint: hips, spine, neck, head, left leg, right leg, …, or empty.
func (b *Body) Roles() []Role {
	out := make([]Role, len(b.at))
	set := func(r Role, chain ...int) {
		for _, j := range chain {
			if j >= 0 && j < len(out) && out[j] == "" {
				out[j] = r
			}
		}
	}
	set("hips", b.Hips)
	set("head", b.Head)
	set("spine", b.Spine...)
	set("neck", b.Neck...)
	for _, c := range []struct {
		of    string
		limbs []Limb
	}{{"leg", b.Legs}, {"arm", b.Arms}, {"wing", b.Wings}} {
		for i, l := range c.limbs {
			name := "left " + c.of
			if l.Side == Right {
				name = "right " + c.of
			}
			if c.of == "leg" && len(b.Legs) == 4 {
				name = [2]string{"fore ", "hind "}[i/2] + name
			}
			set(Role(name), l.Chain...)
		}
	}
	for _, t := range b.Tails {
		set("tail", t...)
	}
	for _, t := range b.Trunks {
		set("trunk", t...)
	}
	return out
}
