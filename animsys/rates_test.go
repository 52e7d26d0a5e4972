package animsys_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/internal/testing/testdog"
	"mannequin/internal/testing/teststrnn"

	"pgregory.net/rapid"
)

// Dogs at lower rates take their steps by turns, and their bones move evenly between
// them; those at the full rate have the same bits as if everybody had it.
func TestRates(t *testing.T) {
	const n, ticks = 32, 60
	rate := func(i int) animsys.UpdateRate {
		return []animsys.UpdateRate{animsys.EveryTick, animsys.Every2, animsys.Every4, animsys.Frozen}[i/4%4]
	}
	all := newWorld(t, n, 2)
	some := newWorld(t, n, 2, testdog.Far(t, 2), testdog.Far(t, 4))
	counts := some.sessions
	for i := range n {
		all.spawn(i)
		some.spawn(i)
		setRate(t, some.crowd, i, rate(i))
	}
	way := make([]float32, n)
	for tick := range ticks {
		for i := range n {
			all.goal(all.crowd.Entity(i), i, 0)
			some.goal(some.crowd.Entity(i), i, 0)
		}
		before := slices.Clone(some.crowd.Interpolate(nil, 1))
		all.step()
		some.step()
		joints := some.crowd.Skel.Len()
		for i := range n {
			step := some.crowd.BonesAt(i)[0].Pos.Dist(before[i*joints].Pos)
			switch {
			case rate(i) == animsys.EveryTick && !slices.Equal(all.crowd.BonesAt(i), some.crowd.BonesAt(i)):
				t.Fatalf("tick %d: dog %d moves otherwise than where all have the full rate", tick, i)
			case rate(i) == animsys.Frozen && tick > 4 && step != 0:
				t.Fatalf("tick %d: dog %d is frozen, and moves", tick, i)
			case rate(i) != animsys.Frozen && tick > 40 && (step < 1e-4 || step > 0.05):
				t.Errorf("tick %d: dog %d at rate %d moves by %g m", tick, i, rate(i), step)
			}
			way[i] += step
		}
		if tick >= 8 {
			if counts[1].rows != n/4 || counts[2].rows != n/8 || counts[4].rows != n/16 {
				t.Fatalf("tick %d: %d, %d and %d dogs take a step, want %d, %d and %d", tick, counts[1].rows, counts[2].rows, counts[4].rows, n/4, n/8, n/16)
			}
		}
	}
	for i, w := range way {
		if r := some.crowd.UpdateRateAt(i); r != rate(i) {
			t.Errorf("dog %d goes at rate %d, want %d", i, r, rate(i))
		}
		if rate(i) != animsys.Frozen && w < 0.2 {
			t.Errorf("dog %d at rate %d goes %g m", i, rate(i), w)
		}
	}
}

// Without networks for them lower rates are the next higher ones.
func TestRatesWithoutNetworks(t *testing.T) {
	for _, c := range []struct {
		far        []*mann.Model
		half, four animsys.UpdateRate
	}{{nil, animsys.EveryTick, animsys.EveryTick}, {[]*mann.Model{testdog.Far(t, 2)}, animsys.Every2, animsys.Every2}, {[]*mann.Model{testdog.Far(t, 4)}, animsys.EveryTick, animsys.Every4}} {
		w := newWorld(t, 2, 1, c.far...)
		w.spawn(0)
		w.spawn(1)
		setRate(t, w.crowd, 0, animsys.Every2)
		setRate(t, w.crowd, 1, animsys.Every4)
		for range 8 {
			w.step()
		}
		if a, b := w.crowd.UpdateRateAt(0), w.crowd.UpdateRateAt(1); a != c.half || b != c.four {
			t.Errorf("with %d networks the rates are %d and %d, want %d and %d", len(c.far), a, b, c.half, c.four)
		}
	}
}

func TestFarErrors(t *testing.T) {
	for want, o := range map[string]struct {
		near *mann.Model
		far  []*mann.Model
	}{
		"ControllerOptions.LOD, beside": {testdog.Far(t, 2), nil}, "want 2 or 4": {testdog.Model(t), []*mann.Model{testdog.Far(t, 3)}},
		"stride 2 already": {testdog.Model(t), []*mann.Model{testdog.Far(t, 2), testdog.Far(t, 2)}},
	} {
		if _, err := o.near.NewController(mann.ControllerOptions{Capacity: 2, LOD: o.far}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// People who are led at lower rates show what the others do, a little later; who was
// frozen goes on from where they stood.
func TestRatesOfPeople(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Guide: true})
	full, low := newPlaza(t, m, 3, 2), newPlaza(t, m, 3, 2)
	rates := []animsys.UpdateRate{animsys.Every2, animsys.Every4, animsys.Frozen}
	for i, r := range rates {
		full.spawn(i)
		low.spawn(i)
		setRate(t, low.people, i, r)
	}
	low.step(8)
	full.step(8)
	joints := full.people.Skel.Len()
	var past [4][]m3.Xform
	stood := low.people.Roots[2]
	for tick := range 120 {
		copy(past[1:], past[:3])
		past[0] = slices.Clone(full.people.Interpolate(nil, 1))
		for i, r := range rates[:2] {
			late := past[int(r)-1]
			if late == nil {
				continue
			}
			for j, x := range low.people.BonesAt(i) {
				// Where a window begins between two steps a corner is cut: by 8 cm of this model's at most.
				// Feet that take off or land there do so at another time: 2 cm more.
				if d := x.Pos.Dist(late[i*joints+j].Pos); !(d < 0.1) {
					t.Fatalf("tick %d: at rate %d joint %d is %g m from where it was at the full rate %d ticks ago", tick, r, j, d, r-1)
				}
			}
		}
		if low.people.Roots[2] != stood {
			t.Fatal("who is frozen goes on")
		}
		full.step(1)
		low.step(1)
	}
	setRate(t, low.people, 2, animsys.EveryTick)
	last := slices.Clone(low.people.BonesAt(2))
	for tick := range 120 {
		low.step(1)
		for j, x := range low.people.BonesAt(2) {
			if d := x.Pos.Dist(last[j].Pos); !(d < 0.15) {
				t.Fatalf("tick %d after the thaw: joint %d jumps by %g m", tick, j, d)
			}
		}
		copy(last, low.people.BonesAt(2))
	}
	if d := low.people.Roots[2].Pos.Dist(stood.Pos); d < 1 {
		t.Errorf("who was frozen goes %g m in two seconds", d)
	}
}

// Whatever comes, goes, is placed, is broken, and at whatever rates: the same bits for any number
// of workers, nothing that is not finite, and bones that belong together.
func TestRatesWhileTheyComeAndGo(t *testing.T) {
	far := []*mann.Model{testdog.Far(t, 2), testdog.Far(t, 4)}
	a, b := newWorld(t, 12, 1, far...), newWorld(t, 12, 3, far...)
	rapid.Check(t, func(rt *rapid.T) {
		for _, w := range []*world{a, b} {
			for w.crowd.Agents() > 0 {
				if err := w.crowd.Despawn(w.crowd.Entity(0)); err != nil {
					rt.Fatal(err)
				}
			}
		}
		for step := range rapid.IntRange(1, 12).Draw(rt, "steps") {
			n := a.crowd.Agents()
			what := rapid.IntRange(0, 3).Draw(rt, "what")
			row := 0
			if n > 0 {
				row = rapid.IntRange(0, n-1).Draw(rt, "row")
			}
			rate := animsys.UpdateRate(rapid.SampledFrom([]int{0, 1, 2, 4}).Draw(rt, "rate"))
			for _, w := range []*world{a, b} {
				switch {
				case what == 0 && n < 12 || n == 0:
					w.spawn(step)
				case what == 1:
					if err := w.crowd.Despawn(w.crowd.Entity(row)); err != nil {
						rt.Fatal(err)
					}
				case what == 2:
					if err := w.crowd.Place(w.crowd.Entity(row), m3.V(float32(step), 0, 2), 1); err != nil {
						rt.Fatal(err)
					}
				default:
					setRate(t, w.crowd, row, rate)
				}
				for r := range w.crowd.Agents() {
					w.goal(w.crowd.Entity(r), r, step)
				}
				for range 1 + step%5 {
					w.step()
				}
			}
			for r := range a.crowd.Agents() {
				if !slices.Equal(a.crowd.BonesAt(r), b.crowd.BonesAt(r)) {
					rt.Fatalf("step %d: row %d differs between workers", step, r)
				}
				for j, x := range a.crowd.BonesAt(r) {
					if !x.Pos.Finite() || !x.Rot.Finite() {
						rt.Fatalf("step %d: row %d joint %d is %v", step, r, j, x)
					}
				}
			}
		}
	})
}

func TestRatesDoNotAllocate(t *testing.T) {
	w := newWorld(t, 32, 2, testdog.Far(t, 2), testdog.Far(t, 4))
	for i := range 32 {
		w.goal(w.spawn(i), i, 5)
	}
	w.step()
	attention, eye := animsys.LODPolicy{EveryTick: 5, Every2: 8, Every4: 12, Behind: 2, Sight: 0.5}, m3.V(-10, 1, -10)
	turn := float32(0)
	if n := testing.AllocsPerRun(50, func() {
		turn += 0.2
		w.crowd.ApplyLOD(&attention, eye, m3.V(m3.Sin(turn), 0, m3.Cos(turn)), 0.1)
		w.step()
	}); n != 0 {
		t.Errorf("%g allocations per tick", n)
	}
}

// Rates fall with the distance and behind one's back, keep still at a bound, and come
// nearer where trouble is to be saved.
func TestAttend(t *testing.T) {
	w := newWorld(t, 1, 1, testdog.Far(t, 2), testdog.Far(t, 4))
	e := w.spawn(0)
	nan := float32(math.NaN())
	attention := animsys.LODPolicy{EveryTick: 10, Every2: 20, Every4: 40, Behind: 3, Sight: 0.5}
	for _, c := range []struct {
		z, saving float32
		ahead     m3.Vec3
		want      animsys.UpdateRate
	}{
		{5, 0, m3.Vec3{}, animsys.EveryTick}, {9.9, 0, m3.Vec3{}, animsys.EveryTick}, {10.5, 0, m3.Vec3{}, animsys.EveryTick}, {11, 0, m3.Vec3{}, animsys.Every2},
		{10.5, 0, m3.Vec3{}, animsys.Every2}, {30, 0, m3.Vec3{}, animsys.Every4}, {50, 0, m3.Vec3{}, animsys.Frozen}, {41, 0, m3.Vec3{}, animsys.Frozen},
		{8, 0, m3.V(0, 0, 1), animsys.EveryTick}, {8, 0, m3.V(0, 0, -1), animsys.Every2}, {2, 0, m3.V(0, 0, -1), animsys.EveryTick}, {35, 0, m3.V(1, 0, 0), animsys.Frozen},
		{8, 0.5, m3.Vec3{}, animsys.Every2}, {8, 9, m3.Vec3{}, animsys.Frozen}, {8, 0, m3.V(nan, 0, 0), animsys.Frozen}, {8, nan, m3.Vec3{}, animsys.Frozen},
	} {
		if err := w.crowd.Place(e, m3.V(0, 0, c.z), 0); err != nil {
			t.Fatal(err)
		}
		setRate(t, w.crowd, 0, animsys.EveryTick)
		w.step()
		setRate(t, w.crowd, 0, lastRate)
		w.crowd.ApplyLOD(&attention, w.crowd.BonesAt(0)[0].Pos.Sub(m3.V(0, 0, c.z)), c.ahead, c.saving)
		lastRate = w.crowd.WantedRate(0)
		if lastRate != c.want {
			t.Errorf("at %g m, looking %v, saving %g: rate %d, want %d", c.z, c.ahead, c.saving, lastRate, c.want)
		}
	}
	forever := animsys.LODPolicy{EveryTick: 10}
	w.crowd.ApplyLOD(&forever, m3.V(0, 0, 1e5), m3.Vec3{}, 0)
	if r := w.crowd.WantedRate(0); r != animsys.Every2 {
		t.Errorf("without a bound for it the rate is %d", r)
	}
}

var lastRate = animsys.EveryTick

// Who is frozen and placed elsewhere is seen there, and goes on where that is near.
func TestPlacedWhileFrozen(t *testing.T) {
	w := newWorld(t, 1, 1, testdog.Far(t, 2), testdog.Far(t, 4))
	e := w.spawn(0)
	attention := animsys.LODPolicy{EveryTick: 10, Every2: 20, Every4: 25}
	run := func(ticks int) {
		for range ticks {
			w.crowd.ApplyLOD(&attention, m3.Vec3{}, m3.Vec3{}, 0)
			w.step()
		}
	}
	place := func(to m3.Vec3) {
		t.Helper()
		if err := w.crowd.Place(e, to, 0); err != nil {
			t.Fatal(err)
		}
		run(12)
		if d := w.bones(e)[0].Pos.Flat().Dist(to); d > 1 {
			t.Errorf("placed at %v the bones are %g m from there", to, d)
		}
	}
	run(8)
	place(m3.V(28, 0, 0))
	if r := w.crowd.UpdateRateAt(0); r != animsys.Frozen {
		t.Fatalf("far away the rate is %d", r)
	}
	place(m3.V(0, 0, 27))
	place(m3.V(2, 0, 2))
	if r := w.crowd.UpdateRateAt(0); r != animsys.EveryTick {
		t.Errorf("nearby the rate is %d", r)
	}
}

// The experts' weights are those of the row, at whatever rate it and the others go.
func TestGating(t *testing.T) {
	all, some := newWorld(t, 6, 2), newWorld(t, 6, 2, testdog.Far(t, 2), testdog.Far(t, 4))
	for i := range 6 {
		all.spawn(i)
		some.spawn(i)
		setRate(t, some.crowd, i, []animsys.UpdateRate{animsys.Every4, animsys.Every2, animsys.Frozen, animsys.EveryTick}[i%4])
	}
	seen := [6]int{}
	for tick := range 24 {
		for i := range 6 {
			all.goal(all.crowd.Entity(i), i, 0)
			some.goal(some.crowd.Entity(i), i, 0)
		}
		all.step()
		some.step()
		for i := range 6 {
			weights := some.dogs.Gating(i)
			if weights == nil {
				continue
			}
			var sum float32
			for _, v := range weights {
				sum += v
			}
			if m3.Abs(sum-1) > 1e-4 {
				t.Fatalf("tick %d: the weights of row %d sum up to %g", tick, i, sum)
			}
			if i == 3 && !slices.Equal(weights, all.dogs.Gating(3)) {
				t.Fatalf("tick %d: the weights of row 3 are another's", tick)
			}
			if tick >= 8 {
				seen[i]++
			}
		}
	}
	if seen != [6]int{4, 8, 0, 16, 4, 8} {
		t.Errorf("in 16 ticks there are weights for %v", seen)
	}
	if all.dogs.Gating(-1) != nil || all.dogs.Gating(6) != nil {
		t.Error("there are weights of rows that there are not")
	}
}
