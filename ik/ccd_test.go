package ik

import (
	"math"
	"testing"

	"mannequin/engine/m3"

	"pgregory.net/rapid"
)

// arm is a chain of joints under a base joint 0, with a side branch at joint 2. Locals and
// rotations are random; the base places the whole under a translated and rotated parent.
type arm struct {
	tree  *Tree
	chain []int
	local []m3.Vec3
	model []m3.Xform
}

func newArm(t testing.TB, lengths []float32, base m3.Xform, bend func(i int) m3.Quat) *arm {
	n := len(lengths) + 2 // base, joints 1…n, the branch last
	a := &arm{}
	parents := []int16{-1}
	a.local = append(a.local, base.Pos)
	rot := []m3.Quat{base.Rot}
	for i, l := range lengths {
		parents = append(parents, int16(i))
		a.local = append(a.local, m3.V(0, l, 0))
		rot = append(rot, bend(i))
		a.chain = append(a.chain, i+1)
	}
	// A second child of joint 2, after the chain: it must come along.
	parents = append(parents, 2)
	a.local = append(a.local, m3.V(0.1, 0, 0.05))
	rot = append(rot, m3.Ident)
	tree, err := NewTree(parents)
	if err != nil {
		t.Fatal(err)
	}
	a.tree, a.model = tree, make([]m3.Xform, n)
	if !tree.pose(a.model, a.local, rot) {
		t.Fatal("the arm is not finite")
	}
	return a
}

// check recomputes forward kinematics from the result's rotations and compares: only rotations may
// have changed, and the joints before the chain not at all.
func (a *arm) check(t interface{ Fatalf(string, ...any) }, before []m3.Xform) {
	for j, p := range a.tree.parents {
		x := a.model[j]
		if !x.Pos.Finite() || !x.Rot.Finite() {
			t.Fatalf("joint %d is not finite: %+v", j, x)
		}
		if m3.Abs(x.Rot.Dot(x.Rot)-1) > 1e-4 {
			t.Fatalf("joint %d: quaternion of length² %g", j, x.Rot.Dot(x.Rot))
		}
		if p >= 0 {
			if d := a.model[p].Apply(a.local[j]).Dist(x.Pos); d > 1e-4 {
				t.Fatalf("joint %d stands %g m from where its parent's rotation puts it", j, d)
			}
		}
		if j <= a.chain[0] && before[j].Pos != x.Pos {
			t.Fatalf("joint %d moved", j)
		}
	}
}

func genVec(t *rapid.T, name string, r float32) m3.Vec3 {
	g := rapid.Float32Range(-r, r)
	return m3.V(g.Draw(t, name+".x"), g.Draw(t, name+".y"), g.Draw(t, name+".z"))
}

func genBase(t *rapid.T) m3.Xform {
	return m3.Xform{Pos: genVec(t, "base", 5), Rot: m3.FromRotationVector(genVec(t, "turn", 2))}
}

// A target that a bent arm can reach is reached, wherever its parent stands.
func TestCCDReaches(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		base := genBase(rt)
		bend := func(i int) m3.Quat { return m3.AxisAngle(m3.V(1, 0, 0), 0.5) }
		a := newArm(t, []float32{0.3, 0.4, 0.3, 0.2}, base, bend)
		// Somewhere near, between a third and nine tenths of the full reach.
		root := a.model[1].Pos
		dir := a.model[4].Pos.Sub(root).Normalize(m3.Up).Add(genVec(rt, "dir", 0.6)).Normalize(m3.Up)
		target := root.Add(dir.Scale(0.9 * rapid.Float32Range(0.4, 0.9).Draw(rt, "reach")))
		before := append([]m3.Xform(nil), a.model...)
		// Some folded arms creep: far more sweeps than anyone uses at run time.
		c := CCD{Tree: a.tree, Chain: a.chain, Model: a.model, Targets: []m3.Vec3{target}, Iterations: 2000, Tolerance: 1e-4}
		if err := c.Run(); err != nil {
			rt.Fatal(err)
		}
		a.check(rt, before)
		if d := a.model[4].Pos.Dist(target); d > 2e-4 {
			rt.Fatalf("%g m from a target within reach", d)
		}
	})
}

// Moving arm and target together moves the result alike: the solver knows no preferred place or
// direction.
func TestCCDIsEquivariant(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		base := genBase(rt)
		angle := rapid.Float32Range(0.3, 1.2).Draw(rt, "bend")
		target := genVec(rt, "target", 0.7)
		bend := func(i int) m3.Quat { return m3.AxisAngle(m3.V(1, 0, 0), angle) }
		solve := func(x m3.Xform, target m3.Vec3) []m3.Xform {
			a := newArm(t, []float32{0.3, 0.4, 0.3}, x, bend)
			c := CCD{Tree: a.tree, Chain: a.chain, Model: a.model, Targets: []m3.Vec3{x.Apply(target)}, Iterations: 10}
			if err := c.Run(); err != nil {
				rt.Fatal(err)
			}
			return a.model
		}
		here, there := solve(m3.Identity, target), solve(base, target)
		if here[3].Pos.Dist(target) > 0.05 {
			return // a far target leaves the arm straight, where it is free to spin
		}
		// A swing by half a turn has no axis: what comes of it hangs on rounding.
		for _, off := range []m3.Vec3{{X: 1e-3}, {Y: 1e-3}, {Z: 1e-3}} {
			for _, o := range []m3.Vec3{off, off.Scale(-1)} {
				for j, x := range solve(m3.Identity, target.Add(o)) {
					if x.Pos.Dist(here[j].Pos) > 0.02 {
						return
					}
				}
			}
		}
		for j := range here {
			if d := base.Apply(here[j].Pos).Dist(there[j].Pos); d > 5e-3 {
				rt.Fatalf("joint %d differs by %g m", j, d)
			}
		}
	})
}

func TestCCDOutOfReachStretches(t *testing.T) {
	a := newArm(t, []float32{0.3, 0.4, 0.3}, m3.Xform{Pos: m3.V(3, -1, 2), Rot: m3.YawQuat(1)},
		func(i int) m3.Quat { return m3.AxisAngle(m3.V(1, 0, 0), 0.6) })
	before := append([]m3.Xform(nil), a.model...)
	root := a.model[1].Pos
	target := root.Add(m3.V(2, 1, -2))
	c := CCD{Tree: a.tree, Chain: a.chain, Model: a.model, Targets: []m3.Vec3{target}, Iterations: 100}
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	a.check(t, before)
	// Straight: 0.7 m from the chain's first joint to its end, toward the target.
	want := root.Add(target.Sub(root).Normalize(m3.Up).Scale(0.7))
	if d := a.model[3].Pos.Dist(want); d > 1e-3 {
		t.Errorf("the end is %g m from the nearest point it can reach", d)
	}
}

func TestCCDDegenerate(t *testing.T) {
	nan := float32(math.NaN())
	bend := func(i int) m3.Quat { return m3.AxisAngle(m3.V(1, 0, 0), 0.4) }
	for name, c := range map[string]struct {
		lengths []float32
		target  func(a *arm) m3.Vec3
		moves   bool
	}{
		"target on the root":    {[]float32{.3, .4, .3}, func(a *arm) m3.Vec3 { return a.model[1].Pos }, true},
		"target on a joint":     {[]float32{.3, .4, .3}, func(a *arm) m3.Vec3 { return a.model[2].Pos }, true},
		"target on the end":     {[]float32{.3, .4, .3}, func(a *arm) m3.Vec3 { return a.model[3].Pos }, false},
		"a bone of no length":   {[]float32{.3, 0, .3}, func(a *arm) m3.Vec3 { return m3.V(.2, .1, .1) }, true},
		"no bone has length":    {[]float32{.3, 0, 0}, func(a *arm) m3.Vec3 { return m3.V(.2, .1, .1) }, false},
		"target behind the arm": {[]float32{.3, .4, .3}, func(a *arm) m3.Vec3 { return a.model[1].Pos.Scale(2).Sub(a.model[3].Pos) }, true},
		"target is NaN":         {[]float32{.3, .4, .3}, func(a *arm) m3.Vec3 { return m3.V(0, nan, 0) }, false},
		"target is infinite":    {[]float32{.3, .4, .3}, func(a *arm) m3.Vec3 { return m3.V(0, 0, float32(math.Inf(1))) }, false},
	} {
		a := newArm(t, c.lengths, m3.Identity, bend)
		before := append([]m3.Xform(nil), a.model...)
		job := CCD{Tree: a.tree, Chain: a.chain, Model: a.model, Targets: []m3.Vec3{c.target(a)}, Iterations: 10}
		if err := job.Run(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a.check(t, before)
		moved := a.model[3].Pos.Dist(before[3].Pos) > 1e-6
		if moved != c.moves {
			t.Errorf("%s: the end moved: %v, want %v", name, moved, c.moves)
		}
	}
}

// Rows do not touch each other: two rows give what each gives alone.
func TestCCDRows(t *testing.T) {
	bend := func(i int) m3.Quat { return m3.AxisAngle(m3.V(1, 0, 0), 0.4) }
	a := newArm(t, []float32{.3, .4, .3}, m3.Identity, bend)
	n := a.tree.Len()
	targets := []m3.Vec3{m3.V(.2, .3, .4), m3.V(float32(math.NaN()), 0, 0), m3.V(-.3, .2, .1)}
	all := append(append(append([]m3.Xform(nil), a.model...), a.model...), a.model...)
	job := CCD{Tree: a.tree, Chain: a.chain, Model: all, Targets: targets, Iterations: 10}
	if err := job.Run(); err != nil {
		t.Fatal(err)
	}
	for r := range targets {
		one := append([]m3.Xform(nil), a.model...)
		job := CCD{Tree: a.tree, Chain: a.chain, Model: one, Targets: targets[r : r+1], Iterations: 10}
		if err := job.Run(); err != nil {
			t.Fatal(err)
		}
		for j := range one {
			if one[j] != all[r*n+j] {
				t.Fatalf("row %d, joint %d: %v alone, %v in a batch", r, j, one[j], all[r*n+j])
			}
		}
	}
}

func TestCCDValidate(t *testing.T) {
	tree, err := NewTree([]int16{-1, 0, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	good := func() CCD {
		return CCD{Tree: tree, Chain: []int{0, 1, 2}, Model: make([]m3.Xform, 8), Targets: make([]m3.Vec3, 2), Iterations: 1}
	}
	if c := good(); c.Validate() != nil {
		t.Fatal(c.Validate())
	}
	for name, spoil := range map[string]func(*CCD){
		"zero value":      func(c *CCD) { *c = CCD{} },
		"no tree":         func(c *CCD) { c.Tree = nil },
		"no chain":        func(c *CCD) { c.Chain = nil },
		"one joint":       func(c *CCD) { c.Chain = []int{1} },
		"not below":       func(c *CCD) { c.Chain = []int{1, 3} },
		"same joint":      func(c *CCD) { c.Chain = []int{1, 1} },
		"no such joint":   func(c *CCD) { c.Chain = []int{0, 9} },
		"negative joint":  func(c *CCD) { c.Chain = []int{-1, 0} },
		"short model":     func(c *CCD) { c.Model = c.Model[1:] },
		"missing targets": func(c *CCD) { c.Targets = nil },
		"no iterations":   func(c *CCD) { c.Iterations = 0 },
		"bad tolerance":   func(c *CCD) { c.Tolerance = float32(math.NaN()) },
	} {
		c := good()
		spoil(&c)
		if c.Validate() == nil || c.Run() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestTree(t *testing.T) {
	for name, parents := range map[string][]int16{
		"empty": {}, "after": {1, -1}, "itself": {0}, "below -1": {-2}, "breadth first": {-1, 0, 0, 1},
	} {
		if _, err := NewTree(parents); err == nil {
			t.Errorf("%s: %v accepted", name, parents)
		}
	}
	tree, err := NewTree([]int16{-1, 0, 1, 0, 3, -1, 5})
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []int16{5, 3, 3, 5, 5, 7, 7} {
		if tree.ends[j] != want {
			t.Errorf("descendants of %d end at %d, want %d", j, tree.ends[j], want)
		}
	}
}

// The two-bone step is exact up to its soft reach, continuous and never past the hard one beyond,
// and bends to the side of the axis.
func TestTwoBone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		la, lb := rapid.Float32Range(0.1, 0.5).Draw(rt, "la"), rapid.Float32Range(0.1, 0.5).Draw(rt, "lb")
		angle := rapid.Float32Range(-2, 2).Draw(rt, "bend")
		a := newArm(t, []float32{0.2, la, lb}, genBase(rt), func(i int) m3.Quat {
			if i == 1 {
				return m3.AxisAngle(m3.V(1, 0, 0), angle)
			}
			return m3.Ident
		})
		before := append([]m3.Xform(nil), a.model...)
		dir := genVec(rt, "dir", 1).Normalize(m3.Up)
		d := rapid.Float32Range(0.01, 1.5).Draw(rt, "distance")
		target := a.model[1].Pos.Add(dir.Scale(d))
		axis := a.model[1].Rot.Rotate(m3.V(1, 0, 0)) // either side of the bend
		soft := rapid.Float32Range(0.8, 1).Draw(rt, "soft")
		a.tree.twoBone(a.model, 1, 2, 3, target, axis, 0, soft, stretch(soft))
		a.check(rt, before)
		least, most := max(d, m3.Abs(la-lb)), max(d, m3.Abs(la-lb))
		if full := la + lb; d > soft*full {
			least, most = soft*full, min(d, max(maxReach, soft+0.002)*full, full)
		}
		got := a.model[3].Pos.Dist(a.model[1].Pos)
		if got < least-2e-4 || got > most+2e-4 {
			rt.Fatalf("the limb is %g m long, want %g to %g", got, least, most)
		}
		if off := a.model[3].Pos.Dist(target); m3.Abs(off-m3.Abs(d-got)) > 2e-4 {
			rt.Fatalf("%g m from the target, %g m beside the way to it", off, off-m3.Abs(d-got))
		}
		up, low := a.model[1].Pos.Sub(a.model[2].Pos), a.model[3].Pos.Sub(a.model[2].Pos)
		if s := up.Cross(low).Dot(axis); s < -1e-4 {
			rt.Fatalf("bent to the wrong side: %g", s)
		}
	})
}

func ExampleCCD() {
	tree, err := NewTree([]int16{-1, 0, 1})
	if err != nil {
		panic(err)
	}
	pose := []m3.Xform{m3.Identity, {Pos: m3.V(0, 1, 0), Rot: m3.Ident}, {Pos: m3.V(0, 2, 0.1), Rot: m3.Ident}}
	job := CCD{Tree: tree, Chain: []int{0, 1, 2}, Model: pose, Targets: []m3.Vec3{m3.V(1, 1, 0)}, Iterations: 10}
	if err := job.Run(); err != nil {
		panic(err)
	}
}
