// Package keypose measures motion that is made between poses (after Lüdi 2016).
package keypose

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/animsys/skel"
	"mannequin/models"
	"mannequin/offline/dataset"
	"mannequin/offline/eval"
	"mannequin/offline/eval/figure"
	"mannequin/offline/metrics/inbetween"
	"mannequin/offline/retarget"
)

// Options are the flags of eval keypose.
type Options struct {
	Model   string
	Data    []string
	HeldOut []string
	Profile *retarget.Profile // nil: for each recording the built-in one that fits
	Gaps    string
	Unseen  []string
	Sparse  []string
	Figures string
	Threads int
}

// Report is what the command prints.
type Report struct {
	Model       string                 `json:"model"`
	Means       []Mean                 `json:"means"`
	Scores      []inbetween.Score      `json:"scores"`
	Sparse      []Sparse               `json:"sparse,omitempty"`
	Transitions []inbetween.Transition `json:"transitions,omitempty"`
	Figures     []string               `json:"figures,omitempty"`
	Bars        eval.Bars              `json:"bars"`
}

// Mean is how a method did on the recordings of a folder.
type Mean struct {
	Set    string  `json:"set"`
	Method string  `json:"method"`
	Every  float64 `json:"every_s"`
	Clips  int     `json:"clips"`
	inbetween.Errors
	Long       int     `json:"long_clips"`  // recordings that drift is measured in
	StepsRight float64 `json:"steps_right"` // share of the recordings in which as many steps are made
	Aside      int     `json:"aside_seconds"`
	AsideRight float64 `json:"aside_right"`
}

const (
	methodInterpolation = "interpolation"
	methodKeypose       = "keypose"
	methodHeld          = "keypose, feet held"
)

func Measure(ctx context.Context, o Options) (*Report, error) {
	if err := figure.Folder(o.Figures); err != nil {
		return nil, err
	}
	net, err := models.Open(o.Model)
	if err != nil {
		return nil, err
	}
	m, err := keypose.NewModel(net)
	if err != nil {
		return nil, err
	}
	maker, err := m.NewInbetweener(keypose.InbetweenerOptions{Workers: o.Threads})
	if err != nil {
		return nil, err
	}
	defer maker.Close()
	methods := []struct {
		name string
		fill inbetween.Fill
	}{
		{methodInterpolation, inbetween.Interpolate},
		{methodKeypose, func(t *keypose.Track) error { return maker.Fill(t, nil) }},
		{methodHeld, func(t *keypose.Track) error {
			stand := make([]float32, t.Frames*keypose.Feet)
			if err := maker.Fill(t, stand); err != nil {
				return err
			}
			return HoldFeet(t, stand)
		}},
	}
	r := &Report{Model: net.Meta().Name}
	var fig *keyposeFigures
	if o.Figures != "" {
		fig = &keyposeFigures{}
	}
	for _, dir := range o.Data {
		_, held, err := dataset.BuildMotion([]string{dir}, dataset.MotionOptions{HeldOut: o.HeldOut, Profile: o.Profile, Poses: true, Workers: o.Threads})
		if err != nil {
			return nil, err
		}
		for _, every := range []float64{0.5, 1} {
			for _, method := range methods {
				var scores []inbetween.Score
				for i := range held.Clips {
					c := &held.Clips[i]
					if ctx.Err() != nil {
						return nil, eval.ErrInterrupted
					}
					if c.Mirror || c.Poses.Seconds() < 2*every+1.0/60 {
						continue
					}
					s, err := inbetween.Even(m.Layout, feature.Human(), c.Name, method.name, c.Poses, every, method.fill)
					if err != nil {
						return nil, err
					}
					scores = append(scores, s)
				}
				r.Means = append(r.Means, meanKeypose(filepath.Base(filepath.Clean(dir)), method.name, every, scores))
				r.Scores = append(r.Scores, scores...)
			}
		}
		set := filepath.Base(filepath.Clean(dir))
		sparse, err := measureSparse(ctx, o.Sparse, set, held, methods[1].fill, m.Layout, o.Threads, fig)
		if err != nil {
			return nil, err
		}
		r.Sparse = append(r.Sparse, sparse...)
	}
	if o.Gaps != "" {
		train, held, err := dataset.BuildMotion([]string{o.Gaps}, dataset.MotionOptions{HeldOut: o.Unseen, Profile: o.Profile, Poses: true, Workers: o.Threads})
		if err != nil {
			return nil, err
		}
		spread := inbetween.NewSpread(m.Layout, poses(train))
		for _, gap := range []int{5, 15, 30} {
			for _, method := range methods[:2] {
				t, err := inbetween.Transitions(m.Layout, spread, method.name, poses(held), gap, method.fill)
				if err != nil {
					return nil, err
				}
				r.Transitions = append(r.Transitions, t)
			}
		}
	}
	r.Bars = r.bars()
	if fig != nil {
		if r.Figures, err = fig.draw(o.Figures); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// poses returns the recordings at the network's rate, without their mirror images.
func poses(m *dataset.MotionSet) (clips []*skel.Clip) {
	for _, c := range m.Clips {
		if !c.Mirror {
			clips = append(clips, c.Poses.Resampled(keypose.Rate))
		}
	}
	return clips
}

// meanKeypose returns the mean over frames, and of drift over the recordings that
// are long enough.
func meanKeypose(set, method string, every float64, scores []inbetween.Score) Mean {
	m := Mean{Set: set, Method: method, Every: every, Clips: len(scores)}
	var frames, right float64
	for _, s := range scores {
		n := float64(s.Frames)
		frames += n
		m.Joints, m.Root, m.Yaw = m.Joints+n*s.Joints, m.Root+n*s.Root, m.Yaw+n*s.Yaw
		m.Skate, m.TrueSkate, m.Jerk, m.TrueJerk = m.Skate+n*s.Skate, m.TrueSkate+n*s.TrueSkate, m.Jerk+n*s.Jerk, m.TrueJerk+n*s.TrueJerk
		m.Hit = max(m.Hit, s.Hit)
		if s.Drift > 0 {
			m.Drift, m.Turn = m.Drift+s.Drift, m.Turn+s.Turn
			m.AnyDrift, m.AnyTurn = m.AnyDrift+s.AnyDrift, m.AnyTurn+s.AnyTurn
			m.Long++
		}
		if s.StepsRight {
			right++
		}
		m.Aside += s.Aside
		m.AsideRight += float64(s.AsideHit)
	}
	frames = max(frames, 1)
	late := float64(max(m.Long, 1))
	m.Joints, m.Root, m.Yaw = m.Joints/frames, m.Root/frames, m.Yaw/frames
	m.Skate, m.TrueSkate, m.Jerk, m.TrueJerk = m.Skate/frames, m.TrueSkate/frames, m.Jerk/frames, m.TrueJerk/frames
	m.Drift, m.Turn, m.AnyDrift, m.AnyTurn = m.Drift/late, m.Turn/late, m.AnyDrift/late, m.AnyTurn/late
	m.StepsRight = right / float64(max(1, len(scores)))
	m.AsideRight /= float64(max(1, m.Aside))
	return m
}

// The bars of motion between poses.
const (
	barBetweenHalf, barBetweenOne     = 3, 6 // cm
	barOverLinearHalf, barOverLinear1 = 0.6, 0.7
	barStepsRight                     = 0.9
	barDrift, barDriftYaw             = 3, 3 // cm, degrees
	barHit                            = 1    // cm
	barAside                          = 0.95
	barTransition                     = 0.7
)

// bars compares the report's figures with their bars.
func (r *Report) bars() eval.Bars {
	var b eval.Bars
	for i := 0; i < len(r.Means); i += 3 { // interpolation, network, that with feet held
		base, m := &r.Means[i], &r.Means[i+2]
		of := fmt.Sprintf("%s, %g s", m.Set, m.Every)
		most, share := float64(barBetweenOne), barOverLinear1
		if m.Every == 0.5 {
			most, share = barBetweenHalf, barOverLinearHalf
		}
		b.Most("joints between keys, cm", of, &m.Joints, most)
		b.Most("joints ÷ interpolation's", of, eval.Over(m.Joints, base.Joints), share)
		b.Least("share of recordings with as many steps", of, &m.StepsRight, barStepsRight)
		if m.Drift > 0 {
			b.Most("drift of the root after 10 s, cm", of, &m.Drift, barDrift)
			b.Most("drift of its heading after 10 s, degrees", of, &m.Turn, barDriftYaw)
		}
		b.Most("keys missed by, cm", of, &m.Hit, barHit)
		if m.Aside > 0 {
			b.Least("share of seconds backward and sideways that are so", of, &m.AsideRight, barAside)
		}
	}
	for i := 0; i < len(r.Transitions); i += 2 {
		base, t := &r.Transitions[i], &r.Transitions[i+1]
		if t.Frames >= 15 {
			b.Most("L2P ÷ interpolation's", fmt.Sprintf("%d frames", t.Frames), eval.Over(t.L2P, base.L2P), barTransition)
		}
	}
	return b.Sorted()
}

func (r *Report) Print(w io.Writer) error {
	t := &eval.Tables{W: w}
	rows := []string{"recordings\tkeys every\tmethod\tclips\tjoints cm\troot cm\theading °\tkeys missed cm\tlong ones\tdrift cm\tdrift °\tany second cm\t°\tas many steps\taside right\tskate ÷ recorded\tjerk ÷"}
	for _, m := range r.Means {
		rows = append(rows, eval.Cells(m.Set, fmt.Sprintf("%g s", m.Every), m.Method, fmt.Sprint(m.Clips), fmt.Sprintf("%.2f", m.Joints), fmt.Sprintf("%.2f", m.Root), fmt.Sprintf("%.2f", m.Yaw),
			fmt.Sprintf("%.3f", m.Hit), fmt.Sprint(m.Long), fmt.Sprintf("%.2f", m.Drift), fmt.Sprintf("%.2f", m.Turn), fmt.Sprintf("%.2f", m.AnyDrift), fmt.Sprintf("%.2f", m.AnyTurn), fmt.Sprintf("%.0f %%", 100*m.StepsRight),
			fmt.Sprintf("%.0f %% of %d", 100*m.AsideRight, m.Aside), eval.OrNever("%.2f", eval.Over(m.Skate, m.TrueSkate)), eval.OrNever("%.2f", eval.Over(m.Jerk, m.TrueJerk))))
	}
	t.Section(r.Model+" between keys of recordings held out", rows...)
	if len(r.Sparse) > 0 {
		t.Section("Poses at even times alone (Lüdi 2016, sec. 4.1), on the joints of its frames", sparseRows(r.Sparse)...)
	}
	if len(r.Transitions) > 0 {
		rows := []string{"gap\tmethod\tcases\tL2P\tL2Q\tjoints cm"}
		for _, v := range r.Transitions {
			rows = append(rows, eval.Cells(fmt.Sprint(v.Frames), v.Method, fmt.Sprint(v.Cases), fmt.Sprintf("%.3f", v.L2P), fmt.Sprintf("%.3f", v.L2Q), fmt.Sprintf("%.2f", v.Joints)))
		}
		t.Section("Gaps after ten frames, in frames at 30 per second (LAFAN1)", rows...)
	}
	t.Table(fmt.Sprintf("keypose in short: %d of %d bars missed, marked *", r.Bars.Missed(), len(r.Bars)), 0, r.Bars.Rows())
	return t.Err
}

// HoldFeet holds the feet that stand, and leaves the keys as they are.
func HoldFeet(t *keypose.Track, stand []float32) error {
	h, err := t.Layout.NewFootLock()
	if err != nil {
		return err
	}
	return h.Apply(t, stand)
}
