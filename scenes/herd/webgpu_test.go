//go:build webgpu

package herd

import (
	"testing"
	"time"

	"mannequin/animsys"
	"mannequin/animsys/mann"
	"mannequin/animsys/resident"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
	"mannequin/models"
	"mannequin/netruntime/webgpu"
	"mannequin/scenes"
	"mannequin/scenes/internal/testscene"
	"mannequin/scenes/world"
)

// dog is where a frame shows a dog.
type dog struct {
	hips m3.Vec3
	tint [3]float32
}

func dogsOf(f *scenes.Frame) (all []dog) {
	for i := range f.Casts {
		for r := range f.Casts[i].Len() {
			all = append(all, dog{f.Casts[i].Of(r)[0].Pos, f.Casts[i].Tint[r]})
		}
	}
	return all
}

// TestWebGPUHerd: dogs that go to the GPU and come back, as a camera goes around, are where those are that stay on the processor, each with its
// colour.
func TestWebGPUHerd(t *testing.T) {
	if _, err := webgpu.Device(); err != nil {
		t.Skip("no GPU, and no software driver of one: ", err)
	}
	const n, beyond = 12, 5
	m := must.Get(mann.NewModel(must.Get(models.Open("dog"))(t)))(t)
	opt := Options{Options: world.Options{Agents: n, Seed: 3, Workers: 1}, Model: m}
	stay := testscene.Keep(New(opt))(t)
	opt.Beyond, opt.GPU = beyond, &resident.Options{Timeout: time.Hour}
	move := testscene.Keep(New(opt))(t)
	if move.far == nil {
		t.Fatal("the GPU does not take the herd")
	}
	var fs, fm scenes.Frame
	var worst float32
	was, changes, least, most := 0, 0, n, 0
	for tick := range 360 {
		a := float32(tick) / 60
		in := scenes.Input{Watched: true, Eye: m3.V(6*m3.Sin(a), 2, 6*m3.Cos(a))}
		testscene.Step(t, stay, 1, in)
		testscene.Step(t, move, 1, in)
		away, device := move.OnGPU()
		if device == "" {
			t.Fatal("the GPU is lost")
		}
		if away != was {
			changes++
		}
		if was = away; tick > 60 {
			least, most = min(least, away), max(most, away)
		}
		if tick%16 != 15 {
			continue
		}
		stay.Frame(&fs, 1)
		move.Frame(&fm, 1)
		want, got := dogsOf(&fs), dogsOf(&fm)
		if len(got) != n || len(want) != n || fm.Casts[0].Len() != n-away {
			t.Fatalf("tick %d: %d dogs, of which %d are near; %d are far", tick, len(got), fm.Casts[0].Len(), away)
		}
		for _, w := range want {
			near, same := float32(100), false
			for _, g := range got {
				if d := g.hips.Dist(w.hips); d < near {
					near, same = d, g.tint == w.tint
				}
			}
			if worst = max(worst, near); near > 0.06 || !same {
				t.Fatalf("tick %d: the dog at %v is %g m off, in its colour: %v", tick, w.hips, near, same)
			}
		}
		if d := fm.Focus.Dist(fs.Focus); d > 0.02 {
			t.Errorf("tick %d: the middle is %g m off", tick, d)
		}
	}
	t.Logf("hips at most %.1f mm off; %d to %d of %d dogs were on the GPU, in %d changes", 1000*worst, least, most, n, changes)
	if least < 1 || most == n || changes < 8 {
		t.Error("hardly a dog goes and comes")
	}
	if h := move.Hash(); h == stay.Hash() || h != move.Hash() {
		t.Error("the hash leaves out where dogs live, or changes by itself")
	}
	if a := testing.AllocsPerRun(20, func() { testscene.Step(t, move, 1, scenes.Input{}) }); a != 0 {
		t.Errorf("%g allocations per tick", a)
	}
	if now := move.far.Away(); now != was {
		t.Errorf("%d dogs on the GPU, %d before, and nobody looks", now, was)
	}
	testscene.HandOver(t, move)
}

// TestWebGPUStrides: dogs that update less often, or not at all, go to the GPU within a few ticks.
func TestWebGPUStrides(t *testing.T) {
	if _, err := webgpu.Device(); err != nil {
		t.Skip("no GPU, and no software driver of one: ", err)
	}
	for name, c := range map[string]struct {
		beyond, from, to float32
		rate             animsys.UpdateRate
	}{"every fourth": {50, 40, 70, animsys.Every4}, "frozen": {100, 95, 150, animsys.Frozen}} {
		s := testscene.Keep(New(Options{Options: world.Options{Agents: 3, Workers: 1}, Model: testdog.Model(t), Far: []*mann.Model{testdog.Far(t, 2), testdog.Far(t, 4)},
			Beyond: c.beyond, GPU: &resident.Options{Timeout: time.Hour}}))(t)
		testscene.Step(t, s, 12, scenes.Input{Watched: true, Eye: m3.V(0, 2, c.from)})
		if n, rate := s.far.Away(), s.Crowd.UpdateRateAt(0); n != 0 || rate != c.rate {
			t.Errorf("%s: %d dogs have gone, and the first has rate %d", name, n, rate)
		}
		testscene.Step(t, s, 8, scenes.Input{Watched: true, Eye: m3.V(0, 2, c.to)})
		if n := s.far.Away(); n != 3 {
			t.Errorf("%s: %d of 3 dogs have gone", name, n)
		}
	}
}
