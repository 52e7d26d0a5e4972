package main

import (
	"fmt"
	"math"
	"path"
	"slices"
	"time"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
	"mannequin/models"
	"mannequin/offline/dataset"
	"mannequin/offline/metrics"
)

// evalAct is a held-out punch or kick, made again from its hands or feet alone.
type evalAct struct {
	Kind     string         `json:"kind"`
	Clip     string         `json:"clip"`
	Raw      actMiss        `json:"raw"`      // as the network makes it
	Edited   actMiss        `json:"edited"`   // after the edit
	Motion   metrics.People `json:"motion"`   // after the edit
	Recorded metrics.People `json:"recorded"` //
}

// actMiss is how far a motion is from what it was made of, cm.
type actMiss struct {
	Given float64 `json:"given_cm"`      // mean distance of a given joint from where it shall be
	Worst float64 `json:"given_most_cm"` //
	RMS   float64 `json:"rms_cm"`        // of all joints' distances from the recording, which are not given
}

// actKinds are what Actor makes, beside what its recordings are called and its
// rows in the paper's Table 1. The recordings are those that the shipped networks
// have not seen.
var actKinds = []struct {
	kind  string
	clips []string // patterns of the recordings' names
	rate  float64
}{
	{"punch", []string{"h21_box-2", "daz43_martial_05"}, 863},
	{"kick", []string{"exp_test_soccer_*", "h21_kick", "daz43_martial_05"}, 745},
}

// acts makes the held-out punches and kicks, and measures how fast.
func (r *evalManifoldReport) acts(m *manifold.Model, set *dataset.MotionSet, o evalManifoldOptions) error {
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
		a, err := openActor(m, k.kind, []string{o.punch, o.kick}[i], mostFrames(clips, m.Layout.Columns()), o.threads)
		if err != nil {
			return err
		}
		if err := r.act(m, a, clips, k.kind, k.rate, o.rates); err != nil {
			a.Close()
			return err
		}
		if err := a.Close(); err != nil {
			return err
		}
	}
	return nil
}

func mostFrames(clips []dataset.MotionClip, cols int) (most int) {
	for _, c := range clips {
		most = max(most, len(c.Rows)/cols)
	}
	return most
}

// act measures one kind.
func (r *evalManifoldReport) act(m *manifold.Model, a *performer, clips []dataset.MotionClip, kind string, paper float64, rates bool) error {
	l, cols := m.Layout, m.Layout.Columns()
	for _, c := range clips {
		rows := c.Rows[:c.Frames&^1*cols]
		given := a.given(rows)
		e := evalAct{Kind: kind, Clip: c.Name}
		for _, v := range []struct {
			steps int
			into  *actMiss
		}{{0, &e.Raw}, {manifold.ActIterations, &e.Edited}} {
			made, _, err := a.make(given, v.steps)
			if err != nil {
				return err
			}
			v.into.Given, v.into.Worst = a.miss(made, given)
			v.into.RMS = metrics.JointRMS(m, made, rows)
			if e.Motion, err = metrics.MeasurePeople(m, made, rounded(contactsOf(l, made)), feature.Place{}, nil); err != nil {
				return err
			}
		}
		var err error
		if e.Recorded, err = metrics.MeasurePeople(m, rows, contactsOf(l, rows), feature.Place{}, nil); err != nil {
			return err
		}
		r.Acts = append(r.Acts, e)
	}
	const frames = 240
	if c := clips[0]; rates && c.Frames >= frames {
		given := a.given(c.Rows[:frames*cols])
		best := evalRate{Task: kind + ", 4 s", Frames: frames, Paper: paper, Bar: paper}
		for range 3 {
			at := time.Now()
			if _, _, err := a.make(given, 0); err != nil {
				return err
			}
			synthesis := time.Since(at)
			at = time.Now()
			if _, _, err := a.make(given, manifold.ActIterations); err != nil {
				return err
			}
			best.took(synthesis, time.Since(at)-synthesis)
		}
		r.Rates = append(r.Rates, best)
	}
	return nil
}

// rounded returns contacts as 0 and 1.
func rounded(stand []float32) []float32 {
	for i, v := range stand {
		stand[i] = 0
		if v > 0.5 {
			stand[i] = 1
		}
	}
	return stand
}

// performer makes punches or kicks from their start to their end: beyond these
// what is given is held, so that filters see no frames of zeros.
type performer struct {
	*manifold.Actor
	m       *manifold.Model
	columns []int
}

// held is for how many frames.
const held = 60

// openActor opens a network of a kind for up to so many frames.
func openActor(m *manifold.Model, kind, nameOrPath string, frames, threads int) (*performer, error) {
	net, err := models.Open(nameOrPath)
	if err != nil {
		return nil, err
	}
	if is := net.Meta().Extra[manifold.KeyKind]; is != kind {
		return nil, fmt.Errorf("model %s makes motion of the kind %q, want %s", nameOrPath, is, kind)
	}
	columns, err := m.Columns(kind)
	if err != nil {
		return nil, err
	}
	a, err := m.NewActor(net, manifold.EditorOptions{Batch: 1, Length: (frames+1)&^1 + 2*held, Workers: threads})
	if err != nil {
		return nil, err
	}
	return &performer{a, m, columns}, nil
}

// given returns the places of the given joints in rows, (frames, Given()).
func (p *performer) given(rows []float32) []float32 {
	cols := p.m.Layout.Columns()
	var given []float32
	for f := range len(rows) / cols {
		for _, c := range p.columns {
			given = append(given, rows[f*cols+c])
		}
	}
	return given
}

// make returns the motion for an even number of frames of given places.
func (p *performer) make(given []float32, iterations int) ([]float32, manifold.EditReport, error) {
	n, cols := p.Given(), p.m.Layout.Columns()
	frames := len(given) / n
	length := frames + 2*held
	longer, rows := make([]float32, length*n), make([]float32, length*cols)
	for f := range length {
		copy(longer[f*n:][:n], given[min(max(f-held, 0), frames-1)*n:])
	}
	r, err := p.Act(rows, longer, 1, length, iterations)
	return rows[held*cols:][:frames*cols], r, err
}

// miss returns how far the given joints are from their places in rows, cm: the
// mean, and the largest.
func (p *performer) miss(rows, given []float32) (mean, most float64) {
	n, cols := p.Given(), p.m.Layout.Columns()
	frames := len(given) / n
	for f := range frames {
		for i := 0; i < n; i += 3 {
			a, b := rows[f*cols+p.columns[i]:], given[f*n+i:]
			d := 100 * float64(m3.V(a[0], a[1], a[2]).Dist(m3.V(b[0], b[1], b[2])))
			mean, most = mean+d/float64(frames*n/3), math.Max(most, d)
		}
	}
	return mean, most
}

// actBars are those of punches and kicks.
func (r *evalManifoldReport) actBars(b *evalBars) {
	for i := range r.Acts {
		a := &r.Acts[i]
		name := map[string]string{"punch": "hands", "kick": "feet"}[a.Kind]
		b.most(name+" off where they are given, cm", a.Clip, &a.Edited.Given, 5)
	}
	for i := range r.Acts {
		b.most("standing feet of punches and kicks slide, cm per frame", r.Acts[i].Kind+" "+r.Acts[i].Clip, &r.Acts[i].Motion.Skate, 0.3)
		b.most("their bones change by, %", r.Acts[i].Kind+" "+r.Acts[i].Clip, &r.Acts[i].Motion.Bone, 0.5)
	}
}

func (r *evalManifoldReport) printActs(t *evalTables) {
	if len(r.Acts) == 0 {
		return
	}
	rows := []string{"kind\trecording\tgiven cm\tworst\tslide cm/frame\trecorded\tbones %\tjerk\trecorded\tRMS of all cm\tbefore the edit: given cm\tRMS"}
	for _, a := range r.Acts {
		rows = append(rows, cells(a.Kind, a.Clip, fmt.Sprintf("%.2f", a.Edited.Given), fmt.Sprintf("%.1f", a.Edited.Worst), fmt.Sprintf("%.3f", a.Motion.Skate), fmt.Sprintf("%.3f", a.Recorded.Skate),
			fmt.Sprintf("%.2f", a.Motion.Bone), fmt.Sprintf("%.2f", a.Motion.Jerk), fmt.Sprintf("%.2f", a.Recorded.Jerk), fmt.Sprintf("%.1f", a.Edited.RMS), fmt.Sprintf("%.2f", a.Raw.Given), fmt.Sprintf("%.1f", a.Raw.RMS)))
	}
	t.section(fmt.Sprintf("Punches and kicks from the hands or feet of held-out recordings, after %d steps of the edit", manifold.ActIterations), rows...)
}
