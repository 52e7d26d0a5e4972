package mann_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/internal/testing/authors"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/race"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
)

// authorsDog is the authors' network on the recordings' skeleton: it walks without any training of
// ours.
func authorsDog(t *testing.T) *mann.Model {
	t.Helper()
	dir := mocapdata.Dir(t)
	raw, err := authors.Read(filepath.Join(dir, "reference", "mann-2018-04"))
	if err != nil {
		t.Fatal(err)
	}
	net, err := authors.Convert(raw)
	if err != nil {
		t.Fatal(err)
	}
	set, _, err := dataset.BuildMANN(filepath.Join(dir, "dog"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	meta := net.Meta()
	if err := mann.Describe(&meta, authors.Layout(), set.Skeleton, nil); err != nil {
		t.Fatal(err)
	}
	if net, err = netruntime.New(meta, net.Tensors()); err != nil {
		t.Fatal(err)
	}
	m, err := mann.NewModel(net)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// rider drives one agent and looks at it after every tick.
type rider struct {
	m       *mann.Model
	b       *mann.Batch
	session netruntime.Session
	x, y    []float32
	world   []m3.Xform // of the displayed pose
}

func newRider(t *testing.T, m *mann.Model) *rider {
	t.Helper()
	s, err := m.Net.NewSession(netruntime.SessionOptions{Batch: 1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &rider{m, mann.NewBatch(m, 1), s, make([]float32, m.Layout.Inputs()), make([]float32, m.Layout.Outputs()), make([]m3.Xform, m.Skel.Len())}
}

func (r *rider) tick(t *testing.T, g control.Goal) {
	t.Helper()
	r.b.Plan([]control.Goal{g}, 0, 1)
	r.b.Gather(r.x, 0, 1)
	if err := r.session.Run(r.y, r.x, 1); err != nil {
		t.Fatal(err)
	}
	r.b.Scatter(r.y, 0, 1)
	pos, rot := r.b.Pose(0)
	r.m.Skel.LocalToModel(r.world, pos, rot)
}

// bones reports the first bone that is not finite or not of its length.
func (r *rider) bones(t *testing.T, f int) {
	t.Helper()
	for j, p := range r.m.Skel.Parents {
		if !r.world[j].Pos.Finite() || !r.world[j].Rot.Finite() {
			t.Fatalf("tick %d: %s is not finite", f, r.m.Skel.Names[j])
		}
		if p < 0 {
			continue
		}
		// World positions far from the origin cost digits.
		slack := 1e-6 * (1 + r.world[j].Pos.Len())
		want := r.m.Skel.Offsets[j].Len()
		if got := r.world[j].Pos.Dist(r.world[p].Pos); m3.Abs(got-want) > 1e-3*want+slack {
			t.Fatalf("tick %d: bone to %s is %g m long, not %g", f, r.m.Skel.Names[j], got, want)
		}
	}
}

// The whole controller around a network that is known to walk.
func TestAuthorsDog(t *testing.T) {
	race.Single(t)
	m := authorsDog(t)
	t.Run("paths", func(t *testing.T) { followsPaths(t, m) })
	t.Run("acts", func(t *testing.T) { acts(t, m) })
}

// followsPaths: it stays on the paths at the speed that was asked for, and its legs alternate.
func followsPaths(t *testing.T, m *mann.Model) {
	for _, c := range []struct {
		path string
		mean float32 // metres; the paper has 0.03, 0.05 and 0.07 on paths of its own
	}{{"circle", 0.03}, {"square", 0.04}, {"star", 0.04}} {
		t.Run(c.path, func(t *testing.T) {
			path, err := control.Builtin(c.path)
			if err != nil {
				t.Fatal(err)
			}
			r := newRider(t, m)
			at, dir := path.At(0)
			r.b.Reset(0, at, m3.YawOf(dir))
			const ticks = 900
			var dist, travel float32
			reach := map[string][]float32{}
			last := at
			for f := range ticks {
				r.tick(t, control.Goal{Path: path, Speed: 1.1})
				r.bones(t, f)
				root := r.b.Root(0)
				_, d := path.Nearest(root.Pos)
				dist += d / ticks
				travel += root.Pos.Dist(last)
				last = root.Pos
				for _, tip := range m.Layout.Tips {
					reach[tip] = append(reach[tip], root.Inv().Apply(r.world[m.Skel.Index(tip)].Pos).Z)
				}
			}
			if dist > c.mean {
				t.Errorf("mean distance %g m", dist)
			}
			if v := travel * mann.Rate / ticks; v < 0.8 || v > 1.2 {
				t.Errorf("mean speed %g m/s, asked for 1.1, less in sharp curves", v)
			}
			if n := r.b.Restored(0); n != 0 {
				t.Errorf("restored %d times", n)
			}
			for _, pair := range [][2]string{{"LeftHandSite", "RightHandSite"}, {"LeftFootSite", "RightFootSite"}} {
				if k := correlation(reach[pair[0]][120:], reach[pair[1]][120:]); k > -0.5 {
					t.Errorf("%s and %s do not alternate: correlation %g", pair[0], pair[1], k)
				}
			}
		})
	}
}

func correlation(a, b []float32) float64 {
	mean := func(v []float32) (s float64) {
		for _, x := range v {
			s += float64(x) / float64(len(v))
		}
		return s
	}
	ma, mb := mean(a), mean(b)
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i])-ma, float64(b[i])-mb
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}

// acts: it stands when let go, sits when told, gets up when let go or told to walk, turns, and
// takes no run-up to step aside.
func acts(t *testing.T, m *mann.Model) {
	r := newRider(t, m)
	run := func(seconds int, g control.Goal) {
		for range seconds * mann.Rate {
			r.tick(t, g)
		}
	}
	hips := func() float32 { return r.world[0].Pos.Y }
	run(4, control.Goal{Move: m3.V(0, 0, 1), Speed: 1.1})
	if v := r.b.Velocity(0).Len(); v < 0.8 {
		t.Errorf("walks at %g m/s", v)
	}
	run(3, control.Goal{})
	stood := r.b.Root(0).Pos
	run(2, control.Goal{})
	if d := r.b.Root(0).Pos.Dist(stood); d > 0.05 || hips() < 0.4 {
		t.Errorf("standing: drifts %g m, hips at %g m", d, hips())
	}
	run(5, control.Goal{Action: control.Sit})
	if hips() > 0.2 {
		t.Errorf("sitting: hips at %g m", hips())
	}
	run(4, control.Goal{})
	if hips() < 0.4 || r.b.Weight(0, control.Idle) < 0.9 {
		t.Errorf("let go: hips at %g m, idle by %g", hips(), r.b.Weight(0, control.Idle))
	}
	run(5, control.Goal{Action: control.Lie})
	if hips() > 0.25 {
		t.Errorf("lying: hips at %g m", hips())
	}
	run(4, control.Goal{Move: m3.V(0, 0, 1), Speed: 1.1})
	from := r.b.Root(0).Pos
	run(2, control.Goal{Move: m3.V(0, 0, 1), Speed: 1.1})
	if v := r.b.Root(0).Pos.Dist(from) / 2; v < 0.8 || hips() < 0.4 {
		t.Errorf("up again: %g m/s, hips at %g m", v, hips())
	}
	before := r.b.Root(0).Rot.Yaw()
	var turned float32
	for range 2 * mann.Rate {
		r.tick(t, control.Goal{Move: m3.V(0, 0, 1), Speed: 1.1, Turn: 0.5})
		yaw := r.b.Root(0).Rot.Yaw()
		turned += m3.WrapAngle(yaw - before)
		before = yaw
	}
	if turned < math.Pi/4 {
		t.Errorf("asked to turn left it turned by %g rad", turned)
	}
	run(3, control.Goal{})
	at := r.b.Root(0)
	run(4, control.Goal{Move: m3.V(1, 0, 0), Speed: 2})
	if d := at.Inv().Apply(r.b.Root(0).Pos); d.X < 0.6 || m3.Abs(d.Z) > 1.5*d.X {
		t.Errorf("asked to step to the left it went %g m left and %g m forward", d.X, d.Z)
	}
}

// An hour under random commands: 216,000 ticks with $MANNEQUIN_HOUR, else a minute.
// $MANNEQUIN_MODEL names another model than the shipped dog.
func TestHourOfRandomCommands(t *testing.T) {
	name := os.Getenv("MANNEQUIN_MODEL")
	if name == "" {
		if name = "dog"; !slices.Contains(models.Names(), name) {
			t.Skip("no dog is shipped yet")
		}
	}
	net, err := models.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mann.NewModel(net)
	if err != nil {
		t.Fatal(err)
	}
	ticks := 60 * mann.Rate
	if os.Getenv("MANNEQUIN_HOUR") != "" {
		ticks = 3600 * mann.Rate
	}
	r := newRider(t, m)
	rng := rand.New(rand.NewPCG(2018, 145))
	var g control.Goal
	low, high, left := float32(math.Inf(1)), float32(0), 0
	for f := range ticks {
		if left--; left < 0 {
			left = 15 + rng.IntN(4*mann.Rate)
			g = control.Goal{
				Move: m3.V(2*rng.Float32()-1, 0, 2*rng.Float32()-1), Turn: 2*rng.Float32() - 1, Speed: 4 * rng.Float32(),
				Action: control.Action(rng.IntN(int(control.NumActions))),
			}
			switch rng.IntN(4) {
			case 0:
				g.Turn = 0
			case 1:
				g.Move = m3.V(0, 0, 1)
			case 2:
				g.Move, g.Turn = m3.Vec3{}, 0
			}
		}
		r.tick(t, g)
		r.bones(t, f)
		h := r.world[0].Pos.Y
		low, high = min(low, h), max(high, h)
		if !(h >= 0.05 && h <= 0.70) {
			t.Fatalf("tick %d: hips at %g m under %+v", f, h, g)
		}
		if n := r.b.Restored(0); n != 0 {
			t.Fatalf("tick %d: restored %d times", f, n)
		}
	}
	t.Logf("%d ticks: hips between %.3f and %.3f m", ticks, low, high)
}
