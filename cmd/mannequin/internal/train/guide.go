package train

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"mannequin/animsys/strnn"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/metrics"
)

// guideReport is what train guide prints.
type guideReport struct {
	Out     string               `json:"out"`
	Wanders []metrics.STRNNCrowd `json:"wanderers"`
}

func newTrainGuide() *cobra.Command {
	var (
		model, out string
		asJSON     bool
		o          strnn.GuideOptions
	)
	c := &cobra.Command{
		Use:   "guide --model FILE --out FILE",
		Short: "Teach a network that predicts motion to lead people as they are asked",
		Long: `Write a network of train strnn again, with a guide: the linear map that tells, from what
somebody did and is asked to do, which of the ways that it may go on they go on in. It
learns from a search over these ways that takes 40 times as long, which walks people
about for some minutes. No recordings are needed. With a guide a crowd can wander on
predicted motion (demo --scene strnn).

Then it measures, on level ground, how people go who are asked for speeds and turns.`,
		Example: `  mannequin train guide --model strnn.safetensors --out human-strnn.safetensors`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.Workers < 1 || o.Workers > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", o.Workers)
			case o.People < 1 || o.People > 1000 || o.Windows < 1 || o.Windows > 1000 || o.Rounds < 1 || o.Rounds > 100:
				return command.Usagef("--people %d --windows %d --rounds %d: want 1 to 1000, 1 to 1000 and 1 to 100", o.People, o.Windows, o.Rounds)
			}
			net, err := models.Open(model)
			if err != nil {
				return err
			}
			r, err := trainGuide(cmd.Context(), net, out, o, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return cli.PrintReport(cmd.OutOrStdout(), r, asJSON)
		},
	}
	f := c.Flags()
	f.StringVar(&model, "model", "", "network of train strnn: a shipped model's name, or a model `file`")
	f.StringVar(&out, "out", "", "model `file` to write")
	f.IntVar(&o.People, "people", 32, "who walk at a time")
	f.IntVar(&o.Windows, "windows", 30, "that each makes in a round, 2/3 s each")
	f.IntVar(&o.Rounds, "rounds", 4, "after each of which the guide learns, and leads every second person in the next")
	f.Uint64Var(&o.Seed, "seed", 1, "of what people are asked for")
	f.IntVar(&o.Workers, "threads", runtime.GOMAXPROCS(0), "workers; the result does not depend on it")
	f.BoolVar(&asJSON, "json", false, "print the measures as JSON")
	cli.Must(c.MarkFlagRequired("model"))
	cli.Must(c.MarkFlagRequired("out"))
	return c
}

// guideAsks are what people are asked for who are measured: m/s and rad/s.
var guideAsks = []metrics.STRNNCrowd{{Speed: 0}, {Speed: 0.8}, {Speed: 1.2}, {Speed: 1.6}, {Speed: 1.2, Turn: 0.5}, {Speed: 1.2, Turn: -0.5}, {Speed: 0.9, Turn: 0.8}, {Speed: 1.2, Turn: 1}}

func trainGuide(ctx context.Context, net *netruntime.Net, out string, o strnn.GuideOptions, stderr io.Writer) (*guideReport, error) {
	m, err := strnn.NewModel(net)
	if err != nil {
		return nil, err
	}
	progress := cli.NewProgress(ctx, stderr)
	progress.Total(int64(o.Rounds*o.Windows) + 1)
	progress.Stage("guide")
	o.Progress, o.Stop = func(int, int) { progress.Tick(1) }, func() bool { return ctx.Err() != nil }
	g, err := m.TrainGuide(o)
	progress.Finish()
	if err != nil {
		return nil, err
	}
	meta, encode := net.Meta(), (*netruntime.Net).Encode
	if _, storage := net.File(); slices.Contains(storage, "BF16") {
		encode = (*netruntime.Net).EncodeBF16
	}
	if meta.Extra[strnn.KeyGuide], err = g.Encode(); err != nil {
		return nil, err
	}
	if net, err = netruntime.New(meta, net.Tensors()); err != nil {
		return nil, err
	}
	if m, err = strnn.NewModel(net); err != nil {
		return nil, err
	}
	if err := atomicfile.Write(out, func(w io.Writer) error { return encode(net, w) }); err != nil {
		return nil, err
	}
	r := &guideReport{Out: out, Wanders: append([]metrics.STRNNCrowd(nil), guideAsks...)}
	return r, metrics.MeasureSTRNNCrowd(m, r.Wanders, strnn.StreamOptions{}, o.Workers)
}

func (r *guideReport) Print(w io.Writer) error {
	fmt.Fprintf(w, "%s: %d people each, who are asked to go and to turn so fast\n\n", r.Out, metrics.STRNNCrowdSize)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "m/s\trad/s\twent\tturned\tglide\tslide, cm\tstand\tjerk at borders\tand within, m/s³\tlost\t\n")
	for _, a := range r.Wanders {
		fmt.Fprintf(t, "%.1f\t%.1f\t%.2f\t%.2f\t%.2f\t%.3f\t%.2f\t%.0f\t%.0f\t%d\t\n", a.Speed, a.Turn, a.Went, a.Turned, a.Glide, a.Slide, a.Stand, a.Border, a.Within, a.Lost)
	}
	return t.Flush()
}
