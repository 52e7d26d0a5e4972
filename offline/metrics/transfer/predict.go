package transfer

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/offline/baseline"
	"mannequin/offline/registration"
)

// Methods that are measured beside [baseline.LocalMethods], whose names they
// share, with Unlabelled behind them where the input's class is not told.
const (
	MAR        = "MAR"
	MARAction  = "MAR, action known"
	MARStyle   = "MAR, style known"
	LTIOwn     = "LTI own"
	LTIPose    = "LTI pose"
	GlobalAR   = "global AR"
	GP         = "GP"
	Identity   = "input as it is"
	Another    = "another take" // see Evaluate
	Unlabelled = ", unlabelled"
)

// Prediction is what a method makes of an input.
type Prediction struct {
	Method string
	Y      *mat.Dense // (frames, columns)
	Step   []float64  // (frames)
}

// Truth is what a case's input should become.
type Truth struct {
	First int        // the frame of the input that Y begins with
	X, Y  *mat.Dense // (frames, columns)
	Step  []float64  // (frames)
}

// truth finds the longest run of a case's frames whose counterparts follow one
// another; nil where that is too short to compare.
func truth(db *mar.Database, c Case, period float64) (*Truth, error) {
	x, err := db.Rows(c.In.Clip)
	if err != nil {
		return nil, err
	}
	y, err := db.Rows(c.Out.Clip)
	if err != nil {
		return nil, err
	}
	at := make([]float32, c.In.Clip.Frames)
	mar.Match(at, fromFirst(c.In, period), fromFirst(c.Out, period), float32(period))
	first, n, begin := 0, 0, 1
	for f := 1; f <= len(at); f++ {
		if f < len(at) && at[f-1] >= 0 && at[f] > at[f-1] && at[f]-at[f-1] < mostStep {
			continue
		}
		if f-begin > n {
			first, n = begin, f-begin
		}
		begin = f + 1
	}
	if n < leastRun {
		return nil, nil
	}
	cols := len(x) / c.In.Clip.Frames
	t := &Truth{First: first, X: mat.NewDense(n, cols, nil), Y: mat.NewDense(n, cols, nil), Step: make([]float64, n)}
	for i := range n {
		f := first + i
		t.Step[i] = float64(at[f] - at[f-1])
		for d := range cols {
			t.X.Set(i, d, float64(x[f*cols+d]))
			t.Y.Set(i, d, between(y, cols, at[f], d))
		}
	}
	return t, nil
}

// another returns what another take of the output's style, one that is learnt from,
// does at the same places of the timeline; nil where there is none.
func another(db *mar.Database, c Case, train []*registration.Take, period float64) (*Prediction, error) {
	i := slices.IndexFunc(train, func(t *registration.Take) bool {
		return t.Action == c.Out.Action && t.Content == c.Out.Content && t.Style == c.Out.Style
	})
	if i < 0 {
		return nil, nil
	}
	y, err := db.Rows(train[i].Clip)
	if err != nil {
		return nil, err
	}
	n, cols := c.In.Clip.Frames, len(db.Columns())
	at := make([]float32, n)
	mar.Match(at, fromFirst(c.In, period), fromFirst(train[i], period), float32(period))
	p := &Prediction{Method: Another, Y: mat.NewDense(n, cols, nil), Step: make([]float64, n)}
	step, last := 1.0, float32(0)
	for f, v := range at {
		if v < 0 { // stays where it is
			v = last
		}
		if f > 0 && v > last && v-last < mostStep {
			step = float64(v - last)
		}
		p.Step[f] = step
		for d := range cols {
			p.Y.Set(f, d, between(y, cols, v, d))
		}
		last = v
	}
	return p, nil
}

// between returns column d at frame at, between two frames of rows.
func between(rows []float32, cols int, at float32, d int) float64 {
	j := int(at)
	v := float64(rows[j*cols+d])
	if a := float64(at) - float64(j); a > 0 {
		v += a * (float64(rows[(j+1)*cols+d]) - v)
	}
	return v
}

const (
	mostStep = 6  // more frames at once are a jump to another cycle
	leastRun = 10 // frames to compare
)

// fromFirst returns a take's times from the cycle that it begins in.
func fromFirst(t *registration.Take, period float64) []float32 {
	begin := 0.0
	if period > 0 {
		begin = period * math.Floor(t.Times[0]/period)
	}
	out := make([]float32, len(t.Times))
	for f, x := range t.Times {
		out[f] = float32(x - begin)
	}
	return out
}

// pairs returns what the database shows of a translation from one style into
// another, for global models: every take of the one with what its frames become,
// at most so many frames, takes spread over all.
func pairs(db *mar.Database, from, to, most int) []baseline.Pair {
	cols := len(db.Columns())
	var all []baseline.Pair
	var x, y, step []float64
	flush := func() {
		if len(step) >= leastRun {
			all = append(all, baseline.Pair{X: mat.NewDense(len(step), cols, x), Y: mat.NewDense(len(step), cols, y), Step: step})
		}
		x, y, step = nil, nil, nil
	}
	row := make([]float32, cols)
	for f := range db.Frames() {
		_, _, style, number := db.Of(f)
		if number == 0 {
			flush()
		}
		if style != from {
			continue
		}
		s, ok := db.Counterpart(row, f, to)
		if !ok {
			flush()
			continue
		}
		for d, v := range db.Row(f) {
			x, y = append(x, float64(v)), append(y, float64(row[d]))
		}
		step = append(step, float64(s))
	}
	flush()
	total := 0
	for _, p := range all {
		total += len(p.Step)
	}
	if total <= most {
		return all
	}
	var some []baseline.Pair
	kept, seen := 0, 0
	for _, p := range all {
		if kept*total <= most*seen && kept < most { // behind its share
			some = append(some, p)
			kept += len(p.Step)
		}
		seen += len(p.Step)
	}
	return some
}

// rivals are the global models of one translation.
type rivals struct {
	names  []string
	models []baseline.Translator
}

func fitRivals(db *mar.Database, from, to, most int) (*rivals, error) {
	p := pairs(db, from, to, most)
	r := &rivals{}
	for _, m := range []struct {
		name string
		fit  func() (baseline.Translator, error)
	}{
		{LTIOwn, func() (baseline.Translator, error) {
			return baseline.FitLTI(p, baseline.LTIOptions{Inputs: baseline.InputsOwn, Workers: 1})
		}},
		{LTIPose, func() (baseline.Translator, error) {
			return baseline.FitLTI(p, poseInputs(p))
		}},
		{GlobalAR, func() (baseline.Translator, error) { return baseline.FitGlobalAR(p, baseline.GlobalAROptions{}) }},
		{GP, func() (baseline.Translator, error) { return baseline.FitGP(p, baseline.GPOptions{}) }},
	} {
		t, err := m.fit()
		if err != nil {
			return nil, fmt.Errorf("transfer: %s from %s to %s: %w", m.name, db.Styles[from], db.Styles[to], err)
		}
		r.names, r.models = append(r.names, m.name), append(r.models, t)
	}
	return r, nil
}

// littleData is the number of frames up to which linear systems with the pose as
// input have the usual eight components and orders. Of more, four and order 3 are
// better on recordings (2.20 cm against 2.40 at 2,000 frames of old walks) in a
// seventh of the time.
const littleData = 1500

func poseInputs(p []baseline.Pair) baseline.LTIOptions {
	o := baseline.LTIOptions{Inputs: baseline.InputsPose, Workers: 1}
	frames := 0
	for _, v := range p {
		frames += len(v.Step)
	}
	if frames > littleData {
		o.Components, o.MaxOrder = 4, 3
	}
	return o
}

// translate returns what the rivals make of rows.
func (r *rivals) translate(x *mat.Dense) ([]Prediction, error) {
	var out []Prediction
	for i, m := range r.models {
		y, step, err := m.Translate(x)
		if err != nil {
			return nil, err
		}
		out = append(out, Prediction{r.names[i], y, step})
	}
	return out, nil
}

// stylize returns what package mar makes of a clip.
func stylize(db *mar.Database, c *skel.Clip, style int, label mar.Label, o mar.Options) (Prediction, error) {
	s, err := db.NewStyleTranslator(mar.StyleTranslatorOptions{Options: o, Characters: 1, Workers: 1})
	if err != nil {
		return Prediction{}, err
	}
	defer s.Close()
	s.Weights[style], s.Labels[0] = 1, label
	p := Prediction{Y: mat.NewDense(c.Frames, len(db.Columns()), nil), Step: make([]float64, c.Frames)}
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		row, step := s.Step(0, pos, rot)
		for d, v := range row {
			p.Y.Set(f, d, float64(v))
		}
		p.Step[f] = float64(step)
	}
	return p, nil
}

// predict returns what all methods make of a case's input, at the frames of its
// truth. All see it from its first frame on.
func predict(db *mar.Database, c Case, t *Truth, r *rivals, other *Prediction, o *Options) ([]Prediction, error) {
	action, style := slices.Index(db.Actions, c.In.Action), slices.Index(db.Styles, c.In.Style)
	to := slices.Index(db.Styles, c.Out.Style)
	var onlyAction, onlyStyle mar.Label
	onlyAction.Actions[action/64] = 1 << (action % 64)
	onlyStyle.Styles = 1 << style
	both := mar.Label{Actions: onlyAction.Actions, Styles: onlyStyle.Styles}
	var out []Prediction
	for _, m := range []struct {
		name  string
		label mar.Label
	}{{MAR, both}, {MARAction, onlyAction}, {MARStyle, onlyStyle}, {MAR + Unlabelled, mar.Label{}}} {
		p, err := stylize(db, c.In.Clip, to, m.label, o.MAR)
		if err != nil {
			return nil, err
		}
		p.Method = m.name
		out = append(out, p)
	}
	for _, l := range []struct {
		behind string
		label  mar.Label
	}{{"", both}, {Unlabelled, mar.Label{}}} {
		if o.Local && l.behind != "" {
			continue
		}
		local := baseline.Local{Database: db, Label: l.label, Style: to, Methods: baseline.LocalMethods()}
		ts, err := local.Translate(c.In.Clip)
		if err != nil {
			return nil, err
		}
		for i, v := range ts {
			out = append(out, Prediction{local.Methods[i].String() + l.behind, v.Y, v.Step})
		}
	}
	rows, err := db.Rows(c.In.Clip)
	if err != nil {
		return nil, err
	}
	x := mat.NewDense(c.In.Clip.Frames, len(rows)/c.In.Clip.Frames, nil)
	for i, v := range rows {
		x.RawMatrix().Data[i] = float64(v)
	}
	if r != nil {
		global, err := r.translate(x)
		if err != nil {
			return nil, err
		}
		out = append(out, global...)
	}
	out = append(out, Prediction{Identity, x, slices.Repeat([]float64{1}, c.In.Clip.Frames)})
	if other != nil {
		out = append(out, *other)
	}
	last := t.First + len(t.Step)
	for i, p := range out {
		_, cols := p.Y.Dims()
		out[i].Y, out[i].Step = p.Y.Slice(t.First, last, 0, cols).(*mat.Dense), p.Step[t.First:last]
	}
	return out, nil
}
