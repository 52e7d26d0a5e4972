// Package latent measures the latent space of a second of motion (Lüdi 2016).
package latent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mannequin/animsys/latent"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
	"mannequin/offline/eval"
	"mannequin/offline/eval/figure"
	"mannequin/offline/metrics"
	"mannequin/offline/recipes"
	"mannequin/offline/retarget"
)

// Options are the flags of eval latent.
type Options struct {
	Model   string
	Data    []string
	HeldOut []string
	Reading retarget.Reading // how recordings are read
	Chains  int
	Threads int
	Rates   bool
	Figures string
	Next    string
}

// Report is the result.
type Report struct {
	Model       string                `json:"model"`
	Recordings  []Clips               `json:"recordings"`
	Walks       Clips                 `json:"walks"` // over the clips of held-out recordings of 0.5 to 2 m/s
	Runs        Clips                 `json:"runs"`  // of faster ones
	Slow        Clips                 `json:"slow"`  // of slower ones
	KL          float64               `json:"kl_nats"`
	Active      int                   `json:"active_values"` // latent values with a divergence above 0.1 nats
	Values      int                   `json:"values"`
	Clips       int                   `json:"clips"`
	Components  []Component           `json:"components"`
	Told        []Trait               `json:"told"` // of held-out clips
	Made        []Slider              `json:"made"`
	Chain       Chain                 `json:"chain"`
	Walking     []metrics.LatentCrowd `json:"strollers,omitempty"`
	Rates       []Rate                `json:"rates"`
	Figures     []string              `json:"figures,omitempty"`
	Bars        eval.Bars             `json:"bars"`
	model       *latent.Model         // under test
	coder       *latent.Coder         //
	traits      []latent.Trait        //
	train, held encoded               //
	rng         *rand.Rand            //
}

// Clips is the reconstruction of the clips of a recording.
type Clips struct {
	Name     string  `json:"name"`
	Clips    int     `json:"clips"`
	Speed    float64 `json:"speed_m_s"`
	RMS      float64 `json:"rms_cm"`            // distance of joints, seen from the body
	Refined  float64 `json:"refined_cm"`        // the same after a fit
	Path     float64 `json:"path_cm"`           // distance of the body from the recorded one after a second
	Slide    float64 `json:"slide_cm"`          // of standing contacts over the ground, per frame
	Recorded float64 `json:"recorded_slide_cm"` //
}

// Component is the effect of a component on frames.
type Component struct {
	Name   string  `json:"name"`
	Effect float64 `json:"effect_cm"` // RMS distance of joints between clips 1 deviation to both sides of the mean, halved
}

// Trait is how much a single component explains of a trait: the squared correlation with the best
// component, and its number.
type Trait struct {
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

// Slider is the effect of a component on the trait of its name.
type Slider struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Slope float64 `json:"slope"` // of the trait per deviation
	R2    float64 `json:"r2"`
}

// Chain is the distance of chained clips at their borders.
type Chain struct {
	Chains int     `json:"chains"`
	Seams  int     `json:"seams"`
	Mean   float64 `json:"mean_cm"` // RMS distance of joints between both clips over their overlap
	Most   float64 `json:"most_cm"`
	MS     float64 `json:"ms_per_clip"`
}

// Rate is the time to decode.
type Rate struct {
	Clips   int     `json:"clips"`
	Threads int     `json:"threads"`
	BF16    bool    `json:"bf16"` // in bfloat16 if the processor has it
	MS      float64 `json:"ms"`
	Bar     float64 `json:"bar_ms"`
}

// encoded are clips and their latent values.
type encoded struct {
	set  *dataset.MotionSet
	z    *mat.Dense  // (clips, values)
	rows [][]float32 // (latent.Frames, columns) raw each
}

// Measure measures a latent space.
func Measure(ctx context.Context, o Options) (*Report, error) {
	album, err := figure.NewAlbum(o.Figures)
	if err != nil {
		return nil, err
	}
	r := &Report{Model: o.Model, rng: rand.New(rand.NewPCG(1, 2))}
	if r.model, err = models.OpenAs(o.Model, latent.NewModel); err != nil {
		return nil, err
	}
	if o.Next == "" && o.Model == "human-latent" {
		o.Next = "human-next"
	}
	var next *netruntime.Net
	if o.Next != "" {
		if next, err = models.Open(o.Next); err != nil {
			return nil, err
		}
	}
	if r.traits, err = latent.Traits(r.model.Layout); err != nil {
		return nil, err
	}
	if r.coder, err = r.model.NewCoder(latent.CoderOptions{Batch: 128, Workers: o.Threads}); err != nil {
		return nil, err
	}
	defer r.coder.Close()
	opt, err := recipes.LatentClips(o.Data, nil, o.HeldOut, 1, o.Threads)
	if err != nil {
		return nil, err
	}
	opt.Layout = r.model.Layout
	opt.Read = o.Reading
	if r.train.set, r.held.set, err = dataset.BuildMotion(o.Data, opt); err != nil {
		return nil, err
	}
	if len(r.held.set.Windows) == 0 {
		return nil, errors.New("no clip of a second is held out: name some recordings with --held-out")
	}
	for _, e := range []*encoded{&r.train, &r.held} {
		if e.z, e.rows, err = recipes.EncodeClips(r.model, e.set, o.Threads); err != nil {
			return nil, err
		}
	}
	r.Values, r.Clips = r.model.Values, len(r.held.rows)
	if next != nil { // first: it checks that the two fit
		if err := r.walks(next, o.Threads); err != nil {
			return nil, err
		}
	}
	stages := []func() error{r.reconstruct, r.divergence, r.effects, r.explain, r.setTraits, func() error { return r.chains(o.Chains) }}
	if o.Rates {
		stages = append(stages, func() error { return r.rates(o.Threads) })
	}
	if err := eval.Stages(ctx, stages...); err != nil {
		return nil, err
	}
	r.Bars = r.bars()
	if album != nil {
		err = r.draw(album)
		r.Figures = album.Paths
	}
	return r, err
}

// bars compares the report's figures with their bars.
func (r *Report) bars() eval.Bars {
	var b eval.Bars
	if r.Walks.Clips > 0 {
		b.Most("RMS error of a held-out walk's joints, cm", "walks", r.Walks.RMS, 4)
	}
	for _, q := range r.Told[:min(3, len(r.Told))] {
		b.Least("R² of the best component", q.Name, q.R2, 0.8)
	}
	for _, v := range r.Rates {
		of := fmt.Sprintf("%d on %d threads", v.Clips, v.Threads)
		if v.BF16 {
			of += " in bfloat16"
		}
		b.Most("ms to decode", of, v.MS, v.Bar)
	}
	return b
}

// Print writes the report as text.
func (r *Report) Print(w io.Writer) error {
	t := eval.NewTables(w)
	t.Section(fmt.Sprintf("%s on held-out clips; divergence %.1f nats, %d of %d latent values active", r.Model, r.KL, r.Active, r.Values), "recording\tclips\tm/s\tRMS cm\tafter a fit\tbody off after 1 s, cm\tslide cm/frame\trecorded")
	for _, e := range append(slices.Clone(r.Recordings), r.Walks, r.Runs, r.Slow) {
		if e.Clips > 0 {
			t.Row("%s\t%v\t%.1f\t%.2f\t%.2f\t%.1f\t%.2f\t%.2f",
				e.Name, e.Clips, e.Speed, e.RMS, e.Refined, e.Path, e.Slide, e.Recorded)
		}
	}
	t.Section(fmt.Sprintf("R² of the best component among %d held-out clips, beside plain principal components of the latent values and of the frames", r.Clips), "trait\tdeviation\tR²\tof component\tplain\tof\tof frames\tof")
	for _, q := range r.Told {
		t.Row("%s\t%.3g %s\t%.2f\t%v\t%.2f\t%v\t%.2f\t%v",
			q.Name, q.Deviation, q.Unit, q.R2, q.Component, q.Plain, q.PlainAt, q.Frames, q.FramesAt)
	}
	t.Section("The trait when only its component is drawn again in held-out clips", "slider\tper deviation\tR²")
	for _, q := range r.Made {
		t.Row("%s\t%.3g %s\t%.2f", q.Name, q.Slope, q.Unit, q.R2)
	}
	t.Section("Effect of a deviation of each component", "component\tname\tjoints move by, cm")
	for i, c := range r.Components {
		t.Row("%v\t%s\t%.2f", i+1, c.Name, c.Effect)
	}
	t.Section(fmt.Sprintf("%d chained clips with requested turns and steps", r.Chain.Seams+r.Chain.Chains),
		"apart over the overlap: mean cm\tmost\tms a clip")
	t.Row("%.2f\t%.2f\t%.0f", r.Chain.Mean, r.Chain.Most, r.Chain.MS)
	t.Section(fmt.Sprintf("%d people each, by requested turn and speed", metrics.LatentCrowdSize), "turn rad/s\tspeed m/s\tturns\tgoes\tapart cm\tmost\tslide cm/frame\tstands")
	for _, w := range r.Walking {
		t.Row("%.1f\t%.1f\t%.2f\t%.2f\t%.2f\t%.2f\t%.3f\t%.0f %%", w.Turn, w.Speed, w.Turned, w.Went, w.Apart, w.Most, w.Slide, 100*w.Stand)
	}
	return t.InShort(r.Model, r.Bars, "")
}
