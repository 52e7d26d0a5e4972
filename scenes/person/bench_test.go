package person

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"mannequin/internal/testing/must"
	"mannequin/scenes"
)

// The whole tick of the scene on one core, of a player with one or twelve others, over a minute of random input that is repeated. Each of
// its ticks counts as its fastest repetition, so that what else the machine does is left out: -benchtime 10x.
func BenchmarkTick(b *testing.B) {
	for _, others := range []int{1, 12} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			took := make([]time.Duration, scenes.TickRate*60)
			for i := range took {
				took[i] = time.Hour
			}
			for b.Loop() {
				s, r := open(b, others, 1), rand.New(rand.NewPCG(3, 5))
				var in scenes.Input
				until := 0
				for tick := range took {
					if tick == until {
						in, until = randomInput(r), tick+6+r.IntN(100)
					}
					began := time.Now()
					must.Do(b, s.Step(in))
					took[tick] = min(took[tick], time.Since(began))
					in.Gait = scenes.KeepGait
				}
			}
			slices.Sort(took)
			median := float64(took[len(took)/2].Nanoseconds()) / 1000
			b.ReportMetric(median, "µs/tick")
			b.ReportMetric(float64(took[len(took)-1].Nanoseconds())/1000/median, "worst/median")
		})
	}
}
