package bench

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	"mannequin/models/person"
	"mannequin/models/styles-free"
	"mannequin/scenes"
	street "mannequin/scenes/people"
	"mannequin/scenes/world"
)

// peopleReport is what bench people prints. Times are of ticks, in milliseconds.
type peopleReport struct {
	Machine    string       `json:"machine"`
	Threads    int          `json:"threads"`
	Agents     int          `json:"agents"`
	Styled     int          `json:"styled"`  // of them, who move in a style each
	Seconds    float64      `json:"seconds"` // at 60 ticks each
	Mean       float64      `json:"mean_ms"`
	Median     float64      `json:"median_ms"`
	P99        float64      `json:"p99_ms"`
	Max        float64      `json:"max_ms"`
	Waits      int          `json:"waits"`       // ticks that waited for windows
	FlatOut    float64      `json:"flat_out_ms"` // a tick, windows included, where nobody waits for the clock
	Stages     []benchStage `json:"stages"`      // means
	Allocs     float64      `json:"allocations_per_tick"`
	Iterations int          `json:"iterations"` // of the edit
}

func newBenchPeople() *cobra.Command {
	var (
		agents, styled, threads, iterations int
		seconds                             float64
		asJSON                              bool
	)
	c := &cobra.Command{
		Use:   "people",
		Short: "Time the tick of people who walk and run, at 60 ticks a second",
		Long: `Time a steady crowd of people who walk and run along lanes on hills. Windows
of their motion are made by another goroutine while the ticks go on at their 60 a
second, as in a game; a tick's time is what the game waits for it. Then the same
as fast as it goes, where making the windows counts, too.`,
		Example: `  mannequin bench people
  mannequin bench people --agents 50 --threads 1 --json
  mannequin bench people --agents 50 --styled 50`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case agents < 1 || agents > world.MaxAgents:
				return command.Usagef("--agents %d: want 1 to %d", agents, world.MaxAgents)
			case styled < 0 || styled > agents:
				return command.Usagef("--styled %d: want 0 to %d, the people there are", styled, agents)
			case threads < 1 || threads > 1024:
				return command.Usagef("--threads %d: want 1 to 1024", threads)
			case !(seconds >= 0.1) || seconds > 3600:
				return command.Usagef("--seconds %g: want 0.1 to 3600", seconds)
			case iterations < 0 || iterations > 1000:
				return command.Usagef("--iterations %d: want 0 to 1000", iterations)
			}
			o := street.Options{Options: world.Options{Agents: agents, Workers: threads, Seed: 1}, Iterations: iterations, Styled: styled}
			var err error
			if o.Networks, err = person.Open(); err != nil {
				return err
			}
			if styled > 0 {
				if o.Styles, err = stylesfree.Open(); err != nil {
					return err
				}
			}
			r, err := benchPeople(cmd.Context(), o, seconds)
			if err != nil {
				return err
			}
			return cli.PrintReport(cmd.OutOrStdout(), r, asJSON)
		},
	}
	f := c.Flags()
	f.IntVar(&agents, "agents", 200, "people")
	f.IntVar(&styled, "styled", 0, "of them, how many move in a style each, frame by frame (mar, styles-free)")
	f.IntVar(&threads, "threads", runtime.NumCPU(), "worker goroutines of the tick; one fewer make windows")
	f.IntVar(&iterations, "iterations", 0, "steps of each window's edit")
	f.Float64Var(&seconds, "seconds", 20, "how long to run at 60 ticks a second")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// benchPeople times one scene.
func benchPeople(ctx context.Context, o street.Options, seconds float64) (peopleReport, error) {
	r := peopleReport{Machine: fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
		Threads: o.Workers, Agents: o.Agents, Styled: o.Styled, Seconds: seconds, Iterations: o.Iterations}
	s, err := street.New(o)
	if err != nil {
		return r, err
	}
	defer s.Close()
	// Until everyone has set out and their windows no longer come all at once.
	warm := 600
	run := func(ticks int, each func() error) error {
		for range ticks {
			if ctx.Err() != nil {
				return fmt.Errorf("interrupted")
			}
			if err := each(); err != nil {
				return err
			}
		}
		return nil
	}
	step := func() error { return s.Step(scenes.Input{}) }
	if err := run(warm, step); err != nil {
		return r, err
	}
	begin := time.Now()
	if err := run(warm, step); err != nil {
		return r, err
	}
	r.FlatOut = ms(time.Since(begin)) / float64(warm)

	names := s.Schedule.Names()
	marks := make([]time.Time, len(names)+1)
	s.Schedule.Trace = func(next int) { marks[next] = time.Now() }
	ticks := int(seconds * scenes.TickRate)
	stages, whole := make([]float64, len(names)), make([]float64, 0, ticks)
	s.Stream.Waits = 0
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	due := time.Now()
	err = run(ticks, func() error {
		time.Sleep(time.Until(due))
		due = due.Add(time.Second / scenes.TickRate)
		if err := step(); err != nil {
			return err
		}
		for i := range stages {
			stages[i] += ms(marks[i+1].Sub(marks[i])) / float64(ticks)
		}
		whole = append(whole, ms(marks[len(names)].Sub(marks[0])))
		return nil
	})
	if err != nil {
		return r, err
	}
	runtime.ReadMemStats(&m1)
	r.Allocs, r.Waits = float64(m1.Mallocs-m0.Mallocs)/float64(ticks), s.Stream.Waits
	for _, v := range whole {
		r.Mean += v / float64(ticks)
	}
	slices.Sort(whole)
	r.Median, r.P99, r.Max = median(whole), whole[(len(whole)-1)*99/100], whole[len(whole)-1]
	for i, n := range names {
		if !slices.Contains(batchedStages, n) {
			r.Stages = append(r.Stages, benchStage{n, stages[i]})
		}
	}
	return r, nil
}

// Systems that only batched generators have work in, and those that only the others do.
var (
	batchedStages  = []string{"Plan", "Gather", "Infer", "Scatter"}
	windowedStages = []string{"Generate", "Style"}
)

func (r peopleReport) Print(w io.Writer) error {
	fmt.Fprintf(w, "%d people, %d of them in a style, %d threads, %s; %g s at 60 ticks a second\nmilliseconds per tick\n\n", r.Agents, r.Styled, r.Threads, r.Machine, r.Seconds)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "mean\tmedian\t99 %\tmost\twaits\t")
	for _, s := range r.Stages {
		fmt.Fprintf(t, "%s\t", s.Name)
	}
	fmt.Fprintf(t, "allocs/tick\tflat out\t\n%.2f\t%.2f\t%.2f\t%.2f\t%d\t", r.Mean, r.Median, r.P99, r.Max, r.Waits)
	for _, s := range r.Stages {
		fmt.Fprintf(t, "%.3f\t", s.MS)
	}
	fmt.Fprintf(t, "%.2f\t%.2f\t\n", r.Allocs, r.FlatOut)
	return t.Flush()
}
