package bench

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"mannequin/ecs"
	"mannequin/scenes"
)

// Systems in which only one kind of generator has work: those in batches, those in windows.
var (
	batchedStages  = []string{"Plan", "Gather", "Infer", "Scatter"}
	windowedStages = []string{"Generate", "Style"}
)

// tickTimes are the times of a scene's ticks at 60 a second, in milliseconds.
type tickTimes struct {
	Mean    float64      `json:"mean_ms"`
	Median  float64      `json:"median_ms"`
	P99     float64      `json:"p99_ms"`
	Max     float64      `json:"max_ms"`
	FlatOut float64      `json:"flat_out_ms"` // a tick without pauses in between
	Stages  []benchStage `json:"stages"`      // means
	Allocs  float64      `json:"allocations_per_tick"`
}

// timeTicks steps a scene warm times, warm times more to time ticks without pauses, calls begin,
// and then steps it at 60 ticks a second. Stages in without are left out.
func timeTicks(ctx context.Context, s scenes.Scene, schedule *ecs.Schedule, warm, ticks int, without []string, begin func()) (t tickTimes, err error) {
	names := schedule.Names()
	marks := make([]time.Time, len(names)+1)
	schedule.Trace = func(next int) { marks[next] = time.Now() }
	stages, whole := make([]float64, len(names)), make([]float64, 0, ticks)
	var m0, m1 runtime.MemStats
	start, due := time.Now(), time.Now()
	for tick := range 2*warm + ticks {
		if ctx.Err() != nil {
			return t, errors.New("interrupted")
		}
		switch {
		case tick == warm:
			start = time.Now()
		case tick == 2*warm:
			t.FlatOut = ms(time.Since(start)) / float64(warm)
			begin()
			runtime.ReadMemStats(&m0)
			due = time.Now()
		}
		if tick >= 2*warm {
			time.Sleep(time.Until(due))
			due = due.Add(time.Second / scenes.TickRate)
		}
		if err := s.Step(scenes.Input{}); err != nil {
			return t, err
		}
		if tick < 2*warm {
			continue
		}
		for i := range stages {
			stages[i] += ms(marks[i+1].Sub(marks[i])) / float64(ticks)
		}
		whole = append(whole, ms(marks[len(names)].Sub(marks[0])))
		t.Mean += whole[len(whole)-1] / float64(ticks)
	}
	runtime.ReadMemStats(&m1)
	t.Allocs = float64(m1.Mallocs-m0.Mallocs) / float64(ticks)
	slices.Sort(whole)
	t.Median, t.P99, t.Max = median(whole), whole[(len(whole)-1)*99/100], whole[len(whole)-1]
	for i, n := range names {
		if !slices.Contains(without, n) {
			t.Stages = append(t.Stages, benchStage{n, stages[i]})
		}
	}
	return t, nil
}
