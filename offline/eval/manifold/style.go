package manifold

import (
	"math"
	"path/filepath"

	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/offline/eval"
)

// Style is a walk with the style of a recording, along the meander, at the recording's speed.
type Style struct {
	Clip       string  `json:"clip"`
	Speed      float64 `json:"speed_m_s"`
	Ratio      float64 `json:"gram_ratio"`
	CadenceWas float64 `json:"cadence_content"` // steps per second
	Cadence    float64 `json:"cadence"`
	Skate      float64 `json:"slide_cm"`
	Rate       float64 `json:"frames_per_second"` // the edit included
}

// Length of the content, s, and bounds of its speed, m/s.
const (
	styleSeconds           = 8
	styleSlow, styleFast   = 0.5, 3.5
	paperStyleRate, styled = 214, 0.2 // frames per second of Table 1, and the ratio to reach
)

// styles gives walks the styles of recordings.
func (r *Report) styles(p *manifold.Networks, o Options) error {
	if len(o.Styles) == 0 {
		return nil
	}
	const frames = styleSeconds * manifold.Rate
	l, err := p.NewLocomotion(manifold.LocomotionOptions{Batch: 1, Frames: frames, Workers: o.Threads})
	if err != nil {
		return err
	}
	defer l.Close()
	for _, path := range o.Styles {
		clip, _, err := OpenPerson(p.Model, path, o.Reading)
		if err != nil {
			return err
		}
		s := Style{Clip: filepath.Base(path), Speed: min(max(p.Model.Layout.MeanSpeed(clip), styleSlow), styleFast)}
		course, err := manifold.AlongPath(control.Meander(), frames, func(int) float32 { return float32(s.Speed) }, func(int) float32 { return 0 })
		if err != nil {
			return err
		}
		made, _, err := l.Make([]manifold.Trajectory{course}, nil, manifold.DefaultIterations, nil)
		if err != nil {
			return err
		}
		content := made[0].Rows
		contacts := len(p.Model.Layout.Contacts)
		for f := range frames { // contacts are the networks' probabilities
			copy(content[f*p.Model.Layout.Columns()+p.Model.Layout.Contact(0):][:contacts], made[0].Contacts[f*contacts:])
		}
		rep, _, err := Stylize(p.Model, content, made[0].Start, clip,
			Styling{Content: s.Clip, Style: path, Amount: 1, Iterations: manifold.StyleIterations, Edit: manifold.DefaultIterations, Seed: 1, Threads: o.Threads})
		if err != nil {
			return err
		}
		s.Ratio, s.CadenceWas, s.Cadence, s.Skate = rep.GramRatio, rep.CadenceWas, rep.Cadence, rep.Motion.Skate
		if o.Rates {
			s.Rate = rep.Rate
		}
		r.Styles = append(r.Styles, s)
	}
	return nil
}

// styleBars adds the bars of styles.
func (r *Report) styleBars(b *eval.Bars) {
	for _, s := range r.Styles {
		b.Most("distance of the Gram matrix from a style's ÷ before", s.Clip, s.Ratio, styled)
		b.Most("change of its steps per second", s.Clip, math.Abs(s.Cadence/s.CadenceWas-1), 0.05)
		if s.Rate > 0 {
			b.Least("frames per second", "style "+s.Clip, s.Rate, paperStyleRate)
		}
	}
}

func (r *Report) printStyles(t *eval.Tables) {
	t.Section("Walks in the styles of recordings", "style\tm/s\tGram distance ÷ before\tsteps/s\tbefore\tslide cm/frame\tframes/s")
	for _, s := range r.Styles {
		t.Row("%s\t%.2f\t%.3f\t%.2f\t%.2f\t%.3f\t%.0f",
			s.Clip, s.Speed, s.Ratio, s.Cadence, s.CadenceWas, s.Skate, s.Rate)
	}
}
