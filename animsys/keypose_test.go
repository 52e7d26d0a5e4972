package animsys_test

import (
	"strconv"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/keypose"
	"mannequin/animsys/keypose/routines"
	"mannequin/engine/m3"
	humankeypose "mannequin/models/human-keypose"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
	"pgregory.net/rapid"
)

// fair is a scene of people at keyposes.
type fair struct {
	*scene
	stream   *keypose.Stream
	parts    generic.Map1[keypose.Performance]
	routines []*keypose.PoseLoop
}

func keyposeModel(t testing.TB) *keypose.Model {
	t.Helper()
	net, err := humankeypose.Open()
	if err != nil {
		t.Fatal(err)
	}
	m, err := keypose.NewModel(net)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newFair(t testing.TB, capacity, workers int) *fair {
	t.Helper()
	m := keyposeModel(t)
	stream, err := m.NewStream(keypose.StreamOptions{Capacity: capacity, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	f := &fair{scene: newScene(t, stream, workers), stream: stream}
	f.parts = generic.NewMap1[keypose.Performance](&f.ecs)
	a, err := routines.NewAuthor(m.Layout, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range routines.Names() {
		r, err := a.Write(name)
		if err != nil {
			t.Fatal(err)
		}
		f.routines = append(f.routines, r)
	}
	return f
}

func (f *fair) part(i int) keypose.Performance {
	return keypose.Performance{Loop: f.routines[i%len(f.routines)], Start: float64(i) / 3}
}

func (f *fair) spawn(i int) arche.Entity {
	f.t.Helper()
	e, err := animsys.SpawnWith(f.people, m3.V(float32(i%8)-4, 0, float32(i/8%40)), float32(i), f.part(i))
	if err != nil {
		f.t.Fatal(err)
	}
	return e
}

// Whatever they perform and change to, people stay on their spots, on standing feet, and
// nobody jerks.
func TestKeyposePerform(t *testing.T) {
	f := newFair(t, 9, 2)
	var all []arche.Entity
	for i := range 9 {
		all = append(all, f.spawn(i))
	}
	sk := f.people.Skel
	tips := []int{sk.Index("LeftToeBase"), sk.Index("RightToeBase")}
	last := make([][2]m3.Vec3, 9)
	bones := make([][3][]m3.Xform, 9) // of three ticks
	var skate, stands, jerk float64
	const ticks = 700
	for tick := range ticks {
		if tick%100 == 99 {
			for i, e := range all {
				*f.parts.Get(e) = f.part(i + tick/100)
			}
		}
		f.step(1)
		for r := range all {
			b := f.people.BonesAt(r)
			for j, p := range sk.Parents {
				if !b[j].Pos.Finite() || !b[j].Rot.Finite() {
					t.Fatalf("tick %d: person %d's %s is %v", tick, r, sk.Names[j], b[j])
				}
				if p >= 0 && m3.Abs(b[j].Pos.Dist(b[p].Pos)-sk.Offsets[j].Len()) > 1e-3 {
					t.Fatalf("tick %d: the bone to %s is %g m long", tick, sk.Names[j], b[j].Pos.Dist(b[p].Pos))
				}
			}
			if at := f.people.Roots[r].Pos; at.Dist(m3.V(float32(r%8)-4, 0, float32(r/8))) > 0.2 {
				t.Fatalf("tick %d: person %d is at %v", tick, r, at)
			}
			for k, j := range tips {
				p := b[j].Pos
				if h := p.Y - f.field.Height(p.X, p.Z); h < 0.01 || h > 0.08 {
					t.Fatalf("tick %d: person %d's %s is %g m over the ground", tick, r, sk.Names[j], h)
				}
				if f.people.Ground.Feet[2*r+k].Contact() && tick > 0 {
					stands++
					skate += float64(p.Dist(last[r][k]))
				}
				last[r][k] = p
			}
			three := &bones[r]
			three[0], three[1], three[2] = three[1], three[2], append(three[0][:0], b...)
			if tick > 2 {
				for j := range b {
					a := three[0][j].Pos.Add(three[2][j].Pos).Sub(three[1][j].Pos.Scale(2)).Len() * 3600
					jerk = max(jerk, float64(a))
				}
			}
		}
	}
	if share := stands / ticks / 18; share < 0.95 {
		t.Errorf("feet stand %.2f of the time", share)
	}
	if mean := 100 * skate / stands; mean > 0.05 {
		t.Errorf("standing feet slide by %.3f cm a tick", mean)
	}
	if jerk > 150 {
		t.Errorf("a joint is pushed by %.0f m/s²", jerk)
	}
	if f.stream.Discarded() != 0 {
		t.Errorf("%d windows were lost", f.stream.Discarded())
	}
	t.Logf("feet stand %.2f of the time, slide by %.4f cm a tick; joints are pushed by at most %.0f m/s²", stands/ticks/18, 100*skate/stands, jerk)
}

// However people come and go, everyone's bones are on their own spot.
func TestKeyposeComeAndGo(t *testing.T) {
	f := newFair(t, 8, 2)
	rapid.Check(t, func(rt *rapid.T) {
		type one struct {
			e  arche.Entity
			at m3.Vec3
		}
		var all []one
		spot := func() m3.Vec3 {
			return m3.V(float32(rapid.IntRange(-5, 5).Draw(rt, "x"))*5, 0, float32(rapid.IntRange(-5, 5).Draw(rt, "z"))*5)
		}
		for range rapid.IntRange(1, 10).Draw(rt, "steps") {
			what, k := rapid.IntRange(0, 2).Draw(rt, "what"), 0
			if len(all) > 0 {
				k = rapid.IntRange(0, len(all)-1).Draw(rt, "who")
			}
			switch {
			case what == 0:
				at := spot()
				e, err := animsys.SpawnWith(f.people, at, 1, f.part(k))
				if (err != nil) != (len(all) == 8) {
					rt.Fatalf("%d persons, one more: %v", len(all), err)
				}
				if err == nil {
					all = append(all, one{e, at})
				}
			case len(all) == 0:
			case what == 1:
				if err := f.people.Despawn(all[k].e); err != nil {
					rt.Fatal(err)
				}
				all = append(all[:k], all[k+1:]...)
			default:
				all[k].at = spot()
				if err := f.people.Place(all[k].e, all[k].at, 2); err != nil {
					rt.Fatal(err)
				}
			}
			f.step(rapid.IntRange(1, 6).Draw(rt, "ticks"))
			for _, o := range all {
				row, ok := f.people.Row(o.e)
				if at := f.people.BonesAt(row)[0].Pos.Flat(); !ok || at.Dist(o.at) > 0.3 {
					rt.Fatalf("whose spot is %v is at %v, in row %d", o.at, at, row)
				}
			}
		}
		for _, o := range all {
			if err := f.people.Despawn(o.e); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// BenchmarkKeypose is a tick of so many on hills, on all cores: the network of those
// whose turn it is, poses, feet.
func BenchmarkKeypose(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			f := newFair(b, n, 0)
			for i := range n {
				f.spawn(i)
			}
			f.step(64)
			b.ReportAllocs()
			for b.Loop() {
				f.step(1)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/agent")
		})
	}
}
