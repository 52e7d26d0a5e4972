package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"mannequin/ecs"
	"mannequin/scenes"
)

// Systems with work for one kind of generator only: for generators in batches, and in windows.
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

// printTicks prints a row for each number of agents.
func printTicks(w io.Writer, agents []int, times []tickTimes) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "people\tmean\tmedian\t99 %\tmost\t")
	for _, s := range times[0].Stages {
		fmt.Fprintf(t, "%s\t", s.Name)
	}
	fmt.Fprint(t, "allocs/tick\tflat out\t\n")
	for i, r := range times {
		fmt.Fprintf(t, "%d\t%.2f\t%.2f\t%.2f\t%.2f\t", agents[i], r.Mean, r.Median, r.P99, r.Max)
		for _, s := range r.Stages {
			fmt.Fprintf(t, "%.3f\t", s.MS)
		}
		fmt.Fprintf(t, "%.2f\t%.2f\t\n", r.Allocs, r.FlatOut)
	}
	return t.Flush()
}

// tickTrace records the times of ticks and of their stages, in milliseconds.
type tickTrace struct {
	names  []string
	stages [][]float64 // (stages, ticks)
	whole  []float64   // (ticks)
	allocs float64     // per tick
}

// trace steps a scene and records its ticks. If paced it steps at 60 ticks a second.
func trace(ctx context.Context, s scenes.Scene, schedule *ecs.Schedule, ticks int, paced bool) (t tickTrace, err error) {
	t.names = schedule.Names()
	t.stages, t.whole = make([][]float64, len(t.names)), make([]float64, 0, ticks)
	for i := range t.stages {
		t.stages[i] = make([]float64, 0, ticks)
	}
	marks := make([]time.Time, len(t.names)+1)
	schedule.Trace = func(next int) { marks[next] = time.Now() }
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	due := time.Now()
	for range ticks {
		if ctx.Err() != nil {
			return t, errors.New("interrupted")
		}
		if paced {
			time.Sleep(time.Until(due))
			due = due.Add(time.Second / scenes.TickRate)
		}
		if err := s.Step(scenes.Input{}); err != nil {
			return t, err
		}
		for i := range t.stages {
			t.stages[i] = append(t.stages[i], ms(marks[i+1].Sub(marks[i])))
		}
		t.whole = append(t.whole, ms(marks[len(t.names)].Sub(marks[0])))
	}
	runtime.ReadMemStats(&m1)
	t.allocs = float64(m1.Mallocs-m0.Mallocs) / float64(ticks)
	return t, nil
}

// stagesBy returns the stages, without those in without, each with what of makes of its times.
func (t *tickTrace) stagesBy(of func([]float64) float64, without ...string) (out []benchStage) {
	for i, n := range t.names {
		if !slices.Contains(without, n) {
			out = append(out, benchStage{n, of(t.stages[i])})
		}
	}
	return out
}

func mean(v []float64) (sum float64) {
	for _, x := range v {
		sum += x / float64(len(v))
	}
	return sum
}

// timeTicks steps a scene warm times, warm times more to time ticks without pauses, calls begin,
// and then steps it at 60 ticks a second. Stages in without are left out.
func timeTicks(ctx context.Context, s scenes.Scene, schedule *ecs.Schedule, warm, ticks int, without []string, begin func()) (tickTimes, error) {
	if _, err := trace(ctx, s, schedule, warm, false); err != nil {
		return tickTimes{}, err
	}
	start := time.Now()
	if _, err := trace(ctx, s, schedule, warm, false); err != nil {
		return tickTimes{}, err
	}
	flat := ms(time.Since(start)) / float64(warm)
	begin()
	t, err := trace(ctx, s, schedule, ticks, true)
	if err != nil {
		return tickTimes{}, err
	}
	slices.Sort(t.whole)
	return tickTimes{Mean: mean(t.whole), Median: median(t.whole), P99: t.whole[(ticks-1)*99/100], Max: t.whole[ticks-1], FlatOut: flat,
		Stages: t.stagesBy(mean, without...), Allocs: t.allocs}, nil
}
