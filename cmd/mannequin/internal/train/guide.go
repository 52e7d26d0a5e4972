package train

import (
	"context"
	"fmt"
	"io"
	"math"
	"reflect"
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

// guideReport is the report of train guide.
type guideReport struct {
	Out     string               `json:"out"`
	Wanders []metrics.STRNNCrowd `json:"wanderers"`
}

func newTrainGuide() *cobra.Command {
	var out string
	var force bool
	var o strnn.GuideOptions
	c := &cobra.Command{
		Use:   "guide MODEL --out FILE",
		Short: "Add a guide to a network of predicted motion, which steers it",
		Long: `Add a guide to a network of train strnn: a linear map from the past motion and the
requested speed and turn to the latent values of the next window. The guide learns from a
search over these values, which takes 40 times as long, while people walk about for some
minutes. It needs no recordings. With a guide a crowd can wander on predicted motion
(demo --scene strnn).

Then the speeds and turns of people on level ground are measured beside the requested ones. If
--out already holds the network with a better guide, it is kept unless --force is given.`,
		Example: `  mannequin train guide strnn.safetensors --out human-strnn.safetensors`,
		Args:    command.Want("a shipped model's name or a model file", 1, 1),
	}
	cli.Reports(c, func(cmd *cobra.Command, args []string) (cli.Report, error) {
		net, err := models.Open(args[0])
		if err != nil {
			return nil, err
		}
		return trainGuide(cmd.Context(), net, out, force, o, cmd.ErrOrStderr())
	})
	command.Out(c, &out, command.File, "model `file` to write")
	command.Number(c, &o.People, "people", 32, 1, 1000, "number of people")
	command.Number(c, &o.Windows, "windows", 30, 1, 1000, "windows of each person in a round, 2/3 s each")
	command.Number(c, &o.Rounds, "rounds", 4, 1, 100, "rounds; the guide learns after each and steers every second person in the next")
	cli.Seed(c, &o.Seed, "the requested speeds and turns")
	cli.Threads(c, &o.Workers)
	c.Flags().BoolVar(&force, "force", false, "overwrite --out even if it is a file that is read, or holds a better guide of the same network")
	return c
}

// guideAsks are the requested speeds and turns for the measurement, m/s and rad/s.
var guideAsks = []metrics.STRNNCrowd{{Speed: 0}, {Speed: 0.8}, {Speed: 1.2}, {Speed: 1.6}, {Speed: 1.2, Turn: 0.5}, {Speed: 1.2, Turn: -0.5}, {Speed: 0.9, Turn: 0.8}, {Speed: 1.2, Turn: 1}}

func trainGuide(ctx context.Context, net *netruntime.Net, out string, force bool, o strnn.GuideOptions, stderr io.Writer) (*guideReport, error) {
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
	r := &guideReport{Out: out}
	if r.Wanders, err = measureGuide(net, o.Workers); err != nil {
		return nil, err
	}
	if there, err := netruntime.Open(out); err == nil && !force && there.Meta().Extra[strnn.KeyGuide] != "" && reflect.DeepEqual(there.Tensors(), net.Tensors()) {
		before, err := measureGuide(there, o.Workers)
		if was, is := miss(before), miss(r.Wanders); err == nil && was < is {
			return nil, fmt.Errorf("%s holds a better guide of this network, by which people miss speeds and turns by %.3g against %.3g in the mean: it is not overwritten; name another --out, or add --force", out, was, is)
		}
	}
	return r, atomicfile.Write(out, func(w io.Writer) error { return encode(net, w) })
}

// measureGuide measures people on level ground by the requests of guideAsks.
func measureGuide(net *netruntime.Net, workers int) ([]metrics.STRNNCrowd, error) {
	m, err := strnn.NewModel(net)
	if err != nil {
		return nil, err
	}
	asks := slices.Clone(guideAsks)
	return asks, metrics.MeasureSTRNNCrowd(m, asks, strnn.StreamOptions{}, workers)
}

// miss returns the mean error of the speeds, m/s, plus the mean error of the turns, rad/s.
func miss(asks []metrics.STRNNCrowd) (sum float64) {
	for _, a := range asks {
		sum += (math.Abs(a.Went-a.Speed) + math.Abs(a.Turned-a.Turn)) / float64(len(asks))
	}
	return sum
}

func (r *guideReport) Print(w io.Writer) error {
	fmt.Fprintf(w, "%s: %d people each, by requested speed and turn\n\n", r.Out, metrics.STRNNCrowdSize)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "m/s\trad/s\twent\tturned\tglide\tslide, cm\tstand\tjerk at borders\tand within, m/s³\tlost\t\n")
	for _, a := range r.Wanders {
		fmt.Fprintf(t, "%.1f\t%.1f\t%.2f\t%.2f\t%.2f\t%.3f\t%.2f\t%.0f\t%.0f\t%d\t\n", a.Speed, a.Turn, a.Went, a.Turned, a.Glide, a.Slide, a.Stand, a.Border, a.Within, a.Lost)
	}
	return t.Flush()
}
