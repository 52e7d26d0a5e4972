package latent

import (
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/latent"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/internal/testing/testlatent"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/internal/testscene"
	"mannequin/scenes/world"
	"mannequin/terrain"
)

// Others walk about where they began, each their own way, on the ground; the person of
// the sliders does not mind them.
func TestOthers(t *testing.T) {
	m, next := testlatent.Shipped(t)
	field, err := terrain.Hills(terrain.Grid{Size: 80, Cell: 0.5}, terrain.HillsOptions{Seed: 3, Wavelength: 14, MaxSlope: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	const n = 12
	alone := open(t, Options{Options: world.Options{Terrain: field, Workers: 1}, Model: m})
	s := open(t, Options{Options: world.Options{Terrain: field, Workers: 2, Agents: n, Seed: 1}, Model: m, Next: next})
	begun := slices.Clone(s.others.Populations[0].Roots)
	way := make([]float32, n)
	var f, a scenes.Frame
	for tick := range 1200 {
		before := slices.Clone(s.others.Populations[0].Roots)
		step(t, s, 1, hud.Touch{})
		step(t, alone, 1, hud.Touch{})
		for r, root := range s.others.Populations[0].Roots {
			way[r] += root.Pos.Dist(before[r].Pos)
			if d := root.Pos.Dist(begun[r].Pos); d > homeRange+4 {
				t.Fatalf("tick %d: person %d is %g m from where they began", tick, r, d)
			}
		}
	}
	for r, w := range way {
		if w < 20*0.6 || w > 20*2.5 {
			t.Errorf("person %d goes %g m in 20 s", r, w)
		}
	}
	s.Frame(&f, 0.5)
	alone.Frame(&a, 0.5)
	joints := m.Skel.Len()
	bones := slices.Concat(f.Casts[0].Bones, f.Casts[1].Bones)
	if f.Casts[0].Len() != 1 || f.Casts[1].Len() != n || len(bones) != (n+1)*joints {
		t.Fatalf("%d and %d people, %d bones", f.Casts[0].Len(), f.Casts[1].Len(), len(bones))
	}
	if !slices.Equal(bones[:joints], a.Casts[0].Bones) {
		t.Error("the person of the sliders walks otherwise among others")
	}
	for i, b := range bones {
		if !b.Pos.Finite() || !b.Rot.Finite() || b.Pos.Y < field.Height(b.Pos.X, b.Pos.Z)-0.02 {
			t.Errorf("joint %d of person %d is at %v", i%joints, i/joints, b)
		}
	}
	elbow := func(i int) m3.Vec3 {
		return bones[i*joints+m.Skel.Index("LeftForeArm")].Pos.Sub(bones[i*joints].Pos)
	}
	if elbow(1).Dist(elbow(2)) < 0.01 {
		t.Error("two of them walk in step")
	}
	meta := m.Net.Meta()
	meta.Extra[latent.KeyComponents] = strings.Replace(meta.Extra[latent.KeyComponents], `"step"`, `"stride"`, 1)
	strides, err := netruntime.New(meta, m.Net.Tensors())
	if err != nil {
		t.Fatal(err)
	}
	other, err := latent.NewModel(strides)
	if err != nil {
		t.Fatal(err)
	}
	meta = next.Meta()
	latent.DescribeNextClip(&meta, strides)
	otherNext, err := netruntime.New(meta, next.Tensors())
	if err != nil {
		t.Fatal(err)
	}
	for want, opt := range map[string]Options{
		"missing": {Model: m, Options: world.Options{Agents: 1}}, "0 to": {Model: m, Options: world.Options{Agents: -1}},
		`no component "step"`: {Model: other, Next: otherNext, Options: world.Options{Agents: 1}},
	} {
		if _, err := New(opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// The others keep off each other.
func TestAvoidance(t *testing.T) {
	m, next := testlatent.Shipped(t)
	nearest := func(no bool) float32 {
		s := open(t, Options{Options: world.Options{Workers: 2, Agents: 20, Seed: 8, NoAvoidance: no}, Model: m, Next: next})
		return testscene.Nearest(t, s, s.others.Populations[0].Roots, 12*scenes.TickRate, func(int) scenes.Input { return scenes.Input{} })
	}
	const touching = 0.3 // m
	if d := nearest(false); d < touching {
		t.Errorf("two come within %g m of each other", d)
	}
	if d := nearest(true); d > touching/2 {
		t.Errorf("without avoidance the nearest are %g m from each other: the test shows nothing", d)
	}
}
