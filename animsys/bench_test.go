package animsys_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/mann"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
)

func BenchmarkTick(b *testing.B) {
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprintf("agents=%d", n), func(b *testing.B) {
			w := newWorld(b, n, 0)
			for i := range n {
				w.goal(w.spawn(i), i, 5)
			}
			for b.Loop() {
				w.step()
			}
		})
	}
}

// A tick of a hundred dogs without walls, among a thousand pillars, and with edges besides.
func BenchmarkWalls(b *testing.B) {
	dog := must.Get(models.OpenAs("dog-free", mann.NewModel))(b)
	pillars, r := &control.Obstacles{}, rand.New(rand.NewPCG(1, 2))
	var all []control.Obstacle
	for range 1000 {
		all = append(all, control.Pillar(m3.V(200*r.Float32()-100, 0, 200*r.Float32()-100), 0.3))
	}
	must.Do(b, pillars.Set(all...))
	for _, k := range []struct {
		name  string
		walls generator.Walls
	}{{"none", nil}, {"pillars", pillars}, {"edges", &terrain.Edges{Ground: ik.Level(0), Rise: 0.3, Walls: pillars}}} {
		b.Run(k.name, func(b *testing.B) {
			w := arche.NewWorld()
			crowd := must.Get(animsys.NewCrowd(&w, must.Get(dog.NewController(mann.ControllerOptions{Capacity: 100, Workers: 1}))(b), animsys.Options{Ground: ik.Level(0), Walls: k.walls, Workers: 1}))(b)
			defer crowd.Close()
			schedule := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(b)
			for i := range 100 {
				must.Get(animsys.SpawnWith(crowd, m3.V(float32(i%10)*15-70, 0, float32(i/10)*15-70), float32(i), control.Goal{Move: m3.V(0, 0, 1), Speed: 1, Action: control.Move}))(b)
			}
			b.ReportAllocs()
			for b.Loop() {
				must.Do(b, schedule.Step())
			}
		})
	}
}

// crowded returns a crowd of agents under way, and its save.
func crowded(b *testing.B, k kind, agents int) (*actors, []byte) {
	a := k.scene(b, agents, 0)
	a.run(100, numbers(agents)...)
	save := must.Get(a.people.Save(nil))(b)
	return a, save
}

// best also reports the shortest time of f: what it takes when nothing else runs.
func best(b *testing.B, f func()) {
	least := time.Hour
	b.ReportAllocs()
	for b.Loop() {
		began := time.Now()
		f()
		least = min(least, time.Since(began))
	}
	b.ReportMetric(float64(least)/1e6, "ms/best")
}

func BenchmarkSave(b *testing.B) {
	for _, k := range kinds(b) {
		b.Run(k.name, func(b *testing.B) {
			a, save := crowded(b, k, 1000)
			best(b, func() { save = must.Get(a.people.Save(save[:0]))(b) })
			b.ReportMetric(float64(len(save))/1000, "B/agent")
		})
	}
}

func BenchmarkRestore(b *testing.B) {
	for _, k := range kinds(b) {
		b.Run(k.name, func(b *testing.B) {
			a, save := crowded(b, k, 1000)
			must.Do(b, a.people.Restore(save))
			best(b, func() { must.Do(b, a.people.Restore(save)) })
		})
	}
}

// BenchmarkRollback goes back by 8 ticks, and plays them again with a save after each, as in a game
// whose players' inputs are always late.
func BenchmarkRollback(b *testing.B) {
	for _, k := range kinds(b) {
		b.Run(k.name, func(b *testing.B) {
			a, first := crowded(b, k, 20)
			saves := [9][]byte{first}
			forth := func() {
				for i := range 8 {
					a.step(1)
					saves[i+1] = must.Get(a.people.Save(saves[i+1][:0]))(b)
				}
			}
			forth()
			best(b, func() {
				must.Do(b, a.people.Restore(saves[0]))
				forth()
			})
		})
	}
}
