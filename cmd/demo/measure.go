package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"mannequin/scenes"
	"mannequin/scenes/tape"
)

// report is the output of --no-render. Times are in milliseconds.
type report struct {
	Scene   string   `json:"scene"`
	Agents  int      `json:"agents"`
	OnGPU   int      `json:"agents_on_gpu"` // at the end
	GPU     string   `json:"gpu"`           // on which; "" is none
	Machine string   `json:"machine"`
	Threads int      `json:"threads"`
	Kernels []string `json:"kernels"` // used by the networks
	Seconds float64  `json:"seconds"`
	Ticks   int      `json:"ticks"`

	Mean   float64 `json:"mean_ms"` // of a tick
	Median float64 `json:"median_ms"`
	P99    float64 `json:"p99_ms"`
	Max    float64 `json:"max_ms"`
	Late   int     `json:"late"`        // ticks longer than a sixtieth of a second, 16.7 ms
	Budget float64 `json:"budget_ms"`   // for a tick; 0 is none
	Over   int     `json:"over_budget"` // ticks longer than the budget
	Saves  bool    `json:"saves"`       // distant agents can update less often
	Saving float32 `json:"saving"`      // share of the work saved, 0 to 1, in the last tick

	Allocs    float64 `json:"allocations_per_tick"`
	Bytes     float64 `json:"allocated_bytes_per_tick"`
	HeapBegin uint64  `json:"heap_begin_bytes"` // in use, after a collection
	HeapEnd   uint64  `json:"heap_end_bytes"`

	Stages []stageTime `json:"stages"`
}

// stageTime is the duration of a stage of the tick.
type stageTime struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean_ms"`
	Most float64 `json:"max_ms"`
}

// warmUp is the number of ticks before the measurement: agents start to move, and buffers reach
// their full size.
const warmUp = 5 * scenes.TickRate

// settle is the number of ticks that then run at 60 per second, so that the runtime starts its
// threads and timers.
const settle = scenes.TickRate

// counted is the number of ticks after the timed ones in which allocations are counted.
const counted = 4 * scenes.TickRate

// cameraInterval is the number of ticks between updates of the camera position.
const cameraInterval = 15

// measure runs a scene without pictures at 60 ticks a second, and prints the duration of ticks. If
// a tape is recorded, that counts too.
func measure(ctx context.Context, o options, s scenes.Scene, player scenes.Script, h tape.Header, stdout io.Writer) error {
	if o.seconds == 0 {
		o.seconds = o.length
	}
	on, tick := s, int64(0)
	if o.taped != nil {
		on = o.taped
	}
	var f scenes.Frame
	var seen scenes.Input // camera and saving; finding the camera takes time
	look := func() {
		s.Frame(&f, 1)
		seen.Watched = true
		seen.Eye, seen.Ahead = f.Seat.View(f.Focus, f.Heading)
	}
	look()
	budget, err := o.newBudget()
	if err != nil {
		return err
	}
	counting := false // no camera update while allocations are counted
	step := func() (time.Duration, error) {
		if ctx.Err() != nil {
			return 0, errors.New("stopped; nothing was measured")
		}
		if tick%cameraInterval == 0 && !counting {
			look()
		}
		in := player.At(tick)
		in.Watched, in.Eye, in.Ahead, in.Saving = true, seen.Eye, seen.Ahead, seen.Saving
		tick++
		start := time.Now()
		if err := on.Step(in); err != nil {
			return 0, err
		}
		took := time.Since(start)
		if budget != nil {
			seen.Saving = budget.Spent(took)
		}
		return took, nil
	}
	for range warmUp {
		if _, err := step(); err != nil {
			return err
		}
	}
	r := report{
		Scene: o.setup.Scene, Machine: fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
		Threads: o.workers, Kernels: h.Kernels, Seconds: o.seconds, Ticks: max(1, int(math.Round(o.seconds*scenes.TickRate))),
	}
	if r.Threads == 0 {
		r.Threads = runtime.GOMAXPROCS(0)
	}
	staged, _ := s.(scenes.Traced)
	var names []string
	if staged != nil {
		names = staged.Stages()
	}
	stages, most := make([]time.Duration, len(names)), make([]time.Duration, len(names))
	var last time.Time
	trace := func(next int) {
		now := time.Now()
		if next > 0 {
			stages[next-1] += now.Sub(last)
			most[next-1] = max(most[next-1], now.Sub(last))
		}
		last = now
	}
	times := make([]time.Duration, 0, r.Ticks)
	var begin, before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&begin)
	due := time.Now()
	for i := -settle; i < r.Ticks+counted; i++ {
		if i == 0 && staged != nil {
			staged.Trace(trace)
			defer staged.Trace(nil)
		}
		if i == r.Ticks {
			if staged != nil {
				staged.Trace(nil)
			}
			counting = true
			runtime.ReadMemStats(&before)
		}
		time.Sleep(time.Until(due))
		due = due.Add(time.Second / scenes.TickRate)
		took, err := step()
		if err != nil {
			return err
		}
		if i >= 0 && i < r.Ticks {
			times = append(times, took)
		}
	}
	runtime.ReadMemStats(&after)
	r.Allocs = float64(after.Mallocs-before.Mallocs) / counted
	r.Bytes = float64(after.TotalAlloc-before.TotalAlloc) / counted
	runtime.GC()
	runtime.ReadMemStats(&after)
	r.HeapBegin, r.HeapEnd = begin.HeapAlloc, after.HeapAlloc
	r.Budget = o.budget
	if _, r.Saves = s.(scenes.Saver); r.Saves {
		r.Saving = seen.Saving
	}
	r.sum(times)
	for i, n := range names {
		r.Stages = append(r.Stages, stageTime{n, ms(stages[i]) / float64(r.Ticks), ms(most[i])})
	}
	s.Frame(&f, 1)
	for i := range f.Casts {
		r.Agents += f.Casts[i].Len()
	}
	if on, ok := s.(scenes.Resident); ok {
		r.OnGPU, r.GPU = on.OnGPU()
	}
	if o.json {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	return r.print(stdout)
}

// sum fills in the statistics of all ticks.
func (r *report) sum(times []time.Duration) {
	for _, t := range times {
		r.Mean += ms(t) / float64(len(times))
		if t > time.Second/scenes.TickRate {
			r.Late++
		}
		if r.Budget > 0 && ms(t) > r.Budget {
			r.Over++
		}
	}
	slices.Sort(times)
	n := len(times)
	r.Median, r.P99, r.Max = (ms(times[(n-1)/2])+ms(times[n/2]))/2, ms(times[(n-1)*99/100]), ms(times[n-1])
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func (r *report) print(w io.Writer) error {
	fmt.Fprintf(w, "%s: %d agents, %d threads, %s, %s kernels; %d ticks at %d a second\n\n",
		r.Scene, r.Agents, r.Threads, r.Machine, strings.Join(r.Kernels, " and "), r.Ticks, scenes.TickRate)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "tick, ms\tmean\tmedian\t99 %\tmost\tover 16.7 ms\tallocs/tick\tbytes/tick\theap, MiB\t\n")
	fmt.Fprintf(t, "\t%.3f\t%.3f\t%.3f\t%.3f\t%d\t%.2f\t%.0f\t%.1f → %.1f\t\n", r.Mean, r.Median, r.P99, r.Max, r.Late, r.Allocs, r.Bytes, float64(r.HeapBegin)/(1<<20), float64(r.HeapEnd)/(1<<20))
	if err := t.Flush(); err != nil {
		return err
	}
	if r.GPU != "" {
		fmt.Fprintf(w, "\n%d agents were on the GPU at the end, %s\n", r.OnGPU, r.GPU)
	}
	if r.Budget > 0 && r.Saves {
		fmt.Fprintf(w, "\nbudget %g ms: %d ticks over it; distances for full update rates are reduced by %.0f %%\n", r.Budget, r.Over, 100*r.Saving)
	}
	if len(r.Stages) == 0 {
		return nil
	}
	fmt.Fprint(w, "\n")
	fmt.Fprint(t, "stage, ms\tmean\tmost\t\n")
	for _, s := range r.Stages {
		fmt.Fprintf(t, "%s\t%.3f\t%.3f\t\n", s.Name, s.Mean, s.Most)
	}
	return t.Flush()
}
