//go:build ort

package main

import (
	"bytes"
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

	"github.com/spf13/cobra"

	"mannequin/internal/bench/benchnet"
	"mannequin/internal/bench/ort"
	"mannequin/internal/command"
	"mannequin/netruntime"
	"mannequin/offline/onnx"
)

// report is what benchpeer prints.
type report struct {
	Machine  string  `json:"machine"`
	Threads  int     `json:"threads"`
	Peer     string  `json:"peer"`
	PeakFP32 float64 `json:"peak_gflops_fp32"`
	PeakBF16 float64 `json:"peak_gflops_bf16,omitempty"`
	Rows     []row   `json:"rows"`
}

// row is one network at one batch. Times are milliseconds per run.
type row struct {
	Work  string  `json:"work"`
	Batch int     `json:"batch"`
	Peer  peer    `json:"peer"`
	Ours  []ours  `json:"ours"`
	FLOP  float64 `json:"flop"`
	Tried []peer  `json:"tried"` // all formulations; the slow ones in few turns
}

// peer is ONNX Runtime with one formulation and settings.
type peer struct {
	Form     onnx.Form `json:"form"`
	Spin     bool      `json:"spin"`
	MSMin    float64   `json:"ms_min"`
	MSMedian float64   `json:"ms_median"`
}

type ours struct {
	Kernel      string  `json:"kernel"`
	BF16        bool    `json:"bf16"`
	MSMin       float64 `json:"ms_min"`
	MSMedian    float64 `json:"ms_median"`
	RatioMin    float64 `json:"ratio_min"`    // ONNX Runtime's minimum by ours
	RatioMedian float64 `json:"ratio_median"` // medians
	Peak        float64 `json:"peak_fraction"`
	Difference  float64 `json:"relative_rms_difference"` // of the outputs
}

func main() { command.Main(newRoot()) }

func newRoot() *cobra.Command {
	var (
		threads, rounds int
		works           []string
		form            map[string]string
		asJSON          bool
	)
	all := benchnet.Works()
	var names []string
	for _, w := range all {
		names = append(names, w.Name)
	}
	c := &cobra.Command{
		Use:   "benchpeer",
		Short: "Time our networks beside ONNX Runtime",
		Long: `Time ONNX Runtime and our sessions in turns, in one process, on the same networks, inputs and
numbers of threads. ONNX Runtime gets every formulation of the network, or those of --form, with
and without spinning threads, and its fastest counts. At a ratio above 1 we are faster.`,
		Example: `  make bench-peer
  make bench-peer PEER='--work mann --rounds 20 --json'
  make bench-peer PEER='--work autoencoder --form conv=1d,depool=plain'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := onnx.Form(form).Validate(); err != nil {
				return command.Usagef("--form: %w", err)
			}
			if err := ort.Load(); err != nil {
				return err
			}
			r := report{
				Machine: fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
				Threads: threads, Peer: "ONNX Runtime " + ort.Version(),
			}
			for _, w := range all {
				if len(works) > 0 && !slices.Contains(works, w.Name) {
					continue
				}
				if err := r.time(cmd.Context(), w, form, rounds, cmd.ErrOrStderr()); err != nil {
					return fmt.Errorf("%s: %w", w.Name, err)
				}
			}
			for i := range r.Rows {
				r.Rows[i].fractions(r.PeakFP32, r.PeakBF16)
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "  ")
				return enc.Encode(r)
			}
			return r.print(cmd.OutOrStdout())
		},
	}
	f := c.Flags()
	command.Number(c, &threads, "threads", min(2, runtime.NumCPU()), 1, 1024, "threads of each side")
	command.Number(c, &rounds, "rounds", 12, 3, 1000, "rounds of each side")
	command.Choices(c, &works, "work", names, "networks to time (default: all)")
	f.StringToStringVar(&form, "form", nil, "formulations to try, as in mannequin export (default: all)")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// clock gives turns to all, with rests in which ONNX Runtime's threads stop spinning.
func clock(rounds int) benchnet.Clock {
	return benchnet.Clock{Rounds: rounds, Block: 80 * time.Millisecond, Rest: 40 * time.Millisecond}
}

// tryRounds is after how many turns slow formulations are left out.
const tryRounds = 2

// rival is ONNX Runtime in one formulation.
type rival struct {
	benchnet.Candidate
	peer
	session *ort.Session
	y       []float32
}

func (r *report) time(ctx context.Context, w *benchnet.Work, only onnx.Form, rounds int, progress io.Writer) error {
	net, err := w.Net(1)
	if err != nil {
		return err
	}
	files, err := formulations(net, only)
	if err != nil {
		return err
	}
	for _, batch := range w.Batches {
		fmt.Fprintf(progress, "%s, batch %d\n", w.Name, batch)
		if err := r.timeBatch(ctx, w, net, files, batch, rounds); err != nil {
			return err
		}
	}
	return nil
}

func (r *report) timeBatch(ctx context.Context, w *benchnet.Work, net *netruntime.Net, files []formulation, batch, rounds int) error {
	var mine []*benchnet.Candidate
	var sessions []*benchnet.Session
	for _, bf16 := range []bool{false, true} {
		s, err := w.Session(net, batch, r.Threads, bf16)
		if err != nil {
			return err
		}
		defer s.Close()
		if bf16 && s.Kernel() == sessions[0].Kernel() {
			break // this processor has no products in bfloat16
		}
		sessions = append(sessions, s)
		mine = append(mine, &benchnet.Candidate{Name: s.Kernel(), Run: s.Compute()})
	}
	rivals, err := r.rivals(w, net, files, batch)
	defer func() {
		for _, v := range rivals {
			v.session.Close()
		}
	}()
	if err != nil {
		return err
	}
	theirs := make([]*benchnet.Candidate, len(rivals))
	for i, v := range rivals {
		theirs[i] = &v.Candidate
	}
	if err := clock(tryRounds).Time(ctx, theirs); err != nil {
		return err
	}
	fastest := slices.MinFunc(theirs, func(a, b *benchnet.Candidate) int { return int(1e6 * (a.Min() - b.Min())) }).Min()
	theirs = slices.DeleteFunc(theirs, func(c *benchnet.Candidate) bool { return c.Min() > 1.15*fastest })
	if err := clock(rounds).Time(ctx, slices.Concat(theirs, mine)); err != nil {
		return err
	}
	for bf16, peak := range map[bool]*float64{false: &r.PeakFP32, true: &r.PeakBF16} {
		if !bf16 || len(mine) > 1 {
			*peak = max(*peak, benchnet.Peak(bf16, r.Threads, 50*time.Millisecond))
		}
	}

	out := row{Work: w.Name, Batch: batch, FLOP: w.FLOP * float64(batch)}
	var best *rival
	for _, v := range rivals {
		if slices.Contains(theirs, &v.Candidate) && (best == nil || v.Min() < best.Min()) {
			best = v
		}
	}
	// The fastest minimum and the fastest median may be of two formulations.
	out.Peer = best.peer
	out.Peer.MSMin, out.Peer.MSMedian = best.Min(), best.Median()
	for _, v := range rivals {
		v.MSMin, v.MSMedian = v.Min(), v.Median()
		out.Tried = append(out.Tried, v.peer)
	}
	for _, c := range theirs {
		out.Peer.MSMedian = min(out.Peer.MSMedian, c.Median())
	}
	for i, c := range mine {
		out.Ours = append(out.Ours, ours{
			Kernel: c.Name, BF16: i == 1, MSMin: c.Min(), MSMedian: c.Median(),
			RatioMin: out.Peer.MSMin / c.Min(), RatioMedian: out.Peer.MSMedian / c.Median(),
			Difference: difference(sessions[i].Y, best.y),
		})
	}
	if d := out.Ours[0].Difference; !(d <= 1e-5) {
		return fmt.Errorf("batch %d: ONNX Runtime computes other outputs than we: they differ by %.2g", batch, d)
	}
	r.Rows = append(r.Rows, out)
	return nil
}

// fractions sets how much of the peak each kernel reached.
func (r *row) fractions(fp32, bf16 float64) {
	for i := range r.Ours {
		o := &r.Ours[i]
		peak := fp32
		if o.BF16 {
			peak = bf16
		}
		o.Peak = r.FLOP / o.MSMin / 1e6 / peak
	}
}

func difference(x, want []float32) float64 {
	var diff, sum float64
	for i, w := range want {
		d := float64(x[i]) - float64(w)
		diff += d * d
		sum += float64(w) * float64(w)
	}
	return math.Sqrt(diff / sum)
}

// formulation is a network in one ONNX form.
type formulation struct {
	form onnx.Form
	file []byte
}

// formulations returns all of a network that differ and agree with only.
func formulations(net *netruntime.Net, only onnx.Form) (all []formulation, err error) {
	for _, form := range onnx.FormsOf(net.Graph()) {
		if !form.Agrees(only) {
			continue
		}
		b, err := onnx.Marshal(net, form)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(f formulation) bool { return bytes.Equal(f.file, b) }) {
			all = append(all, formulation{form, b})
		}
	}
	return all, nil
}

// rivals returns a session of ONNX Runtime for each formulation, with and
// without spinning threads. Those made before an error are returned with it.
func (r *report) rivals(w *benchnet.Work, net *netruntime.Net, files []formulation, batch int) ([]*rival, error) {
	g := net.Graph()
	length, err := w.OutputLength(net)
	if err != nil {
		return nil, err
	}
	dims := func(length, channels int) []int {
		if w.Length == 1 {
			return []int{batch, channels}
		}
		return []int{batch, length, channels}
	}
	x := w.Inputs(net, batch)
	var all []*rival
	for _, f := range files {
		if f.form[netruntime.OpBlend] == "weights" && batch > 64 {
			continue // 22 MB for every row, and always the slowest
		}
		for _, spin := range []bool{true, false} {
			if !spin && r.Threads == 1 {
				continue
			}
			v := &rival{peer: peer{Form: f.form, Spin: spin}, y: make([]float32, batch*length*net.Outputs())}
			v.session, err = ort.New(f.file, ort.Options{Threads: r.Threads, Spin: spin},
				[]ort.Array{{Name: g.Inputs[0].Name, Dims: dims(w.Length, net.Inputs()), Data: x}},
				[]ort.Array{{Name: g.Outputs[0], Dims: dims(length, net.Outputs()), Data: v.y}})
			if err != nil {
				return all, err
			}
			v.Candidate = benchnet.Candidate{Name: fmt.Sprintf("ONNX Runtime %v", f.form), Run: v.session.Run}
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no formulation is left")
	}
	return all, nil
}

func (r *report) print(w io.Writer) error {
	fmt.Fprintf(w, "%s beside us, %d threads, %s\n", r.Peer, r.Threads, r.Machine)
	fmt.Fprintf(w, "peak %.0f GFLOP/s in float32", r.PeakFP32)
	if r.PeakBF16 > 0 {
		fmt.Fprintf(w, ", %.0f in bfloat16", r.PeakBF16)
	}
	fmt.Fprint(w, "; milliseconds per run, minimum and median\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "work\tbatch\tORT min\tmedian\tkernel\tmin\tmedian\tratio of min\tof median\tof peak\tdifference\tORT's form\t\n")
	for _, row := range r.Rows {
		for i, o := range row.Ours {
			if i == 0 {
				fmt.Fprintf(t, "%s\t%d\t%.3f\t%.3f\t", row.Work, row.Batch, row.Peer.MSMin, row.Peer.MSMedian)
			} else {
				fmt.Fprint(t, "\t\t\t\t")
			}
			fmt.Fprintf(t, "%s\t%.3f\t%.3f\t%.2f\t%.2f\t%.0f %%\t%.1g\t", o.Kernel, o.MSMin, o.MSMedian, o.RatioMin, o.RatioMedian, 100*o.Peak, o.Difference)
			if i == 0 {
				fmt.Fprint(t, row.Peer)
			}
			fmt.Fprint(t, "\t\n")
		}
	}
	return t.Flush()
}

// String names the formulation and settings.
func (p peer) String() string {
	var s []string
	for op, name := range p.Form {
		s = append(s, op+"="+name)
	}
	slices.Sort(s)
	if !p.Spin {
		s = append(s, "no spinning")
	}
	return strings.Join(s, " ")
}
