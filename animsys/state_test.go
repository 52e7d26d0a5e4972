package animsys_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	"mannequin/internal/testing/testgen"
	"mannequin/models/person"
)

// rows plays a generator's agents without a crowd.
type rows struct {
	n       int
	add     func(agent int) // agent numbers give controls and places
	remove  func(row int)
	restore func(s *generator.State) error
	save    func(s *generator.State)
	saveRow func(s *generator.State, row int)
	shift   func(row int, by m3.Vec3)
	tick    func(tick int) []float32 // all poses
	agents  []int                    // (rows)
}

func newRows[C any](t testing.TB, g generator.Generator[C], control func(i, tick int) C) *rows {
	t.Cleanup(func() { g.Close() })
	joints := must.Get(g.Rig(nil))(t).Skel.Len()
	p := testgen.Play(g, joints)
	r := &rows{shift: g.Shift}
	r.add = func(agent int) {
		c := control(agent, 0)
		pos, yaw := at(agent)
		must.Get(g.Add(feature.Place{Pos: pos, Yaw: yaw}, &c))(t)
		r.n++
		r.agents = append(r.agents, agent)
	}
	r.remove = func(row int) {
		g.Remove(row)
		r.n--
		r.agents[row] = r.agents[r.n]
		r.agents = r.agents[:r.n]
	}
	r.save = func(s *generator.State) {
		for row := range r.n {
			g.Save(s, row)
		}
	}
	r.saveRow = g.Save
	r.restore = func(s *generator.State) error {
		row, err := g.Restore(s)
		if err == nil && row != r.n {
			t.Fatalf("an agent is restored into row %d, want %d", row, r.n)
		}
		if err == nil {
			r.n++
		}
		return err
	}
	r.tick = func(tick int) (out []float32) {
		for row, agent := range r.agents {
			g.Controls()[row] = control(agent, tick)
		}
		if err := p.Tick(r.n); err != nil {
			t.Fatal(err)
		}
		for row := range r.n {
			pos, rot := p.Poses().Joints(row, joints)
			for j := range pos {
				out = append(out, pos[j].X, pos[j].Y, pos[j].Z, rot[j].X, rot[j].Y, rot[j].Z, rot[j].W)
			}
			root := p.Poses().Roots[row]
			out = append(out, root.Pos.X, root.Pos.Z)
		}
		return out
	}
	return r
}

// again makes r hold the agents of a state.
func (r *rows) again(t *testing.T, s *generator.State, agents []int) {
	t.Helper()
	for r.n > 0 {
		r.remove(r.n - 1)
	}
	s.Rewind()
	for range agents {
		if err := r.restore(s); err != nil {
			t.Fatal(err)
		}
	}
	r.agents = slices.Clone(agents)
}

// Agents that are restored move on with the bits of agents that never stopped: in the same
// generator, which is rolled back, and in another one, which has run for another time. So do
// agents that are added later.
func TestConformanceSaveAndRestore(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		const capacity, after = 9, 100
		a, b := k.rows(t, capacity), k.rows(t, capacity)
		for i := range 3 {
			b.add(40 + i)
			b.tick(i)
		}
		for i := range 5 {
			a.add(i)
		}
		var at, late generator.State
		for tick, saves := 0, 0; tick < 230; tick++ {
			switch tick {
			case 60:
				a.remove(1)
			case 90:
				a.add(7)
			}
			if tick%37 == 20 { // with windows that are being made
				a.shift(tick%a.n, m3.V(1024, 0, -2048))
			}
			a.tick(tick)
			at.Reset() // saving changes nothing, and waits for nothing
			if a.save(&at); (tick+1)%37 != 0 {
				continue
			}
			saves++
			on := func(r *rows) (out [][]float32) {
				for i := range after {
					switch i {
					case 20:
						r.add(20 + saves)
					case 50:
						r.remove(0)
					}
					out = append(out, r.tick(tick+1+i))
				}
				return out
			}
			agents := slices.Clone(a.agents)
			late.Reset()
			want := on(a)
			a.save(&late)
			lateAgents := slices.Clone(a.agents)
			for _, r := range []struct {
				of   string
				rows *rows
			}{{"rolled back", a}, {"restored elsewhere", b}} {
				r.rows.again(t, &at, agents)
				got := on(r.rows)
				for i := range want {
					if !slices.Equal(got[i], want[i]) {
						t.Fatalf("%s to tick %d: other bits %d ticks later", r.of, tick, i)
					}
				}
				var again generator.State
				r.rows.save(&again)
				if !slices.Equal(again.Data, late.Data) || !slices.Equal(r.rows.agents, lateAgents) {
					t.Fatalf("%s to tick %d: another state at the end", r.of, tick)
				}
			}
			a.again(t, &at, agents) // and go on from here
		}
	})
}

// A state with flipped bits is refused or moves somehow; it does not panic.
func TestConformanceRestoreFlipped(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		r := k.rows(t, 4)
		r.add(0)
		for tick := range 50 {
			r.tick(tick)
		}
		var s generator.State
		r.save(&s)
		rnd := rand.New(rand.NewPCG(1, 2))
		for i := range 150 {
			flipped := generator.State{Data: slices.Clone(s.Data)}
			// Most of the numbers that are not motion come first or last.
			at := rnd.IntN(min(400, len(s.Data)))
			if i%3 == 0 {
				at = len(s.Data) - 1 - rnd.IntN(min(40, len(s.Data)))
			}
			flipped.Data[at] ^= 1 << rnd.IntN(8)
			flipped.Rewind()
			if r.restore(&flipped) != nil {
				continue
			}
			r.agents = append(r.agents, 0)
			for tick := range 3 {
				r.tick(tick)
			}
			r.remove(1)
		}
	})
}

// Saving and rolling back allocate nothing, once the buffer has grown.
func TestConformanceStateAllocations(t *testing.T) {
	race.Single(t)
	forAll(t, func(t *testing.T, k kind) {
		r := k.rows(t, 5)
		for i := range 5 {
			r.add(i)
		}
		for tick := range 100 {
			r.tick(tick)
		}
		var s generator.State
		agents := slices.Clone(r.agents)
		again := func() {
			s.Reset()
			r.save(&s)
			for r.n > 0 {
				r.remove(r.n - 1)
			}
			s.Rewind()
			for range agents {
				if err := r.restore(&s); err != nil {
					t.Fatal(err)
				}
			}
			r.agents = append(r.agents, agents...)
		}
		again()
		if n := testing.AllocsPerRun(20, again); n != 0 {
			t.Errorf("saving and restoring %d agents allocates %g times", len(agents), n)
		}
	})
}

// One agent that is restored among others does not disturb them, and stands where it stood.
func TestConformanceRestoreAmongOthers(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		calm, r := k.rows(t, 9), k.rows(t, 9)
		for i := range 3 {
			calm.add(i)
			r.add(i)
		}
		var one generator.State
		var last []float32
		for tick := range 260 {
			if tick == 140 {
				for range 3 {
					one.Rewind()
					if err := r.restore(&one); err != nil {
						t.Fatal(err)
					}
					r.agents = append(r.agents, 0)
				}
			}
			want, got := calm.tick(tick), r.tick(tick)
			if !slices.Equal(want, got[:len(want)]) {
				t.Fatalf("tick %d: others move otherwise", tick)
			}
			if tick == 77 {
				one.Reset()
				r.saveRow(&one, 0)
				last = got[:7]
			}
			if tick == 140 {
				for i := range 3 {
					if d := m3.V(got[len(want)/3*(3+i)], 0, got[len(want)/3*(3+i)+2]).Dist(m3.V(last[0], 0, last[2])); d > 0.2 {
						t.Errorf("an agent is restored %g m from its place", d)
					}
				}
			}
			for _, v := range got {
				if math.IsNaN(float64(v)) {
					t.Fatalf("tick %d: NaN", tick)
				}
			}
		}
	})
}

// A state of another generator, a part of one and one that is not finite are errors, and add no
// agent.
func TestConformanceRestoreErrors(t *testing.T) {
	all := map[string]generator.State{}
	forAll(t, func(t *testing.T, k kind) {
		r := k.rows(t, 4)
		r.add(0)
		for tick := range 50 {
			r.tick(tick)
		}
		var s generator.State
		r.save(&s)
		refused := func(what string, s generator.State, part string) {
			t.Helper()
			s.Rewind()
			if err := r.restore(&s); err == nil || !strings.Contains(err.Error(), part) || r.n != 1 {
				t.Errorf("%s: %v, want an error with %q", what, err, part)
			}
		}
		name, _, _ := strings.Cut(k.name, " ")
		for of, other := range all {
			if of != name {
				refused("the state of "+of, other, "state is")
			}
		}
		all[name] = s
		for n := 0; n < len(s.Data); n += 1 + len(s.Data)/50 {
			refused("a part", generator.State{Data: s.Data[:n]}, "")
		}
		for range 2 {
			s.Rewind()
			if err := r.restore(&s); err != nil {
				t.Fatal(err)
			}
		}
		r.agents = []int{0, 0, 0}
		for tick := range 100 {
			r.tick(tick)
		}
	})
}

// The state of a person who waits for a window, because batches are full, is restored as well.
func TestRestoreOfWaiting(t *testing.T) {
	walkers := must.Get(person.Open())(t)
	circle := must.Get(control.Circle(5))(t)
	open := func() *rows {
		g := must.Get(walkers.NewStream(manifold.StreamOptions{Capacity: 6, Batch: 1}))(t)
		return newRows(t, g, func(i, tick int) manifold.Curve {
			return manifold.Curve{Path: circle, Start: float32(tick / 20), Speed: 1}
		})
	}
	a, b := open(), open()
	for i := range 6 {
		a.add(i)
	}
	for tick := range 200 {
		var s generator.State
		a.tick(tick)
		a.save(&s)
		b.again(t, &s, a.agents)
	}
}

// The hash is that of the state, for any number of workers, and sees any bone of any
// agent, any root and who is there.
func TestHash(t *testing.T) {
	const n = 7
	a, b := newWorld(t, n, 1), newWorld(t, n+3, 3)
	for i := range n {
		a.spawn(i)
		b.spawn(i)
	}
	was := uint64(0)
	for tick := range 30 {
		a.step()
		b.step()
		h := a.crowd.Hash()
		if h != b.crowd.Hash() || h == was {
			t.Fatalf("tick %d: %x with one worker, %x with three, %x before", tick, h, b.crowd.Hash(), was)
		}
		was = h
	}
	for r := range n {
		for _, x := range []*m3.Xform{&a.crowd.Roots[r], &a.crowd.BonesAt(r)[0], &a.crowd.BonesAt(r)[len(a.crowd.BonesAt(r))-1]} {
			for _, f := range []*float32{&x.Pos.X, &x.Rot.W} {
				keep := *f
				*f = -*f
				if a.crowd.Hash() == was {
					t.Errorf("row %d: it does not see a number", r)
				}
				*f = keep
			}
		}
	}
	setRate(t, b.crowd, 2, animsys.Every2)
	if b.crowd.Hash() == was {
		t.Error("it does not see a rate")
	}
	setRate(t, b.crowd, 2, animsys.EveryTick)
	e := b.crowd.Entity(n - 1)
	if err := b.crowd.Despawn(e); err != nil {
		t.Fatal(err)
	}
	if b.crowd.Hash() == was {
		t.Error("it does not see that one is gone")
	}
	if n := testing.AllocsPerRun(10, func() { a.crowd.Hash() }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkHash(b *testing.B) {
	for _, n := range []int{1, 500} {
		b.Run(fmt.Sprintf("agents=%d", n), func(b *testing.B) {
			w := newWorld(b, n, 0)
			for i := range n {
				w.spawn(i)
			}
			for b.Loop() {
				w.crowd.Hash()
			}
		})
	}
}
