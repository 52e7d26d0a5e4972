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

// benchReport is the report of bench.
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

// New returns the command bench.
func New() *cobra.Command {
	var (
		model          string
		agents         []int
		ticks, threads int
		bf16           bool
		on             string
	)
	c := &cobra.Command{
		Use:   "bench",
		Short: "Time the tick of a herd, stage by stage; bench net times networks, bench people and bench strnn people, bench resident dogs or people on a GPU",
		Long: `Time the whole tick (plan, gather, network, scatter, blend, ground, publish) of dogs that
wander on hills. Times are medians over --ticks ticks, after a tenth of as many to warm up.
Allocations and memory are counted in the same run.

With --backend cuda only the model's network is timed, on the GPU: batches of 1 to 131072
agents in three precisions, kernels and copies apart, beside the GPU's own peaks and the
processor. With --backend webgpu it is timed on any GPU, in float32, and in float16 if the
GPU has it, beside the processor.
--model may then name a character, such as hero, whose networks are timed one by one.
--backend all times it on the processor, then on each of these that the program was built with
and finds, and says why one is left out.`,
		Example: `  mannequin bench
  mannequin bench --agents 1000 --bf16
  mannequin bench --model dog --agents 1,64,1000 --threads 4 --json
  mannequin bench --backend cuda --json
  mannequin bench --backend webgpu --model hero --agents 1,64
  mannequin bench --backend all --json`,
		Args: cobra.NoArgs,
	}
	cli.Reports(c, func(cmd *cobra.Command, _ []string) (cli.Report, error) {
		if err := checkBackend(on); err != nil {
			return nil, err
		}
		most := world.MaxAgents
		if on != backend.CPU {
			if bf16 || cmd.Flags().Changed("ticks") {
				return nil, command.Usagef("--backend %s times runs, not ticks, in every precision: leave out --bf16 and --ticks", on)
			}
			most = 1 << 20
			if on == backend.CUDA && !cmd.Flags().Changed("agents") {
				agents = gpuAgents
			}
			slices.Sort(agents)
		}
		if err := checkAgents(agents, most); err != nil {
			return nil, err
		}
		if on != backend.CPU {
			works, err := modelWorks(model, agents)
			if err != nil {
				return nil, err
			}
			return benchOn(cmd.Context(), on, works, threads)
		}
		m, err := models.OpenAs(model, mann.NewModel)
		if err != nil {
			return nil, err
		}
		// The first session packs the weights that all others share.
		shared, err := m.Net.NewSession(netruntime.SessionOptions{Batch: 1, Workers: 1, BF16: bf16})
		if err != nil {
			return nil, err
		}
		defer shared.Close()
		r := benchReport{Model: model, Threads: threads, Kernel: shared.Kernel(), Parameters: m.Net.Parameters(), Machine: machine()}
		for _, n := range agents {
			row, err := benchCrowd(cmd.Context(), m, n, ticks, threads, bf16)
			if err != nil {
				return nil, err
			}
			r.Rows = append(r.Rows, row)
		}
		return r, nil
	})
	c.AddCommand(newBenchNet(), newBenchPeople(), newBenchSTRNN(), newBenchResident())
	cli.Model(c, &model, "model", "dog", "the network")
	backendFlag(c, &on)
	c.Flags().IntSliceVar(&agents, "agents", []int{1, 16, 64, 256, 1000}, "sizes of the herd; may be repeated")
	command.Number(c, &ticks, "ticks", 120, 1, 1_000_000, "ticks to time")
	cli.Threads(c, &threads)
	c.Flags().BoolVar(&bf16, "bf16", false, "compute the network in bfloat16 if the processor can")
	return c
}

// backendFlag adds the flag --backend.
func backendFlag(c *cobra.Command, v *string) {
	command.Choice(c, v, "backend", backend.CPU, append(slices.Clone(backend.Names), all), backend.Usage+"; or all")
}

// checkBackend reports that the program was built without a backend.
func checkBackend(on string) error {
	if on != all {
		if _, err := backend.Open(on, nil); err != nil {
			return command.Usage(err)
		}
	}
	return nil
}

// checkAgents checks the sizes of crowds.
func checkAgents(agents []int, most int) error {
	for _, n := range agents {
		if n < 1 || n > most {
			return command.Usagef("--agents is %d, want 1 to %d", n, most)
		}
	}
	return nil
}

// machine describes the computer.
func machine() string {
	return fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
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
	t, err := trace(ctx, s, s.Schedule, ticks, false)
	if err != nil {
		return row, fmt.Errorf("%d agents: %w", agents, err)
	}
	row.Allocs, row.TickMS, row.TickMinMS = t.allocs, median(t.whole), slices.Min(t.whole)
	row.AgentsPerMS = float64(agents) / row.TickMS
	row.Stages = t.stagesBy(median, windowedStages...)
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
