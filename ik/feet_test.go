package ik_test

import (
	"math"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/terrain"

	"pgregory.net/rapid"
)

// On a plane, paws lean with the plane, as far as they are on the ground.
func TestSoleFollowsTheSlope(t *testing.T) {
	const angle = 15 * math.Pi / 180
	field, err := terrain.Slope(terrain.Grid{Size: 40, Cell: 1}, angle, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	s, q := batch(t, field, 1)
	place(s, q, 0, m3.V(2, 0, -3), 1.2)
	q.Run(0, 1)
	for _, l := range q.Rig.Roles.Legs {
		paw, tip := l[len(l)-2], l[len(l)-1]
		rest := s.Offsets[tip].Scale(1)
		got := q.Model[tip].Pos.Sub(q.Model[paw].Pos)
		flat := m3.YawQuat(1.2).Rotate(rest)
		lean := m3.Ident.Slerp(m3.Between(m3.Up, field.Normal(0, 0)), 1-s0(s, tip)/0.1)
		if d := got.Dist(lean.Rotate(flat)); d > 1e-3 {
			t.Errorf("%s: the paw points %g m beside the slope's direction", s.Names[tip], d)
		}
	}
}

// s0 returns joint j's height in the rest pose.
func s0(s *skel.Skeleton, j int) (y float32) {
	for ; j >= 0; j = int(s.Parents[j]) {
		y += s.Offsets[j].Y
	}
	return y
}

// The joints above a leg's two bones help it to reach: as the dog goes on over a held forepaw, the
// shoulder blade swings back with it.
func TestShoulderHelps(t *testing.T) {
	s, q := batch(t, ik.Level(0), 1)
	q.MaxDrop = 0 // a body that sinks would help, too
	q.Pos[0].Y -= 0.02
	for range 20 {
		q.Run(0, 1)
	}
	tip, blade, arm := s.Index("LeftHandSite"), s.Index("LeftShoulder"), s.Index("LeftArm")
	at := q.Model[tip].Pos
	for range 30 {
		q.Pos[0].Z += 0.001
		q.Run(0, 1)
		checkBones(t, q, s, 0)
	}
	if d := q.Model[tip].Pos.Dist(at); !q.Feet[0].Locked() || d > 0.005 {
		t.Errorf("3 cm on, the paw is %g m from where it is held (%v)", d, q.Feet[0].Locked())
	}
	if back := s.Offsets[arm].Z - (q.Model[arm].Pos.Z - q.Model[blade].Pos.Z); back < 0.001 {
		t.Errorf("the shoulder blade swings back by %g m", back)
	}
}

// A pose that is not finite makes the solver forget: what comes after it does not reach back to
// where paws stood before.
func TestBrokenPoseForgetsFeet(t *testing.T) {
	s, q := batch(t, ik.Level(0), 1)
	for range 20 {
		q.Run(0, 1)
	}
	if !q.Feet[0].Locked() {
		t.Fatal("nothing is held")
	}
	q.Pos[3].Y = float32(math.NaN())
	q.Run(0, 1)
	copy(q.Pos, s.Offsets)
	q.Pos[0].Z += 0.05
	q.Run(0, 1)
	if z := q.Model[s.Index("LeftHandSite")].Pos.Z; m3.Abs(z-(.39+.05)) > 2e-3 {
		t.Errorf("the paw is at z = %g", z)
	}
}

// Nor does a pose that is finite, but nowhere, leave anything behind.
func TestFarPoseIsForgotten(t *testing.T) {
	field := hills(t, 20, 3)
	s, fresh := batch(t, field, 1)
	fresh.Run(0, 1)
	_, q := batch(t, field, 1)
	for j := range s.Len() {
		for _, far := range []m3.Vec3{m3.V(2e6, 0, 0), m3.V(1e20, 0, 0), m3.V(0, -3e38, 3e38)} {
			q.Pos[j] = far
			q.Run(0, 1)
			q.Pos[j] = s.Offsets[j]
			q.Run(0, 1)
			for i, x := range q.Model {
				if x != fresh.Model[i] {
					t.Fatalf("after %s was at %v, %s is %v, not %v", s.Names[j], far, s.Names[i], x, fresh.Model[i])
				}
			}
		}
	}
}

func TestTailStaysAbove(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		field := hills(t, 20, rapid.Uint64().Draw(rt, "seed"))
		s, q := batch(t, field, 1)
		place(s, q, 0, m3.V(rapid.Float32Range(-15, 15).Draw(rt, "x"), 0, 3), rapid.Float32Range(-3, 3).Draw(rt, "yaw"))
		// Sitting: the hips low, the tail hanging into the ground.
		q.Pos[0].Y = rapid.Float32Range(.12, .3).Draw(rt, "hips")
		q.Rot[s.Index("Tail")] = m3.AxisAngle(m3.V(1, 0, 0), -rapid.Float32Range(.2, 1).Draw(rt, "hang"))
		q.Run(0, 1)
		checkBones(rt, q, s, 0)
		for _, j := range q.Rig.Roles.Tail {
			p := q.Model[j].Pos
			if h := p.Y - field.Height(p.X, p.Z); h < 0.005 {
				rt.Fatalf("%s is %g m above the ground", s.Names[j], h)
			}
		}
	})
}

// A nose that goes to the ground stays above it, uphill too, and one that is held high is left
// alone.
func TestHeadStaysAbove(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		field := hills(t, 20, rapid.Uint64().Draw(rt, "seed"))
		s, q := batch(t, field, 1)
		place(s, q, 0, m3.V(rapid.Float32Range(-15, 15).Draw(rt, "x"), 0, 3), rapid.Float32Range(-3, 3).Draw(rt, "yaw"))
		neck, nose := s.Index("Neck"), s.Index("HeadSite")
		bow := rapid.Float32Range(0, 2.2).Draw(rt, "bow")
		q.Rot[neck] = m3.AxisAngle(m3.V(1, 0, 0), bow)
		q.Pos[0].Y = rapid.Float32Range(.25, .4).Draw(rt, "hips")
		q.MaxDrop = 0 // the body shall not rise out of the way
		q.Run(0, 1)
		checkBones(rt, q, s, 0)
		p := q.Model[nose].Pos
		h := p.Y - field.Height(p.X, p.Z)
		if h < 0.01 {
			rt.Fatalf("the nose is %g m above the ground", h)
		}
		if bow < 0.2 && q.Model[neck].Rot.Angle(q.Model[s.Index("Spine1")].Rot.Mul(q.Rot[neck])) > 1e-3 {
			rt.Fatalf("%g m above the ground, the neck turned", h)
		}
	})
}

// A paw that takes off stays with the flat pose's: neither held nor pressed down, its leg has
// nothing to catch up with.
func TestTakeOff(t *testing.T) {
	s, q := batch(t, ik.Level(0), 1)
	for range 20 {
		q.Run(0, 1)
	}
	flat := make([]m3.Xform, s.Len())
	for tick, speed := range []float32{0.8, 2.5, 3.8, 5, 6, 6.4, 6.6, 6.6} {
		q.Pos[0].Z += speed * q.DT
		q.Pos[0].Y += min(0.1*speed, 0.4) * q.DT
		q.Run(0, 1)
		s.LocalToModel(flat, q.Pos, q.Rot)
		for _, l := range q.Rig.Roles.Legs {
			tip := l[len(l)-1]
			if d := q.Model[tip].Pos.Dist(flat[tip].Pos); d > 0.05 {
				t.Errorf("tick %d: %s is %g m behind", tick, s.Names[tip], d)
			}
		}
	}
}

// A paw that the flat pose drags through the ground stays above it at any speed.
func TestPawsStayAbove(t *testing.T) {
	field := hills(t, 20, 4)
	s, q := batch(t, field, 1)
	q.Pos[0].Y -= 0.05
	for _, speed := range []float32{0, 0.1, 1, 3, 6} {
		for range 10 {
			q.Pos[0].Z += speed * q.DT
			q.Run(0, 1)
			for _, l := range q.Rig.Roles.Legs {
				p := q.Model[l[len(l)-1]].Pos
				if h := p.Y - field.Height(p.X, p.Z); h < 0.001 {
					t.Fatalf("at %g m/s %s is %g m above the ground", speed, s.Names[l[len(l)-1]], h)
				}
			}
		}
	}
}

// A flat pose that is sunk with all its paws is lifted, not folded up.
func TestSunkBodyRises(t *testing.T) {
	s, q := batch(t, ik.Level(0), 1)
	for _, depth := range []float32{0, 0.1} {
		q.Pos[0].Y = s.Offsets[0].Y - depth
		for range 60 {
			q.Run(0, 1)
		}
		if y := q.Model[0].Pos.Y - s.Offsets[0].Y; m3.Abs(y) > 0.04 {
			t.Errorf("sunk by %g m, the hips are %g m above where they are at rest", depth, y)
		}
	}
}

// Feet that lie flat have their hocks on the ground, not in it.
func TestHocksStayAbove(t *testing.T) {
	field := hills(t, 20, 4)
	s, q := batch(t, field, 1)
	q.Pos[0].Y = 0.3
	for _, side := range []string{"Left", "Right"} {
		q.Rot[s.Index(side+"Foot")] = m3.AxisAngle(m3.V(1, 0, 0), -2)
	}
	flat := make([]m3.Xform, s.Len())
	s.LocalToModel(flat, q.Pos, q.Rot)
	q.Run(0, 1)
	checkBones(t, q, s, 0)
	for _, name := range []string{"LeftFoot", "RightFoot"} {
		j := s.Index(name)
		if flat[j].Pos.Y > 0 {
			t.Fatalf("the flat pose has %s at %g m: not what is tested", name, flat[j].Pos.Y)
		}
		p := q.Model[j].Pos
		if h := p.Y - field.Height(p.X, p.Z); h < 0.01 {
			t.Errorf("%s is %g m above the ground", name, h)
		}
	}
}

// A tail that hangs into the ground comes to lie on it: no part flips up.
func TestTailLies(t *testing.T) {
	s, q := batch(t, ik.Level(0), 1)
	q.MaxDrop = 0 // nothing lifts it
	flat := make([]m3.Xform, s.Len())
	var before m3.Quat
	tip := s.Index("Tail1Site")
	for i := range 200 {
		q.Pos[0].Y = 0.35 - 0.0015*float32(i)
		s.LocalToModel(flat, q.Pos, q.Rot)
		q.Run(0, 1)
		for _, j := range q.Rig.Roles.Tail[1:] {
			if y, most := q.Model[j].Pos.Y, max(flat[j].Pos.Y, 0.015)+0.01; y > most {
				t.Fatalf("with the hips at %g m, %s is at %g m, though the flat pose's is at %g", q.Pos[0].Y, s.Names[j], y, flat[j].Pos.Y)
			}
		}
		now := q.Model[s.Index("Tail1")].Rot
		if i > 0 && before.Angle(now) > 0.2 {
			t.Errorf("with the hips at %g m, %s turned by %g rad", q.Pos[0].Y, s.Names[tip], before.Angle(now))
		}
		before = now
	}
}

// A tail in the ground whose flat pose swings under the body and back does not follow it to the
// other side, through the ground.
func TestTailKeepsItsSide(t *testing.T) {
	s, q := batch(t, ik.Level(0), 1)
	q.MaxDrop = 0
	q.Pos[0].Y = 0.18
	for i := range 180 {
		hang := 0.9 - 0.7*math.Cos(2*math.Pi*float64(i)/90)
		q.Rot[s.Index("Tail")] = m3.AxisAngle(m3.V(1, 0, 0), -float32(hang))
		q.Run(0, 1)
		for _, j := range q.Rig.Roles.Tail[1:] {
			if y := q.Model[j].Pos.Y; y < 0 {
				t.Fatalf("hanging by %.2f rad, %s is at %g m", hang, s.Names[j], y)
			}
		}
	}
}

func TestLock(t *testing.T) {
	s, q := batch(t, ik.Level(0), 1)
	tip := s.Index("RightHandSite")
	slide := func(speed float32, ticks int) (steps []float32) {
		for range ticks {
			before := q.Model[tip].Pos
			q.Pos[0].Z += speed * q.DT
			q.Run(0, 1)
			checkBones(t, q, s, 0)
			steps = append(steps, q.Model[tip].Pos.Sub(before).Flat().Len())
		}
		return steps
	}
	q.Run(0, 1)
	slide(0.1, 6)
	for i, d := range slide(0.1, 30) {
		if d > 1e-3 {
			t.Fatalf("tick %d: a held paw moved %g m", i, d)
		}
	}
	if !q.Feet[1].Locked() {
		t.Fatal("the paw is not held")
	}
	// A quick paw is let go and catches up without a jump.
	quick := slide(1.0, 60)
	if q.Feet[1].Locked() {
		t.Fatal("a quick paw is held")
	}
	for i, d := range quick {
		if d > 2.5/60 {
			t.Errorf("tick %d after the release: the paw moved %g m", i, d)
		}
	}
	flat := m3.V(-.07, 0, .39).Add(m3.V(0, 0, q.Pos[0].Z-s.Offsets[0].Z))
	if d := q.Model[tip].Pos.Flat().Dist(flat); d > 2e-3 {
		t.Errorf("a second after the release the paw is %g m from the flat pose's", d)
	}
	// A slow slide is let go at the radius.
	slide(0, 10)
	at := q.Model[tip].Pos
	slide(0.14, 60*2)
	if d := q.Model[tip].Pos.Dist(at); d < 0.1 {
		t.Errorf("after a slide of 28 cm the paw is still %g m from where it was held", d)
	}
	// A moved agent with forgotten feet does not reach back.
	q.Pos[0].X += 10
	clear(q.Feet)
	q.Run(0, 1)
	if x := q.Model[tip].Pos.X; m3.Abs(x-(10-.07)) > 0.01 {
		t.Errorf("after a move the paw is at x = %g", x)
	}
}
