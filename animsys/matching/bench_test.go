package matching_test

import (
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/matching"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// A search among 100,000 frames of recorded people, for poses and ways that they do not hold together.
func BenchmarkSearch(b *testing.B) {
	d := recorded(b, 100000)
	all := queries(d, 4096)
	i := 0
	for b.Loop() {
		d.Search(&matching.Target{Query: all[i%len(all)]})
		i++
	}
}

// The whole tick of 1,000 people who get a new goal every 1.5 s, on one core: who play 100,000 frames, and networks of the
// usual size.
func BenchmarkTick(b *testing.B) {
	d := recorded(b, 100000)
	learned := testmatching.Untrained(b, d, 256)
	for name, f := range map[string]matching.File{"matching": {Database: d}, "learned": {Learned: learned}} {
		b.Run(name, func(b *testing.B) { tick(b, &f) })
	}
}

func tick(b *testing.B, f *matching.File) {
	const people = 1000
	s := must.Get(f.NewStream(matching.StreamOptions{Capacity: people, Workers: 1}))(b)
	w := arche.NewWorld()
	c := must.Get(animsys.NewCrowd(&w, s, animsys.Options{Ground: ik.Level(0), Workers: 1}))(b)
	defer c.Close()
	schedule := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(b)
	goals := generic.NewMap1[control.Goal](&w)
	var all []arche.Entity
	for i := range people {
		all = append(all, must.Get(c.Spawn(m3.V(float32(i%32)*3, 0, float32(i/32)*3), float32(i)))(b))
	}
	ticks := 0
	b.ReportAllocs()
	for b.Loop() {
		for i, e := range all {
			if (ticks+7*i)%90 == 0 {
				*goals.Get(e) = control.Goal{Move: m3.V(0, 0, 1), Speed: float32(i % 4), Turn: float32((ticks/90+i)%5-2) / 2}
			}
		}
		must.Do(b, schedule.Step())
		ticks++
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/people, "µs/person")
}
