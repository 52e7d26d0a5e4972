package mann

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/race"
	"mannequin/offline/dataset"
)

// watchedBeetle is a beetle whose inputs have a range: that of echo's motion.
func watchedBeetle(t *testing.T) *Model {
	m := beetleModel()
	b := NewBatch(m, 4)
	x, y := buffers(b)
	n := m.Layout.Inputs()
	mean, std := make([]float32, n), make([]float32, n)
	const ticks = 300
	for pass := range 2 {
		for r := range 4 {
			b.Reset(r, m3.Vec3{}, 0)
		}
		for step := range ticks {
			tick(b, variedGoals(4, step), x, y, 0, 4)
			for i, v := range x {
				if pass == 0 {
					mean[i%n] += v / (4 * ticks)
				} else {
					std[i%n] += (v - mean[i%n]) * (v - mean[i%n]) / (4 * ticks)
				}
			}
		}
	}
	for c, v := range std {
		std[c] = m3.Sqrt(v)
	}
	m.bound(mean, std)
	if m.low == nil {
		t.Fatal("the model has no range")
	}
	return m
}

// Every kind of corruption is found within a few ticks, never shown, and gone when it has stopped;
// the neighbours' bits are those of a world without it.
func TestWatchdog(t *testing.T) {
	race.Single(t)
	m := watchedBeetle(t)
	const n, sick, from = 5, 1, 60
	nan := float32(math.NaN())
	bones := func(m *Model, y []float32, f func(p []float32)) {
		for j := range m.Layout.Joints {
			f(y[m.Layout.OutBone(j):][:feature.BoneChannels])
		}
	}
	for _, c := range []struct {
		name  string
		ticks int // that the fault lasts
		state func(b *Batch, k int)
		out   func(m *Model, y []float32, k int)
	}{
		{"a NaN in the output", 1, nil, func(_ *Model, y []float32, _ int) { y[40] = nan }},
		{"an infinity in the output", 1, nil, func(_ *Model, y []float32, _ int) { y[3] = float32(math.Inf(-1)) }},
		{"outputs that explode", 10, nil, func(m *Model, y []float32, k int) {
			bones(m, y, func(p []float32) {
				for i := range p {
					p[i] *= m3.Pow(1.5, float32(k))
				}
			})
		}},
		{"bones that collapse", 10, nil, func(m *Model, y []float32, _ int) {
			bones(m, y, func(p []float32) { copy(p, []float32{0, 0.3, 0}); clear(p[feature.BoneVel:]) })
		}},
		{"a pose frozen under the ground", 60, nil, func(m *Model, y []float32, _ int) {
			bones(m, y, func(p []float32) { p[1] -= 0.8; clear(p[feature.BoneVel:]) })
		}},
		{"a body that sinks", 120, nil, func(m *Model, y []float32, k int) {
			bones(m, y, func(p []float32) { p[1] -= 0.01 * float32(k); p[feature.BoneVel+1] = -0.6 })
		}},
		{"a root that leaps", 3, nil, func(m *Model, y []float32, _ int) { y[m.Layout.OutRoot()+feature.RootZ] = 9000 }},
		{"a future that runs away", 10, nil, func(m *Model, y []float32, _ int) {
			for s := range feature.TrajFuture {
				y[m.Layout.OutSample(s)+feature.SampleVel] = 5000
			}
		}},
		{"spoilt bones", 1, func(b *Batch, _ int) { b.bonePos[sick*b.joints+2].Y = nan }, nil},
		{"a spoilt past", 1, func(b *Batch, _ int) { b.pos[sick*points+7].X = nan }, nil},
		{"a spoilt root", 1, func(b *Batch, _ int) { b.dir[sick*points+now].X = nan }, nil},
		{"a spoilt wish", 1, func(b *Batch, _ int) { b.agent[sick].targetVel.Z = nan }, nil},
		{"spoilt weights", 1, func(b *Batch, _ int) { b.act[(sick*points+now)*b.actions] = nan }, nil},
		{"bones thrown away", 1, func(b *Batch, _ int) {
			for j := range b.joints {
				b.bonePos[sick*b.joints+j].X += 1000
			}
		}, nil},
		{"a root thrown away", 1, func(b *Batch, _ int) { b.pos[sick*points+now].X = 1e30 }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			well, ill := NewBatch(m, n), NewBatch(m, n)
			x, y := buffers(well)
			l := m.Layout
			found := -1
			for step := range from + 240 {
				goals := variedGoals(n, step)
				tick(well, goals, x, y, 0, n)
				faulty := step >= from && step < from+c.ticks
				ill.Plan(goals, 0, n)
				if faulty && c.state != nil {
					c.state(ill, step-from)
				}
				ill.Gather(x, 0, n)
				for r := range n {
					echo(m, y[r*l.Outputs():][:l.Outputs()], x[r*l.Inputs():][:l.Inputs()])
				}
				if faulty && c.out != nil {
					c.out(m, y[sick*l.Outputs():][:l.Outputs()], step-from)
				}
				before := ill.Root(sick).Pos
				ill.Scatter(y, 0, n)
				if d := ill.Root(sick).Pos.Dist(before); before.Len() < 1e6 && d > 0.2 {
					t.Fatalf("%d ticks after the fault began the row leaps by %g m", step-from, d)
				}
				if found < 0 && ill.Restored(sick) > 0 {
					found = step - from
				}
				if !ill.inRange(sick) {
					t.Fatalf("%d ticks after the fault began the state is out of range", step-from)
				}
				pos, rot := ill.Pose(sick)
				for j := range pos {
					if !pos[j].Finite() || !rot[j].Finite() {
						t.Fatalf("%d ticks after the fault began %s is shown at %v, %v", step-from, m.Skel.Names[j], pos[j], rot[j])
					}
				}
			}
			late := 10
			if c.ticks > 60 {
				late = 60 // what goes wrong slowly is out of range later
			}
			if found < 0 || found > late {
				t.Errorf("found after %d ticks", found)
			}
			if got := ill.Restored(sick); got > c.ticks {
				t.Errorf("restored %d times", got)
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
		})
	}
}

// A row whose output is no use stays in its pose; one that is out of range goes back to a pose of
// half a second to a second before, in which it keeps doing what it did; one that fails again at
// once begins from the rest pose.
func TestGoesBack(t *testing.T) {
	m := watchedBeetle(t)
	b := NewBatch(m, 1)
	x, y := buffers(b)
	goals := []control.Goal{{Move: m3.V(0, 0, 1), Speed: 1}}
	seen := func(point int) []m3.Vec3 { // the bones from that point of the trajectory
		at := m3.Xform{Pos: b.pos[point].vec3(), Rot: m3.YawQuat(m3.Atan2(b.dir[point].X, b.dir[point].Z))}
		inv := at.Inv()
		pos, _ := b.Bone(0)
		pos = slices.Clone(pos)
		for j := range pos {
			pos[j] = inv.Apply(pos[j])
		}
		return pos
	}
	far := func(a, b []m3.Vec3) (d float32) {
		for j := range a {
			d = max(d, a[j].Dist(b[j]))
		}
		return d
	}
	var past [][]m3.Vec3
	walk := func(ticks int) {
		for range ticks {
			tick(b, goals, x, y, 0, 1)
			past = append(past, seen(now-1)) // as the network sees them
		}
	}
	walk(100)
	before := seen(now)
	y[0] = float32(math.NaN())
	b.Scatter(y, 0, 1)
	if d := far(seen(now), before); d > 1e-6 {
		t.Errorf("output that is no use moved the bones by %g m", d)
	}
	if _, vel := b.Bone(0); vel[1] != (m3.Vec3{}) {
		t.Errorf("it stands, but a bone goes on at %v", vel[1])
	}
	if w := b.Weight(0, control.Move); w < 0.99 {
		t.Errorf("it went on with weight %g of moving", w)
	}
	past = nil
	walk(100)
	move := b.Weight(0, control.Move)
	for j := range b.joints {
		b.bonePos[j].Y = -5
	}
	tick(b, goals, x, y, 0, 1)
	if b.Restored(0) != 2 || b.Weight(0, control.Move) != move {
		t.Fatalf("restored %d times, moving by %g", b.Restored(0), b.Weight(0, control.Move))
	}
	nearest, when := float32(9), 0
	for k, p := range past {
		if d := far(seen(now), p); d < nearest {
			nearest, when = d, len(past)-k
		}
	}
	if nearest > 1e-4 || when < memoryTicks || when > 2*memoryTicks {
		t.Errorf("it came back %g m from its pose %d ticks ago", nearest, when)
	}
	y[0] = float32(math.NaN())
	b.Scatter(y, 0, 1)
	for j, p := range seen(now) {
		r := m.rest[j*feature.BoneChannels:]
		if want := m3.V(r[0], r[1], r[2]); p.Dist(want) > 1e-5 {
			t.Errorf("after failing twice joint %d is at %v, at rest it is at %v", j, p, want)
		}
	}
	if w := b.Weight(0, control.Idle); w != 1 {
		t.Errorf("at rest it is idle by %g", w)
	}
}

// What is out of range by little: hips, or another joint, under the ground.
func TestUnderTheGround(t *testing.T) {
	m := watchedBeetle(t)
	for _, c := range []struct {
		joint int
		y     float32
		good  bool
	}{{0, -0.05, true}, {0, -0.15, false}, {4, -0.3, true}, {4, -0.6, false}} {
		b := NewBatch(m, 1)
		b.bonePos[c.joint].Y = c.y
		if got := b.inRange(0); got != c.good {
			t.Errorf("joint %d at %g m: in range %v, want %v", c.joint, c.y, got, c.good)
		}
	}
}

// A copy remembers the good poses of its original, and their age.
func TestCopyRemembers(t *testing.T) {
	m := watchedBeetle(t)
	b := NewBatch(m, 2)
	x, y := buffers(b)
	goals := variedGoals(2, 0)
	goals[0] = goals[1]
	b.Reset(0, m3.V(5, 0, 0), 1)
	for range 100 {
		tick(b, goals, x, y, 1, 2)
	}
	b.Copy(0, 1)
	for range 2 {
		for k := range b.bonePos {
			b.bonePos[k].Y = -5
		}
		tick(b, goals, x, y, 0, 2)
	}
	if err := same(b, 0, b, 1); err != nil || b.Restored(0) != 2 {
		t.Errorf("restored %d times, a copy goes back to something else: %v", b.Restored(0), err)
	}
}

// Every row of the recordings is in the range that their own statistics make, with a tenth to
// spare.
func TestRecordingsAreInRange(t *testing.T) {
	race.Single(t)
	train, held, err := dataset.BuildMANN(filepath.Join(mocapdata.Dir(t), "dog"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(train.Layout, train.Skeleton, train.RestPose())
	m.bound(train.XMean, train.XStd)
	for _, set := range []*dataset.MANN{train, held} {
		for r := range set.Rows {
			for c, v := range set.Input(r) {
				mean, reach := train.XMean[c], 0.9*(m.high[c]-train.XMean[c])
				if m3.Abs(v-mean) > reach {
					t.Fatalf("%s, frame %d: input %d is %g, the mean %g, the range ±%g", set.Clips[set.Clip[r]], set.Frame[r], c, v, mean, reach)
				}
			}
			hips := set.Input(r)[train.Layout.InBone(0)+1]
			if hips < 0 {
				t.Fatalf("hips at %g m", hips)
			}
		}
	}
}
