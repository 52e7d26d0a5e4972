package animsys_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

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
