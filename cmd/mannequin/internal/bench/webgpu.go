package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/backend"
	"mannequin/internal/bench/benchnet"
	"mannequin/netruntime"
	"mannequin/netruntime/webgpu"
)

// benchOn times works on a GPU, or on all backends.
func benchOn(ctx context.Context, on string, works []gpuWork, threads int) (cli.Report, error) {
	switch on {
	case all:
		return benchAll(ctx, works, threads)
	case backend.WebGPU:
		return benchWebGPU(ctx, works, threads)
	}
	return benchGPU(ctx, works, threads)
}

// webgpuReport is the report of bench --backend webgpu.
type webgpuReport struct {
	Device  string      `json:"device"`
	Threads int         `json:"threads"` // of the processor's runs
	Rows    []webgpuRow `json:"rows"`
}

// webgpuRow is a network at a batch. Times are medians over repetitions.
type webgpuRow struct {
	Work      string  `json:"work"`
	Kernel    string  `json:"kernel"` // webgpu is float32, webgpu_f16 float16 where the GPU has it
	Batch     int     `json:"batch"`  // sequences: agents
	Frames    int     `json:"frames"`
	MS        float64 `json:"ms"` // of a run, copies included
	MSMin     float64 `json:"ms_min"`
	PerSecond float64 `json:"frames_per_second"`
	Allocs    float64 `json:"allocs"`           // of a run
	CPUMS     float64 `json:"cpu_ms,omitempty"` // the processor in float32, up to cpuBatch sequences
	Error     float64 `json:"error"`            // largest difference from the processor, of the largest output
}

// benchWebGPU times works through WebGPU.
func benchWebGPU(ctx context.Context, works []gpuWork, threads int) (webgpuReport, error) {
	if !webgpu.Built {
		return webgpuReport{}, errors.New("this program was built without WebGPU: make build-webgpu builds one with it")
	}
	device, err := webgpu.Device()
	if err != nil {
		return webgpuReport{}, err
	}
	r := webgpuReport{Device: device, Threads: threads}
	for _, w := range works {
		cpu, err := timeCPU(ctx, w, threads)
		if err != nil {
			return r, err
		}
		for _, batch := range w.batches {
			if ctx.Err() != nil {
				return r, fmt.Errorf("interrupted at %s, %d", w.name, batch)
			}
			for _, f16 := range []bool{false, true} {
				row, err := timeWebGPU(w, batch, f16)
				if errors.Is(err, errNoFloat16) {
					continue
				}
				if err != nil {
					return r, fmt.Errorf("%s, %d: %w", w.name, batch, err)
				}
				row.CPUMS = cpu[batch]
				r.Rows = append(r.Rows, row)
			}
		}
	}
	if n := webgpu.Fallbacks(); n > 0 {
		return r, fmt.Errorf("the GPU was lost: the processor computed %d runs", n)
	}
	return r, nil
}

var errNoFloat16 = errors.New("the GPU has no float16")

func timeWebGPU(w gpuWork, batch int, f16 bool) (webgpuRow, error) {
	row := webgpuRow{Work: w.name, Batch: batch, Frames: w.length}
	s, run, x, y, err := runOf(w, batch, func(o netruntime.SessionOptions) (netruntime.Session, error) {
		return webgpu.NewSession(w.net, webgpu.Options{SessionOptions: o, F16: f16})
	}, 1)
	if err != nil {
		return row, err
	}
	defer s.Close()
	switch row.Kernel = s.Kernel(); {
	case f16 && row.Kernel == backend.WebGPU:
		return row, errNoFloat16
	case !strings.HasPrefix(row.Kernel, backend.WebGPU):
		return row, fmt.Errorf("the processor computes it, with %s kernels", row.Kernel)
	}
	times, err := repeated(gpuRepeats, run)
	if err != nil {
		return row, err
	}
	row.MS, row.MSMin = median(times), slices.Min(times)
	row.PerSecond = float64(batch*w.length) / row.MS * 1e3
	if row.Allocs, err = benchnet.Allocs(run); err != nil {
		return row, err
	}
	row.Error, err = gpuError(w, x, y, batch)
	return row, err
}

func (r webgpuReport) Print(w io.Writer) error {
	fmt.Fprintf(w, "%s; the processor with %d threads in float32\n", r.Device, r.Threads)
	fmt.Fprint(w, "milliseconds per run, medians, copies included\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "work\tkernel\tbatch\tframes\trun\tbest\tframes/s\tallocations\tcpu\terror\t\n")
	for _, r := range r.Rows {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.3f\t%.3f\t%.3g\t%.0f\t%.3f\t%.1e\t\n", r.Work, r.Kernel, r.Batch, r.Frames, r.MS, r.MSMin, r.PerSecond, r.Allocs, r.CPUMS, r.Error)
	}
	return t.Flush()
}
