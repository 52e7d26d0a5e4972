package mann

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// beetleModel is a model without a network.
func beetleModel() *Model {
	layout, sk := beetle()
	layout.Phases = true // more state than without
	rest := make([]float32, layout.PoseLen())
	pos, rot := slices.Clone(sk.Offsets), make([]m3.Quat, sk.Len())
	pos[0] = m3.V(0, 0.3, 0)
	for j := range rot {
		rot[j] = m3.Ident
	}
	world := make([]m3.Xform, sk.Len())
	sk.LocalToModel(world, pos, rot)
	for j, x := range world {
		b := rest[j*feature.BoneChannels:]
		copy(b, []float32{x.Pos.X, x.Pos.Y, x.Pos.Z, 0, 0, 1, 0, 1, 0})
	}
	return newModel(layout, sk, rest)
}

// echo stands in for a network: outputs that depend on all of the inputs, near a resting pose that
// moves forward.
func echo(m *Model, y, x []float32) {
	l := m.Layout
	var mix float32
	for i, v := range x {
		mix += v * m3.Sin(float32(i))
	}
	for i := range y {
		y[i] = 0.02 * m3.Sin(mix+float32(i))
	}
	for s := range feature.TrajFuture {
		y[l.OutSample(s)+feature.SamplePos+1] += 0.2 * float32(s)
		y[l.OutSample(s)+feature.SampleDir+1] += 1
		y[l.OutSample(s)+feature.SampleVel+1] += 1
	}
	for i, v := range m.rest {
		y[l.OutBone(0)+i] += v
	}
	y[l.OutRoot()+feature.RootZ] += 1
	y[l.OutRoot()+feature.RootYaw] += 20
}

func tick(b *Batch, goals []control.Goal, x, y []float32, r0, r1 int) {
	l := b.Model.Layout
	b.Plan(goals, r0, r1)
	b.Gather(x, r0, r1)
	for r := r0; r < r1; r++ {
		echo(b.Model, y[r*l.Outputs():][:l.Outputs()], x[r*l.Inputs():][:l.Inputs()])
	}
	b.Scatter(y, r0, r1)
}

func buffers(b *Batch) (x, y []float32) {
	return make([]float32, b.Capacity()*b.Model.Layout.Inputs()), make([]float32, b.Capacity()*b.Model.Layout.Outputs())
}

// variedGoals gives every row something else to do.
func variedGoals(n, step int) []control.Goal {
	goals := make([]control.Goal, n)
	for r := range goals {
		switch r % 4 {
		case 0:
			goals[r] = control.Goal{Path: starPath, Speed: 1}
		case 1:
			goals[r] = control.Goal{Move: m3.V(0.3, 0, 1), Speed: 0.5 + 0.1*float32(r), Turn: m3.Sin(float32(step + r))}
		case 2:
			goals[r] = control.Goal{Move: m3.V(0, 0, 1), Speed: 2, Action: control.Jump}
		default:
			goals[r] = control.Goal{Action: control.Sit}
		}
	}
	return goals
}

var starPath = must(control.Star(2.5))

// same reports the first difference between row i of a and row k of b.
func same(a *Batch, i int, b *Batch, k int) error {
	x, y := make([]float32, a.Capacity()*a.Model.Layout.Inputs()), make([]float32, b.Capacity()*b.Model.Layout.Inputs())
	a.Gather(x, i, i+1)
	b.Gather(y, k, k+1)
	n := a.Model.Layout.Inputs()
	for c := range n {
		if math.Float32bits(x[i*n+c]) != math.Float32bits(y[k*n+c]) {
			return fmt.Errorf("input %d: %g and %g", c, x[i*n+c], y[k*n+c])
		}
	}
	ap, ar := a.Pose(i)
	bp, br := b.Pose(k)
	if !slices.Equal(ap, bp) || !slices.Equal(ar, br) || a.Root(i) != b.Root(k) {
		return fmt.Errorf("displayed poses differ")
	}
	return nil
}

func TestRowsDoNotSeeEachOther(t *testing.T) {
	const n = 9
	m := beetleModel()
	all, split := NewBatch(m, n), NewBatch(m, n)
	var alone []*Batch
	for r := range n {
		at, yaw := m3.V(float32(r), 0, -float32(r)), float32(r)
		all.Reset(r, at, yaw)
		split.Reset(r, at, yaw)
		one := NewBatch(m, 1)
		one.Reset(0, at, yaw)
		alone = append(alone, one)
	}
	x, y := buffers(all)
	for step := range 200 {
		goals := variedGoals(n, step)
		tick(all, goals, x, y, 0, n)
		// Two goroutines, any split: for the race detector too.
		cut := step % n
		var rest sync.WaitGroup
		rest.Go(func() { tick(split, goals, x, y, cut, n) })
		tick(split, goals, x, y, 0, cut)
		rest.Wait()
		for r := range n {
			x1, y1 := buffers(alone[r])
			tick(alone[r], goals[r:r+1], x1, y1, 0, 1)
		}
	}
	for r := range n {
		if err := same(all, r, split, r); err != nil {
			t.Errorf("row %d, split: %v", r, err)
		}
		if err := same(all, r, alone[r], 0); err != nil {
			t.Errorf("row %d, alone: %v", r, err)
		}
	}
}

// What is not finite stays in its row, and that row recovers.
func TestNaNStaysInItsRow(t *testing.T) {
	const n, sick = 5, 2
	nan := float32(math.NaN())
	for name, hurt := range map[string]func(b *Batch, goals []control.Goal, y []float32){
		"output":    func(b *Batch, _ []control.Goal, y []float32) { y[sick*b.Model.Layout.Outputs()+7] = nan },
		"explosion": func(b *Batch, _ []control.Goal, y []float32) { y[sick*b.Model.Layout.Outputs()+70] = 3e38 },
		"bones":     func(b *Batch, _ []control.Goal, y []float32) { b.bonePos[sick*b.joints].X = nan },
		"root":      func(b *Batch, _ []control.Goal, y []float32) { b.pos[sick*points+now].X = nan },
		"future":    func(b *Batch, _ []control.Goal, y []float32) { b.vel[sick*points+80].X = nan },
		"all": func(b *Batch, _ []control.Goal, y []float32) {
			for k := range b.joints {
				b.bonePos[sick*b.joints+k], b.localPos[sick*b.joints+k] = m3.V(nan, nan, nan), m3.V(nan, nan, nan)
			}
			b.pos[sick*points+now] = vec2{nan, nan}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := beetleModel()
			well, ill := NewBatch(m, n), NewBatch(m, n)
			x, y := buffers(well)
			l := m.Layout
			var before m3.Vec3
			for step := range 120 {
				goals := variedGoals(n, step)
				tick(well, goals, x, y, 0, n)
				if step != 60 {
					tick(ill, goals, x, y, 0, n)
					continue
				}
				before = ill.Root(sick).Pos
				ill.Plan(goals, 0, n)
				if name != "output" && name != "explosion" {
					hurt(ill, goals, y)
				}
				ill.Gather(x, 0, n)
				for r := range n {
					echo(m, y[r*l.Outputs():][:l.Outputs()], x[r*l.Inputs():][:l.Inputs()])
				}
				if name == "output" || name == "explosion" {
					hurt(ill, goals, y)
				}
				ill.Scatter(y, 0, n)
				if got := ill.Root(sick).Pos; name != "all" && got.Dist(before) > 0.3 {
					t.Errorf("the row was at %v and came back at %v", before, got)
				}
			}
			for r := range n {
				if r == sick {
					continue
				}
				if err := same(well, r, ill, r); err != nil {
					t.Errorf("row %d suffered: %v", r, err)
				}
				if ill.Restored(r) != 0 {
					t.Errorf("row %d was restored", r)
				}
			}
			if ill.Restored(sick) != 1 {
				t.Errorf("the row was restored %d times, want once", ill.Restored(sick))
			}
			ill.Gather(x, sick, sick+1)
			for c, v := range x[sick*l.Inputs():][:l.Inputs()] {
				if !m3.Finite(v) {
					t.Fatalf("input %d is still %g", c, v)
				}
			}
		})
	}
}

func TestGoalThatIsNotFinite(t *testing.T) {
	m := beetleModel()
	a, b := NewBatch(m, 1), NewBatch(m, 1)
	nan := float32(math.NaN())
	a.Plan([]control.Goal{{Turn: nan, Speed: float32(math.Inf(1))}}, 0, 1)
	b.Plan([]control.Goal{{}}, 0, 1)
	if err := same(a, 0, b, 0); err != nil {
		t.Error(err)
	}
}

func TestTickAllocatesNothing(t *testing.T) {
	const n = 64
	b := NewBatch(beetleModel(), n)
	x, y := buffers(b)
	goals := variedGoals(n, 0)
	if got := testing.AllocsPerRun(20, func() { tick(b, goals, x, y, 0, n) }); got != 0 {
		t.Errorf("%g allocations per tick", got)
	}
}

func TestCopyAndReset(t *testing.T) {
	b := NewBatch(beetleModel(), 3)
	x, y := buffers(b)
	for step := range 50 {
		tick(b, variedGoals(3, step), x, y, 0, 3)
	}
	b.Copy(0, 1)
	for step := range 50 {
		goals := variedGoals(3, step)
		goals[0] = goals[1]
		tick(b, goals, x, y, 0, 3)
	}
	if err := same(b, 0, b, 1); err != nil {
		t.Errorf("a copy went its own way: %v", err)
	}
	b.Reset(2, m3.V(4, 9, 5), math.Pi/2)
	if r := b.Root(2); r.Pos != m3.V(4, 0, 5) || r.Rot.Forward().Dist(m3.V(1, 0, 0)) > 1e-5 {
		t.Errorf("reset to %v", r)
	}
	fresh := NewBatch(b.Model, 1)
	fresh.Reset(0, m3.V(4, 0, 5), math.Pi/2)
	if err := same(b, 2, fresh, 0); err != nil {
		t.Errorf("a used row resets to something else: %v", err)
	}
	for _, at := range []m3.Vec3{{X: float32(math.NaN())}, {Z: float32(math.Inf(-1))}, {X: 1e30}} {
		if b.Reset(2, at, 1); b.Root(2) != m3.Identity {
			t.Errorf("reset to %v, it stands at %v", at, b.Root(2))
		}
	}
	if b.Reset(2, m3.V(4, 0, 5), float32(math.NaN())); b.Root(2) != m3.Identity {
		t.Errorf("reset to no heading, it stands at %v", b.Root(2))
	}
	for _, f := range []func(){func() { b.Reset(3, m3.Vec3{}, 0) }, func() { b.Plan(nil, -1, 2) }, func() { b.Gather(nil, 2, 1) }, func() { b.Copy(0, 3) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a row outside the batch was accepted")
				}
			}()
			f()
		}()
	}
}

// Whatever the network says, the displayed bones keep their lengths, and limbs end where it said,
// as nearly as those lengths allow.
func TestDisplayedBones(t *testing.T) {
	layout, sk := feature.Dog(), dogLike()
	m := newModel(layout, sk, make([]float32, sk.Len()*feature.BoneChannels))
	b := NewBatch(m, 1)
	world, truth := make([]m3.Xform, sk.Len()), make([]m3.Xform, sk.Len())
	noise := func(seed int) m3.Vec3 {
		s := float64(seed)
		return m3.V(float32(math.Sin(12.9*s)), float32(math.Sin(78.2*s)), float32(math.Sin(37.7*s)))
	}
	var tip float32
	for pose := range 200 {
		pos, rot := slices.Clone(sk.Offsets), make([]m3.Quat, sk.Len())
		pos[0] = m3.V(3, 0.4, -8)
		for j := range rot {
			rot[j] = m3.Ident
			if !sk.EndSite[j] {
				rot[j] = m3.FromRotationVector(noise(100*pose + j).Scale(0.5))
			}
		}
		sk.LocalToModel(truth, pos, rot)
		for j, x := range truth {
			n := noise(7919 + 100*pose + j)
			b.bonePos[j] = x.Pos.Add(n.Scale(0.005))
			tilt := m3.FromRotationVector(n.Scale(0.1))
			b.boneFwd[j], b.boneUp[j] = tilt.Mul(x.Rot).Forward(), tilt.Mul(x.Rot).Rotate(m3.V(0, 1, 0))
		}
		b.display(0)
		lp, lr := b.Pose(0)
		sk.LocalToModel(world, lp, lr)
		for j, p := range sk.Parents {
			if p < 0 {
				continue
			}
			if got, want := world[j].Pos.Dist(world[p].Pos), sk.Offsets[j].Len(); m3.Abs(got-want) > 1e-3*want+1e-6 {
				t.Fatalf("pose %d: bone to %s is %g m, its length is %g", pose, sk.Names[j], got, want)
			}
			if !world[j].Rot.Finite() || m3.Abs(lr[j].Dot(lr[j])-1) > 1e-4 {
				t.Fatalf("pose %d: rotation of %s is %v", pose, sk.Names[j], lr[j])
			}
		}
		for _, name := range layout.Tips {
			j := sk.Index(name)
			tip = max(tip, world[j].Pos.Dist(b.bonePos[j]))
		}
	}
	// The noise is up to 9 mm and the tilt up to 10°: without aiming, limbs of half a metre end 5
	// cm off.
	if tip > 0.02 {
		t.Errorf("a limb ends %g m from its prediction", tip)
	}
}

// dogLike is a skeleton of the dog's joints with round figures.
func dogLike() *skel.Skeleton {
	names := feature.Dog().Joints
	parents := []int16{-1, 0, 1, 2, 3, 4, 2, 6, 7, 8, 9, 2, 11, 12, 13, 14, 0, 16, 17, 18, 0, 20, 21, 22, 0, 24, 25}
	sk := &skel.Skeleton{Names: names, Parents: parents, Offsets: make([]m3.Vec3, len(names)), EndSite: make([]bool, len(names))}
	for j, n := range names {
		sk.EndSite[j] = len(n) > 4 && n[len(n)-4:] == "Site"
		if j > 1 {
			sk.Offsets[j] = m3.V(0.15, 0.02*float32(j%3), 0)
		}
	}
	return sk
}

// A bone whose joint is displayed at its child's predicted place, because the bones before it were
// predicted too short, points as it was predicted itself, and does not leap as the two pass each
// other.
func TestBonesPredictedTooShort(t *testing.T) {
	sk := dogLike()
	m := newModel(feature.Dog(), sk, make([]float32, sk.Len()*feature.BoneChannels))
	b := NewBatch(m, 1)
	neck, head, site := sk.Index("Neck"), sk.Index("Head"), sk.Index("HeadSite")
	world := make([]m3.Xform, sk.Len())
	var last m3.Vec3
	for k := range 120 {
		short := 1 - 0.005*float32(k) // of the neck's and the head's bone, down to 0.4
		for j, parent := range sk.Parents {
			b.boneFwd[j], b.boneUp[j] = m3.V(0, 0, 1), m3.Up
			b.bonePos[j] = m3.V(0, 0.4, 0)
			if parent >= 0 {
				b.bonePos[j] = b.bonePos[parent].Add(sk.Offsets[j])
			}
		}
		b.bonePos[head] = b.bonePos[neck].Add(sk.Offsets[head].Scale(short))
		b.bonePos[site] = b.bonePos[head].Add(sk.Offsets[site].Scale(short)).Add(m3.V(0, 0, 0.001))
		b.display(0)
		pos, rot := b.Pose(0)
		sk.LocalToModel(world, pos, rot)
		dir := world[site].Pos.Sub(world[head].Pos).Normalize(m3.Up)
		if k > 0 && dir.Dist(last) > 0.1 {
			t.Errorf("shrunk to %g the head turns by %g in a tick", short, dir.Dist(last))
		}
		last = dir
	}
}

// must returns v of a function that does not fail here.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
