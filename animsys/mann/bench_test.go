package mann

import (
	"fmt"
	"testing"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// The controller's share of a tick, without the network.
func BenchmarkController(b *testing.B) {
	for _, way := range []struct {
		name string
		goal control.Goal
	}{{"steer", control.Goal{Move: m3.V(0, 0, 1), Speed: 1.1, Turn: 0.2}}, {"path", control.Goal{Path: starPath, Speed: 1.1}}} {
		for _, n := range []int{1, 100} {
			b.Run(fmt.Sprintf("%s/agents=%d", way.name, n), func(b *testing.B) {
				batch := NewBatch(dogBatch().Model, n)
				goals := make([]control.Goal, n)
				for r := range goals {
					goals[r] = way.goal
					batch.Reset(r, m3.V(float32(r), 0, 0), float32(r))
				}
				x, y := buffers(batch)
				tick(batch, goals, x, y, 0, n)
				for b.Loop() {
					batch.Plan(goals, 0, n)
					batch.Gather(x, 0, n)
					batch.Scatter(y, 0, n)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/agent")
			})
		}
	}
}
