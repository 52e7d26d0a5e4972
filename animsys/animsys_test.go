package animsys_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/internal/testing/race"
	"mannequin/internal/testing/testdog"
	"mannequin/netruntime"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// world is a scene of dogs.
type world struct {
	*scene
	crowd    *animsys.Crowd
	dogs     *mann.Controller
	goals    generic.Map1[control.Goal]
	sessions map[int]*counter // by stride
}

func newWorld(t testing.TB, capacity, workers int, far ...*mann.Model) *world {
	t.Helper()
	w := &world{sessions: map[int]*counter{}}
	strides := map[*netruntime.Net]int{}
	m := testdog.Model(t)
	for _, m := range append(far, m) {
		strides[m.Net] = m.Layout.Step()
	}
	open := func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
		s, err := n.NewSession(o)
		c := &counter{Session: s}
		w.sessions[strides[n]] = c
		return c, err
	}
	var err error
	if w.dogs, err = m.NewController(mann.ControllerOptions{Capacity: capacity, Workers: workers, LOD: far, Open: open}); err != nil {
		t.Fatal(err)
	}
	w.scene = newScene(t, w.dogs, workers)
	w.crowd, w.goals = w.people, generic.NewMap1[control.Goal](&w.ecs)
	return w
}

// spawn adds the i-th dog of the tests: its own place, heading and goal.
func (w *world) spawn(i int) arche.Entity {
	w.t.Helper()
	e, err := w.crowd.Spawn(m3.V(float32(i%8)*3-10, 0, float32(i/8)*3-10), float32(i))
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// goal gives e the goal that dog i has in a tick.
func (w *world) goal(e arche.Entity, i, tick int) {
	g := control.Goal{Move: m3.V(0, 0, 1), Turn: float32(i%5)/4 - 0.5, Speed: 1 + float32(i%3), Action: control.Move}
	if (tick/20+i)%7 == 0 {
		g = control.Goal{Action: control.Sit}
	}
	*w.goals.Get(e) = g
}

func (w *world) step() {
	w.t.Helper()
	w.scene.step(1)
}

// track returns the bones of some of the dogs first to first+n−1 over the
// ticks, by dog, in a crowd of those n.
func track(t *testing.T, first, n, workers, ticks int, dogs ...int) map[int][][]m3.Xform {
	w := newWorld(t, n, workers)
	all := make([]arche.Entity, n)
	for k := range all {
		all[k] = w.spawn(first + k)
	}
	out := map[int][][]m3.Xform{}
	for tick := range ticks {
		for k, e := range all {
			w.goal(e, first+k, tick)
		}
		w.step()
		for _, i := range dogs {
			out[i] = append(out[i], append([]m3.Xform(nil), w.bones(all[i-first])...))
		}
	}
	return out
}

func same(t *testing.T, what string, a, b [][]m3.Xform) {
	t.Helper()
	for tick := range a {
		for j := range a[tick] {
			if a[tick][j] != b[tick][j] {
				t.Fatalf("%s: tick %d joint %d: %v and %v", what, tick, j, a[tick][j], b[tick][j])
			}
		}
	}
}

// The same bits alone or among 64, and for any number of workers.
func TestAloneOrInACrowd(t *testing.T) {
	race.Single(t)
	const ticks = 60
	dogs := []int{0, 37, 63}
	alone := map[int][][]m3.Xform{}
	for _, i := range dogs {
		alone[i] = track(t, i, 1, 1, ticks, i)[i]
		if d := alone[i][ticks-1][0].Pos.Dist(alone[i][0][0].Pos); d < 0.1 {
			t.Errorf("dog %d went only %g m", i, d)
		}
	}
	for _, workers := range []int{1, 2, 5} {
		among := track(t, 0, 64, workers, ticks, dogs...)
		for _, i := range dogs {
			same(t, fmt.Sprintf("dog %d alone and among 64, %d workers", i, workers), alone[i], among[i])
		}
	}
}

func TestOrderOfTheTick(t *testing.T) {
	w := newWorld(t, 1, 1)
	want := []string{"SelectLOD", "Plan", "Gather", "Infer", "Scatter", "Generate", "Sample", "Style", "peeks", "Clips", "Collide", "Blend", "Layers", "Ground", "Aim", "Publish"}
	if got := w.schedule.Names(); !slices.Equal(got, want) {
		t.Errorf("the tick is %v, want %v", got, want)
	}
}

func TestTickDoesNotAllocate(t *testing.T) {
	race.Single(t)
	for _, workers := range []int{1, 2} {
		w := newWorld(t, 64, workers)
		for i := range 64 {
			w.goal(w.spawn(i), i, 5)
		}
		w.step()
		frame := w.crowd.Interpolate(nil, 0.5)
		if n := testing.AllocsPerRun(50, func() {
			w.step()
			frame = w.crowd.Interpolate(frame, 0.5)
		}); n != 0 {
			t.Errorf("%d workers: %g allocations per tick", workers, n)
		}
	}
}

// counter is a session that counts its calls and can spoil or fail them.
type counter struct {
	netruntime.Session
	calls int
	rows  int // of the last call
	spoil func(y []float32, rows int) error
}

func (c *counter) Run(y, x []float32, rows int) error {
	c.calls++
	c.rows = rows
	if err := c.Session.Run(y, x, rows); err != nil || c.spoil == nil {
		return err
	}
	return c.spoil(y, rows)
}

func TestOneNetworkCallPerTick(t *testing.T) {
	w := newWorld(t, 64, 2)
	c := w.sessions[1]
	w.step() // nobody there
	if c.calls != 0 {
		t.Errorf("%d calls for nobody", c.calls)
	}
	for i := range 64 {
		w.spawn(i)
	}
	w.step()
	if c.calls != 1 {
		t.Errorf("%d calls for 64 agents", c.calls)
	}
}

func TestNetworkFailureStopsTheSchedule(t *testing.T) {
	w := newWorld(t, 2, 1)
	w.spawn(0)
	broken := fmt.Errorf("the network is gone")
	w.sessions[1].spoil = func([]float32, int) error { return broken }
	for range 2 {
		if err := w.schedule.Step(); err != broken {
			t.Fatalf("got %v", err)
		}
	}
}

// One agent's NaN stays its own, and its return to a sound pose is eased: no
// joint jumps.
func TestNaNStaysAlone(t *testing.T) {
	sound, hurt := newWorld(t, 3, 1), newWorld(t, 3, 1)
	var a, b []arche.Entity
	for i := range 3 {
		a, b = append(a, sound.spawn(i)), append(b, hurt.spawn(i))
	}
	tick := 0
	layout := hurt.dogs.Model.Layout
	outputs, neck := layout.Outputs(), hurt.dogs.Model.Skel.Index("Neck")
	hurt.sessions[1].spoil = func(y []float32, rows int) error {
		y = y[outputs:] // of dog 1
		switch {
		case tick == 30 || tick == 31:
			y[17] = float32(math.NaN())
		case tick < 30: // its neck turns aside, a pose far from rest
			y[layout.OutBone(neck+1)+feature.BonePos] += 0.015 * float32(tick)
		}
		return nil
	}
	var before []m3.Xform
	for tick = range 60 {
		for i := range 3 {
			sound.goal(a[i], i, tick)
			hurt.goal(b[i], i, tick)
		}
		sound.step()
		hurt.step()
		for _, i := range []int{0, 2} {
			x, y := sound.bones(a[i]), hurt.bones(b[i])
			for j := range x {
				if x[j] != y[j] {
					t.Fatalf("tick %d: dog %d changed because dog 1 broke", tick, i)
				}
			}
		}
		now := hurt.bones(b[1])
		for j := range now {
			if !now[j].Pos.Finite() || !now[j].Rot.Finite() {
				t.Fatalf("tick %d: joint %d is not finite", tick, j)
			}
			if before != nil && now[j].Rot.Angle(before[j].Rot) > 0.3 {
				t.Errorf("tick %d: joint %d turned %g rad", tick, j, now[j].Rot.Angle(before[j].Rot))
			}
		}
		before = append(before[:0], now...)
	}
}

// Paws stand on the hills, bones keep their lengths.
func TestStandsOnTheTerrain(t *testing.T) {
	w := newWorld(t, 16, 2)
	for i := range 16 {
		w.spawn(i) // idle
	}
	sk := w.dogs.Model.Skel
	for range 60 {
		w.step()
	}
	for r := range 16 {
		bones := w.crowd.BonesAt(r)
		for j, p := range sk.Parents {
			if p < 0 {
				continue
			}
			want := sk.Offsets[j].Len()
			if got := bones[j].Pos.Dist(bones[p].Pos); m3.Abs(got-want) > 1e-3*want+1e-6 {
				t.Errorf("dog %d: the bone to %s is %g m, want %g", r, sk.Names[j], got, want)
			}
		}
		for _, tip := range w.dogs.Model.Layout.Tips {
			p := bones[sk.Index(tip)].Pos
			if h := p.Y - w.field.Height(p.X, p.Z); m3.Abs(h) > 0.06 {
				t.Errorf("dog %d: %s is %g m above the ground", r, tip, h)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	w := newWorld(t, 1, 1)
	w.spawn(0)
	if _, err := w.crowd.Spawn(m3.Vec3{}, 0); err == nil {
		t.Error("a second dog in a crowd of one")
	}
	if n := len(w.ecs.DumpEntities().Alive); n != 1 {
		t.Errorf("%d entities after the failed spawn", n)
	}
	q := w.ecs.Query(arche.All())
	if _, err := w.crowd.Spawn(m3.Vec3{}, 0); err == nil {
		t.Error("spawned within a query")
	}
	q.Close()
	nan := float32(math.NaN())
	roomy := newWorld(t, 2, 1)
	e := roomy.spawn(0)
	if _, err := roomy.crowd.Spawn(m3.V(nan, 0, 0), 0); err == nil || roomy.crowd.Agents() != 1 {
		t.Error("spawned nowhere")
	}
	if err := roomy.crowd.Place(e, m3.Vec3{}, nan); err == nil {
		t.Error("placed with no heading")
	}
	empty := arche.NewWorld()
	if _, err := ecs.NewSchedule(&empty, 1, animsys.Systems()...); err == nil {
		t.Error("systems without a crowd: accepted")
	}
}
