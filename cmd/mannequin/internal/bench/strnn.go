package bench

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mannequin/animsys/strnn"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/scenes"
	plaza "mannequin/scenes/strnn"
	"mannequin/scenes/world"
)

// STRNNReport is the report of bench strnn.
type STRNNReport struct {
	Model   string     `json:"model"`
	Machine string     `json:"machine"`
	Threads int        `json:"threads"`
	BF16    bool       `json:"bf16"`
	Draws   int        `json:"draws"`
	Steps   int        `json:"steps"`
	Rows    []strnnRow `json:"rows"`
}

// strnnRow is one size of crowd.
type strnnRow struct {
	Agents int `json:"agents"`
	tickTimes
}

func newBenchSTRNN() *cobra.Command {
	var (
		model   string
		agents  []int
		seconds float64
		o       plaza.Options
	)
	c := &cobra.Command{
		Use:   "strnn",
		Short: "Time the tick of people wandering on predicted motion, at 60 ticks a second",
		Long: `Time crowds that wander on predicted motion on hills. The network runs beside the ticks,
which run at 60 a second; the stage Generate is the time that a tick waits for it. "flat out"
is a tick without pauses in between, which includes all computation.`,
		Example: `  mannequin bench strnn --model strnn.safetensors
  mannequin bench strnn --model strnn.safetensors --agents 100 --bf16 --draws 4 --json`,
		Args: cobra.NoArgs,
	}
	cli.Reports(c, func(cmd *cobra.Command, _ []string) (cli.Report, error) {
		if err := checkAgents(agents, world.MaxAgents); err != nil {
			return nil, err
		}
		var err error
		if o.Model, err = models.OpenAs(model, strnn.NewModel); err != nil {
			return nil, err
		}
		r := STRNNReport{Model: o.Model.Net.Meta().Name, Machine: machine(), Threads: o.Workers, BF16: o.BF16, Draws: o.Stream.Samples, Steps: o.Stream.Steps}
		for _, n := range agents {
			o.Agents, o.Seed = n, 1
			row, err := benchSTRNN(cmd.Context(), o, int(seconds*scenes.TickRate))
			if err != nil {
				return nil, err
			}
			r.Rows = append(r.Rows, row)
		}
		return r, nil
	})
	cli.Model(c, &model, "model", "human-strnn", "the network, with a guide")
	c.Flags().IntSliceVar(&agents, "agents", []int{100, 500}, "sizes of the crowd; may be repeated")
	cli.Threads(c, &o.Workers)
	c.Flags().BoolVar(&o.BF16, "bf16", false, "compute the network in bfloat16 if the processor can")
	command.Number(c, &o.Stream.Samples, "draws", 1, 1, 100, "futures drawn for each window, of which the best is used")
	command.Number(c, &o.Stream.Steps, "steps", 0, 0, 100, "search steps from there")
	command.Number(c, &seconds, "seconds", 10, 0.1, 3600, "duration at 60 ticks a second")
	return c
}

// benchSTRNN times one crowd.
func benchSTRNN(ctx context.Context, o plaza.Options, ticks int) (strnnRow, error) {
	r := strnnRow{Agents: o.Agents}
	s, err := plaza.New(o)
	if err != nil {
		return r, err
	}
	defer s.Close()
	r.tickTimes, err = timeTicks(ctx, s, s.Schedule, 120, ticks, append([]string{"Style"}, batchedStages...), func() {})
	return r, err
}

func (r STRNNReport) Print(w io.Writer) error {
	numbers := "float32"
	if r.BF16 {
		numbers = "bfloat16 if the processor can"
	}
	fmt.Fprintf(w, "%s, %s, %d draws and %d steps, %d threads, %s\nmilliseconds per tick\n\n", r.Model, numbers, r.Draws, r.Steps, r.Threads, r.Machine)
	agents, times := make([]int, len(r.Rows)), make([]tickTimes, len(r.Rows))
	for i, row := range r.Rows {
		agents[i], times[i] = row.Agents, row.tickTimes
	}
	return printTicks(w, agents, times)
}
