package animsys_test

import (
	"testing"
	"time"

	"mannequin/internal/testing/must"
)

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
