package interact

import (
	"testing"

	"mannequin/animsys/keypose"
	"mannequin/ecs"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/models"
	shipped "mannequin/models/person"
	"mannequin/scenes"
	"mannequin/scenes/internal/testscene"
	"mannequin/scenes/world"
)

func open(t testing.TB, opt world.Options) *Scene {
	t.Helper()
	poses := must.Get(models.OpenAs("human-keypose", keypose.NewModel))(t)
	return testscene.Keep(New(Options{Options: opt, Networks: must.Get(shipped.Open())(t), Poses: poses}))(t)
}

// In two rounds of all tasks the sitter is on the bench and back again, hands and feet are at their places when
// their time is over, the box is carried, and no body is in the ground.
func TestTasks(t *testing.T) {
	a, b := open(t, world.Options{Seed: 1, Workers: 1, Agents: 5}), open(t, world.Options{Seed: 1, Workers: 2, Agents: 5})
	joint := func(p *person, name string) m3.Vec3 { return a.People.Bones(p.entity)[a.People.Skel.Index(name)].Pos }
	seats, stands, carried, arrived := 0, 0, 0, 0
	for range 1500 {
		must.Do(t, a.Step(scenes.Input{}))
		must.Do(t, b.Step(scenes.Input{}))
		for i := range a.all {
			p := &a.all[i]
			hips := joint(p, "Hips")
			switch {
			case p.task.name == "bench" && p.tick > 130 && p.tick < 290:
				if off := hips.Dist(p.place(m3.V(0, seatHigh+hipsOverSeat, -benchBack))); off > 0.05 {
					t.Fatalf("the sitter's hips are %.2f m from the seat", off)
				}
				seats++
			case p.task.name == "bench" && p.tick > 500:
				if off := hips.Sub(p.at).Flat().Len(); off > 0.2 || hips.Y < 0.8 {
					t.Fatalf("who has stood up is %.2f m from where it stood, at %.2f m", off, hips.Y)
				}
				stands++
			}
			if p.holds && p.box.Y > 1 {
				carried++
			}
			if low := min(hips.Y, joint(p, "Head").Y, joint(p, "LeftHandIndex1").Y, joint(p, "RightToeBase").Y); low < 0 {
				t.Fatalf("in tick %d of %s a joint is at %.3f m", p.tick, p.task.name, low)
			}
			reach := a.reach.Get(p.entity)
			for name, h := range map[string]ecs.Hand{"Left": reach.Left, "Right": reach.Right} {
				began := 0 // when the last act did
				for _, act := range p.task.acts {
					if act.tick < p.tick {
						began = act.tick
					}
				}
				if h.Weight == 0 || float32(p.tick-began) < h.Seconds*scenes.TickRate+2 {
					continue
				}
				if off := joint(p, name+"HandIndex1").Dist(h.Target); off > 0.02 {
					t.Fatalf("in tick %d of %s the %s hand is %.3f m from its place", p.tick, p.task.name, name, off)
				}
				arrived++
			}
		}
	}
	if seats < 300 || stands < 100 || carried < 200 || arrived < 1000 {
		t.Errorf("%d ticks on the bench, %d up again, %d with the box, %d of hands at places", seats, stands, carried, arrived)
	}
	if a.Hash() != b.Hash() {
		t.Error("two workers make other bits than one")
	}
	testscene.Check(t, a, hud.Trajectories|hud.Contacts|hud.Targets|hud.Velocities|hud.Skeletons|hud.Roots)
}

func TestTickDoesNotAllocate(t *testing.T) {
	s := open(t, world.Options{Seed: 1, Workers: 1, Agents: 5})
	s.all = s.all[1:] // taking a pose allocates
	testscene.Step(t, s, 60, scenes.Input{})
	if n := testing.AllocsPerRun(600, func() { must.Do(t, s.Step(scenes.Input{})) }); n != 0 {
		t.Errorf("%g allocations in a tick", n)
	}
}
