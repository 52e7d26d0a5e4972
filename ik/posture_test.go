package ik

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"

	"pgregory.net/rapid"
)

// walker is a body of people's proportions: pivots at the small of the back, the neck and the
// shoulders, of which no place is known.
var walker = []struct {
	name   string
	parent int16
	offset m3.Vec3
	axis   m3.Vec3 // of bending
	pivot  bool
}{
	{"hips", -1, m3.Vec3{}, m3.Vec3{}, false},
	{"left hip", 0, m3.V(0.09, -0.1, 0.04), m3.Vec3{}, false},
	{"left knee", 1, m3.V(0, -0.4, 0), m3.V(1, 0, 0), false},
	{"left ankle", 2, m3.V(0, -0.42, 0), m3.Vec3{}, false},
	{"left toe", 3, m3.V(0, -0.03, 0.12), m3.Vec3{}, false},
	{"right hip", 0, m3.V(-0.09, -0.1, 0.04), m3.Vec3{}, false},
	{"right knee", 5, m3.V(0, -0.4, 0), m3.V(1, 0, 0), false},
	{"right ankle", 6, m3.V(0, -0.42, 0), m3.Vec3{}, false},
	{"right toe", 7, m3.V(0, -0.03, 0.12), m3.Vec3{}, false},
	{"back", 0, m3.Vec3{}, m3.Vec3{}, true},
	{"spine", 9, m3.V(0, 0.12, -0.01), m3.Vec3{}, false},
	{"chest", 10, m3.V(0, 0.12, 0), m3.Vec3{}, false},
	{"neck pivot", 11, m3.Vec3{}, m3.Vec3{}, true},
	{"neck", 12, m3.V(0, 0.09, 0.01), m3.Vec3{}, false},
	{"head", 13, m3.V(0, 0.09, -0.01), m3.Vec3{}, false},
	{"left shoulder", 11, m3.Vec3{}, m3.Vec3{}, true},
	{"left arm", 15, m3.V(0.18, 0.06, 0), m3.Vec3{}, false},
	{"left elbow", 16, m3.V(0.29, 0, 0), m3.V(0, -1, 0), false},
	{"left hand", 17, m3.V(0.19, 0, 0), m3.Vec3{}, false},
	{"right shoulder", 11, m3.Vec3{}, m3.Vec3{}, true},
	{"right arm", 19, m3.V(-0.18, 0.06, 0), m3.Vec3{}, false},
	{"right elbow", 20, m3.V(-0.29, 0, 0), m3.V(0, 1, 0), false},
	{"right hand", 21, m3.V(-0.19, 0, 0), m3.Vec3{}, false},
}

func walkerPosture(t testing.TB) (p *Posture, joints []int) {
	var parents []int16
	var offsets, axes []m3.Vec3
	for j, w := range walker {
		parents, offsets, axes = append(parents, w.parent), append(offsets, w.offset), append(axes, w.axis)
		if !w.pivot {
			joints = append(joints, j)
		}
	}
	tree, err := NewTree(parents)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = NewPosture(tree, offsets, joints, axes); err != nil {
		t.Fatal(err)
	}
	return p, joints
}

// pose returns places of the walker's joints with the given local rotations.
func (p *Posture) pose(root m3.Vec3, rot []m3.Quat, joints []int) (points []m3.Vec3, model []m3.Xform) {
	model = make([]m3.Xform, p.tree.Len())
	for j, parent := range p.tree.parents {
		if parent < 0 {
			model[j] = m3.Xform{Pos: root, Rot: rot[j]}
		} else {
			model[j] = model[parent].Mul(m3.Xform{Pos: p.offsets[j], Rot: rot[j]})
		}
	}
	for _, j := range joints {
		points = append(points, model[j].Pos)
	}
	return points, model
}

func anyRotation(t *rapid.T, most float64) m3.Quat {
	g := rapid.Float64Range(-1, 1)
	v := m3.V(float32(g.Draw(t, "x")), float32(g.Draw(t, "y")), float32(g.Draw(t, "z")))
	return m3.FromRotationVector(v.Scale(float32(most) / 1.7321))
}

// Places that come from a pose of the skeleton are met, however the body stands in the world and
// its joints are turned; and what Fit writes is one pose.
func TestPostureMeetsPlaces(t *testing.T) {
	p, joints := walkerPosture(t)
	n := p.tree.Len()
	model, pos, rot := make([]m3.Xform, n), make([]m3.Vec3, n), make([]m3.Quat, n)
	rapid.Check(t, func(t *rapid.T) {
		turns := make([]m3.Quat, n)
		for j := range turns {
			turns[j] = anyRotation(t, 3.1)
		}
		points, _ := p.pose(m3.V(3, 1, -7), turns, joints)
		if !p.Fit(model, pos, rot, points) {
			t.Fatal("finite places refused")
		}
		for i, j := range joints {
			if d := model[j].Pos.Dist(points[i]); d > 1e-4 {
				t.Fatalf("%s is %g m from its place", walker[j].name, d)
			}
		}
		again, whole := p.pose(pos[0], rot, joints)
		for i := range again {
			if d := again[i].Dist(points[i]); d > 1e-4 {
				t.Fatalf("%s is %g m off by the local rotations", walker[joints[i]].name, d)
			}
		}
		for j := 1; j < n; j++ {
			if pos[j] != p.offsets[j] {
				t.Fatalf("the bone of %s changed", walker[j].name)
			}
			if a := whole[j].Rot.Angle(model[j].Rot); a > 1e-3 {
				t.Fatalf("%s: model and local rotations differ by %g rad", walker[j].name, a)
			}
		}
	})
}

// A knee or an elbow that bends about its axis tells the twist of the bone above it, a straight one
// nothing, and one over-stretched a little does not turn it round.
func TestPostureTwist(t *testing.T) {
	p, joints := walkerPosture(t)
	n := p.tree.Len()
	model, pos, rot := make([]m3.Xform, n), make([]m3.Vec3, n), make([]m3.Quat, n)
	rapid.Check(t, func(t *rapid.T) {
		turns := make([]m3.Quat, n)
		for j := range turns {
			turns[j] = m3.Ident
		}
		turns[0] = anyRotation(t, 3.1)
		for _, j := range []int{1, 5, 16, 20} { // hips and upper arms, with their twist
			turns[j] = anyRotation(t, 1.2)
		}
		for _, j := range []int{2, 6, 17, 21} {
			turns[j] = m3.AxisAngle(walker[j].axis, float32(rapid.Float64Range(0.4, 2).Draw(t, "bend")))
		}
		points, want := p.pose(m3.V(0, 1, 0), turns, joints)
		p.Fit(model, pos, rot, points)
		for _, j := range []int{0, 1, 5, 16, 20, 2, 6, 17, 21} {
			if a := model[j].Rot.Angle(want[j].Rot); a > 3e-3 {
				t.Fatalf("%s is turned %g rad from what it was", walker[j].name, a)
			}
		}
	})
	turns := make([]m3.Quat, n)
	for j := range turns {
		turns[j] = m3.Ident
	}
	for _, bend := range []float32{-0.3, -0.04, 0, 0.04, 0.3} {
		turns[2] = m3.AxisAngle(m3.V(1, 0, 0), bend)
		points, _ := p.pose(m3.V(0, 1, 0), turns, joints)
		p.Fit(model, pos, rot, points)
		if a := rot[1].Angle(m3.Ident); a > 1e-3 {
			t.Errorf("a knee bent by %g rad turns the thigh by %g", bend, a)
		}
	}
}

// The nearest rotation to places that fit no pose: no small turn is better.
func TestPostureNearest(t *testing.T) {
	p, joints := walkerPosture(t)
	n := p.tree.Len()
	model, pos, rot := make([]m3.Xform, n), make([]m3.Vec3, n), make([]m3.Quat, n)
	rapid.Check(t, func(t *rapid.T) {
		turns := make([]m3.Quat, n)
		for j := range turns {
			turns[j] = anyRotation(t, 0.5)
		}
		points, _ := p.pose(m3.Vec3{}, turns, joints)
		for i := range points {
			points[i] = points[i].Add(anyRotation(t, 0.02).RotationVector())
		}
		p.Fit(model, pos, rot, points)
		const chest = 11
		miss := func(q m3.Quat) (sum float64) {
			for _, a := range p.aims[chest] {
				to := points[a.point].Sub(model[chest].Pos).Normalize(m3.Vec3{})
				d := q.Rotate(a.bone).Dist(to)
				sum += float64(d) * float64(d)
			}
			return sum
		}
		best := miss(model[chest].Rot)
		for _, axis := range []m3.Vec3{{X: 1}, {Y: 1}, {Z: 1}} {
			for _, angle := range []float32{-0.02, 0.02} {
				if other := miss(m3.AxisAngle(axis, angle).Mul(model[chest].Rot)); other < best-1e-6 {
					t.Fatalf("turned by %g about %v the chest misses by %g, as it is by %g", angle, axis, other, best)
				}
			}
		}
	})
}

// A hand points as its two places do, though the arm is too short for them by most of the hand's
// length. Of a gap of x lengths of the hand, x ÷ (1 + 16 x⁴) stays: at most ¾ ÷ ∜48 = 0.285 lengths,
// which turn the hand by up to 16.6°.
func TestPostureShortBone(t *testing.T) {
	tree := must.Get(NewTree([]int16{-1, 0, 1}))(t)
	p := must.Get(NewPosture(tree, []m3.Vec3{{}, {X: 0.6}, {X: 0.04}}, []int{0, 1, 2}, nil))(t)
	model, pos, rot := make([]m3.Xform, 3), make([]m3.Vec3, 3), make([]m3.Quat, 3)
	stays := 0.75 / math.Pow(48, 0.25)
	least := float32(math.Sqrt(1-stays*stays)) - 1e-4
	rapid.Check(t, func(t *rapid.T) {
		hand := m3.V(0.6+float32(rapid.Float64Range(-0.03, 0.03).Draw(t, "too far")), 0, 0)
		way := anyRotation(t, 6).Rotate(m3.V(1, 0, 0))
		p.Fit(model, pos, rot, []m3.Vec3{{}, hand, hand.Add(way.Scale(0.04))})
		if got := model[2].Pos.Sub(model[1].Pos).Scale(1 / 0.04); got.Dot(way) < least {
			t.Fatalf("the hand points to %v, want %v", got, way)
		}
	})
}

// A forearm whose places come together, pass each other and part again does not swing about: it turns as if a longer
// one did.
func TestPosturePlacesThatMeet(t *testing.T) {
	p, joints := walkerPosture(t)
	rot := slices.Repeat([]m3.Quat{m3.Ident}, p.tree.Len())
	rot[16], rot[17] = m3.AxisAngle(m3.V(0, 0, 1), -1.4), m3.AxisAngle(m3.V(0, -1, 0), 0.5) // an arm that hangs, a little bent
	points, model := p.pose(m3.V(0, 1, 0), rot, joints)
	elbow, hand := slices.Index(joints, 17), slices.Index(joints, 18)
	pos, last := make([]m3.Vec3, p.tree.Len()), m3.Vec3{}
	const n, side = 60, 0.005
	for i := range n + 1 { // from 9 cm before the elbow to 9 cm behind it, 5 mm beside it, by 3 mm a frame
		points[hand] = points[elbow].Add(m3.V(side, 0, 0.003*float32(n/2-i)))
		p.Fit(model, pos, rot, points)
		at := model[18].Pos
		if v := at.Dist(last); i > 0 && v > 0.02 {
			t.Errorf("frame %d: the hand goes by %g m", i, v)
		}
		last = at
	}
}

func TestPostureRefuses(t *testing.T) {
	tree, err := NewTree([]int16{-1, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	two, err := NewTree([]int16{-1, -1})
	if err != nil {
		t.Fatal(err)
	}
	bones := []m3.Vec3{{}, {Y: 1}, {Y: 1}}
	for name, c := range map[string]struct {
		tree    *Tree
		offsets []m3.Vec3
		joints  []int
		axes    []m3.Vec3
		want    string
	}{
		"offsets":   {tree, bones[:2], []int{0}, nil, "2 offsets"},
		"axes":      {tree, bones, []int{0}, bones[:1], "1 axes"},
		"nan":       {tree, []m3.Vec3{{}, {Y: float32(math.NaN())}, {}}, []int{0}, nil, "joint 1 is not finite"},
		"outside":   {tree, bones, []int{0, 3}, nil, "outside"},
		"twice":     {tree, bones, []int{0, 1, 1}, nil, "twice"},
		"no root":   {tree, bones, []int{1}, nil, "root"},
		"two roots": {two, bones[:2], []int{0, 1}, nil, "second root"},
	} {
		if _, err := NewPosture(c.tree, c.offsets, c.joints, c.axes); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	p, joints := walkerPosture(t)
	n := p.tree.Len()
	model, pos, rot := make([]m3.Xform, n), make([]m3.Vec3, n), make([]m3.Quat, n)
	points := make([]m3.Vec3, len(joints))
	if !p.Fit(model, pos, rot, points) || !rot[3].Finite() || !model[3].Pos.Finite() {
		t.Error("all places at one point give no finite pose")
	}
	points[4].Z = float32(math.Inf(1))
	rot[2] = m3.Quat{X: 7}
	if p.Fit(model, pos, rot, points) || rot[2].X != 7 {
		t.Error("a place that is not finite was used")
	}
}

func BenchmarkPosture(b *testing.B) {
	p, joints := walkerPosture(b)
	n := p.tree.Len()
	model, pos, rot := make([]m3.Xform, n), make([]m3.Vec3, n), make([]m3.Quat, n)
	turns := make([]m3.Quat, n)
	for j := range turns {
		turns[j] = m3.FromRotationVector(m3.V(0.1*float32(j%5), 0.2, -0.05*float32(j%3)))
	}
	points, _ := p.pose(m3.V(0, 1, 0), turns, joints)
	b.ReportAllocs()
	for b.Loop() {
		p.Fit(model, pos, rot, points)
	}
}
