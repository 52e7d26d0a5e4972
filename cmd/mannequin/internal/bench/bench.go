// Package bench has the commands that time crowds and networks.
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

	"mannequin/animsys/mann"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/backend"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/herd"
	"mannequin/scenes/world"
)

// benchReport is what bench prints.
type benchReport struct {
	Model      string     `json:"model"`
	Machine    string     `json:"machine"`
	Threads    int        `json:"threads"`
	Kernel     string     `json:"kernel"` // what the network runs on
	Parameters int        `json:"parameters"`
	Rows       []benchRow `json:"rows"`
}

// benchRow is one size of crowd. Times are medians over ticks.
type benchRow struct {
	Agents      int          `json:"agents"`
	Ticks       int          `json:"ticks"`
	TickMS      float64      `json:"tick_ms"`
	TickMinMS   float64      `json:"tick_min_ms"`
	AgentsPerMS float64      `json:"agents_per_ms"`
	Stages      []benchStage `json:"stages"`
	Allocs      float64      `json:"allocations_per_tick"`
	Memory      int64        `json:"bytes_per_agent"` // heap of the whole scene, shared weights left out
}

type benchStage struct {
	Name string  `json:"name"`
	MS   float64 `json:"ms"`
}

func New() *cobra.Command {
	var (
		model  string
		agents []int
		ticks  int
		thread int
		bf16   bool
		asJSON bool
		on     string
	)
	c := &cobra.Command{
		Use:   "bench",
		Short: "Time the tick of wandering crowds, stage by stage; bench net times networks alone, bench people people",
		Long: `Time the whole tick (plan, gather, network, scatter, blend, ground, skin) of
crowds that wander on hills. Times are medians over --ticks ticks, after a tenth
as many to warm up; allocations and memory are counted in the same run.

With --backend cuda it times the model's network alone, on the GPU: batches of
1 to 131072 agents in three precisions, with the kernels and the copies apart,
beside the GPU's own peaks and the processor.`,
		Example: `  mannequin bench
  mannequin bench --agents 1000 --bf16
  mannequin bench --model dog --agents 1,64,1000 --threads 4 --json
  mannequin bench --backend cuda --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if ticks < 1 || ticks > 1_000_000 || thread < 1 || thread > 1024 {
				return command.Usagef("--ticks must be 1 to 1000000 and --threads 1 to 1024")
			}
			if _, err := backend.Open(on, nil); err != nil {
				return command.Usage(err)
			}
			if on == backend.CUDA && (bf16 || cmd.Flags().Changed("ticks")) {
				return command.Usagef("--backend cuda times runs, not ticks, in every precision: leave out --bf16 and --ticks")
			}
			most := world.MaxAgents
			if on == backend.CUDA {
				most = 1 << 20
				if !cmd.Flags().Changed("agents") {
					agents = gpuAgents
				}
				slices.Sort(agents)
			}
			for _, n := range agents {
				if n < 1 || n > most {
					return command.Usagef("--agents %d: want 1 to %d", n, most)
				}
			}
			if on == backend.CUDA {
				w, err := modelWork(model, agents)
				if err != nil {
					return err
				}
				return printGPU(cmd, []gpuWork{w}, thread, asJSON)
			}
			net, err := models.Open(model)
			if err != nil {
				return err
			}
			m, err := mann.NewModel(net)
			if err != nil {
				return err
			}
			// The first session packs the weights that all others share.
			shared, err := net.NewSession(netruntime.SessionOptions{Batch: 1, Workers: 1, BF16: bf16})
			if err != nil {
				return err
			}
			defer shared.Close()
			r := benchReport{
				Model: model, Threads: thread, Kernel: shared.Kernel(), Parameters: net.Parameters(),
				Machine: fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
			}
			for _, n := range agents {
				row, err := benchCrowd(cmd.Context(), m, n, ticks, thread, bf16)
				if err != nil {
					return err
				}
				r.Rows = append(r.Rows, row)
			}
			return cli.PrintReport(cmd.OutOrStdout(), r, asJSON)
		},
	}
	c.AddCommand(newBenchNet(), newBenchPeople(), newBenchWanderers())
	f := c.Flags()
	f.StringVar(&model, "model", "dog", "a shipped model's name or a model file")
	f.StringVar(&on, "backend", backend.CPU, "what computes the network: cpu, or cuda where the program is built with it")
	f.IntSliceVar(&agents, "agents", []int{1, 16, 64, 256, 1000}, "sizes of the crowd")
	f.IntVar(&ticks, "ticks", 120, "ticks to time")
	f.IntVar(&thread, "threads", runtime.NumCPU(), "worker goroutines")
	f.BoolVar(&bf16, "bf16", false, "the network in bfloat16, where the processor can")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// benchCrowd times one crowd.
func benchCrowd(ctx context.Context, m *mann.Model, agents, ticks, threads int, bf16 bool) (benchRow, error) {
	before := heap()
	s, err := herd.New(herd.Options{Options: world.Options{Agents: agents, Workers: threads, BF16: bf16}, Model: m})
	if err != nil {
		return benchRow{}, err
	}
	defer s.Close()
	for range max(1, ticks/10) {
		if err := s.Step(scenes.Input{}); err != nil {
			return benchRow{}, err
		}
	}
	row := benchRow{Agents: agents, Ticks: ticks, Memory: max(0, heap()-before) / int64(agents)}

	names := s.Schedule.Names()
	marks := make([]time.Time, len(names)+1)
	s.Schedule.Trace = func(next int) { marks[next] = time.Now() }
	stage := make([][]float64, len(names))
	for i := range stage {
		stage[i] = make([]float64, 0, ticks)
	}
	whole := make([]float64, 0, ticks)
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	for range ticks {
		if ctx.Err() != nil {
			return row, fmt.Errorf("interrupted at %d agents", agents)
		}
		if err := s.Step(scenes.Input{}); err != nil {
			return row, err
		}
		for i := range stage {
			stage[i] = append(stage[i], ms(marks[i+1].Sub(marks[i])))
		}
		whole = append(whole, ms(marks[len(names)].Sub(marks[0])))
	}
	runtime.ReadMemStats(&m1)
	row.Allocs = float64(m1.Mallocs-m0.Mallocs) / float64(ticks)
	row.TickMS, row.TickMinMS = median(whole), slices.Min(whole)
	row.AgentsPerMS = float64(agents) / row.TickMS
	for i, n := range names {
		if slices.Contains(windowedStages, n) {
			continue
		}
		row.Stages = append(row.Stages, benchStage{n, median(stage[i])})
	}
	return row, nil
}

// heap returns the bytes in use after a collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

func (r benchReport) Print(w io.Writer) error {
	fmt.Fprintf(w, "model %s (%d parameters), %d threads, %s, %s kernels\nmilliseconds per tick, median\n\n", r.Model, r.Parameters, r.Threads, r.Machine, r.Kernel)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "agents\ttick\tbest\tagents/ms\t")
	for _, s := range r.Rows[0].Stages {
		fmt.Fprintf(t, "%s\t", s.Name)
	}
	fmt.Fprint(t, "allocs/tick\tKiB/agent\t\n")
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%d\t%.3f\t%.3f\t%.1f\t", row.Agents, row.TickMS, row.TickMinMS, row.AgentsPerMS)
		for _, s := range row.Stages {
			fmt.Fprintf(t, "%.3f\t", s.MS)
		}
		fmt.Fprintf(t, "%.2f\t%.1f\t\n", row.Allocs, float64(row.Memory)/1024)
	}
	return t.Flush()
}
