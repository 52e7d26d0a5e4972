//go:build webgpu

package crowd

import (
	"math"
	"strings"
	"testing"
	"time"

	"mannequin/animsys/resident"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/models/fox"
	"mannequin/models/hero"
	"mannequin/netruntime/webgpu"
	"mannequin/scenes"
	"mannequin/scenes/internal/testscene"
	"mannequin/scenes/world"

	arche "github.com/mlange-42/arche/ecs"
)

// somebody is where a frame shows an agent.
type somebody struct {
	hips m3.Vec3
	tint [3]float32
}

func everybody(f *scenes.Frame) (all []somebody) {
	for i := range f.Casts {
		for r := range f.Casts[i].Len() {
			all = append(all, somebody{f.Casts[i].Of(r)[0].Pos, f.Casts[i].Tint[r]})
		}
	}
	return all
}

// nearest returns how far the nearest of all with a colour is from somebody.
func nearest(all []somebody, to somebody) float32 {
	least := float32(math.Inf(1))
	for _, o := range all {
		if o.tint == to.tint {
			least = min(least, o.hips.Dist(to.hips))
		}
	}
	return least
}

// TestWebGPUCrowd: people who go to the GPU and come back, as a camera goes around, do not jump, and are where those are that stay on the
// processor, each with its clothes.
func TestWebGPUCrowd(t *testing.T) {
	if _, err := webgpu.Device(); err != nil {
		t.Skip("no GPU, and no software driver of one: ", err)
	}
	const n, beyond = 12, 8
	opt := Options{Options: world.Options{Agents: n, Seed: 3, Workers: 1}, Character: must.Get(hero.Open())(t)}
	stay := testscene.Keep(New(opt))(t)
	opt.Beyond, opt.GPU = beyond, &resident.Options{Timeout: time.Hour}
	move := testscene.Keep(New(opt))(t)
	if move.populations[0].far == nil {
		t.Fatal("the GPU does not take the crowd")
	}
	var fs, fm scenes.Frame
	var worst, jump float32
	was, changes, least, most := 0, 0, n, 0
	var before []somebody
	for tick := range 480 {
		a := float32(tick) / 60
		in := scenes.Input{Watched: true, Eye: m3.V(8*m3.Sin(a), 2, 8*m3.Cos(a))}
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
		stay.Frame(&fs, 1)
		move.Frame(&fm, 1)
		want, got := everybody(&fs), everybody(&fm)
		if len(got) != n || len(want) != n || fm.Casts[0].Len() != n-away || move.Agents() != n {
			t.Fatalf("tick %d: %d people, of whom %d are near; %d are far", tick, len(got), fm.Casts[0].Len(), away)
		}
		for _, o := range got {
			if tick < 300 { // later they choose other ways
				worst = max(worst, nearest(want, o))
			}
			if before != nil {
				jump = max(jump, nearest(before, o))
			}
		}
		before = got
		if d := fm.Focus.Dist(fs.Focus); tick < 300 && d > 0.1 {
			t.Fatalf("tick %d: the middle is %g m off", tick, d)
		}
	}
	t.Logf("hips at most %.0f mm off, and %.0f mm in a tick; %d to %d of %d people were on the GPU, in %d changes", 1000*worst, 1000*jump, least, most, n, changes)
	if worst > 0.3 || jump > 0.15 {
		t.Error("that is too far")
	}
	if least < 1 || most == n || changes < 8 {
		t.Error("hardly anybody goes and comes")
	}
	if h := move.Hash(); h == stay.Hash() || h != move.Hash() {
		t.Error("the hash leaves out where people live, or changes by itself")
	}
	if hud := strings.Join(fm.HUD, "\n"); !strings.Contains(hud, "on the GPU: ") || !strings.Contains(hud, "12 ") {
		t.Error(hud)
	}
	if a := testing.AllocsPerRun(20, func() { testscene.Step(t, move, 1, scenes.Input{}) }); a != 0 {
		t.Errorf("%g allocations per tick", a)
	}
	testscene.HandOver(t, move)
}

// TestWebGPUChurn: people come and go, near and far, and one who is watched stays.
func TestWebGPUChurn(t *testing.T) {
	if _, err := webgpu.Device(); err != nil {
		t.Skip("no GPU, and no software driver of one: ", err)
	}
	const n = 10
	s := testscene.Keep(New(Options{Options: world.Options{Agents: n, Seed: 3, Workers: 1}, Character: must.Get(hero.Open())(t), Churn: 20, Beyond: 6, GPU: &resident.Options{Timeout: time.Hour}}))(t)
	testscene.Step(t, s, 1, scenes.Input{Jump: true})
	watched := s.watched
	if watched == (arche.Entity{}) {
		t.Fatal("nobody is watched")
	}
	p := s.populations[0]
	var f scenes.Frame
	came := s.born
	for tick := range 300 {
		a := float32(tick) / 40
		testscene.Step(t, s, 1, scenes.Input{Watched: true, Eye: m3.V(9*m3.Sin(a), 2, 9*m3.Cos(a))})
		if s.Frame(&f, 1); tick%10 != 9 {
			continue
		}
		away, _ := s.OnGPU()
		all := everybody(&f)
		if s.Agents() != n || len(all) != n || p.Agents() != n-away {
			t.Fatalf("tick %d: %d agents, %d are drawn, %d are near and %d far", tick, s.Agents(), len(all), p.Agents(), away)
		}
		for i, root := range p.places() {
			look := somebody{tint: p.tint(&p.states[i])}
			for _, o := range all {
				if o.hips.Flat().Dist(root.Pos) < 0.4 && o.tint == look.tint {
					look.hips = o.hips
				}
			}
			if look.hips == (m3.Vec3{}) {
				t.Fatalf("tick %d: nobody in the clothes of agent %d is near %v", tick, i, root.Pos)
			}
		}
	}
	if s.watched != watched || s.watchedRow(p) < 0 {
		t.Error("the one who is watched has gone")
	}
	if s.born-came < 50 {
		t.Error("only ", s.born-came, " have come")
	}
}

// Characters of another size than their skeleton stay on the processor, and say so.
func TestWebGPUOtherSize(t *testing.T) {
	s := testscene.Keep(New(Options{Options: world.Options{Agents: 2, Workers: 1}, Character: must.Get(fox.Open())(t), Beyond: 6, GPU: &resident.Options{}}))(t)
	var f scenes.Frame
	testscene.Step(t, s, 2, scenes.Input{Watched: true, Eye: m3.V(50, 0, 0)})
	s.Frame(&f, 1)
	if n, device := s.OnGPU(); n != 0 || device != "" || !strings.Contains(strings.Join(f.HUD, "\n"), "all on the processor") {
		t.Error(n, " are on ", device, ": ", f.HUD)
	}
}
