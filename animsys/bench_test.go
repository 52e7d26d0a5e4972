package animsys_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/keypose"
	"mannequin/animsys/keypose/routines"
	"mannequin/animsys/latent"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testlatent"
	"mannequin/models"
	"mannequin/models/person"
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

// shipped are the kinds of agents with the networks that ship, and default options.
func shipped(b testing.TB) []kind {
	dog := must.Get(models.OpenAs("dog-free", mann.NewModel))(b)
	predictor := must.Get(models.OpenAs("human-strnn", strnn.NewModel))(b)
	poses := must.Get(models.OpenAs("human-keypose", keypose.NewModel))(b)
	loop := must.Get(must.Get(routines.NewAuthor(poses.Layout, 1))(b).Write("idle"))(b)
	clips, next := testlatent.Shipped(b)
	walkers, circle := must.Get(person.Open())(b), must.Get(control.Circle(5))(b)
	return []kind{
		kindOf(b, "mann", func(n, workers int) (generator.Generator[control.Goal], error) {
			return dog.NewController(mann.ControllerOptions{Capacity: n, Workers: workers})
		}, func(i, tick int) control.Goal {
			return control.Goal{Move: m3.V(0, 0, 1), Turn: float32(i%5)/4 - 0.5, Speed: 1 + float32(i%3), Action: control.Move}
		}),
		kindOf(b, "manifold", func(n, workers int) (generator.Generator[manifold.Curve], error) {
			return walkers.NewStream(manifold.StreamOptions{Capacity: n, Workers: workers})
		}, func(i, tick int) manifold.Curve {
			return manifold.Curve{Path: circle, Start: float32(i), Speed: 1 + 0.4*float32(i%3)}
		}),
		kindOf(b, "latent", func(n, workers int) (generator.Generator[latent.Sliders], error) {
			return clips.NewStream(next, latent.StreamOptions{Capacity: n, Workers: workers})
		}, func(i, tick int) latent.Sliders { return latent.Sliders{} }),
		kindOf(b, "strnn", func(n, workers int) (generator.Generator[strnn.Steer], error) {
			return predictor.NewStream(strnn.StreamOptions{Capacity: n, Workers: workers})
		}, func(i, tick int) strnn.Steer { return strnn.Steer{Speed: 1 + 0.1*float32(i%3)} }),
		kindOf(b, "keypose", func(n, workers int) (generator.Generator[keypose.Performance], error) {
			return poses.NewStream(keypose.StreamOptions{Capacity: n, Workers: workers})
		}, func(i, tick int) keypose.Performance { return keypose.Performance{Loop: loop, Start: float64(i) / 3} }),
	}
}

// BenchmarkCost is a tick of agents under way on two threads, with windows that are made beside the
// ticks: its time, and the memory of a crowd with that capacity, without the networks.
func BenchmarkCost(b *testing.B) {
	for _, k := range shipped(b) {
		k.scene(b, 1, 2) // makes what all crowds share
		for _, n := range []int{1, 100, 1000} {
			b.Run(fmt.Sprintf("%s/%d", k.name, n), func(b *testing.B) {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				a := k.scene(b, n, 2)
				who := numbers(n)
				all := a.run(200, who...)
				runtime.GC()
				runtime.ReadMemStats(&after)
				tick := 200
				b.ReportAllocs()
				for b.Loop() {
					a.play(all, who, tick, tick+1, nil)
					tick++
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/agent")
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n)/1024, "KB/agent")
			})
		}
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

// BenchmarkMixed saves and restores 1,000 agents, as many of each generator.
func BenchmarkMixed(b *testing.B) {
	all := kinds(b)
	crowds, saves, bytes := make([]*actors, len(all)), make([][]byte, len(all)), 0
	for i, k := range all {
		crowds[i], saves[i] = crowded(b, k, (1000+i)/len(all))
		must.Do(b, crowds[i].people.Restore(saves[i]))
		bytes += len(saves[i])
	}
	b.Run("save", func(b *testing.B) {
		best(b, func() {
			for i, a := range crowds {
				saves[i] = must.Get(a.people.Save(saves[i][:0]))(b)
			}
		})
		b.ReportMetric(float64(bytes)/1000, "B/agent")
	})
	b.Run("restore", func(b *testing.B) {
		best(b, func() {
			for i, a := range crowds {
				must.Do(b, a.people.Restore(saves[i]))
			}
		})
	})
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
