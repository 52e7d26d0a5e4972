package transfer

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/baseline"
	"mannequin/offline/registration"
)

// Methods measured beside [baseline.LocalMethods], which keep their names. The suffix Unlabelled
// means that the input's class is unknown.
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
	Average    = "mean of takes, place known"
	Nearest    = "nearest pose, truth known"
	Unlabelled = ", unlabelled"
)

// Prediction is the output of a method.
type Prediction struct {
	Method string
	Y      *mat.Dense // (frames, columns)
	Step   []float64  // (frames)
}

// Truth is the true output of a case.
type Truth struct {
	First int        // the frame of the input at which Y begins
	X, Y  *mat.Dense // (frames, columns)
	Step  []float64  // (frames)
}

// truth finds the longest run of frames with consecutive counterparts; nil if it is too short.
func truth(db *mar.Database, c Case, period float64) (*Truth, error) {
	x, err := db.Rows(c.In.Clip)
	if err != nil {
		return nil, err
	}
	y, err := db.Rows(c.Out.Clip)
	if err != nil {
		return nil, err
	}
	at := matched(c.In, c.Out, period)
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
		interpolate(t.X.RawRowView(i), x, float32(f))
		interpolate(t.Y.RawRowView(i), y, at[f])
	}
	return t, nil
}

// another returns another take of the output's style, one that is learnt from, at the same places
// of the timeline; nil if there is none.
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
	at := matched(c.In, train[i], period)
	p := &Prediction{Method: Another, Y: mat.NewDense(n, cols, nil), Step: make([]float64, n)}
	step, last := 1.0, float32(0)
	for f, v := range at {
		if v < 0 { // stay in place
			v = last
		}
		if f > 0 && v > last && v-last < mostStep {
			step = float64(v - last)
		}
		p.Step[f] = step
		interpolate(p.Y.RawRowView(f), y, v)
		last = v
	}
	return p, nil
}

// known returns what methods that know more than the input could do with the takes that are learnt
// from. Average is the mean of all takes of the output's action, content and style at the truth's
// places of the timeline: the best prediction without what is particular to this take. Nearest is, for each frame, the pose in the output's style nearest to the true
// one: the best choice of a single frame. The times of both are the mean of the takes'.
func known(db *mar.Database, c Case, t *Truth, train []*registration.Take, period float64) ([]Prediction, error) {
	n, cols := t.Y.Dims()
	sum, count := mat.NewDense(n, cols, nil), make([]float64, n)
	step, steps := make([]float64, n), make([]float64, n)
	near, least := mat.NewDense(n, cols, nil), slices.Repeat([]float64{math.Inf(1)}, n)
	b := newPoser(db)
	row, pose := make([]float64, cols), func(row []float64) []m3.Vec3 {
		b.pose(b.model[0], row)
		var at []m3.Vec3
		for _, j := range b.joints {
			at = append(at, b.model[0][j].Pos)
		}
		return at
	}
	var truth [][]m3.Vec3
	for f := range n {
		truth = append(truth, pose(t.Y.RawRowView(f)))
	}
	for _, take := range train {
		if take.Style != c.Out.Style {
			continue
		}
		y, err := db.Rows(take.Clip)
		if err != nil {
			return nil, err
		}
		for k := range take.Clip.Frames {
			interpolate(row, y, float32(k))
			at := pose(row)
			for f := range n {
				d := 0.0
				for j := 0; j < len(at) && d < least[f]; j++ {
					d += float64(at[j].Dist(truth[f][j]))
				}
				if d < least[f] {
					least[f] = d
					near.SetRow(f, row)
				}
			}
		}
		if take.Action != c.Out.Action || take.Content != c.Out.Content {
			continue
		}
		at := matched(c.In, take, period)[t.First-1 : t.First+n]
		for f, v := range at[1:] {
			if v < 0 {
				continue
			}
			interpolate(row, y, v)
			floats.Add(sum.RawRowView(f), row)
			if count[f]++; at[f] >= 0 && v > at[f] && v-at[f] < mostStep {
				step[f] += float64(v - at[f])
				steps[f]++
			}
		}
	}
	for f := range n {
		if count[f] > 0 {
			floats.Scale(1/count[f], sum.RawRowView(f))
		} else { // no take shows this place
			sum.SetRow(f, near.RawRowView(f))
		}
		if step[f] /= max(steps[f], 1); steps[f] == 0 {
			step[f] = 1
		}
	}
	return []Prediction{{Average, sum, step}, {Nearest, near, step}}, nil
}

// matched returns, for each frame of in, the frame of out at the same canonical time; −1: none.
func matched(in, out *registration.Take, period float64) []float32 {
	at := make([]float32, in.Clip.Frames)
	mar.Match(at, fromFirst(in, period), fromFirst(out, period), float32(period))
	return at
}

// interpolate writes row at of rows, which may lie between two rows.
func interpolate(dst []float64, rows []float32, at float32) {
	j, a := int(at), float64(at)-math.Floor(float64(at))
	row := rows[j*len(dst):]
	for d := range dst {
		dst[d] = float64(row[d])
		if a > 0 {
			dst[d] += a * (float64(row[len(dst)+d]) - dst[d])
		}
	}
}

const (
	mostStep = 6  // a larger step is a jump to another cycle
	leastRun = 10 // frames to compare
)

// fromFirst returns a take's times from the start of its first cycle.
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

// pairs returns the translations from one style into another in a database, for global models:
// takes and their counterparts, at most most frames, spread over all takes.
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
		if kept*total <= most*seen && kept < most { // below its share
			some = append(some, p)
			kept += len(p.Step)
		}
		seen += len(p.Step)
	}
	return some
}

// rival is a global model of one translation.
type rival struct {
	name string
	baseline.Translator
}

// fitRivals fits the global models to a translation between two styles.
func fitRivals(db *mar.Database, from, to, most int) ([]rival, error) {
	p := pairs(db, from, to, most)
	var all []rival
	for _, m := range []struct {
		name string
		fit  func() (baseline.Translator, error)
	}{
		{LTIOwn, func() (baseline.Translator, error) { return baseline.FitLTI(p, baseline.LTIOptions{Workers: 1}) }},
		{LTIPose, func() (baseline.Translator, error) { return baseline.FitLTI(p, poseInputs(p)) }},
		{GlobalAR, func() (baseline.Translator, error) { return baseline.FitGlobalAR(p, baseline.GlobalAROptions{}) }},
		{GP, func() (baseline.Translator, error) { return baseline.FitGP(p, baseline.GPOptions{}) }},
	} {
		t, err := m.fit()
		if err != nil {
			return nil, fmt.Errorf("transfer: %s from %s to %s: %w", m.name, db.Styles[from], db.Styles[to], err)
		}
		all = append(all, rival{m.name, t})
	}
	return all, nil
}

// littleData is the number of frames up to which linear systems with the pose as input use eight
// components and orders. With more frames, four components and order 3 are better on recordings
// (2.20 cm against 2.40 at 2,000 frames of old walks) in a seventh of the time.
const littleData = 1500

func poseInputs(p []baseline.Pair) baseline.LTIOptions {
	o := baseline.LTIOptions{Pose: true, Workers: 1}
	frames := 0
	for _, v := range p {
		frames += len(v.Step)
	}
	if frames > littleData {
		o.Components, o.MaxOrder = 4, 3
	}
	return o
}

// stylize returns package mar's output for a clip.
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

// predict returns all methods' outputs at a case's truth. All see the input from its first frame.
func predict(db *mar.Database, c Case, t *Truth, rivals []rival, other *Prediction, o *Options) ([]Prediction, error) {
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
	for _, r := range rivals {
		y, step, err := r.Translate(x)
		if err != nil {
			return nil, err
		}
		out = append(out, Prediction{r.name, y, step})
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
