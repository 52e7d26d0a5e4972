package manifold

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
	"mannequin/offline/eval"
	"mannequin/offline/metrics"
	"mannequin/offline/retarget"
)

// Options are the flags of eval manifold.
type Options struct {
	Networks
	Punch, Kick string
	Data        []string
	HeldOut     []string
	Reading     retarget.Reading // how recordings are read
	Styles      []string
	Seconds     float64
	Threads     int
	Rates       bool
}

// Report is the result.
type Report struct {
	Model       string                   `json:"model"`
	Reconstruct []metrics.Reconstruction `json:"reconstruction"` // of the held-out recordings
	Denoise     []Noise                  `json:"denoise"`
	Walks       metrics.People           `json:"recorded_walks"` // means over the held-out recordings of 0.5 to 2 m/s
	Runs        metrics.People           `json:"recorded_runs"`  // of faster ones
	Curves      []Curve                  `json:"curves"`
	Acts        []Act                    `json:"acts"`
	Styles      []Style                  `json:"styles"`
	Rates       []Rate                   `json:"rates"`
	Bars        eval.Bars                `json:"bars"`
}

// Noise is noise on a recording, before and after denoising.
type Noise struct {
	Clip  string  `json:"clip"`
	Noisy float64 `json:"noisy_cm"` // RMS distance of joints from the recording's
	Left  float64 `json:"left_cm"`
}

// Curve is motion along one curve at one speed.
type Curve struct {
	Curve  string         `json:"curve"`
	Speed  float64        `json:"speed_m_s"`
	Raw    metrics.People `json:"raw"`
	Edited metrics.People `json:"edited"`
	Before float64        `json:"cost_before"`
	After  float64        `json:"cost_after"`
}

// Networks names the networks of people on curves: shipped models or model files.
type Networks struct{ Base, Steps, Locomotion string }

// Open opens them.
func (n Networks) Open() (*manifold.Networks, error) {
	var nets [3]*netruntime.Net
	for i, name := range []string{n.Base, n.Steps, n.Locomotion} {
		var err error
		if nets[i], err = models.Open(name); err != nil {
			return nil, err
		}
	}
	return manifold.NewNetworks(nets[0], nets[1], nets[2])
}

// Measure measures the networks.
func Measure(ctx context.Context, o Options) (*Report, error) {
	p, err := o.Networks.Open()
	if err != nil {
		return nil, err
	}
	_, heldOut, err := dataset.BuildMotion(o.Data, dataset.MotionOptions{Layout: p.Model.Layout, HeldOut: o.HeldOut, Read: o.Reading, Workers: o.Threads})
	if err != nil {
		return nil, err
	}
	if len(heldOut.Clips) == 0 {
		return nil, errors.New("no recording is held out: name some with --held-out")
	}
	r := &Report{Model: o.Base}
	err = eval.Stages(ctx,
		func() error { return r.recordings(p.Model, heldOut, o.Threads) },
		func() error { return r.curves(p, o) },
		func() error { return r.rates(p, o) },
		func() error { return r.acts(p.Model, heldOut, o) },
		func() error { return r.styles(p, o) })
	if err != nil {
		return nil, err
	}
	r.Bars = r.bars()
	return r, nil
}

// noise is the deviation of the noise on every coordinate of a joint, m.
const noise = 0.05

// recordings measures reconstruction and denoising of held-out recordings.
func (r *Report) recordings(m *manifold.Model, set *dataset.MotionSet, workers int) error {
	cols := m.Layout.Columns()
	for i, c := range set.Clips[:len(set.Clips)/2] {
		rec, err := metrics.Reconstruct(m, c.Name, c.Rows, workers)
		if err != nil {
			return err
		}
		r.Reconstruct = append(r.Reconstruct, rec)
		rows := c.Rows[:c.Frames&^1*cols]
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		spoilt := append([]float32(nil), rows...)
		for f := range len(rows) / cols {
			for k := range m.Layout.Body() {
				spoilt[f*cols+k] += noise * float32(rng.NormFloat64())
			}
		}
		clean, err := m.Denoise(spoilt, manifold.DefaultIterations, workers)
		if err != nil {
			return err
		}
		r.Denoise = append(r.Denoise, Noise{c.Name, metrics.JointRMS(m.Layout, spoilt, rows), metrics.JointRMS(m.Layout, clean, rows)})
		if rec.Speed < 0.5 { // recordings of standing and boxing are not compared with walks
			continue
		}
		q, err := metrics.MeasurePeople(m, c.Rows, Contacts(m.Layout, c.Rows), feature.Place{}, nil)
		if err != nil {
			return err
		}
		into := r.recorded(rec.Speed)
		into.Frames += q.Frames
		eval.Add(perFrame(into), perFrame(&q), float64(q.Frames))
	}
	for _, p := range []*metrics.People{&r.Walks, &r.Runs} {
		eval.Divide(perFrame(p), float64(p.Frames))
	}
	return nil
}

// perFrame returns the measures of recordings that are means over frames.
func perFrame(p *metrics.People) []*float64 { return []*float64{&p.Skate, &p.Lift, &p.Jerk} }

// runSpeed is the speed from which motion is compared with recorded runs, m/s.
const runSpeed = 2

// recorded returns the recordings to compare a curve with.
func (r *Report) recorded(speed float64) *metrics.People {
	if speed >= runSpeed {
		return &r.Runs
	}
	return &r.Walks
}

// curveSpeeds are the speeds along curves: a stroll, a walk, a jog and a run, m/s.
var curveSpeeds = []float32{0.8, 1.4, 2.2, 3.3}

// curvePaths returns the curves.
func curvePaths() (names []string, paths []*control.Path, err error) {
	straight, err1 := control.NewPath([]m3.Vec3{{}, {Z: 100}, {Z: 200}, {Z: 300}}, false)
	circle, err2 := control.Circle(4)
	square, err3 := control.Square(4)
	names = []string{"straight", "circle of 4 m", "square of 8 m", "meander"}
	return names, []*control.Path{straight, circle, square, control.Meander()}, errors.Join(err1, err2, err3)
}

// curves makes motion along every curve at every speed.
func (r *Report) curves(p *manifold.Networks, o Options) error {
	names, paths, err := curvePaths()
	if err != nil {
		return err
	}
	frames := int(math.Round(o.Seconds * manifold.Rate))
	l, err := p.NewLocomotion(manifold.LocomotionOptions{Batch: 1, Frames: frames, Workers: o.Threads})
	if err != nil {
		return err
	}
	defer l.Close()
	for i, path := range paths {
		for _, v := range curveSpeeds {
			course, err := manifold.AlongPath(path, frames, func(int) float32 { return v }, func(int) float32 { return 0 })
			if err != nil {
				return err
			}
			c := Curve{Curve: names[i], Speed: float64(v)}
			for _, edit := range []struct {
				steps int
				into  *metrics.People
			}{{0, &c.Raw}, {manifold.DefaultIterations, &c.Edited}} {
				made, rep, err := l.Make([]manifold.Trajectory{course}, nil, edit.steps, nil)
				if err != nil {
					return err
				}
				if *edit.into, err = metrics.MeasurePeople(p.Model, made[0].Rows, made[0].Contacts, made[0].Start, course); err != nil {
					return err
				}
				c.Before, c.After = rep.Edit.Before, rep.Edit.After
			}
			r.Curves = append(r.Curves, c)
		}
	}
	return nil
}

// bars compares the report's figures with their bars.
func (r *Report) bars() eval.Bars {
	var b eval.Bars
	var axis, cut, n float64
	for i, c := range r.Reconstruct {
		if c.Speed >= 0.5 && c.Speed < runSpeed {
			axis, n = axis+c.RMS/math.Sqrt(3), n+1
		}
		cut += (1 - r.Denoise[i].Left/r.Denoise[i].Noisy) / float64(len(r.Reconstruct))
	}
	b.Most("RMS error of a held-out walk's joints, cm per axis", "walks", axis/max(1, n), 1)
	b.Least("share of noise of 5 cm that is taken off", "all held out", cut, 0.7)
	for _, c := range r.Curves {
		of := fmt.Sprintf("%s %.1f m/s", c.Curve, c.Speed)
		b.Most("body off the curve, cm", of, c.Edited.Away, 2)
		b.Most("body's facing off the curve, °", of, c.Edited.Aside, 2)
		b.Most("standing feet slide, cm per frame", of, c.Edited.Skate, 0.3)
		b.Most("bones change by, %", of, c.Edited.Bone, 0.5)
		if recorded := r.recorded(c.Speed); recorded.Frames > 0 {
			b.Most("standing feet slide ÷ recorded", of, c.Edited.Skate/recorded.Skate, 1.1)
			b.Most("jerk of the joints ÷ recorded", of, c.Edited.Jerk/recorded.Jerk, 1)
		}
	}
	r.actBars(&b)
	r.styleBars(&b)
	for _, v := range r.Rates {
		b.Least("frames per second", v.Task, v.Rate, v.Bar)
	}
	return b.Sorted()
}

// Print writes the report as text.
func (r *Report) Print(w io.Writer) error {
	t := eval.NewTables(w)
	t.Section(r.Model+" on held-out recordings", "recording\tframes\tm/s\tRMS cm\tper axis\tworst cm\tbones %\tcontacts\tnoisy cm\tdenoised")
	for i, c := range r.Reconstruct {
		t.Row("%s\t%v\t%.1f\t%.2f\t%.2f\t%.1f %s\t%.2f\t%.3f\t%.2f\t%.2f",
			c.Clip, c.Frames, c.Speed, c.RMS, c.RMS/math.Sqrt(3), c.Worst, c.Joint, c.Bone, c.Contact, r.Denoise[i].Noisy, r.Denoise[i].Left)
	}
	t.Section(fmt.Sprintf("Along curves, after %d steps of the edit; recorded walks and runs: slide %.3f, %.3f, lift %.3f, %.3f, jerk %.2f, %.2f cm per frame",
		manifold.DefaultIterations, r.Walks.Skate, r.Runs.Skate, r.Walks.Lift, r.Runs.Lift, r.Walks.Jerk, r.Runs.Jerk), "curve\tm/s\tcm\t°\tslide cm/frame\tlift\tbones %\tmost\tjerk\tbefore the edit: slide\tbones %\tjerk\tcost\tafter")
	for _, c := range r.Curves {
		t.Row("%s\t%.1f\t%.2f\t%.2f\t%.3f\t%.3f\t%.2f\t%.1f\t%.2f\t%.3f\t%.2f\t%.2f\t%.2g\t%.2g",
			c.Curve, c.Speed, c.Edited.Away, c.Edited.Aside, c.Edited.Skate, c.Edited.Lift, c.Edited.Bone, c.Edited.BoneMost, c.Edited.Jerk, c.Raw.Skate, c.Raw.Bone, c.Raw.Jerk, c.Before, c.After)
	}
	r.printActs(t)
	r.printStyles(t)
	t.Section("Table 1", "task\tframes\tsynthesis s\tediting s\tframes/s\tpaper's GPU")
	for _, v := range r.Rates {
		t.Row("%s\t%v\t%.3f\t%.3f\t%.0f\t%.0f", v.Task, v.Frames, v.Synthesis, v.Editing, v.Rate, v.Paper)
	}
	return t.InShort(r.Model, r.Bars, "")
}
