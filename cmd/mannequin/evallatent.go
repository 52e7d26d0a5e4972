package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"mannequin/animsys/latent"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
	"mannequin/offline/metrics"
	"mannequin/offline/recipes"
)

// evalLatentOptions are the flags of eval latent.
type evalLatentOptions struct {
	model   string
	data    []string
	heldOut []string
	chains  int
	threads int
	rates   bool
	figures string
	next    string
	asJSON  bool
}

func newEvalLatent() *cobra.Command {
	var o evalLatentOptions
	c := &cobra.Command{
		Use:   "latent --data DIR",
		Short: "Measure the latent space of a second of motion, and its sliders",
		Long: `Measure the variational autoencoder of Lüdi 2016 on recordings held out from
training, each figure beside the bar that it has to reach:

  how well clips of a second come back, before and after a fit of their latent values
  how far latent values are from the standard normal distribution
  how well one component tells how far somebody turns, the length of a step, which
  leg leads and how the trunk leans: of the model's components, of plain principal
  components of the latent values, and of the clips' frames
  how well a component sets its trait, alone, in clips held out
  how well chained clips meet
  how people who walk on by a network of train next (--next) turn and go, and how
  their clips meet and their feet slide
  how long a decoded clip takes

docs/latent.md defines every figure. --figures draws the thesis's Fig. 5.6 to 5.8:
poses in which clips begin, what the sliders do to a clip, and clips chained.`,
		Example: `  mannequin eval latent --data data/cmu-locomotion --figures out/latent
  mannequin eval latent --model mine.safetensors --data data/mine --held-out 'walk_07' --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.threads < 1 || o.threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", o.threads)
			case o.chains < 1 || o.chains > 1000:
				return command.Usagef("--chains is %d, want 1 to 1000", o.chains)
			}
			r, err := evalLatent(cmd.Context(), o)
			if err != nil {
				return err
			}
			return printReport(cmd.OutOrStdout(), r, o.asJSON)
		},
	}
	p := c.Flags()
	p.StringVar(&o.model, "model", "human-latent", "a shipped model's `name`, or a model file")
	p.StringArrayVar(&o.data, "data", nil, "`folder` of the recordings that it was trained on; may stand several times")
	p.StringVar(&o.next, "next", "", "how its clips go on: a shipped model's `name`, or a model file (default: human-next for human-latent, else none)")
	p.StringSliceVar(&o.heldOut, "held-out", nil, "`patterns` of the recordings that it has not seen (default: as train latent)")
	p.IntVar(&o.chains, "chains", 8, "chains of six clips to make")
	p.IntVar(&o.threads, "threads", runtime.GOMAXPROCS(0), "workers")
	p.BoolVar(&o.rates, "rates", true, "measure how long decoding takes, too")
	p.StringVar(&o.figures, "figures", "", "`folder` to draw Fig. 5.6 to 5.8 into")
	p.BoolVar(&o.asJSON, "json", false, "print the report as JSON")
	must(c.MarkFlagRequired("data"))
	return c
}

// evalLatentReport is what the command prints.
type evalLatentReport struct {
	Model       string             `json:"model"`
	Recordings  []evalClips        `json:"recordings"`
	Walks       evalClips          `json:"walks"` // over the clips of held-out recordings of 0.5 to 2 m/s
	Runs        evalClips          `json:"runs"`  // of faster ones
	Slow        evalClips          `json:"slow"`  // of slower ones
	KL          float64            `json:"kl_nats"`
	Active      int                `json:"active_values"` // latent values that tell more than 0.1 nats
	Values      int                `json:"values"`
	Clips       int                `json:"clips"`
	Components  []evalComponent    `json:"components"`
	Told        []evalTrait        `json:"told"` // of held-out clips
	Made        []evalSlider       `json:"made"`
	Chain       evalChain          `json:"chain"`
	Walking     []metrics.Strolled `json:"strollers,omitempty"`
	Rates       []evalLatentRate   `json:"rates"`
	Figures     []string           `json:"figures,omitempty"`
	Bars        evalBars           `json:"bars"`
	model       *latent.Model      // under test
	coder       *latent.Coder      //
	traits      []latent.Trait     //
	train, held evalEncoded        //
	rng         *rand.Rand         //
}

// evalClips is how the clips of a recording come back.
type evalClips struct {
	Name     string  `json:"name"`
	Clips    int     `json:"clips"`
	Speed    float64 `json:"speed_m_s"`
	RMS      float64 `json:"rms_cm"`            // distance of joints, seen from the body
	Refined  float64 `json:"refined_cm"`        // the same after a fit
	Path     float64 `json:"path_cm"`           // distance of the body from where it has gone, after a second
	Slide    float64 `json:"slide_cm"`          // of standing contacts over the ground, per frame
	Recorded float64 `json:"recorded_slide_cm"` //
}

// evalComponent is one component, by what it does to frames.
type evalComponent struct {
	Name   string  `json:"name"`
	Effect float64 `json:"effect_cm"` // RMS distance of joints between clips 1 deviation to both sides of the mean, halved
}

// evalTrait is how well single components tell a trait: the squared correlation with
// the best of them, and which that is.
type evalTrait struct {
	Name      string  `json:"name"`
	Unit      string  `json:"unit"`
	Deviation float64 `json:"deviation"` // of the trait among the clips
	R2        float64 `json:"r2"`
	Component int     `json:"component"` // from 1
	Plain     float64 `json:"plain_r2"`  // of principal components of the latent values
	PlainAt   int     `json:"plain_at"`  //
	Frames    float64 `json:"frames_r2"` // of principal components of the clips' frames
	FramesAt  int     `json:"frames_at"` //
}

// evalSlider is what a component does to the trait that it has the name of.
type evalSlider struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Slope float64 `json:"slope"` // of the trait per deviation
	R2    float64 `json:"r2"`
}

// evalChain is how well chained clips meet.
type evalChain struct {
	Chains int     `json:"chains"`
	Seams  int     `json:"seams"`
	Mean   float64 `json:"mean_cm"` // RMS distance of joints between both clips over their overlap
	Most   float64 `json:"most_cm"`
	MS     float64 `json:"ms_per_clip"`
}

// evalLatentRate is how long decoding takes.
type evalLatentRate struct {
	Clips   int     `json:"clips"`
	Threads int     `json:"threads"`
	BF16    bool    `json:"bf16"` // products in bfloat16, where the processor has them
	MS      float64 `json:"ms"`
	Bar     float64 `json:"bar_ms"`
}

// evalEncoded are clips and their latent values.
type evalEncoded struct {
	set  *dataset.MotionSet
	z    *mat.Dense  // (clips, values)
	rows [][]float32 // (latent.Frames, columns) raw each
}

func evalLatent(ctx context.Context, o evalLatentOptions) (*evalLatentReport, error) {
	if err := figuresFolder(o.figures); err != nil {
		return nil, err
	}
	net, err := models.Open(o.model)
	if err != nil {
		return nil, err
	}
	r := &evalLatentReport{Model: o.model, rng: rand.New(rand.NewPCG(1, 2))}
	if r.model, err = latent.New(net); err != nil {
		return nil, err
	}
	if o.next == "" && o.model == "human-latent" {
		o.next = "human-next"
	}
	var next *netruntime.Net
	if o.next != "" {
		if next, err = models.Open(o.next); err != nil {
			return nil, err
		}
	}
	if r.traits, err = latent.Traits(r.model.Layout); err != nil {
		return nil, err
	}
	if r.coder, err = r.model.NewCoder(latent.CoderOptions{Batch: 128, Workers: o.threads}); err != nil {
		return nil, err
	}
	defer r.coder.Close()
	opt, err := latentOptions(o.data, nil, o.heldOut, 1, o.threads)
	if err != nil {
		return nil, err
	}
	opt.Layout = r.model.Layout
	if r.train.set, r.held.set, err = dataset.BuildMotion(o.data, opt); err != nil {
		return nil, err
	}
	if len(r.held.set.Windows) == 0 {
		return nil, errors.New("no clip of a second is held out: name some recordings with --held-out")
	}
	for _, e := range []*evalEncoded{&r.train, &r.held} {
		if e.z, e.rows, err = recipes.EncodeClips(r.model, e.set, o.threads); err != nil {
			return nil, err
		}
	}
	r.Values, r.Clips = r.model.Values, len(r.held.rows)
	for _, stage := range []func() error{func() error { // first: it tells whether the two go together
		if next == nil {
			return nil
		}
		return r.walks(next, o.threads)
	}, r.reconstruct, r.divergence, r.effects, r.told, r.made, func() error { return r.chains(o.chains) }, func() error {
		if !o.rates {
			return nil
		}
		return r.rates(o.threads)
	}} {
		if ctx.Err() != nil {
			return nil, errors.New("interrupted, nothing measured")
		}
		if err := stage(); err != nil {
			return nil, err
		}
	}
	r.Bars = r.bars()
	if o.figures != "" {
		if r.Figures, err = r.draw(o.figures); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// bars compares the report's figures with their bars.
func (r *evalLatentReport) bars() evalBars {
	var b evalBars
	if r.Walks.Clips > 0 {
		b.most("RMS error of a held-out walk's joints, cm", "walks", &r.Walks.RMS, 4)
	}
	for i := range min(3, len(r.Told)) {
		b.least("R² of the best component", r.Told[i].Name, &r.Told[i].R2, 0.8)
	}
	for i := range r.Rates {
		of := fmt.Sprintf("%d on %d threads", r.Rates[i].Clips, r.Rates[i].Threads)
		if r.Rates[i].BF16 {
			of += " in bfloat16"
		}
		b.most("ms to decode", of, &r.Rates[i].MS, r.Rates[i].Bar)
	}
	return b
}

func (r *evalLatentReport) print(w io.Writer) error {
	t := &evalTables{w: w}
	rows := []string{"recording\tclips\tm/s\tRMS cm\tafter a fit\tbody off after 1 s, cm\tslide cm/frame\trecorded"}
	for _, e := range append(slices.Clone(r.Recordings), r.Walks, r.Runs, r.Slow) {
		if e.Clips > 0 {
			rows = append(rows, cells(e.Name, fmt.Sprint(e.Clips), fmt.Sprintf("%.1f", e.Speed), fmt.Sprintf("%.2f", e.RMS), fmt.Sprintf("%.2f", e.Refined), fmt.Sprintf("%.1f", e.Path), fmt.Sprintf("%.2f", e.Slide), fmt.Sprintf("%.2f", e.Recorded)))
		}
	}
	t.section(fmt.Sprintf("%s on clips held out; divergence %.1f nats, %d of %d latent values active", r.Model, r.KL, r.Active, r.Values), rows...)
	rows = []string{"trait\tdeviation\tR²\tof component\tplain\tof\tof frames\tof"}
	for _, q := range r.Told {
		rows = append(rows, cells(q.Name, fmt.Sprintf("%.3g %s", q.Deviation, q.Unit), fmt.Sprintf("%.2f", q.R2), fmt.Sprint(q.Component),
			fmt.Sprintf("%.2f", q.Plain), fmt.Sprint(q.PlainAt), fmt.Sprintf("%.2f", q.Frames), fmt.Sprint(q.FramesAt)))
	}
	t.section(fmt.Sprintf("R² of the best component among %d clips held out, beside plain principal components of the latent values and of the frames", r.Clips), rows...)
	rows = []string{"slider\tper deviation\tR²"}
	for _, q := range r.Made {
		rows = append(rows, cells(q.Name, fmt.Sprintf("%.3g %s", q.Slope, q.Unit), fmt.Sprintf("%.2f", q.R2)))
	}
	t.section("What becomes of the trait where a component alone is set anew in clips held out", rows...)
	rows = []string{"component\tname\tjoints move by, cm"}
	for i, c := range r.Components {
		rows = append(rows, cells(fmt.Sprint(i+1), c.Name, fmt.Sprintf("%.2f", c.Effect)))
	}
	t.section("What a deviation of each component does", rows...)
	t.section(fmt.Sprintf("%d clips chained, which turn and step as wanted", r.Chain.Seams+r.Chain.Chains),
		"apart over the overlap: mean cm\tmost\tms a clip",
		cells(fmt.Sprintf("%.2f", r.Chain.Mean), fmt.Sprintf("%.2f", r.Chain.Most), fmt.Sprintf("%.0f", r.Chain.MS)))
	if len(r.Walking) > 0 {
		r.printWalks(t)
	}
	t.table(fmt.Sprintf("%s in short: %d of %d bars missed, marked *", r.Model, r.Bars.missed(), len(r.Bars)), 0, r.Bars.rows())
	return t.err
}
