package mann_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/models"
	"mannequin/netruntime"
)

// Whatever goals say, and however often they change, dogs stay finite, in one piece and in range,
// and do not run away.
func TestAnyGoals(t *testing.T) {
	const name = "dog"
	if !slices.Contains(models.Names(), name) {
		t.Skip("no dog is shipped yet")
	}
	net, err := models.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mann.NewModel(net)
	if err != nil {
		t.Fatal(err)
	}
	zigzag, err := control.NewPath([]m3.Vec3{{X: -3}, {X: 3}, {X: 3.01, Z: 0.5}, {X: -50, Z: 80}}, false)
	if err != nil {
		t.Fatal(err)
	}
	const rows, ticks = 24, 300
	session, err := net.NewSession(netruntime.SessionOptions{Batch: rows, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	narrow, err := control.Circle(0.2)
	if err != nil {
		t.Fatal(err)
	}
	star, err := control.Star(2.5)
	if err != nil {
		t.Fatal(err)
	}
	paths := []*control.Path{nil, nil, nil, narrow, star, zigzag}
	odd := []float32{0, 1, -1, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, 1e20, 50}
	rng := rand.New(rand.NewPCG(4, 7))
	number := func() float32 {
		if rng.IntN(2) == 0 {
			return odd[rng.IntN(len(odd))]
		}
		return float32(rng.NormFloat64())
	}
	b := mann.NewBatch(m, rows)
	x, y := make([]float32, rows*m.Layout.Inputs()), make([]float32, rows*m.Layout.Outputs())
	goals, before := make([]control.Goal, rows), make([]m3.Vec3, rows)
	world := make([]m3.Xform, m.Skel.Len())
	for f := range ticks {
		for r := range goals {
			before[r] = b.Root(r).Pos
			if every := 1 + r*r/4; f%every != 0 { // from every tick on to two seconds
				continue
			}
			goals[r] = control.Goal{
				Move: m3.V(number(), number(), number()), Turn: number(), Speed: number(),
				Action: control.Action(rng.IntN(int(control.NumActions) + 2)), Path: paths[rng.IntN(len(paths))],
			}
		}
		b.Plan(goals, 0, rows)
		b.Gather(x, 0, rows)
		if err := session.Run(y, x, rows); err != nil {
			t.Fatal(err)
		}
		b.Scatter(y, 0, rows)
		for r, g := range goals {
			if n := b.Restored(r); n != 0 {
				t.Fatalf("tick %d, row %d: restored %d times under %+v", f, r, n, g)
			}
			if d := b.Root(r).Pos.Dist(before[r]); !(d < 0.15) {
				t.Fatalf("tick %d, row %d: moved %g m in a tick under %+v", f, r, d, g)
			}
			pos, rot := b.Pose(r)
			m.Skel.LocalToModel(world, pos, rot)
			for j, x := range world {
				if !x.Pos.Finite() || !x.Rot.Finite() {
					t.Fatalf("tick %d, row %d: %s is at %v under %+v", f, r, m.Skel.Names[j], x, g)
				}
			}
			if h := world[0].Pos.Y; !(h >= 0.05 && h <= 0.7) {
				t.Fatalf("tick %d, row %d: hips at %g m under %+v", f, r, h, g)
			}
		}
	}
}
