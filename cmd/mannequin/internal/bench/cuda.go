package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"text/tabwriter"
	"time"

	"mannequin/internal/bench/benchnet"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/netruntime/cuda"
)

// gpuReport is the report of bench --backend cuda.
type gpuReport struct {
	Device  string     `json:"device"`
	Threads int        `json:"threads"` // of the processor's runs
	Peaks   []gpuPeaks `json:"peaks"`
	Rows    []gpuRow   `json:"rows"`
}

// gpuPeaks are the GPU's peak rates in a precision, each measured alone.
type gpuPeaks struct {
	Precision   cuda.Precision `json:"precision"`
	TFLOPS      float64        `json:"tflops,omitempty"` // of cuBLAS on large matrices; 0 without cuBLAS
	SendGBS     float64        `json:"send_gb_per_s"`
	ReceiveGBS  float64        `json:"receive_gb_per_s"`
	OvertakesAt map[string]int `json:"overtakes_at"` // by network: the smallest timed batch at which the GPU is faster
}

// gpuRow is a network at a batch. Times are medians over repetitions.
type gpuRow struct {
	Work       string         `json:"work"`
	Precision  cuda.Precision `json:"precision"`
	Batch      int            `json:"batch"` // sequences: agents
	Frames     int            `json:"frames"`
	MS         float64        `json:"ms"` // of a run, copies included
	MSMin      float64        `json:"ms_min"`
	PerSecond  float64        `json:"frames_per_second"`
	SendMS     float64        `json:"send_ms"` // the parts by the GPU's clock, one after the other
	ProductsMS float64        `json:"products_ms"`
	ChainsMS   float64        `json:"chains_ms"`
	ReceiveMS  float64        `json:"receive_ms"`
	TFLOPS     float64        `json:"products_tflops"`
	OfPeak     float64        `json:"peak_fraction,omitempty"`
	OfCopies   float64        `json:"copy_fraction"`    // peak time of the copies ÷ their time
	CPUMS      float64        `json:"cpu_ms,omitempty"` // the processor in float32, up to cpuBatch sequences
	Error      float64        `json:"error"`            // largest difference from the processor, of the largest output
}

const (
	gpuRepeats = 9
	cpuRepeats = 5
	cpuBatch   = 4096
	// checked is the number of sequences of every run that are compared with the processor's: the
	// first half and the last.
	checked = 64
)

var gpuAgents = []int{1, 4, 16, 64, 256, 1000, 4096, 10_000, 16_384, 100_000, 131_072}

// gpuWork is a network to time on a GPU.
type gpuWork struct {
	name    string
	net     *netruntime.Net
	length  int
	flop    float64 // of a sequence
	batches []int
}

// modelWorks returns the works of a shipped model or character, or of the file of one, on single rows.
func modelWorks(model string, batches []int) (out []gpuWork, err error) {
	_, nets, err := models.OpenNets(model)
	for _, net := range nets {
		w := gpuWork{name: model, net: net, length: 1, batches: batches}
		if len(nets) > 1 {
			w.name = net.Meta().Name
		}
		for _, t := range net.Tensors() {
			if len(t.Shape) > 1 && len(t.Data) >= netruntime.HeavyWeights { // what the products multiply
				w.flop += 2 * float64(len(t.Data))
			}
		}
		out = append(out, w)
	}
	return out, err
}

// randomWork returns the work of a network of the benchmarks, with random weights.
func randomWork(w *benchnet.Work) (gpuWork, error) {
	net, err := w.Net(1)
	return gpuWork{name: w.Name, net: net, length: w.Length, flop: w.FLOP, batches: w.Batches}, err
}

// benchGPU times works in every precision.
func benchGPU(ctx context.Context, works []gpuWork, threads int) (gpuReport, error) {
	if !cuda.Built {
		return gpuReport{}, errors.New("this program was built without CUDA: make build-cuda builds one with it")
	}
	device, err := cuda.Device()
	if err != nil {
		return gpuReport{}, err
	}
	r := gpuReport{Device: device, Threads: threads}
	cpu := map[string]map[int]float64{}
	for _, w := range works {
		if cpu[w.name], err = timeCPU(ctx, w, threads); err != nil {
			return r, err
		}
	}
	for _, p := range []cuda.Precision{cuda.FP32, cuda.TF32, cuda.BF16} {
		peaks, err := cuda.MeasurePeaks(p)
		if err != nil {
			return r, err
		}
		of := gpuPeaks{Precision: p, TFLOPS: peaks.FLOPS / 1e12, SendGBS: peaks.Send / 1e9, ReceiveGBS: peaks.Receive / 1e9, OvertakesAt: map[string]int{}}
		for _, w := range works {
			for _, batch := range w.batches {
				if ctx.Err() != nil {
					return r, fmt.Errorf("interrupted at %s, %d", w.name, batch)
				}
				row, err := timeGPU(w, p, batch, peaks)
				if err != nil {
					return r, fmt.Errorf("%s in %s, %d: %w", w.name, p, batch, err)
				}
				row.CPUMS = cpu[w.name][batch]
				if at := of.OvertakesAt[w.name]; at == 0 && row.MS < row.CPUMS {
					of.OvertakesAt[w.name] = batch
				}
				r.Rows = append(r.Rows, row)
			}
		}
		r.Peaks = append(r.Peaks, of)
	}
	if n := cuda.Fallbacks(); n > 0 {
		return r, fmt.Errorf("the GPU was lost: the processor computed %d runs", n)
	}
	return r, nil
}

// gpuInputs fills x with normally distributed inputs.
func gpuInputs(x []float32) {
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
}

// repeated returns the milliseconds of calls of f, after one to warm up.
func repeated(times int, f func() error) ([]float64, error) {
	if err := f(); err != nil {
		return nil, err
	}
	out := make([]float64, times)
	for i := range out {
		begin := time.Now()
		if err := f(); err != nil {
			return nil, err
		}
		out[i] = ms(time.Since(begin))
	}
	return out, nil
}

// runOf opens a session with inputs and outputs of its own, the inputs random
// and the outputs poisoned.
func runOf(w gpuWork, batch int, open func(o netruntime.SessionOptions) (netruntime.Session, error), threads int) (s netruntime.Session, run func() error, x, y []float32, err error) {
	if s, err = open(netruntime.SessionOptions{Batch: batch, Length: w.length, Workers: threads}); err != nil {
		return nil, nil, nil, nil, err
	}
	g := w.net.Graph()
	frames, err := g.Length(g.Outputs[0], w.length)
	if err == nil {
		y, err = netruntime.Buffer(s, batch*frames*w.net.Outputs())
	}
	if err == nil {
		x, err = netruntime.Buffer(s, batch*w.length*w.net.Inputs())
	}
	if err != nil {
		s.Close()
		return nil, nil, nil, nil, err
	}
	gpuInputs(x)
	for i := range y {
		y[i] = float32(math.NaN())
	}
	out, in := [][]float32{y}, [][]float32{x}
	return s, func() error { return s.RunSequences(out, in, batch, w.length) }, x, y, nil
}

// timeCPU returns the processor's milliseconds by batch.
func timeCPU(ctx context.Context, w gpuWork, threads int) (map[int]float64, error) {
	out := map[int]float64{}
	for _, batch := range w.batches {
		if batch > cpuBatch {
			continue
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("interrupted at %s, %d", w.name, batch)
		}
		s, run, _, _, err := runOf(w, batch, w.net.NewSession, threads)
		if err != nil {
			return nil, err
		}
		times, err := repeated(cpuRepeats, run)
		s.Close()
		if err != nil {
			return nil, err
		}
		out[batch] = median(times)
	}
	return out, nil
}

func timeGPU(w gpuWork, p cuda.Precision, batch int, peaks cuda.Peaks) (gpuRow, error) {
	row := gpuRow{Work: w.name, Precision: p, Batch: batch, Frames: w.length}
	s, run, x, y, err := runOf(w, batch, func(o netruntime.SessionOptions) (netruntime.Session, error) {
		return cuda.NewSession(w.net, cuda.Options{SessionOptions: o, Precision: p})
	}, 1)
	if err != nil {
		return row, err
	}
	defer s.Close()
	times, err := repeated(gpuRepeats, run)
	if err != nil {
		return row, err
	}
	row.MS, row.MSMin = median(times), times[0]
	for _, t := range times {
		row.MSMin = min(row.MSMin, t)
	}
	row.PerSecond = float64(batch*w.length) / row.MS * 1e3
	if row.Error, err = gpuError(w, x, y, batch); err != nil {
		return row, err
	}
	t, err := cuda.Measure(s, batch, w.length, gpuRepeats)
	if err != nil {
		return row, err
	}
	row.SendMS, row.ProductsMS, row.ChainsMS, row.ReceiveMS = 1e3*t.Send, 1e3*t.Products, 1e3*t.Chains, 1e3*t.Receive
	row.TFLOPS = w.flop * float64(batch) / t.Products / 1e12
	if peaks.FLOPS > 0 {
		row.OfPeak = row.TFLOPS * 1e12 / peaks.FLOPS
	}
	bytesIn, bytesOut := 4*float64(batch*w.length*w.net.Inputs()), 4*float64(len(y))
	row.OfCopies = (bytesIn/peaks.Send + bytesOut/peaks.Receive) / (t.Send + t.Receive)
	return row, nil
}

// gpuError compares the first and the last sequences with the processor's, and
// looks for NaN among all.
func gpuError(w gpuWork, x, y []float32, batch int) (float64, error) {
	for i, v := range y {
		if v != v {
			return 0, fmt.Errorf("output %d is NaN", i)
		}
	}
	n := min(batch, checked/2)
	s, err := w.net.NewSession(netruntime.SessionOptions{Batch: n, Length: w.length, Workers: 1})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	in, out := len(x)/batch, len(y)/batch
	most, size := 0.0, 1e-30
	want := make([]float32, n*out)
	for _, from := range []int{0, batch - n} {
		if err := s.RunSequences([][]float32{want}, [][]float32{x[from*in:]}, n, w.length); err != nil {
			return 0, err
		}
		for i, v := range want {
			most, size = max(most, math.Abs(float64(y[from*out+i]-v))), max(size, math.Abs(float64(v)))
		}
	}
	return most / size, nil
}

func (r gpuReport) Print(w io.Writer) error {
	fmt.Fprintf(w, "%s; the processor with %d threads in float32\n", r.Device, r.Threads)
	for _, p := range r.Peaks {
		fmt.Fprintf(w, "%s: ", p.Precision)
		if p.TFLOPS > 0 {
			fmt.Fprintf(w, "cuBLAS %.1f TFLOP/s, ", p.TFLOPS)
		} else {
			fmt.Fprint(w, "no cuBLAS here, ")
		}
		fmt.Fprintf(w, "copies %.1f GB/s there and %.1f back\n", p.SendGBS, p.ReceiveGBS)
		for _, work := range slices.Sorted(maps.Keys(p.OvertakesAt)) {
			fmt.Fprintf(w, "  %s: faster than the processor for batches of %d and more\n", work, p.OvertakesAt[work])
		}
	}
	fmt.Fprint(w, "milliseconds per run, medians; the parts by the GPU's clock, one after the other\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "work\tprecision\tbatch\tframes\trun\tbest\tframes/s\tsend\tproducts\trest\treceive\tTFLOP/s\tof peak\tof copies\tcpu\terror\t\n")
	for _, r := range r.Rows {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.3f\t%.3f\t%.3g\t%.3f\t%.3f\t%.3f\t%.3f\t%.2f\t%.0f %%\t%.0f %%\t%.3f\t%.1e\t\n", r.Work, r.Precision, r.Batch, r.Frames,
			r.MS, r.MSMin, r.PerSecond, r.SendMS, r.ProductsMS, r.ChainsMS, r.ReceiveMS, r.TFLOPS, 100*r.OfPeak, 100*r.OfCopies, r.CPUMS, r.Error)
	}
	return t.Flush()
}
