package resident_test

import (
	"slices"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/matching"
	"mannequin/animsys/resident"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// handovers is how far each joint moves in the tick of each handover beyond what it moves if none is handed over, m.
type handovers [][]float32 // (handovers, joints)

func (h *handovers) add(with, without []m3.Xform) {
	var d []float32
	for j := range with {
		d = append(d, with[j].Pos.Dist(without[j].Pos))
	}
	*h = append(*h, d)
}

// sum returns the mean and the largest distance, and the share of handovers in which a joint moves more than 10 cm.
func (h handovers) sum() (mean, most, far float32) {
	for _, d := range h {
		for _, v := range d {
			mean += v / float32(len(h)*len(d))
		}
		if v := slices.Max(d); v > 0.1 {
			most, far = max(most, v), far+1/float32(len(h))
		} else {
			most = max(most, v)
		}
	}
	return mean, most, far
}

// TestHandover hands an agent to the GPU and back again and again, in a tour of all that goals can ask for, and right after the agent was placed
// elsewhere, too. In the tick of a handover, joints move as they do without it, apart from what the crowd's foot lock and leaning add.
func TestHandover(t *testing.T) {
	goOnly(t)
	gentle := must.Get(terrain.Hills(terrain.Grid{Size: 80, Cell: 0.5}, terrain.HillsOptions{Seed: 4, MaxSlope: 0.45}))(t)
	const end = 960
	for _, of := range characters {
		l := must.Get(of.open())(t).Learned
		for _, ground := range []struct {
			name string
			ik.Ground
			mean, most, far float32 // that are allowed
		}{{"level", ik.Level(0), 0.015, 0.25, 0.05}, {"hills", gentle, 0.015, 0.25, 0.05}} {
			t.Run(of.name+" "+ground.name, func(t *testing.T) {
				world := arche.NewWorld()
				goals := generic.NewMap1[control.Goal](&world)
				crowd := must.Get(animsys.NewCrowd(&world, must.Get(l.NewStream(matching.StreamOptions{Capacity: 3}))(t), animsys.Options{Ground: ground.Ground}))(t)
				defer crowd.Close()
				schedule := must.Get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))(t)
				o := resident.Options{Capacity: 1, Ground: ground.Ground}
				far := openLearned(t, l, o)
				needGPU(t, far)
				cpu := here(t, l, o, feature.Place{})
				must.Do(t, cpu.Remove(0))
				stays := must.Get(crowd.Spawn(m3.V(3, 0, 1), 0.5))(t)
				var st generator.State
				var leave, come, cross handovers
				var other float32
				var a, b []m3.Xform
				step := func(tick int, other arche.Entity, away ...*resident.Crowd) {
					g := wander(l, tick)
					*goals.Get(stays) = g
					if !other.IsZero() {
						*goals.Get(other) = g
					}
					for _, c := range away {
						must.Do(t, c.SetGoal(0, g))
						must.Do(t, c.Step())
					}
					must.Do(t, schedule.Step())
				}
				for tick := range 60 {
					step(tick, arche.Entity{})
				}
				for tick := 60; tick < end; tick += 2 {
					put := tick%80 == 60
					if put {
						must.Do(t, crowd.Place(stays, m3.V(2, 0, float32(tick%7)), 1))
					}
					origin := must.Get(crowd.SaveMotion(&st, stays))(t)
					must.Get(far.Adopt(&st, origin))(t)
					must.Get(cpu.Adopt(&st, origin))(t)
					crosses := must.Get(crowd.SpawnSaved(&st, origin))(t)
					step(tick, crosses, far, cpu)
					a, b = must.Get(far.Bones(a, 0))(t), must.Get(cpu.Bones(b, 0))(t)
					if !put { // its feet fall and stand again
						leave.add(a, crowd.Bones(stays))
						cross.add(crowd.Bones(crosses), crowd.Bones(stays))
					}
					must.Do(t, crowd.Despawn(crosses))
					var off float32
					for j := range a {
						off = max(off, a[j].Pos.Dist(b[j].Pos))
					}
					if off > 1e-4 {
						off = max(off-2*unsteady(cpu, ground.Ground, 0), 0)
					}
					other = max(other, off)
					must.Do(t, cpu.Remove(0))
					must.Do(t, far.Save(&st, 0))
					back := must.Get(crowd.SpawnSaved(&st, m3.Vec3{}))(t)
					step(tick+1, back, far)
					come.add(crowd.Bones(back), must.Get(far.Bones(a, 0))(t))
					must.Do(t, crowd.Despawn(back))
					must.Do(t, far.Remove(0))
				}
				for _, v := range []struct {
					what string
					most float32
					handovers
				}{{"leaves", ground.most, leave}, {"comes back", 0.12, come}, {"goes to another crowd", ground.most, cross}} {
					mean, most, share := v.sum()
					t.Logf("when it %s, joints move %.0f mm in the mean and %.0f at most beyond what they would; one moves more than 100 in %.1f %% of %d handovers", v.what, 1000*mean, 1000*most, 100*share, len(v.handovers))
					if mean > ground.mean || most > v.most || share > ground.far || mean == 0 {
						t.Error("that is too far")
					}
				}
				if t.Logf("joints of one on the processor %.4f mm beside those", 1000*other); other > 1e-4 {
					t.Error("that is too far")
				}
			})
		}
	}
}
