package bench

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/backend"
	"mannequin/netruntime/cuda"
	"mannequin/netruntime/webgpu"
)

// all is the choice of --backend that times networks on whatever there is.
const all = "all"

// allReport is the report of bench --backend all.
type allReport struct {
	Machine string            `json:"machine"`
	Threads int               `json:"threads"` // of the processor
	CPU     []cpuRow          `json:"cpu"`
	CUDA    cli.Report        `json:"cuda,omitempty"`
	WebGPU  cli.Report        `json:"webgpu,omitempty"`
	Missing map[string]string `json:"missing,omitempty"` // why a backend is not timed, by name
}

// cpuRow is a network at a batch on the processor, in float32.
type cpuRow struct {
	Work  string  `json:"work"`
	Batch int     `json:"batch"` // sequences: agents
	MS    float64 `json:"ms"`    // of a run, the median
}

// benchAll times works on the processor, and on each GPU backend that was built and finds a device.
func benchAll(ctx context.Context, works []gpuWork, threads int) (allReport, error) {
	r := allReport{Machine: machine(), Threads: threads, Missing: map[string]string{}}
	for _, w := range works {
		times, err := timeCPU(ctx, w, threads)
		if err != nil {
			return r, err
		}
		for _, batch := range w.batches {
			if t, timed := times[batch]; timed {
				r.CPU = append(r.CPU, cpuRow{w.name, batch, t})
			}
		}
	}
	for _, b := range []struct {
		name   string
		device func() (string, error)
		report *cli.Report
	}{{backend.CUDA, cuda.Device, &r.CUDA}, {backend.WebGPU, webgpu.Device, &r.WebGPU}} {
		_, err := backend.Open(b.name, nil)
		if err == nil {
			_, err = b.device()
		}
		if err != nil {
			r.Missing[b.name] = err.Error()
		} else if *b.report, err = benchOn(ctx, b.name, works, threads); err != nil {
			return r, fmt.Errorf("%s: %w", b.name, err)
		}
	}
	return r, nil
}

func (r allReport) Print(w io.Writer) error {
	fmt.Fprintf(w, "%s; cpu: %d threads, float32, milliseconds per run, medians\n\n", r.Machine, r.Threads)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "work\tbatch\trun\t\n")
	for _, row := range r.CPU {
		fmt.Fprintf(t, "%s\t%d\t%.3f\t\n", row.Work, row.Batch, row.MS)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i, report := range []cli.Report{r.CUDA, r.WebGPU} {
		name := backend.Names[1+i]
		if report == nil {
			fmt.Fprintf(w, "\n%s: not timed: %s\n", name, r.Missing[name])
			continue
		}
		fmt.Fprintf(w, "\n%s: ", name)
		if err := report.Print(w); err != nil {
			return err
		}
	}
	return nil
}
