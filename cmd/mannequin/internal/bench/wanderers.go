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

	"mannequin/animsys/strnn"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/scenes"
	plaza "mannequin/scenes/strnn"
	"mannequin/scenes/world"
)

// WanderersReport is what bench wanderers prints.
type WanderersReport struct {
	Model   string         `json:"model"`
	Machine string         `json:"machine"`
	Threads int            `json:"threads"`
	BF16    bool           `json:"bf16"`
	Draws   int            `json:"draws"`
	Steps   int            `json:"steps"`
	Rows    []wanderersRow `json:"rows"`
}

// wanderersRow is one size of crowd. Times are of ticks, in milliseconds.
type wanderersRow struct {
	Agents int          `json:"agents"`
	Mean   float64      `json:"mean_ms"`
	Median float64      `json:"median_ms"`
	P99    float64      `json:"p99_ms"`
	Max    float64      `json:"max_ms"`
	Stages []benchStage `json:"stages"` // means
	Allocs float64      `json:"allocations_per_tick"`

	FlatOut float64 `json:"flat_out_ms"` // a tick when they follow each other without a pause
}

func newBenchWanderers() *cobra.Command {
	var (
		model   string
		agents  []int
		seconds float64
		asJSON  bool
		o       plaza.Options
	)
	c := &cobra.Command{
		Use:   "wanderers",
		Short: "Time the tick of people who wander on predicted motion",
		Long: `Time crowds that wander on predicted motion, on hills, at 60 ticks a second. The network runs
beside the ticks; Generate is what it makes a tick wait for. "flat out" is a tick where they
follow each other without a pause, all that is computed included.`,
		Example: `  mannequin bench wanderers --model strnn.safetensors
  mannequin bench wanderers --model strnn.safetensors --agents 100 --bf16 --draws 4 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, n := range agents {
				if n < 1 || n > world.MaxAgents {
					return command.Usagef("--agents %d: want 1 to %d", n, world.MaxAgents)
				}
			}
			switch {
			case o.Workers < 1 || o.Workers > 1024:
				return command.Usagef("--threads %d: want 1 to 1024", o.Workers)
			case o.Stream.Samples < 1 || o.Stream.Samples > 100 || o.Stream.Steps < 0 || o.Stream.Steps > 100:
				return command.Usagef("--draws %d --steps %d: want 1 to 100, and 0 to 100", o.Stream.Samples, o.Stream.Steps)
			case !(seconds >= 0.1) || seconds > 3600:
				return command.Usagef("--seconds %g: want 0.1 to 3600", seconds)
			}
			net, err := models.Open(model)
			if err != nil {
				return err
			}
			if o.Model, err = strnn.NewModel(net); err != nil {
				return err
			}
			r := WanderersReport{Model: net.Meta().Name, Machine: fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
				Threads: o.Workers, BF16: o.BF16, Draws: o.Stream.Samples, Steps: o.Stream.Steps}
			for _, n := range agents {
				o.Agents, o.Seed = n, 1
				row, err := benchWanderers(cmd.Context(), o, int(seconds*scenes.TickRate))
				if err != nil {
					return err
				}
				r.Rows = append(r.Rows, row)
			}
			return cli.PrintReport(cmd.OutOrStdout(), r, asJSON)
		},
	}
	f := c.Flags()
	f.StringVar(&model, "model", "human-strnn", "with a guide: a shipped model's name, or a model `file`")
	f.IntSliceVar(&agents, "agents", []int{100, 500}, "sizes of the crowd")
	f.IntVar(&o.Workers, "threads", runtime.NumCPU(), "worker goroutines")
	f.BoolVar(&o.BF16, "bf16", false, "compute the network in bfloat16 where the processor can")
	f.IntVar(&o.Stream.Samples, "draws", 1, "ways of which each goes on in the best")
	f.IntVar(&o.Stream.Steps, "steps", 0, "of a search from there")
	f.Float64Var(&seconds, "seconds", 10, "how long, at 60 ticks a second")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// benchWanderers times one crowd.
func benchWanderers(ctx context.Context, o plaza.Options, ticks int) (wanderersRow, error) {
	r := wanderersRow{Agents: o.Agents}
	s, err := plaza.New(o)
	if err != nil {
		return r, err
	}
	defer s.Close()
	names := s.Schedule.Names()
	marks := make([]time.Time, len(names)+1)
	s.Schedule.Trace = func(next int) { marks[next] = time.Now() }
	stages, whole := make([]float64, len(names)), make([]float64, 0, ticks)
	var m0, m1 runtime.MemStats
	const warm = 120
	begin, due := time.Now(), time.Now()
	for tick := range 2*warm + ticks {
		if ctx.Err() != nil {
			return r, fmt.Errorf("interrupted")
		}
		switch {
		case tick == warm:
			begin = time.Now()
		case tick == 2*warm:
			r.FlatOut = ms(time.Since(begin)) / warm
			runtime.ReadMemStats(&m0)
			due = time.Now()
		}
		if tick >= 2*warm {
			time.Sleep(time.Until(due))
			due = due.Add(time.Second / scenes.TickRate)
		}
		if err := s.Step(scenes.Input{}); err != nil {
			return r, err
		}
		if tick < 2*warm {
			continue
		}
		for i := range stages {
			stages[i] += ms(marks[i+1].Sub(marks[i])) / float64(ticks)
		}
		whole = append(whole, ms(marks[len(names)].Sub(marks[0])))
		r.Mean += whole[len(whole)-1] / float64(ticks)
	}
	runtime.ReadMemStats(&m1)
	r.Allocs = float64(m1.Mallocs-m0.Mallocs) / float64(ticks)
	slices.Sort(whole)
	r.Median, r.P99, r.Max = median(whole), whole[(len(whole)-1)*99/100], whole[len(whole)-1]
	for i, n := range names {
		if !slices.Contains(slices.Concat(batchedStages, []string{"Style"}), n) {
			r.Stages = append(r.Stages, benchStage{n, stages[i]})
		}
	}
	return r, nil
}

func (r WanderersReport) Print(w io.Writer) error {
	numbers := "float32"
	if r.BF16 {
		numbers = "bfloat16 where the processor can"
	}
	fmt.Fprintf(w, "%s, %s, %d draws and %d steps, %d threads, %s\nmilliseconds per tick\n\n", r.Model, numbers, r.Draws, r.Steps, r.Threads, r.Machine)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "people\tmean\tmedian\t99 %\tmost\t")
	for _, s := range r.Rows[0].Stages {
		fmt.Fprintf(t, "%s\t", s.Name)
	}
	fmt.Fprint(t, "allocs/tick\tflat out\t\n")
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%d\t%.2f\t%.2f\t%.2f\t%.2f\t", row.Agents, row.Mean, row.Median, row.P99, row.Max)
		for _, s := range row.Stages {
			fmt.Fprintf(t, "%.3f\t", s.MS)
		}
		fmt.Fprintf(t, "%.2f\t%.2f\t\n", row.Allocs, row.FlatOut)
	}
	return t.Flush()
}
