package ik_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mannequin/engine/m3"
	"mannequin/ik"
)

const tick = 1.0 / 60

// upright is a made-up person without legs, standing with hanging arms, a little bent.
type upright struct {
	names   []string
	parents []int16
	rest    []m3.Xform
	gaze    *ik.Gaze
	arms    *ik.Arms
}

// standingPerson returns the joints of upright and its pose.
func standingPerson() (names []string, parents []int16, rest []m3.Xform) {
	add := func(name, parent string, at m3.Vec3, q m3.Quat) {
		p, x := slices.Index(names, parent), m3.Xform{Pos: at, Rot: q}
		if p >= 0 {
			x = rest[p].Mul(x)
		}
		names, parents, rest = append(names, name), append(parents, int16(p)), append(rest, x)
	}
	add("Hips", "", m3.V(0, 0.95, 0), m3.Ident)
	add("LowerBack", "Hips", m3.Vec3{}, m3.Ident)
	add("Spine", "LowerBack", m3.V(0, 0.117, -0.01), m3.Ident)
	add("Spine1", "Spine", m3.V(0, 0.117, 0), m3.Ident)
	add("Neck", "Spine1", m3.Vec3{}, m3.Ident)
	add("Neck1", "Neck", m3.V(0, 0.094, 0.01), m3.Ident)
	add("Head", "Neck1", m3.V(0, 0.092, -0.01), m3.AxisAngle(m3.V(1, 0, 0), 0.1))
	for i, side := range []string{"Left", "Right"} {
		out := float32(1 - 2*i)
		add(side+"Shoulder", "Spine1", m3.Vec3{}, m3.Ident)
		add(side+"Arm", side+"Shoulder", m3.V(0.185*out, 0.059, 0), m3.AxisAngle(m3.V(0, 0, 1), -1.4*out))
		add(side+"ForeArm", side+"Arm", m3.V(0.2965*out, 0, 0), m3.AxisAngle(m3.V(0, 1, 0), -0.3*out))
		add(side+"Hand", side+"ForeArm", m3.V(0.186*out, 0, 0), m3.Ident)
		add(side+"HandIndex1", side+"Hand", m3.V(0.038*out, 0, 0), m3.Ident)
	}
	return names, parents, rest
}

func newUpright(t *testing.T) *upright {
	t.Helper()
	u := &upright{}
	u.names, u.parents, u.rest = standingPerson()
	tree, err := ik.NewTree(u.parents)
	if err != nil {
		t.Fatal(err)
	}
	if u.gaze, err = ik.HumanGaze(tree, u.names); err != nil {
		t.Fatal(err)
	}
	if u.arms, err = ik.HumanArms(tree, u.names); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(u.gaze.Validate(), u.arms.Validate()); err != nil {
		t.Fatal(err)
	}
	return u
}

// index returns the joint called name.
func index(names []string, name string) int { return slices.Index(names, name) }

// look takes the rest pose a tick on, and returns it.
func (u *upright) look(target m3.Vec3, weight float32, s *ik.GazeState) []m3.Xform {
	m := append([]m3.Xform(nil), u.rest...)
	u.gaze.Turn(m, 0, target, weight, tick, s)
	return m
}

// reach does the same for the hands.
func (u *upright) reach(left, right m3.Vec3, wl, wr float32, s *[2]ik.HandState) []m3.Xform {
	m := append([]m3.Xform(nil), u.rest...)
	u.arms.Lean(m, [2]m3.Vec3{left, right}, [2]float32{wl, wr}, tick, s)
	u.arms.Bend(m, s)
	return m
}

// off is the angle between where the head looks and the place, rad.
func (u *upright) off(m []m3.Xform, target m3.Vec3) float32 {
	h := m[index(u.names, "Head")]
	eye := h.Apply(u.gaze.Eye)
	return m3.Acos(h.Rot.Rotate(u.gaze.Forward).Dot(target.Sub(eye).Normalize(m3.Up)))
}

// kept fails if a bone has another length than at rest.
func (u *upright) kept(t *testing.T, m []m3.Xform) {
	t.Helper()
	for j := 1; j < len(m); j++ {
		p := u.parents[j]
		if d := m[j].Pos.Dist(m[p].Pos) - u.rest[j].Pos.Dist(u.rest[p].Pos); m3.Abs(d) > 1e-5 {
			t.Fatalf("%s is %g m too far from %s", u.names[j], d, u.names[p])
		}
	}
}

// jerk is the most that a joint has turned between two poses, rad.
func jerk(a, b []m3.Xform) (most float32) {
	for j := range a {
		most = max(most, a[j].Rot.Angle(b[j].Rot))
	}
	return most
}

// Whatever is within limits is looked at straight, a moment after it is asked for.
func TestGazeLooks(t *testing.T) {
	u := newUpright(t)
	for _, at := range []m3.Vec3{
		{X: 0, Y: 1.4, Z: 2}, {X: 1.5, Y: 0.5, Z: 1}, {X: -2, Y: 2, Z: 0.5}, {X: 0.4, Y: 1.2, Z: 0.5}, {X: -0.1, Y: 1.5, Z: 30},
	} {
		var s ik.GazeState
		var m []m3.Xform
		last := u.rest
		for range 150 {
			m = u.look(at, 1, &s)
			if j := jerk(last, m); j > 0.09 {
				t.Errorf("looking at %v turns a joint by %.2f rad in a tick", at, j)
			}
			last = m
		}
		if off := u.off(m, at) * 180 / math.Pi; off > 0.5 {
			t.Errorf("looks %.2f° past %v", off, at)
		}
		u.kept(t, m)
		for range 150 {
			m = u.look(at, 0, &s)
		}
		if m[6] != u.rest[6] {
			t.Errorf("does not look back from %v: the pose differs by %g", at, jerk(m, u.rest))
		}
	}
}

// A place that goes round is followed as far as the neck turns, given up behind, and found again at
// the other side, without a pop.
func TestGazeBehind(t *testing.T) {
	u := newUpright(t)
	for _, period := range []int{120, 600} { // ticks
		var s ik.GazeState
		last := u.rest
		var most, ahead float32
		for i := range 3 * period {
			a := 2 * math.Pi * float32(i) / float32(period)
			m := u.look(m3.V(2*m3.Sin(a), 1.5, 2*m3.Cos(a)), 1, &s)
			most = max(most, jerk(last, m))
			head := m[6].Rot.Rotate(u.gaze.Forward)
			if i%period == period/2 && i > period {
				ahead = m3.Abs(m3.YawOf(head))
			}
			if y := m3.Abs(m3.YawOf(head)); y > u.gaze.Side+0.02 {
				t.Fatalf("the head turns by %.2f rad", y)
			}
			last = m
		}
		if most > 0.14 {
			t.Errorf("with a place that goes round in %d ticks a joint turns by %.3f rad in one", period, most)
		}
		if period == 600 && ahead > 0.1 {
			t.Errorf("looks %.2f rad aside when the place is straight behind", ahead)
		}
	}
}

// A place that jumps is gone over to, and what is not a number is no place.
func TestGazeJump(t *testing.T) {
	u := newUpright(t)
	var s ik.GazeState
	var m []m3.Xform
	for range 60 {
		m = u.look(m3.V(1, 1.5, 1.5), 1, &s)
	}
	next := u.look(m3.V(-1.5, 1, 1), 1, &s)
	if j := jerk(m, next); j > 0.05 {
		t.Errorf("a place that jumps turns a joint by %.2f rad in a tick", j)
	}
	nan := float32(math.NaN())
	last := next
	for range 150 {
		m = u.look(m3.V(nan, 1, 1), 1, &s)
		if j := jerk(last, m); !(j < 0.1) {
			t.Fatalf("a place that is no number turns a joint by %g", j)
		}
		last = m
	}
	if m[6] != u.rest[6] {
		t.Error("looks at what is no number")
	}
	if m = u.look(m3.V(1, 1, 1), nan, &s); m[6] != u.rest[6] {
		t.Error("a weight that is no number counts")
	}
}

// Hands reach what is in reach, of the arm alone or with shoulder and spine.
func TestArmsReach(t *testing.T) {
	u := newUpright(t)
	left, right := index(u.names, "LeftHandIndex1"), index(u.names, "RightHandIndex1")
	for _, at := range []m3.Vec3{
		{X: 0.2, Y: 1.3, Z: 0.35}, {X: 0.3, Y: 1.6, Z: 0.2}, {X: 0.5, Y: 1.1, Z: 0.1}, {X: -0.1, Y: 1.1, Z: 0.3}, // the arm's
		{X: 0.1, Y: 1.0, Z: 0.65}, {X: 0.2, Y: 0.65, Z: 0.55}, // the spine's
	} {
		for i := range 2 {
			var s [2]ik.HandState
			var m []m3.Xform
			last, hand, weights := u.rest, left, [2]float32{1, 0}
			if i == 1 {
				hand, weights, at.X = right, [2]float32{0, 1}, -at.X
			}
			for k := range 150 {
				m = u.reach(at, at, weights[0], weights[1], &s)
				if j := jerk(last, m); j > 0.2 {
					t.Errorf("reaching for %v turns a joint by %.2f rad in tick %d", at, j, k)
				}
				last = m
			}
			if d := m[hand].Pos.Dist(at); d > 0.005 {
				t.Errorf("%s misses %v by %.1f mm", u.names[hand], at, 1000*d)
			}
			u.kept(t, m)
			if m[0] != u.rest[0] {
				t.Error("reaching moves the hips")
			}
			for range 180 {
				m = u.reach(at, at, 0, 0, &s)
			}
			if jerk(m, u.rest) != 0 {
				t.Errorf("the hand does not come back from %v", at)
			}
		}
	}
}

// What is out of reach is reached toward, what is behind is not, and limits hold.
func TestArmsLimits(t *testing.T) {
	u := newUpright(t)
	nan := float32(math.NaN())
	hand := index(u.names, "LeftHandIndex1")
	for _, c := range []struct {
		at     m3.Vec3
		toward bool
	}{{m3.V(0.2, 1.2, 5), true}, {m3.V(0.3, 1.1, -1), false}, {m3.V(nan, 1, 1), false}, {m3.V(1e30, 1, 1), false}} {
		var s [2]ik.HandState
		var m []m3.Xform
		for range 120 {
			m = u.reach(c.at, m3.Vec3{}, 1, 0, &s)
		}
		moved := m[hand].Pos.Sub(u.rest[hand].Pos)
		if c.toward {
			shoulder := m[index(u.names, "LeftArm")].Pos
			if cos := m[hand].Pos.Sub(shoulder).Normalize(m3.Up).Dot(c.at.Sub(shoulder).Normalize(m3.Up)); cos < 0.999 {
				t.Errorf("the arm does not point at %v: %v", c.at, m[hand].Pos)
			}
			if lean := m[3].Rot.Angle(u.rest[3].Rot); lean > 0.01 {
				t.Errorf("leans by %.2f rad for what is %v away", lean, c.at)
			}
		} else if moved.Len() > 0.02 || !moved.Finite() {
			t.Errorf("the hand goes to %v: %v", c.at, moved)
		}
	}
	var s [2]ik.HandState // on the ground
	var m []m3.Xform
	for range 120 {
		m = u.reach(m3.V(0.2, 0, 0.4), m3.Vec3{}, 1, 0, &s)
	}
	if lean := m[3].Rot.Angle(u.rest[3].Rot); lean > u.arms.MaxLean+0.01 || lean < 0.5 {
		t.Errorf("leans by %.2f rad, at most %.2f", lean, u.arms.MaxLean)
	}
}

// A place that jumps is gone over to.
func TestArmsJump(t *testing.T) {
	u := newUpright(t)
	hand := index(u.names, "LeftHandIndex1")
	var s [2]ik.HandState
	var last []m3.Xform
	for range 150 {
		last = u.reach(m3.V(0.1, 1.2, 0.4), m3.Vec3{}, 1, 0, &s)
	}
	to := m3.V(0.4, 1.4, 0.2)
	for i := range 120 {
		m := u.reach(to, m3.Vec3{}, 1, 0, &s)
		if d := m[hand].Pos.Dist(last[hand].Pos); d > 0.04 || i == 0 && d > 0.01 {
			t.Fatalf("in tick %d the hand goes %.1f cm", i, 100*d)
		}
		last = m
	}
	if d := last[hand].Pos.Dist(to); d > 0.005 {
		t.Errorf("the hand is %.1f mm off", 1000*d)
	}
}

// No elbow flips while a hand goes round near its shoulder, and comes back.
func TestElbows(t *testing.T) {
	u := newUpright(t)
	elbow, shoulder := index(u.names, "LeftForeArm"), index(u.names, "LeftArm")
	rng := rand.New(rand.NewPCG(1, 2))
	fastest := float32(0)
	for range 300 {
		way := m3.V(rng.Float32()-0.3, 1.6*rng.Float32()-0.9, 1).Normalize(m3.Up)
		middle := u.rest[shoulder].Pos.Add(way.Scale(0.2 + 0.2*rng.Float32()))
		phase, turn := 2*math.Pi*rng.Float32(), float32(rng.IntN(2)*2-1)*0.07
		var s [2]ik.HandState
		var was m3.Vec3
		s[0].Within(0.8)
		for k := range 300 {
			weight := float32(1)
			if k >= 150 {
				weight = 0
			}
			a := phase + turn*float32(min(k, 150))
			at := middle.Add(m3.V(m3.Cos(a), m3.Sin(a), 0.3*m3.Cos(a)).Scale(0.18))
			m := u.reach(at, m3.Vec3{}, weight, 0, &s)
			if k > 0 {
				fastest = max(fastest, m[elbow].Pos.Dist(was))
			}
			was = m[elbow].Pos
		}
	}
	if fastest > 0.1 {
		t.Errorf("an elbow moved by %.3f m in a tick", fastest)
	}
}

func TestAimAllocatesNothing(t *testing.T) {
	u := newUpright(t)
	m := append([]m3.Xform(nil), u.rest...)
	var s ik.GazeState
	var g [2]ik.HandState
	if n := testing.AllocsPerRun(20, func() {
		copy(m, u.rest)
		u.arms.Lean(m, [2]m3.Vec3{{X: 0.2, Y: 0.7, Z: 0.5}, {Z: 0.5}}, [2]float32{1, 1}, tick, &g)
		u.gaze.Turn(m, 0, m3.V(1, 1, 1), 1, tick, &s)
		u.arms.Bend(m, &g)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
