package manifold

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
	"mannequin/offline/dataset"
	"mannequin/offline/metrics"
	"mannequin/offline/retarget"
)

// Stylized is the report of stylize.
type Stylized struct {
	Out       string  `json:"out"`
	Seconds   float64 `json:"seconds"`
	Took      float64 `json:"took_s"`
	Rate      float64 `json:"frames_per_second"`
	Steps     int     `json:"steps"`
	Weight    float64 `json:"style_weight"` // weight in the cost
	Cost      float64 `json:"cost"`
	Before    float64 `json:"cost_before"`
	Content   float64 `json:"content_cost"`
	GramWas   float64 `json:"gram_distance_content"`
	Gram      float64 `json:"gram_distance"`
	GramRatio float64 `json:"gram_ratio"`

	CadenceWas float64             `json:"cadence_content"` // steps per second; 0 for fewer than two steps
	Cadence    float64             `json:"cadence"`
	SkateWas   float64             `json:"skate_content_cm"` // of the content, per frame
	Edit       manifold.EditReport `json:"edit"`
	Motion     metrics.People      `json:"motion"`
}

// Styling are the settings of a style transfer.
type Styling struct {
	Content, Style            string  // names, for errors
	Amount                    float64 // scales the weight of the style's term
	Iterations, Edit, Threads int
	Seed                      uint64
}

// Stylize gives content, whose body starts at start, the style of clip, and measures the result, rows.
func Stylize(m *manifold.Model, content []float32, start feature.Place, clip []float32, o Styling) (rep *Stylized, rows []float32, err error) {
	style, err := m.NewStyle(clip, o.Threads)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", o.Style, err)
	}
	frames := len(content) / m.Layout.Columns()
	s, err := m.NewGramOptimizer(manifold.GramOptimizerOptions{Batch: 1, Length: frames, Workers: o.Threads})
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	w := style.Weights()
	w.Style *= float32(o.Amount)
	rows = slices.Clone(content)
	at := time.Now()
	reports, edit, err := s.Run(&manifold.StyleJob{Batch: 1, Length: frames, Rows: rows, Styles: []*manifold.Style{style},
		Weights: []manifold.StyleWeights{w}, Seed: o.Seed, Iterations: o.Iterations, Edit: o.Edit})
	if err != nil {
		return nil, nil, err
	}
	r, took := reports[0], time.Since(at).Seconds()
	if r.Failed {
		return nil, nil, fmt.Errorf("%s: no motion near to it was found: its values leave the range of numbers", o.Content)
	}
	rep = &Stylized{Seconds: float64(frames) / manifold.Rate, Took: took, Rate: float64(frames) / took, Steps: r.Steps, Weight: float64(w.Style),
		Cost: r.After, Before: r.Before, Content: r.Content, GramWas: r.GramContent, Gram: r.GramResult, GramRatio: r.Ratio(), Edit: edit}
	rep.CadenceWas, rep.Cadence = StepsPerSecond(m.Layout, content), StepsPerSecond(m.Layout, rows)
	stand := Contacts(m.Layout, content)
	was, err := metrics.MeasurePeople(m, content, stand, start, nil)
	if err != nil {
		return nil, nil, err
	}
	rep.SkateWas = was.Skate
	rep.Motion, err = metrics.MeasurePeople(m, rows, stand, start, nil)
	return rep, rows, err
}

// OpenPerson reads a recording of a person, of an even number of frames.
func OpenPerson(m *manifold.Model, path string, read retarget.Reading) ([]float32, feature.Place, error) {
	rows, start, err := dataset.OpenPerson(path, m.Layout, m.Skel, read)
	if err != nil {
		return nil, start, err
	}
	cols := m.Layout.Columns()
	frames := len(rows) / cols &^ 1
	if frames < manifold.MinStyleFrames {
		return nil, start, fmt.Errorf("%s: %.2g s are too short, want at least %.2g s", path, float64(len(rows)/cols)/manifold.Rate, float64(manifold.MinStyleFrames)/manifold.Rate)
	}
	return rows[:frames*cols], start, nil
}

// Contacts returns the contacts of rows, (frames, contacts).
func Contacts(l *feature.Motion, rows []float32) []float32 {
	cols := l.Columns()
	var stand []float32
	for ; len(rows) > 0; rows = rows[cols:] {
		stand = append(stand, rows[l.Contact(0):cols]...)
	}
	return stand
}

// StepsPerSecond returns how often one foot overtakes the other in the direction of motion, between the
// first time and the last. A foot is the contacts of one side. It overtakes by more than ahead metres.
func StepsPerSecond(l *feature.Motion, rows []float32) float64 {
	const ahead = 0.04
	side, first, last, steps := 0, 0, 0, 0
	for f := range len(rows) / l.Columns() {
		row := rows[f*l.Columns():][:l.Columns()]
		vx, vz := row[l.Body()+feature.MotionX], row[l.Body()+feature.MotionZ]
		v := m3.Sqrt(vx*vx + vz*vz)
		if v < 0.1 {
			continue
		}
		var apart float32
		for _, c := range l.Contacts {
			at := l.Pos(l.Joint(c.Joint))
			along := (row[at]*vx + row[at+2]*vz) / v
			if strings.HasPrefix(c.Joint, "Left") {
				along = -along
			}
			apart += 2 * along / float32(len(l.Contacts))
		}
		now := side
		if apart > ahead {
			now = 1
		} else if apart < -ahead {
			now = -1
		}
		if now != side && side != 0 {
			if steps++; steps == 1 {
				first = f
			}
			last = f
		}
		side = now
	}
	if last == first {
		return 0
	}
	return float64(steps-1) * manifold.Rate / float64(last-first)
}

// Print writes the report as text.
func (r *Stylized) Print(w io.Writer) error {
	fmt.Fprintf(w, "%s: %.1f s of motion in %.2f s (%.0f frames/s): %d steps towards the style, %d of editing\n",
		r.Out, r.Seconds, r.Took, r.Rate, r.Steps, r.Edit.Steps)
	fmt.Fprintf(w, "distance from the style's Gram matrix: %.3g, the content's %.4g (ratio %.3f)\n", r.Gram, r.GramWas, r.GramRatio)
	fmt.Fprintf(w, "cost %.4g of %.4g, %.4g of it the distance from the content; weight of style %.3g\n", r.Cost, r.Before, r.Content, r.Weight)
	fmt.Fprintf(w, "steps per second: %.2f, the content's %.2f\n", r.Cadence, r.CadenceWas)
	_, err := fmt.Fprintf(w, "standing feet slide %.3f cm/frame, the content's %.3f; bones change by %.2f %% (largest %.1f %%)\n",
		r.Motion.Skate, r.SkateWas, r.Motion.Bone, r.Motion.BoneMost)
	return err
}
