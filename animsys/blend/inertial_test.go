package blend

import (
	"math"
	"slices"
	"testing"

	"mannequin/animsys/generator"
	"mannequin/engine/m3"
)

const joints = 3

var parents = []int16{-1, 0, 1}

// pose returns joint 0 and two children at an angle, standing in front of root.
func pose(root m3.Xform, hips m3.Vec3, angle float32) ([]m3.Vec3, []m3.Quat) {
	q := m3.AxisAngle(m3.V(1, 0, 0), angle)
	x := root.Mul(m3.Xform{Pos: hips, Rot: q})
	return []m3.Vec3{x.Pos, m3.V(0, 1, 0), m3.V(0, 0, 2)}, []m3.Quat{x.Rot, q, q.Mul(q)}
}

func run(b *Inertial, root m3.Xform, hips m3.Vec3, angle float32) ([]m3.Vec3, []m3.Quat) {
	p, q := pose(root, hips, angle)
	b.Run(p, q, []m3.Xform{root}, 0, 1)
	return p, q
}

var up = m3.V(0, 1, 0)

func TestPassesContinuousMotion(t *testing.T) {
	b := NewInertial(1, parents)
	for i := range 30 {
		root := m3.Xform{Pos: m3.V(float32(i), 0, 0), Rot: m3.YawQuat(float32(i) / 9)}
		p, q := run(b, root, up, float32(i)/20)
		wp, wq := pose(root, up, float32(i)/20)
		for j := range q {
			if p[j] != wp[j] || q[j] != wq[j] {
				t.Fatalf("tick %d: joint %d changed", i, j)
			}
		}
	}
}

// After a jump the pose goes on from where it was, follows the spring's closed form, and ends at
// the new pose exactly.
func TestHidesJumps(t *testing.T) {
	b := NewInertial(1, parents)
	here := m3.Xform{Pos: m3.V(1, 0, 2), Rot: m3.YawQuat(1)}
	there := m3.Xform{Pos: m3.V(-30, 0, 5), Rot: m3.YawQuat(-2)}
	run(b, here, up, 0.5)
	run(b, here, up, 0.5)
	b.Jump(0)
	var x, v float32 = 0.8, 0 // angle 0.5 − (−0.3)
	hx, hv := m3.V(0, 1, 0).Sub(m3.V(0.2, 0.6, 0)), m3.Vec3{}
	for i := range 120 {
		p, q := run(b, there, m3.V(0.2, 0.6, 0), -0.3)
		x, v = m3.Spring(x, v, 0, b.Halflife, b.DT)
		hx, hv = m3.DecayVec(hx, hv, b.Halflife, b.DT)
		if i < 30 {
			want := m3.AxisAngle(m3.V(1, 0, 0), x-0.3)
			if d := q[1].Angle(want); d > 2e-3 {
				t.Fatalf("tick %d: %g rad beside the spring", i, d)
			}
			local := there.Inv().Mul(m3.Xform{Pos: p[0], Rot: q[0]})
			if d := local.Pos.Dist(m3.V(0.2, 0.6, 0).Add(hx)); d > 1e-3 {
				t.Fatalf("tick %d: hips %g m beside the spring", i, d)
			}
			if d := local.Rot.Angle(want); d > 2e-3 {
				t.Fatalf("tick %d: hips %g rad beside the spring", i, d)
			}
		}
		if p[1] != m3.V(0, 1, 0) || p[2] != m3.V(0, 0, 2) {
			t.Fatal("a bone changed length")
		}
	}
	wp, wq := pose(there, m3.V(0.2, 0.6, 0), -0.3)
	p, q := run(b, there, m3.V(0.2, 0.6, 0), -0.3)
	if p[0] != wp[0] || q[0] != wq[0] || q[1] != wq[1] {
		t.Error("two seconds later the pose is still not the new one")
	}
}

// A moving pose keeps moving through the jump: the first step is about as long as the one before.
func TestKeepsVelocity(t *testing.T) {
	b := NewInertial(1, parents)
	var q []m3.Quat
	for i := range 10 {
		_, q = run(b, m3.Identity, up, float32(i)*0.05)
	}
	before := q[1]
	b.Jump(0)
	_, q = run(b, m3.Identity, up, 0.4)
	if step := before.Angle(q[1]); step < 0.025 || step > 0.07 {
		t.Errorf("a step of %g rad after steps of 0.05", step)
	}
	if q[1].Angle(m3.AxisAngle(m3.V(1, 0, 0), 0.5)) > 0.03 {
		t.Error("the step went elsewhere")
	}
}

// A jump between motions that go equally fast does not go beyond both: the offset has the difference of their
// velocities, not the whole of the last one.
func TestJumpsAreNoPush(t *testing.T) {
	for _, apart := range []float32{0, 0.2, -0.2} { // rad, and a tenth of it in m
		b := NewInertial(1, parents)
		most := float32(0)
		for i := range 90 {
			angle, jumps := float32(i)*0.1, i%12 == 11 // 6 rad/s
			if (i+1)/12%2 == 1 {
				angle += apart
			}
			if jumps {
				b.Jump(0)
			}
			hips := m3.V(0, 1+0.1*angle, 0)
			p, q := run(b, m3.Identity, hips, angle)
			most = max(most, q[1].Angle(m3.AxisAngle(m3.V(1, 0, 0), angle)), 10*p[0].Dist(hips))
		}
		if most > m3.Abs(apart)+0.02 {
			t.Errorf("motions %g rad apart: the pose is up to %g beside the one of the two", apart, most)
		}
	}
}

// Hips whose root goes elsewhere from one tick to the next, as at each switch to other motion, change their velocity in
// the world gradually, and so does their facing. A root that is put elsewhere leaves no velocity.
func TestRootsKeepVelocity(t *testing.T) {
	const dt = 1.0 / 60
	b := NewInertial(1, parents)
	root := m3.Identity
	var last, older, way m3.Vec3
	var facing, before m3.Quat
	hardest, spin, farthest := float32(0), float32(0), float32(0)
	for i := range 60 {
		velocity, turn := m3.V(0, 0, 4), float32(0)
		if i >= 20 {
			velocity, turn = m3.V(2, 0, -1), 3
		}
		if i == 20 {
			b.Jump(0)
		}
		root = m3.Xform{Pos: root.Pos.Add(velocity.Scale(dt)), Rot: m3.YawQuat(turn * dt).Mul(root.Rot)}
		p, q := run(b, root, up, 0)
		step := p[0].Sub(last)
		if i > 2 {
			hardest = max(hardest, step.Sub(last.Sub(older)).Len()/(dt*dt))
			spin = max(spin, m3.Abs(m3.WrapAngle(q[0].Yaw()-facing.Yaw())-m3.WrapAngle(facing.Yaw()-before.Yaw()))/(dt*dt))
		}
		farthest = max(farthest, p[0].Dist(root.Apply(up)))
		last, older, facing, before = p[0], last, q[0], facing
		way = step
	}
	// Velocities change by 5.4 m/s and 3 rad/s: at once that is 323 m/s² and 180 rad/s². The spring takes 2y of it a second.
	if hardest > 160 || spin > 90 {
		t.Errorf("hips accelerate by up to %g m/s² and %g rad/s²", hardest, spin)
	}
	if farthest > 0.22 {
		t.Errorf("hips are up to %g m beside their root", farthest)
	}
	if d := way.Scale(1 / dt).Dist(m3.V(2, 0, -1)); d > 0.1 {
		t.Errorf("after 0.7 s hips go %g m/s beside their root", d)
	}
	b.Jump(0)
	root.Pos = root.Pos.Add(m3.V(30, 0, 0))
	p, _ := run(b, root, up, 0)
	if d := p[0].Dist(root.Apply(up)); d > 0.05 {
		t.Errorf("put elsewhere, hips are %g m beside their root", d)
	}
}

// A space that gets another origin changes nothing of how a jump is hidden.
func TestShiftKeepsJumps(t *testing.T) {
	hips := func(by m3.Vec3) (out []m3.Vec3) {
		b := NewInertial(1, parents)
		for i := range 30 {
			root := m3.Xform{Pos: m3.V(0, 0, float32(i)*0.0625), Rot: m3.Ident}
			if i >= 10 {
				root.Pos.Z = 0.625 - 0.03125*float32(i-10)
				root.Pos = root.Pos.Add(by)
			}
			if i == 10 {
				b.Shift(0, by)
				b.Jump(0)
			}
			p, _ := run(b, root, up, 0)
			out = append(out, root.Inv().Apply(p[0]))
		}
		return out
	}
	if here, there := hips(m3.Vec3{}), hips(m3.V(64, 0, -128)); !slices.Equal(here, there) {
		t.Error("hips go elsewhere where the space has another origin")
	}
}

func TestResetAndCopy(t *testing.T) {
	b := NewInertial(2, parents)
	feed := func(angles ...float32) []m3.Quat {
		var p []m3.Vec3
		var q []m3.Quat
		var roots []m3.Xform
		for _, a := range angles {
			pp, qq := pose(m3.Identity, up, a)
			p, q, roots = append(p, pp...), append(q, qq...), append(roots, m3.Identity)
		}
		b.Run(p, q, roots, 0, len(angles))
		return q
	}
	angle := func(q m3.Quat) float32 { return 2 * m3.Atan2(q.X, q.W) }
	feed(1, 0)
	b.Jump(0)
	q := feed(0, 0)
	if a := angle(q[1]); a < 0.9 {
		t.Fatalf("no inertia: %g", a)
	}
	b.Copy(1, 0)
	q = feed(0, 0)
	if q[1] != q[joints+1] || angle(q[1]) < 0.8 {
		t.Errorf("the copy gives %g, the original %g", angle(q[joints+1]), angle(q[1]))
	}
	b.Reset(1)
	b.Jump(1) // there is nothing to continue from
	if q = feed(0, 0); angle(q[joints+1]) != 0 {
		t.Errorf("after a reset: %g", angle(q[joints+1]))
	}
}

// A limb whose body jumps under it keeps its own way: it is eased in root space.
func TestLimbsAreNotDraggedAlong(t *testing.T) {
	b := NewInertial(1, parents)
	body := float32(0)
	for i := range 40 {
		if i == 20 {
			body = 0.6
			b.Jump(0)
		}
		limb := 0.02 * float32(i)
		p := []m3.Vec3{up, up, up}
		q := []m3.Quat{m3.AxisAngle(m3.V(1, 0, 0), body), m3.AxisAngle(m3.V(1, 0, 0), limb-body), m3.Ident}
		b.Run(p, q, []m3.Xform{m3.Identity}, 0, 1)
		if a := q[0].Mul(q[1]).Angle(m3.AxisAngle(m3.V(1, 0, 0), limb)); a > 0.03 { // a tick's motion and a half
			t.Fatalf("tick %d: the limb is %g rad off", i, a)
		}
		if i == 20 && q[0].Angle(m3.Ident) > 0.05 {
			t.Fatalf("the body jumps by %g rad", q[0].Angle(m3.Ident))
		}
	}
}

// A copy goes on as its original, with the velocity that it had.
func TestCopyKeepsVelocity(t *testing.T) {
	b := NewInertial(2, parents)
	feed := func(a float32) []m3.Quat {
		p, q := pose(m3.Identity, up, a)
		p, q = append(p, p...), append(q, q...)
		b.Run(p, q, []m3.Xform{m3.Identity, m3.Identity}, 0, 2)
		return q
	}
	p, q := pose(m3.Identity, up, 0)
	b.Run(p, q, []m3.Xform{m3.Identity}, 0, 1)
	p, q = pose(m3.Identity, up, 0.1)
	b.Run(p, q, []m3.Xform{m3.Identity}, 0, 1)
	b.Copy(1, 0)
	b.Jump(0)
	b.Jump(1)
	for range 10 {
		if q := feed(0); !slices.Equal(q[:joints], q[joints:]) {
			t.Fatalf("%v and its copy %v", q[:joints], q[joints:])
		}
	}
}

func TestNaNStaysAlone(t *testing.T) {
	b := NewInertial(1, parents)
	run(b, m3.Identity, up, 0.5)
	b.Jump(0)
	run(b, m3.Identity, up, float32(math.NaN()))
	_, q := run(b, m3.Identity, up, 0.2)
	want := m3.AxisAngle(m3.V(1, 0, 0), 0.2)
	if q[1] != want {
		t.Errorf("after a NaN: %v", q[1])
	}
}

func TestRunDoesNotAllocate(t *testing.T) {
	b := NewInertial(1, parents)
	p, q := pose(m3.Identity, up, 0.3)
	roots := []m3.Xform{m3.Identity}
	if n := testing.AllocsPerRun(50, func() { b.Jump(0); b.Run(p, q, roots, 0, 1) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// A jump that was not announced is found and eased; motion within the bounds keeps its bits; and
// the spring leads on to the new pose.
func TestFindsJumps(t *testing.T) {
	bounded := func() *Inertial {
		b := NewInertial(1, parents)
		b.Turn, b.Move = []float32{100, 100, 100}, 50
		return b
	}
	b := bounded()
	for i := range 60 { // up to 0.3·25 = 7.5 rad/s² and, twice as fast a joint, 30
		a := 0.3 * m3.Sin(5*float32(i)/60)
		p, q := run(b, m3.Identity, up, a)
		wp, wq := pose(m3.Identity, up, a)
		if p[0] != wp[0] || !slices.Equal(q, wq) {
			t.Fatalf("tick %d: the pose changed", i)
		}
	}
	b = bounded()
	var angle, place [3]float32 // of joint 1 and joint 0 over the last ticks
	var hardest, farthest float32
	for i := range 150 {
		a, y := float32(0), float32(1)
		if i >= 30 {
			a, y = 0.5, 1.2
		}
		p, q := run(b, m3.Identity, m3.V(0, y, 0), a)
		// Joint 1 turns with joint 0: 2a in all.
		angle = [3]float32{angle[1], angle[2], q[0].Mul(q[1]).RotationVector().X}
		place = [3]float32{place[1], place[2], p[0].Y}
		if i >= 2 {
			hardest = max(hardest, m3.Abs(angle[2]-2*angle[1]+angle[0])*3600)
			farthest = max(farthest, m3.Abs(place[2]-2*place[1]+place[0])*3600)
		}
	}
	if hardest > 101 || hardest < 90 || farthest > 50.5 || farthest < 45 {
		t.Errorf("accelerations up to %g rad/s² and %g m/s², bound to 100 and 50", hardest, farthest)
	}
	if m3.Abs(angle[2]-1) > 1e-3 || m3.Abs(place[2]-1.2) > 1e-3 {
		t.Errorf("two seconds after the jump: %g rad, %g m", angle[2], place[2])
	}
}

// A row that fades is as another that does not after it has read its state, and goes on as that does.
func TestReadsOverAFade(t *testing.T) {
	here, there := m3.Xform{Rot: m3.Ident}, m3.Xform{Pos: m3.V(3, 0, 0), Rot: m3.YawQuat(1)}
	calm, fades := NewInertial(1, parents), NewInertial(1, parents)
	for range 3 {
		run(calm, here, up, 0.2)
		run(fades, there, up, 0.9)
	}
	fades.Jump(0)
	run(fades, here, m3.V(0.1, 1, 0), -0.4)
	var st generator.State
	calm.Visit(&st, 0)
	st.Rewind()
	fades.Visit(&st, 0)
	if !slices.Equal(calm.off, fades.off) || !slices.Equal(calm.spin, fades.spin) || calm.hips[0] != fades.hips[0] || calm.state[0] != fades.state[0] {
		t.Fatal("the state that was read is not the one that was written")
	}
	for i := range 30 {
		if i == 10 {
			calm.Jump(0)
			fades.Jump(0)
		}
		_, want := run(calm, here, up, float32(i/10))
		if _, got := run(fades, here, up, float32(i/10)); !slices.Equal(got, want) {
			t.Fatalf("in tick %d the pose is another", i)
		}
	}
}
