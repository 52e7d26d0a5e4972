package animsys_test

import (
	"math"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"

	arche "github.com/mlange-42/arche/ecs"
)

// Comings and goings between ticks do not touch those who stay: not their
// bones, nor what is drawn between ticks, nor how they go on from a leap, nor
// those who come later, into rows that were used before.
func TestSpawnAndDespawn(t *testing.T) {
	const ticks, capacity = 120, 12
	calm, busy := newWorld(t, capacity, 1), newWorld(t, capacity, 2)
	alive, quiet := map[int]arche.Entity{}, map[int]arche.Entity{}
	for i := range 8 {
		alive[i] = busy.spawn(i)
	}
	for _, i := range []int{0, 3, 7} {
		quiet[i] = calm.spawn(i)
	}
	check := func(tick int) {
		t.Helper()
		for i := range quiet {
			a, b := calm.state(quiet[i]), busy.state(alive[i])
			for j := range a {
				if a[j] != b[j] {
					t.Fatalf("tick %d: dog %d value %d: %v among few, %v in the bustle", tick, i, j, a[j], b[j])
				}
			}
		}
	}
	// In tick 1 the network fails dog 7.
	for _, w := range []struct {
		*world
		e arche.Entity
	}{{calm, quiet[7]}, {busy, alive[7]}} {
		c := w.sessions[1]
		c.spoil = func(y []float32, rows int) error {
			if row, _ := w.crowd.Row(w.e); c.calls == 2 {
				y[row*w.dogs.Model.Layout.Outputs()] = float32(math.NaN())
			}
			return nil
		}
	}
	next := 8
	for tick := range ticks {
		for i, e := range alive {
			busy.goal(e, i, tick)
		}
		for i, e := range quiet {
			calm.goal(e, i, tick)
		}
		busy.step()
		calm.step()
		check(tick)
		switch tick % 10 {
		case 3, 7: // someone goes, when another has just leapt
			for i := range quiet {
				if i == 7 && tick < 10 {
					continue // placing forgets the failure
				}
				for _, w := range []struct {
					*world
					e arche.Entity
				}{{calm, quiet[i]}, {busy, alive[i]}} {
					if err := w.crowd.Place(w.e, m3.V(float32(tick%13), 0, float32(i)), 1); err != nil {
						t.Fatal(err)
					}
				}
			}
			for i := 1; i < next; i++ {
				if _, stays := quiet[i]; stays {
					continue
				}
				if e, ok := alive[i]; ok {
					if err := busy.crowd.Despawn(e); err != nil {
						t.Fatal(err)
					}
					if err := busy.crowd.Despawn(e); err == nil {
						t.Fatal("despawned twice")
					}
					delete(alive, i)
					break
				}
			}
			check(tick)
		case 5, 9: // someone comes, now and then to stay
			if len(alive) == capacity {
				break
			}
			alive[next] = busy.spawn(next)
			if next%6 == 0 {
				quiet[next] = calm.spawn(next)
			}
			next++
			check(tick)
		}
		if busy.crowd.Agents() != len(alive) {
			t.Fatalf("%d agents, %d are alive", busy.crowd.Agents(), len(alive))
		}
	}
	if next < 20 || len(quiet) < 5 {
		t.Errorf("only %d dogs came, and %d stayed", next, len(quiet))
	}
}

// state is all that can be seen of e: its bones, the same between two ticks, and
// its root.
func (w *world) state(e arche.Entity) []m3.Xform {
	row, _ := w.crowd.Row(e)
	n := len(w.bones(e))
	drawn := w.crowd.Interpolate(nil, 0.3)[row*n : (row+1)*n]
	return append(append(append([]m3.Xform(nil), w.bones(e)...), drawn...), w.crowd.Roots[row])
}

// A dog is to be seen before its first tick, standing where it was put.
func TestSpawnedDogStands(t *testing.T) {
	w := newWorld(t, 2, 1)
	sk := w.dogs.Model.Skel
	for i := range 2 {
		w.spawn(i)
		at := w.crowd.Roots[i].Pos
		for _, f := range []float32{0, 1} {
			bones := w.crowd.Interpolate(nil, f)[i*sk.Len():]
			if d := bones[0].Pos.Flat().Dist(at); d > 0.1 {
				t.Errorf("the hips are %g m beside the place", d)
			}
			for _, tip := range w.dogs.Model.Layout.Tips {
				p := bones[sk.Index(tip)].Pos
				if h := p.Y - w.field.Height(p.X, p.Z); m3.Abs(h) > 0.06 {
					t.Errorf("%s is %g m above the ground", tip, h)
				}
			}
		}
	}
}

// Between two ticks, what is drawn goes from the one before the last to the last,
// with bones of the same length.
func TestInterpolate(t *testing.T) {
	w := newWorld(t, 3, 1)
	for i := range 3 {
		w.goal(w.spawn(i), i, 5)
	}
	sk := w.dogs.Model.Skel
	// The network jerks every other tick.
	layout, c := w.dogs.Model.Layout, w.sessions[1]
	c.spoil = func(y []float32, rows int) error {
		if c.calls%2 == 0 {
			y[layout.OutBone(sk.Index("Tail1"))+feature.BonePos] += 0.5
		}
		return nil
	}
	for tick := range 10 {
		before := w.crowd.Interpolate(nil, 1)
		w.step()
		from, mid, to := w.crowd.Interpolate(nil, 0), w.crowd.Interpolate(nil, 0.5), w.crowd.Interpolate(nil, 1)
		for j := range before {
			if from[j].Pos.Dist(before[j].Pos) > 1e-5 || from[j].Rot.Angle(before[j].Rot) > 1e-3 {
				t.Fatalf("tick %d: joint %d starts from %v, was at %v", tick, j, from[j], before[j])
			}
			if to[j].Pos.Dist(w.crowd.BonesAt(j / 27)[j%27].Pos) > 1e-5 {
				t.Fatalf("tick %d: joint %d ends at %v", tick, j, to[j])
			}
			if d := mid[j].Pos.Dist(from[j].Pos.Lerp(to[j].Pos, 0.5)); d > 0.03 {
				t.Fatalf("tick %d: joint %d is %g m beside the middle", tick, j, d)
			}
			if p := sk.Parents[j%27]; p >= 0 {
				length, want := mid[j].Pos.Dist(mid[j-j%27+int(p)].Pos), sk.Offsets[j%27].Len()
				if m3.Abs(length-want) > 1e-3*want+1e-7 {
					t.Fatalf("tick %d: the bone to %s is %g m long between ticks, want %g", tick, sk.Names[j%27], length, want)
				}
			}
		}
		if tick > 1 && from[0].Pos.Dist(to[0].Pos) < 1e-4 {
			t.Fatalf("tick %d: nobody moves", tick)
		}
	}
}

// A dog that is placed elsewhere is there at once, in the posture it had, and
// interpolation does not draw it on the way.
func TestPlace(t *testing.T) {
	w := newWorld(t, 2, 1)
	e := w.spawn(0)
	// Its head is turned aside as far as it goes: a posture far from rest.
	layout, head := w.dogs.Model.Layout, w.dogs.Model.Skel.Index("Head")
	w.sessions[1].spoil = func(y []float32, rows int) error {
		y[layout.OutBone(head)+feature.BonePos] += 1
		return nil
	}
	for tick := range 60 {
		w.goal(e, 1, tick)
		w.step()
	}
	before := append([]m3.Xform(nil), w.bones(e)...)
	root := w.crowd.Roots[0]
	if err := w.crowd.Place(e, m3.V(20, 0, 20), 2); err != nil {
		t.Fatal(err)
	}
	if w.crowd.Roots[0].Pos.Dist(m3.V(20, 0, 20)) > 1e-5 {
		t.Errorf("the root is at %v", w.crowd.Roots[0].Pos)
	}
	w.sessions[1].spoil = nil
	w.step()
	after := w.bones(e)
	if d := after[0].Pos.Flat().Dist(m3.V(20, 0, 20)); d > 0.3 {
		t.Errorf("the hips are %g m from where the dog was put", d)
	}
	for _, f := range []float32{0, 0.5, 1} {
		if x := w.crowd.Interpolate(nil, f); x[0].Pos.Dist(after[0].Pos) > 1e-4 {
			t.Errorf("drawn %g m away at alpha %g", x[0].Pos.Dist(after[0].Pos), f)
		}
	}
	// The posture is kept: where the neck points, relative to the root.
	points := func(root m3.Xform, b []m3.Xform) m3.Vec3 {
		return root.Rot.Conj().Rotate(b[head].Pos.Sub(b[head-1].Pos).Normalize(m3.Up))
	}
	if a, b := points(root, before), points(w.crowd.Roots[0], after); a.Dist(b) > 0.3 || a.X < 0.5 {
		t.Errorf("the neck pointed to %v and after the move to %v", a, b)
	}
	// From here on it is drawn on its way again.
	last := append([]m3.Xform(nil), after...)
	w.step()
	if x := w.crowd.Interpolate(nil, 0); x[0].Pos.Dist(last[0].Pos) > 1e-5 {
		t.Errorf("drawn from %v, though it was at %v", x[0].Pos, last[0].Pos)
	}
	for _, at := range []m3.Vec3{{X: 2e6}, {Z: -2e6}, {X: float32(math.NaN())}} {
		if err := w.crowd.Place(e, at, 0); err == nil {
			t.Errorf("placed a dog at %v", at)
		}
	}
	if err := w.crowd.Despawn(e); err != nil {
		t.Fatal(err)
	}
	if err := w.crowd.Place(e, m3.Vec3{}, 0); err == nil {
		t.Error("placed a dead dog")
	}
}
