package ik

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mannequin/engine/m3"

	"pgregory.net/rapid"
)

// person is the tree of a body with 25 joints and 5 tips, and its rest pose.
func person(t testing.TB) (*Tree, []m3.Vec3, []int) {
	parents := []int16{-1}
	rest := []m3.Vec3{m3.V(0, .95, 0)}
	var targets []int
	bone := func(p int, at m3.Vec3) int {
		parents, rest = append(parents, int16(p)), append(rest, at)
		return len(parents) - 1
	}
	for _, side := range []float32{1, -1} {
		j := bone(0, m3.V(.09*side, -.1, .04))
		for _, at := range []m3.Vec3{{}, {Y: -.4}, {Y: -.42}, {Y: -.03, Z: .12}} {
			if at != (m3.Vec3{}) {
				j = bone(j, at)
			}
			targets = append(targets, j)
		}
		bone(j, m3.V(0, 0, .06))
	}
	chest := bone(bone(bone(0, m3.Vec3{}), m3.V(0, .12, -.01)), m3.V(0, .12, 0))
	head := bone(bone(bone(chest, m3.Vec3{}), m3.V(0, .09, .01)), m3.V(0, .09, -.01))
	targets = append(targets, 0, chest-1, chest, head-1, head)
	bone(head, m3.V(0, .1, 0))
	for _, side := range []float32{1, -1} {
		j := bone(chest, m3.Vec3{})
		for _, at := range []m3.Vec3{{X: .18, Y: .06}, {X: .3}, {X: .19}, {X: .04}} {
			j = bone(j, m3.V(side*at.X, at.Y, at.Z))
			targets = append(targets, j)
		}
		bone(j, m3.V(.03*side, 0, 0))
	}
	tree, err := NewTree(parents)
	if err != nil {
		t.Fatal(err)
	}
	return tree, rest, targets
}

// fullBody returns a job for rows random poses of tree, and targets where the joints of another
// pose are, off radians per joint away.
func fullBody(tree *Tree, rest []m3.Vec3, joints []int, rows int, off float32, seed uint64) *FullBody {
	rng := rand.New(rand.NewPCG(seed, 1))
	vec := func(r float32) m3.Vec3 {
		u := func() float32 { return r * (2*rng.Float32() - 1) }
		return m3.V(u(), u(), u())
	}
	b := DefaultFullBody()
	b.Tree, b.Joints = tree, joints
	model := make([]m3.Xform, tree.Len())
	for range rows {
		pos := slices.Clone(rest)
		rot := make([]m3.Quat, len(rest))
		for j, p := range tree.parents {
			if p < 0 {
				pos[j] = pos[j].Add(vec(3))
			}
			rot[j] = m3.FromRotationVector(vec(.5))
		}
		b.Pos, b.Rot = append(b.Pos, pos...), append(b.Rot, rot...)
		pos, rot = slices.Clone(pos), slices.Clone(rot)
		for j, p := range tree.parents {
			if p < 0 {
				pos[j] = pos[j].Add(vec(off / 2))
			}
			rot[j] = m3.FromRotationVector(vec(off)).Mul(rot[j])
		}
		tree.pose(model, pos, rot)
		for _, j := range joints {
			b.Targets = append(b.Targets, model[j].Pos)
		}
	}
	return &b
}

// misses recomputes forward kinematics from row r's rotations and root, and returns the distances
// to the targets.
func (b *FullBody) misses(r int) []float32 {
	n := b.Tree.Len()
	model := make([]m3.Xform, n)
	b.Tree.pose(model, b.Pos[r*n:(r+1)*n], b.Rot[r*n:(r+1)*n])
	out := make([]float32, len(b.Joints))
	for i, j := range b.Joints {
		out[i] = model[j].Pos.Dist(b.Targets[r*len(b.Joints)+i])
	}
	return out
}

func mean(v []float32) float32 {
	var sum float32
	for _, x := range v {
		sum += x / float32(len(v))
	}
	return sum
}

// kept fails where anything but rotations and roots has changed.
func (b *FullBody) kept(t fataler, before []m3.Vec3) {
	n := b.Tree.Len()
	for i, p := range b.Pos {
		if b.Tree.parents[i%n] >= 0 && p != before[i] {
			t.Fatalf("joint %d: its translation went from %v to %v", i%n, before[i], p)
		}
		if q := b.Rot[i]; !q.Finite() || m3.Abs(q.Dot(q)-1) > 1e-5 {
			t.Fatalf("joint %d: rotation %v", i%n, q)
		}
	}
}

type fataler interface{ Fatalf(string, ...any) }

func runAll(t fataler, b *FullBody) {
	if err := b.Validate(); err != nil {
		t.Fatalf("%v", err)
	}
	b.Run(b.NewScratch(), 0, b.Rows())
}

func TestFullBodyReaches(t *testing.T) {
	tree, rest, joints := person(t)
	for seed := range uint64(20) {
		b := fullBody(tree, rest, joints, 4, .4, seed)
		before := slices.Clone(b.Pos)
		b.Iterations, b.Tolerance = 50, 1e-6
		start := mean(b.misses(0))
		runAll(t, b)
		b.kept(t, before)
		for r := range b.Rows() {
			if m := mean(b.misses(r)); m > 1e-3 {
				t.Fatalf("seed %d, row %d: %g m from targets that a pose has; %g m at the start", seed, r, m, start)
			}
		}
	}
}

// Random trees, with several roots, bones without length and targets anywhere: never worse than
// before, within reach met, and only turned.
func TestFullBodyRandomTrees(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(rt, "joints")
		parents, rest := []int16{-1}, []m3.Vec3{genVec(rt, "root", 2)}
		for j := 1; j < n; j++ {
			// An ancestor of the joint before, or that, or none.
			p := int16(j - 1)
			for up := rapid.IntRange(0, 3).Draw(rt, "up"); up > 0 && p >= 0; up-- {
				p = parents[p]
			}
			at := genVec(rt, "bone", .4)
			if rapid.IntRange(0, 4).Draw(rt, "short") == 0 {
				at = m3.Vec3{}
			}
			parents, rest = append(parents, p), append(rest, at)
		}
		tree, err := NewTree(parents)
		if err != nil {
			rt.Fatal(err)
		}
		joints := rapid.Permutation(seq(n)).Draw(rt, "order")[:rapid.IntRange(1, n).Draw(rt, "targets")]
		b := fullBody(tree, rest, joints, 2, rapid.SampledFrom([]float32{0, .3, 1.5}).Draw(rt, "off"), rapid.Uint64().Draw(rt, "seed"))
		if rapid.Bool().Draw(rt, "wild") {
			for i := range b.Targets {
				b.Targets[i] = genVec(rt, "target", 4)
			}
		}
		b.Iterations = rapid.IntRange(1, 30).Draw(rt, "iterations")
		sum := func() (s float64) {
			for r := range 2 {
				for _, m := range b.misses(r) {
					s += float64(m) * float64(m)
				}
			}
			return s
		}
		before, pos := sum(), slices.Clone(b.Pos)
		runAll(rt, b)
		b.kept(rt, pos)
		if after := sum(); after > before*(1+1e-4)+1e-9 {
			rt.Fatalf("the squared misses went from %g to %g", before, after)
		}
	})
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// An arm that hangs on a free root: the root comes along, so that a far target is met; held by a
// heavy target of its own it is not, and the arm is straight.
func TestFullBodyUnreachable(t *testing.T) {
	tree, err := NewTree([]int16{-1, 0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	job := func(weights []float32) *FullBody {
		b := DefaultFullBody()
		b.Tree, b.Joints, b.Weights = tree, []int{0, 3}, weights
		b.Pos = []m3.Vec3{{X: 1}, {Y: .1}, {Y: .4}, {Y: .3}}
		b.Rot = []m3.Quat{m3.YawQuat(1), m3.AxisAngle(m3.V(1, 0, 0), .4), m3.AxisAngle(m3.V(1, 0, 0), .8), m3.Ident}
		b.Targets = []m3.Vec3{{X: 1}, {X: 1, Y: 2, Z: 2}}
		b.Iterations, b.Tolerance = 300, 0
		return &b
	}
	b := job([]float32{0, 1})
	runAll(t, b)
	if m := b.misses(0); m[1] > 1e-3 {
		t.Errorf("the root is free, and the arm misses by %g m", m[1])
	}
	b = job([]float32{1000, 1})
	runAll(t, b)
	if m := b.misses(0); m[0] > 5e-3 || m3.Abs(m[1]-(2*m3.Sqrt(2)-.8)) > 1e-2 {
		t.Errorf("held, it misses by %g m at the root and %g m at the tip, want 0 and %g", m[0], m[1], 2*m3.Sqrt(2)-.8)
	}
}

// Several joints want to be in one place.
func TestFullBodyCoincidentTargets(t *testing.T) {
	tree, rest, joints := person(t)
	b := fullBody(tree, rest, joints, 1, .2, 3)
	for i := range b.Targets {
		b.Targets[i] = m3.V(1, 1, 1)
	}
	b.Iterations = 100
	before, pos := mean(b.misses(0)), slices.Clone(b.Pos)
	runAll(t, b)
	b.kept(t, pos)
	if after := mean(b.misses(0)); !(after < before/2) {
		t.Errorf("%g m on average, %g before", after, before)
	}
}

// A pose that is moved and turned with its targets ends moved and turned.
func TestFullBodyIsEquivariant(t *testing.T) {
	tree, rest, joints := person(t)
	rapid.Check(t, func(rt *rapid.T) {
		by, seed := genBase(rt), rapid.Uint64().Draw(rt, "seed")
		here, there := fullBody(tree, rest, joints, 1, .2, seed), fullBody(tree, rest, joints, 1, .2, seed)
		root := by.Mul(m3.Xform{Pos: there.Pos[0], Rot: there.Rot[0]})
		there.Pos[0], there.Rot[0] = root.Pos, root.Rot
		for i, p := range there.Targets {
			there.Targets[i] = by.Apply(p)
		}
		here.Tolerance, there.Tolerance = 0, 0
		runAll(rt, here)
		runAll(rt, there)
		n := tree.Len()
		a, b := make([]m3.Xform, n), make([]m3.Xform, n)
		tree.pose(a, here.Pos, here.Rot)
		tree.pose(b, there.Pos, there.Rot)
		for j := range a {
			if d := by.Apply(a[j].Pos).Dist(b[j].Pos); d > 1e-3 {
				rt.Fatalf("joint %d differs by %g m", j, d)
			}
		}
	})
}

// What is right already stays bit for bit, and what the targets do not ask for hardly moves.
func TestFullBodyStaysNear(t *testing.T) {
	tree, rest, joints := person(t)
	b := fullBody(tree, rest, joints, 1, 0, 5)
	pos, rot := slices.Clone(b.Pos), slices.Clone(b.Rot)
	runAll(t, b)
	if !slices.Equal(b.Pos, pos) || !slices.Equal(b.Rot, rot) {
		t.Error("a pose that was right changed")
	}
	// One hand moves by 5 cm: the far leg does not turn by more than 3°.
	b.Targets[len(b.Targets)-1] = b.Targets[len(b.Targets)-1].Add(m3.V(.03, .04, 0))
	b.Iterations = 30
	runAll(t, b)
	if a := b.Rot[2].Angle(rot[2]); a > 3*math.Pi/180 {
		t.Errorf("the knee turned by %g rad for the hand", a)
	}
	// A stiff joint turns less than a soft one.
	turn := func(stiff float32) float32 {
		b := fullBody(tree, rest, []int{0, joints[len(joints)-2]}, 1, .3, 5)
		b.Iterations = 1
		b.Stiffness = slices.Repeat([]float32{1}, tree.Len())
		elbow := int(tree.parents[joints[len(joints)-2]])
		b.Stiffness[elbow] = stiff
		before := b.Rot[elbow]
		runAll(t, b)
		return before.Angle(b.Rot[elbow])
	}
	if soft, hard := turn(1), turn(1e4); !(hard < soft/10) {
		t.Errorf("turned by %g rad where soft, %g where stiff", soft, hard)
	}
}

// The normal equations are those of a Jacobian found by finite differences.
func TestFullBodyJacobian(t *testing.T) {
	tree, rest, joints := person(t)
	b := fullBody(tree, rest, joints, 1, .3, 7)
	b.Weights = make([]float32, len(joints))
	for i := range b.Weights {
		b.Weights[i] = float32(i%4) / 2
	}
	s := b.NewScratch()
	if !s.load(b.Pos, b.Rot, b.Targets) {
		t.Fatal("not loaded")
	}
	s.forward()
	n, m := len(s.row), 3*len(joints)
	at := func() []float64 {
		out := make([]float64, 0, m)
		for _, j := range s.joints {
			out = append(out, s.pos[j][:]...)
		}
		return out
	}
	const h = 1e-5
	jac := make([][]float64, n) // (unknowns, targets × 3)
	x := make([]float64, n)
	for k := range n {
		var side [2][]float64
		for i, d := range []float64{-h, h} {
			clear(x)
			x[k] = d
			s.apply(x)
			s.forward()
			side[i] = at()
			s.undo()
			s.forward()
		}
		jac[k] = make([]float64, m)
		for i := range m {
			jac[k][i] = (side[1][i] - side[0][i]) / (2 * h)
		}
	}
	s.normal()
	where := at()
	for k := range n {
		end := len(s.path)
		if k+1 < n {
			end = int(s.row[k+1])
		}
		got := make([]float64, n) // row k of H as far as column k
		for i, c := range s.path[s.row[k]:end] {
			got[c] = s.h[int(s.row[k])+i]
		}
		var g float64
		for c := range k + 1 {
			var want float64
			for i := range m {
				want += s.weights[i/3] * jac[k][i] * jac[c][i]
			}
			if math.Abs(got[c]-want) > 1e-6 {
				t.Fatalf("JᵀWJ[%d][%d] is %g, by differences %g", k, c, got[c], want)
			}
		}
		for i := range m {
			g += s.weights[i/3] * jac[k][i] * (s.goal[i/3][i%3] - where[i])
		}
		if math.Abs(g-s.g[k]) > 1e-6 {
			t.Fatalf("JᵀWe[%d] is %g, by differences %g", k, s.g[k], g)
		}
	}
	// The factor solves them: H·x = g, with H's damping.
	full := make([][]float64, n)
	for k := range full {
		full[k] = make([]float64, n)
	}
	for k := range n {
		for i := int(s.row[k]); i < len(s.path) && (k+1 == n || i < int(s.row[k+1])); i++ {
			full[k][s.path[i]], full[s.path[i]][k] = s.h[i], s.h[i]
		}
		full[k][k] += .01*s.cost[k] + 1e-9
	}
	g := slices.Clone(s.g)
	if !s.factor(.01) {
		t.Fatal("not factored")
	}
	s.step()
	for k := range n {
		v := -g[k]
		for c := range n {
			v += full[k][c] * s.x[c]
		}
		if math.Abs(v) > 1e-8 {
			t.Fatalf("equation %d is off by %g", k, v)
		}
	}
}
