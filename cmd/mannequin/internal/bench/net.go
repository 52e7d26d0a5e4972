package bench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/backend"
	"mannequin/internal/bench/benchnet"
	"mannequin/internal/command"
)

// netRows is the report of bench net.
type netRows []netRow

// netRow is a network at a batch, forward or in a training step. Times are milliseconds per run.
type netRow struct {
	Work     string  `json:"work"`
	Batch    int     `json:"batch"`
	Kernel   string  `json:"kernel"`
	Threads  int     `json:"threads"`
	MSMin    float64 `json:"ms_min"`
	MSMedian float64 `json:"ms_median"`
	GFLOPS   float64 `json:"gflops"`        // at the minimum, by the network's definition
	Peak     float64 `json:"peak_fraction"` // of the threads' peak of multiplications and additions
	Allocs   float64 `json:"allocs"`        // per run
}

func newBenchNet() *cobra.Command {
	var (
		threads, rounds int
		works           []string
		on              string
	)
	names := make([]string, 0, 8)
	for _, w := range benchnet.Works() {
		names = append(names, w.Name)
	}
	c := &cobra.Command{
		Use:   "net",
		Short: "Time networks alone: forward passes and training steps",
		Long: `Time the network engine on random weights: ` + strings.Join(names, ", ") + `.
Each row is a batch with one kernel. The peak is measured in the same run: what all threads
together reach on multiplications and additions in registers. Convolutions can exceed it:
they multiply less than their definition. make bench-peer times ONNX Runtime beside the
forward passes. --backend cuda, webgpu and all time the forward passes as bench does.`,
		Example: `  mannequin bench net
  mannequin bench net --work mann,lstm --threads 1 --json`,
		Args: cobra.NoArgs,
	}
	cli.Reports(c, func(cmd *cobra.Command, _ []string) (cli.Report, error) {
		if err := checkBackend(on); err != nil {
			return nil, err
		}
		if on != backend.CPU && cmd.Flags().Changed("rounds") {
			return nil, command.Usagef("--backend %s takes no --rounds", on)
		}
		var gpu []gpuWork
		var rows netRows
		for _, w := range benchnet.Works() {
			if len(works) > 0 && !slices.Contains(works, w.Name) {
				continue
			}
			if on != backend.CPU {
				g, err := randomWork(w)
				if err != nil {
					return nil, err
				}
				gpu = append(gpu, g)
				continue
			}
			more, err := benchNet(cmd.Context(), w, threads, rounds)
			if cmd.Context().Err() != nil {
				return nil, fmt.Errorf("interrupted at %s", w.Name)
			}
			if err != nil {
				return nil, err
			}
			rows = append(rows, more...)
		}
		if on != backend.CPU {
			return benchOn(cmd.Context(), on, gpu, threads)
		}
		return rows, nil
	})
	cli.Threads(c, &threads)
	command.Number(c, &rounds, "rounds", 5, 1, 1000, "rounds of each row")
	command.Choices(c, &works, "work", names, "networks to time (default: all)")
	backendFlag(c, &on)
	return c
}

// benchNet times one network at all its batches.
func benchNet(ctx context.Context, w *benchnet.Work, threads, rounds int) (rows []netRow, err error) {
	clock := benchnet.Clock{Rounds: rounds, Block: 60 * time.Millisecond}
	runs, closeAll, err := w.Runs(threads)
	defer closeAll()
	if err != nil {
		return nil, err
	}
	steps, closeSteps, err := trainings(w, threads)
	defer closeSteps()
	if err != nil {
		return nil, err
	}
	runs = append(runs, steps...)
	candidates := make([]*benchnet.Candidate, len(runs))
	for i := range runs {
		candidates[i] = &runs[i].Candidate
	}
	peak := map[bool]float64{}
	for range rounds {
		for _, r := range runs {
			if _, known := peak[r.BF16]; !known {
				peak[r.BF16] = 0
			}
		}
		for bf16, p := range peak {
			peak[bf16] = max(p, benchnet.Peak(bf16, threads, 20*time.Millisecond))
		}
	}
	if err := clock.Time(ctx, candidates); err != nil {
		return nil, err
	}
	for _, r := range runs {
		allocs, err := benchnet.Allocs(r.Run)
		if err != nil {
			return nil, err
		}
		gflops := r.FLOP / r.Min() / 1e6
		rows = append(rows, netRow{
			Work: r.Work, Batch: r.Batch, Kernel: r.Name, Threads: threads, MSMin: r.Min(), MSMedian: r.Median(),
			GFLOPS: gflops, Peak: gflops / peak[r.BF16], Allocs: allocs,
		})
	}
	return rows, nil
}

func (rows netRows) Print(w io.Writer) error {
	fmt.Fprintf(w, "%d threads; milliseconds per run\n\n", rows[0].Threads)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "work\tbatch\tkernel\tmin\tmedian\tGFLOP/s\tof peak\tallocs\t\n")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%d\t%s\t%.3f\t%.3f\t%.0f\t%.0f %%\t%.0f\t\n", r.Work, r.Batch, r.Kernel, r.MSMin, r.MSMedian, r.GFLOPS, 100*r.Peak, r.Allocs)
	}
	return t.Flush()
}
