// Package manifold measures the motion manifold and the networks that use it (Holden, Saito and
// Komura 2016).
package manifold

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/offline/dataset"
	"mannequin/offline/eval"
	"mannequin/offline/metrics"
)

// Act is a held-out punch or kick, made again from its hands or feet alone.
type Act struct {
	Kind     string         `json:"kind"`
	Clip     string         `json:"clip"`
	Raw      actMiss        `json:"raw"`      // as the network makes it
	Edited   actMiss        `json:"edited"`   // after the edit
	Motion   metrics.People `json:"motion"`   // after the edit
	Recorded metrics.People `json:"recorded"` //
}

// actMiss is the distance of a motion from its input, cm.
type actMiss struct {
	Given float64 `json:"given_cm"`      // mean distance of a given joint from its target
	Worst float64 `json:"given_most_cm"` //
	RMS   float64 `json:"rms_cm"`        // of the distances of all joints from the recording
}

// actKinds are the kinds of motion, with patterns of their recordings' names and their rows in the
// paper's Table 1. The shipped networks have not seen these recordings.
var actKinds = []struct {
	kind  string
	clips []string // patterns of the recordings' names
	rate  float64
}{
	{"punch", []string{"h21_box-2", "daz43_martial_05"}, 863},
	{"kick", []string{"exp_test_soccer_*", "h21_kick", "daz43_martial_05"}, 745},
}

// acts measures held-out punches and kicks, and their rates.
func (r *Report) acts(m *manifold.Model, set *dataset.MotionSet, o Options) error {
	for i, k := range actKinds {
		var clips []dataset.MotionClip
		for _, c := range set.Clips[:len(set.Clips)/2] {
			if slices.ContainsFunc(k.clips, func(p string) bool { ok, _ := path.Match(p, path.Base(c.Name)); return ok }) {
				clips = append(clips, c)
			}
		}
		if len(clips) == 0 {
			continue
		}
		a, err := OpenSynthesizer(m, k.kind, []string{o.Punch, o.Kick}[i], mostFrames(clips, m.Layout.Columns()), o.Threads)
		if err != nil {
			return err
		}
		if err := errors.Join(r.act(m, a, clips, k.kind, k.rate, o.Rates), a.Close()); err != nil {
			return err
		}
	}
	return nil
}

// act measures one kind.
func (r *Report) act(m *manifold.Model, a *Synthesizer, clips []dataset.MotionClip, kind string, paper float64, rates bool) error {
	l, cols := m.Layout, m.Layout.Columns()
	for _, c := range clips {
		rows := c.Rows[:c.Frames&^1*cols]
		given := Places(rows, cols, a.columns)
		e := Act{Kind: kind, Clip: c.Name}
		for _, v := range []struct {
			steps int
			into  *actMiss
		}{{0, &e.Raw}, {manifold.ActionIterations, &e.Edited}} {
			made, _, err := a.Make(given, v.steps)
			if err != nil {
				return err
			}
			v.into.Given, v.into.Worst = a.Miss(made, given)
			v.into.RMS = metrics.JointRMS(l, made, rows)
			if e.Motion, err = metrics.MeasurePeople(m, made, Rounded(Contacts(l, made)), feature.Place{}, nil); err != nil {
				return err
			}
		}
		var err error
		if e.Recorded, err = metrics.MeasurePeople(m, rows, Contacts(l, rows), feature.Place{}, nil); err != nil {
			return err
		}
		r.Acts = append(r.Acts, e)
	}
	const frames = 240
	if c := clips[0]; rates && c.Frames >= frames {
		given := Places(c.Rows[:frames*cols], cols, a.columns)
		best := Rate{Task: kind + ", 4 s", Frames: frames, Paper: paper, Bar: paper}
		for range 3 {
			at := time.Now()
			if _, _, err := a.Make(given, 0); err != nil {
				return err
			}
			synthesis := time.Since(at)
			at = time.Now()
			if _, _, err := a.Make(given, manifold.ActionIterations); err != nil {
				return err
			}
			best.took(synthesis, time.Since(at)-synthesis)
		}
		r.Rates = append(r.Rates, best)
	}
	return nil
}

// actBars are the bars of punches and kicks.
func (r *Report) actBars(b *eval.Bars) {
	for _, a := range r.Acts {
		given := map[string]string{"punch": "hands", "kick": "feet"}[a.Kind]
		b.Most(given+" off where they are given, cm", a.Clip, a.Edited.Given, 5)
		b.Most("standing feet of punches and kicks slide, cm per frame", a.Kind+" "+a.Clip, a.Motion.Skate, 0.3)
		b.Most("their bones change by, %", a.Kind+" "+a.Clip, a.Motion.Bone, 0.5)
	}
}

func (r *Report) printActs(t *eval.Tables) {
	t.Section(fmt.Sprintf("Punches and kicks from the hands or feet of held-out recordings, after %d steps of the edit", manifold.ActionIterations), "kind\trecording\tgiven cm\tworst\tslide cm/frame\trecorded\tbones %\tjerk\trecorded\tRMS of all cm\tbefore the edit: given cm\tRMS")
	for _, a := range r.Acts {
		t.Row("%s\t%s\t%.2f\t%.1f\t%.3f\t%.3f\t%.2f\t%.2f\t%.2f\t%.1f\t%.2f\t%.1f",
			a.Kind, a.Clip, a.Edited.Given, a.Edited.Worst, a.Motion.Skate, a.Recorded.Skate, a.Motion.Bone, a.Motion.Jerk, a.Recorded.Jerk, a.Edited.RMS, a.Raw.Given, a.Raw.RMS)
	}
}
