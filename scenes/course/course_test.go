package course

import (
	"testing"

	"mannequin/animsys/mann"
	"mannequin/animsys/strnn"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/scenes"
	"mannequin/scenes/internal/testscene"
	"mannequin/scenes/internal/yard"
	"mannequin/scenes/world"
)

func open(t testing.TB, opt world.Options) *Scene {
	t.Helper()
	dog := must.Get(models.OpenAs("dog", mann.NewModel))(t)
	people := must.Get(models.OpenAs("human-strnn", strnn.NewModel))(t)
	return testscene.Keep(New(Options{Options: opt, Dog: dog, People: people}))(t)
}

// The recording without a player goes up the ramp, rides the platform, walks down the stairs and along
// the wall of the corridor. Riders stay on the platform, people in the corridor.
func TestCourse(t *testing.T) {
	a, b := open(t, world.Options{Seed: 1, Workers: 1}), open(t, world.Options{Seed: 1, Workers: 3})
	script := Autopilot()
	var ridden, along float32
	var stairs int
	for tick := range int64(script.Seconds() * scenes.TickRate) {
		was := a.Crowd.Roots[0].Pos
		must.Do(t, a.Step(script.At(tick)))
		must.Do(t, b.Step(script.At(tick)))
		at, floor := a.Crowd.Roots[0].Pos, a.Crowd.Ground.Body[0].Floor()
		if script.At(tick) == (scenes.Input{}) && floor == terraceHigh {
			ridden += was.X - at.X
		}
		if floor > 0.1 && floor < terraceHigh-0.1 && at.X < 0 {
			stairs++
		}
		wall := float32(corridorX + corridorWide/2 + yard.WallThick/2)
		if at.X < wall+0.3 {
			along += was.Z - at.Z
		}
		for _, bone := range a.Crowd.BonesAt(0) {
			if bone.Pos.X < wall-0.01 {
				t.Fatalf("in tick %d the dog is in the wall, at %v", tick, bone.Pos)
			}
		}
		for row, root := range a.People.Roots[:a.People.Agents()] {
			from := root.Pos.Sub(a.floors[0].At.Flat())
			switch {
			case row < riders && max(m3.Abs(from.X), m3.Abs(from.Z)) > 1.3:
				t.Fatalf("in tick %d a rider is %v from the platform's middle", tick, from)
			case row >= riders && m3.Abs(root.Pos.X-corridorX) > corridorWide/2-0.3:
				t.Fatalf("in tick %d a person has left the corridor: %v", tick, root.Pos)
			}
		}
	}
	if ridden < 4 || stairs < 60 || along < 3 {
		t.Errorf("ridden %.1f m, %d ticks on the stairs, %.1f m along the wall", ridden, stairs, along)
	}
	if a.Hash() != b.Hash() {
		t.Error("three workers make other bits than one")
	}
	testscene.Check(t, a, hud.Trajectories|hud.Contacts|hud.Targets|hud.Velocities|hud.Skeletons|hud.Roots)
}

func TestTickDoesNotAllocate(t *testing.T) {
	s := open(t, world.Options{Seed: 1, Workers: 1})
	testscene.Step(t, s, 60, scenes.Input{Forward: 1})
	if n := testing.AllocsPerRun(60, func() { must.Do(t, s.Step(scenes.Input{Forward: 1})) }); n != 0 {
		t.Errorf("%g allocations in a tick", n)
	}
}
