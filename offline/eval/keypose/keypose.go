// Package keypose measures motion between keyframes (after Lüdi 2016).
package keypose

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

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
	Reading retarget.Reading // how recordings are read
	Gaps    string
	Unseen  []string
	Sparse  []string
	Figures string
	Threads int
}

// Report is the result.
type Report struct {
	Model       string                 `json:"model"`
	Means       []Mean                 `json:"means"`
	Bodies      []Body                 `json:"bodies"`
	Scores      []inbetween.Score      `json:"scores"`
	Sparse      []Sparse               `json:"sparse,omitempty"`
	Transitions []inbetween.Transition `json:"transitions,omitempty"`
	Figures     []string               `json:"figures,omitempty"`
	Bars        eval.Bars              `json:"bars"`
}

// Mean is the result of a method on the recordings of a folder.
type Mean struct {
	Set    string  `json:"set"`
	Method string  `json:"method"`
	Every  float64 `json:"every_s"`
	Clips  int     `json:"clips"`
	inbetween.Errors
	Long       int     `json:"long_clips"`  // recordings long enough to measure drift
	StepsRight float64 `json:"steps_right"` // share of the recordings with the right number of steps
	Aside      int     `json:"aside_seconds"`
	AsideRight float64 `json:"aside_right"`
}

// Body is how a method's motion looks in frames of one kind, beside the recordings.
type Body struct {
	Set      string         `json:"set"`
	Kind     string         `json:"kind"`
	Method   string         `json:"method"`
	Every    float64        `json:"every_s"`
	Made     inbetween.Body `json:"made"`
	Recorded inbetween.Body `json:"recorded"`
}

const (
	methodInterpolation = "interpolation"
	methodKeypose       = "keypose"
	methodHeld          = "keypose, feet held"
)

// leastFrames is the smallest number of frames of a kind that are measured.
const leastFrames = 60

// Measure measures a network.
func Measure(ctx context.Context, o Options) (*Report, error) {
	album, err := figure.NewAlbum(o.Figures)
	if err != nil {
		return nil, err
	}
	m, err := models.OpenAs(o.Model, keypose.NewModel)
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
	r := &Report{Model: m.Net.Meta().Name}
	var fig *keyposeFigures
	if album != nil {
		fig = &keyposeFigures{}
	}
	for _, dir := range o.Data {
		_, held, err := dataset.BuildMotion([]string{dir}, dataset.MotionOptions{HeldOut: o.HeldOut, Read: o.Reading, Poses: true, Workers: o.Threads})
		if err != nil {
			return nil, err
		}
		set := filepath.Base(filepath.Clean(dir))
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
				r.Means = append(r.Means, meanOf(set, method.name, every, scores))
				made, recorded := inbetween.Bodies(scores)
				for k := range made {
					if made[k].Frames >= leastFrames {
						r.Bodies = append(r.Bodies, Body{set, inbetween.Kind(k).String(), method.name, every, made[k], recorded[k]})
					}
				}
				r.Scores = append(r.Scores, scores...)
			}
		}
		sparse, err := measureSparse(ctx, o.Sparse, set, held, methods[1].fill, m.Layout, o.Threads, fig)
		if err != nil {
			return nil, err
		}
		r.Sparse = append(r.Sparse, sparse...)
	}
	if o.Gaps != "" {
		train, held, err := dataset.BuildMotion([]string{o.Gaps}, dataset.MotionOptions{HeldOut: o.Unseen, Read: o.Reading, Poses: true, Workers: o.Threads})
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
	if album != nil {
		err = fig.draw(album)
		r.Figures = album.Paths
	}
	return r, err
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

// meanOf returns the mean over frames, and of drifts over the recordings that are long enough.
func meanOf(set, method string, every float64, scores []inbetween.Score) Mean {
	m := Mean{Set: set, Method: method, Every: every, Clips: len(scores)}
	perFrame := func(e *inbetween.Errors) []*float64 {
		return []*float64{&e.Joints, &e.Root, &e.Yaw, &e.Skate, &e.TrueSkate, &e.Jerk, &e.TrueJerk}
	}
	drifts := func(e *inbetween.Errors) []*float64 {
		return []*float64{&e.Drift, &e.Turn, &e.AnyDrift, &e.AnyTurn}
	}
	frames := 0
	for _, s := range scores {
		frames += s.Frames
		eval.Add(perFrame(&m.Errors), perFrame(&s.Errors), float64(s.Frames))
		if s.Drift > 0 {
			eval.Add(drifts(&m.Errors), drifts(&s.Errors), 1)
			m.Long++
		}
		m.Hit = max(m.Hit, s.Hit)
		if s.StepsRight {
			m.StepsRight++
		}
		m.Aside += s.Aside
		m.AsideRight += float64(s.AsideHit)
	}
	eval.Divide(perFrame(&m.Errors), float64(frames))
	eval.Divide(drifts(&m.Errors), float64(m.Long))
	m.StepsRight /= float64(max(1, m.Clips))
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

	barStraight = 0.04 // share of legs whose knee bends less than 2°
	barBounce   = 0.8  // of the recordings'
	barHandIn   = 0.02 // share of frames beyond the recordings'
	barHipsJerk = 1.2  // of the recordings'
	barBelow    = 0.01 // share of frames
	barToes     = 1.4  // of the recordings'
)

// bars compares the report's figures with their bars.
func (r *Report) bars() eval.Bars {
	var b eval.Bars
	for means := range slices.Chunk(r.Means, 3) { // interpolation, the network, and the network with foot lock
		base, m := means[0], means[2]
		of := fmt.Sprintf("%s, %g s", m.Set, m.Every)
		most, share := float64(barBetweenOne), barOverLinear1
		if m.Every == 0.5 {
			most, share = barBetweenHalf, barOverLinearHalf
		}
		b.Most("joints between keys, cm", of, m.Joints, most)
		b.Most("joints ÷ interpolation's", of, eval.Over(m.Joints, base.Joints), share)
		b.Least("share of recordings with as many steps", of, m.StepsRight, barStepsRight)
		if m.Drift > 0 {
			b.Most("drift of the root after 10 s, cm", of, m.Drift, barDrift)
			b.Most("drift of its heading after 10 s, degrees", of, m.Turn, barDriftYaw)
		}
		b.Most("keys missed by, cm", of, m.Hit, barHit)
		if m.Aside > 0 {
			b.Least("share of seconds backward and sideways that are so", of, m.AsideRight, barAside)
		}
	}
	for _, v := range r.Bodies {
		if v.Method != methodHeld || v.Kind == inbetween.Stand.String() {
			continue
		}
		of := fmt.Sprintf("%s, %s, %g s", v.Set, v.Kind, v.Every)
		b.Most("knees straighter than 2°", of, v.Made.Straight, barStraight)
		b.Least("bounce ÷ recorded", of, eval.Over(v.Made.Bounce, v.Recorded.Bounce), barBounce)
		b.Most("hands in the torso more often than recorded", of, v.Made.HandIn-v.Recorded.HandIn, barHandIn)
		b.Most("hips' jerk ÷ recorded", of, eval.Over(v.Made.HipsJerk, v.Recorded.HipsJerk), barHipsJerk)
		b.Most("frames below the floor", of, v.Made.Below, barBelow)
		b.Most("planted toes' speed ÷ recorded", of, eval.Over(v.Made.ToeSpeed, v.Recorded.ToeSpeed), barToes)
	}
	for both := range slices.Chunk(r.Transitions, 2) { // interpolation and the network
		if base, t := both[0], both[1]; t.Frames >= 15 {
			b.Most("L2P ÷ interpolation's", fmt.Sprintf("%d frames", t.Frames), eval.Over(t.L2P, base.L2P), barTransition)
		}
	}
	return b.Sorted()
}

// Print writes the report as text.
func (r *Report) Print(w io.Writer) error {
	t := eval.NewTables(w)
	t.Section(r.Model+" between keys of recordings held out", "recordings\tkeys every\tmethod\tclips\tjoints cm\troot cm\theading °\tkeys missed cm\tlong ones\tdrift cm\tdrift °\tany second cm\t°\tas many steps\taside right\tskate ÷ recorded\tjerk ÷")
	for _, m := range r.Means {
		t.Row("%s\t%g s\t%s\t%v\t%.2f\t%.2f\t%.2f\t%.3f\t%v\t%.2f\t%.2f\t%.2f\t%.2f\t%.0f %%\t%.0f %% of %d\t%s\t%s",
			m.Set, m.Every, m.Method, m.Clips, m.Joints, m.Root, m.Yaw, m.Hit, m.Long, m.Drift, m.Turn, m.AnyDrift, m.AnyTurn, 100*m.StepsRight, 100*m.AsideRight, m.Aside, eval.OrNever("%.2f", eval.Over(m.Skate, m.TrueSkate)), eval.OrNever("%.2f", eval.Over(m.Jerk, m.TrueJerk)))
	}
	t.Section("The body, made (recorded)", "recordings\tkeys every\tkind\tframes\tmethod\tknees < 2°\tbounce cm\thand in torso\thips' jerk p99 m/s³\tbelow floor\tplanted toe p90 cm/s")
	for _, b := range r.Bodies {
		m, w := b.Made, b.Recorded
		t.Row("%s\t%g s\t%s\t%v\t%s\t%.1f (%.1f) %%\t%.2f (%.2f)\t%.1f (%.1f) %%\t%.0f (%.0f)\t%.1f (%.1f) %%\t%.1f (%.1f)",
			b.Set, b.Every, b.Kind, m.Frames, b.Method, 100*m.Straight, 100*w.Straight, m.Bounce, w.Bounce, 100*m.HandIn, 100*w.HandIn,
			m.HipsJerk, w.HipsJerk, 100*m.Below, 100*w.Below, m.ToeSpeed, w.ToeSpeed)
	}
	t.Section("Poses at even times alone (Lüdi 2016, sec. 4.1), on the joints of its frames",
		"recordings\tposes every\tmethod\tclips\tjoints, from the body cm\tin the world cm\tat poses, from the body cm\tin the world cm\tdrift in 2 s cm\t°\tin 10 s cm\t°")
	for _, v := range r.Sparse {
		t.Row("%s\t%g s\t%s\t%v\t%.2f\t%.1f\t%.2f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f",
			v.Set, v.Every, v.Method, v.Clips, v.Body, v.World, v.Key, v.At, v.Drift2.Distance, v.Drift2.Turn, v.Drift10.Distance, v.Drift10.Turn)
	}
	t.Section("Gaps after ten frames, in frames at 30 per second (LAFAN1)", "gap\tmethod\tcases\tL2P\tL2Q\tjoints cm")
	for _, v := range r.Transitions {
		t.Row("%v\t%s\t%v\t%.3f\t%.3f\t%.2f", v.Frames, v.Method, v.Cases, v.L2P, v.L2Q, v.Joints)
	}
	return t.InShort("keypose", r.Bars, "")
}

// HoldFeet locks standing feet. It does not change keyframes.
func HoldFeet(t *keypose.Track, stand []float32) error {
	h, err := t.Layout.NewFootLock()
	if err != nil {
		return err
	}
	return h.Apply(t, stand)
}
