package transfer

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"mannequin/animsys/mar"
	"mannequin/engine/m3"
	"mannequin/netruntime"
	"mannequin/offline/registration"
)

// Options are the options of [Evaluate].
type Options struct {
	Folds    int                  // at most; 0: 4
	Frames   int                  // most frames for a global model, per translation; 0: 4000
	Local    bool                 // skip the slow methods: global models, and local ones without labels
	MAR      mar.Options          // of the method under test
	Workers  int                  // goroutines; 0: 1. Results do not depend on it
	Progress func(done, all int)  // nil, or called after each translation of a fold, from one goroutine at a time
	Look     func(t *Translation) // nil, or called for every case in order
}

// Translation is a case with the outputs of all methods.
type Translation struct {
	Database    *mar.Database
	Fold        int
	Case        Case
	Truth       *Truth
	Predictions []Prediction
}

// Score is the error of a method on a case.
type Score struct {
	Method string `json:"method"`
	Fold   int    `json:"fold"`
	Action string `json:"action"`
	Style  string `json:"style"` // of the output
	Take   string `json:"take"`  // of the input
	Frames int    `json:"frames"`

	Errors
}

// Errors are the measures of a translation. Frames have the takes' rate, 60 per second.
type Errors struct {
	// Pose is the mean distance of joints from their true position, over joints and frames, cm. The
	// root is over one point of the ground, faces one way, and keeps its height.
	Pose float64 `json:"pose_cm"`
	// Time is the mean of |Σ steps predicted − Σ true steps| over all frames. It grows with the
	// motion's length if the tempo is wrong.
	Time float64 `json:"time_frames"`
	// Warp is Time after the predicted times were scaled to end with the truth. It leaves out the
	// tempo of the whole, which differs between takes of a style without a cause in the input.
	Warp float64 `json:"warp_frames"`
	// Step is the mean of |step predicted − true step|.
	Step float64 `json:"step_frames"`
	// Tempo is |Σ steps predicted ÷ Σ true steps − 1|, of the whole.
	Tempo float64 `json:"tempo"`
}

// Evaluate measures all methods on a set. Scores are in the order of folds, styles, cases and
// methods. Cases with less than 10 common frames, such as halves of short takes, are left out.
//
// The method Another is another take of the output's style, read at the truth's own places on the
// timeline. It shows how much takes of a style differ without a cause in the input. A method that
// follows one take can hardly be closer. Average and Nearest know the truth in part: they show what
// the takes that are learnt from allow.
func Evaluate(ctx context.Context, s *Set, o Options) ([]Score, error) {
	o.Folds = cmp.Or(o.Folds, 4)
	o.Frames = cmp.Or(o.Frames, 4000)
	folds, err := s.Folds(o.Folds)
	if err != nil {
		return nil, err
	}
	all, done := 0, 0
	for _, f := range folds {
		all += len(f.outputs())
	}
	var scores []Score
	for k, f := range folds {
		db, err := registration.Database(f.Train, s.Lines)
		if err != nil {
			return nil, err
		}
		outputs := f.outputs()
		made := make([][]Translation, len(outputs))
		err = each(ctx, len(outputs), max(o.Workers, 1), func(i int) (err error) {
			made[i], err = translations(db, s, k, f, outputs[i], &o)
			return err
		}, func() {
			done++
			if o.Progress != nil {
				o.Progress(done, all)
			}
		})
		if err != nil {
			return nil, err
		}
		for _, ts := range made {
			for i := range ts {
				if o.Look != nil {
					o.Look(&ts[i])
				}
				scores = append(scores, ts[i].scores()...)
			}
		}
	}
	return scores, nil
}

// outputs returns the styles into which a fold translates.
func (f *Fold) outputs() (styles []string) {
	for _, c := range f.Cases {
		styles = append(styles, c.Out.Style)
	}
	slices.Sort(styles)
	return slices.Compact(styles)
}

// translations makes a fold's cases in one style.
func translations(db *mar.Database, s *Set, k int, f Fold, style string, o *Options) ([]Translation, error) {
	var rivals []rival
	var err error
	if !o.Local {
		if rivals, err = fitRivals(db, slices.Index(db.Styles, s.From), slices.Index(db.Styles, style), o.Frames); err != nil {
			return nil, err
		}
	}
	var out []Translation
	for _, c := range f.Cases {
		if c.Out.Style != style {
			continue
		}
		t := Translation{Database: db, Fold: k, Case: c}
		period := s.Lines[c.In.Action].Period
		if t.Truth, err = truth(db, c, period); err != nil {
			return nil, err
		}
		if t.Truth == nil {
			continue
		}
		other, err := another(db, c, f.Train, period)
		if err != nil {
			return nil, err
		}
		if t.Predictions, err = predict(db, c, t.Truth, rivals, other, o); err != nil {
			return nil, err
		}
		more, err := known(db, c, t.Truth, f.Train, period)
		if err != nil {
			return nil, err
		}
		t.Predictions = append(t.Predictions, more...)
		out = append(out, t)
	}
	return out, nil
}

// Errors measures a prediction of a translation.
func (t *Translation) Errors(p *Prediction) Errors { return newPoser(t.Database).errors(t.Truth, p) }

func (t *Translation) scores() (out []Score) {
	b := newPoser(t.Database)
	for _, p := range t.Predictions {
		out = append(out, Score{Method: p.Method, Fold: t.Fold, Action: t.Case.In.Action, Style: t.Case.Out.Style, Take: t.Case.In.Name,
			Frames: len(t.Truth.Step), Errors: b.errors(t.Truth, &p)})
	}
	return out
}

// poser turns rows into poses.
type poser struct {
	db     *mar.Database
	joints []int // with a position of their own
	row    []float32
	pos    []m3.Vec3
	rot    []m3.Quat
	model  [2][]m3.Xform
}

// apart is the shortest bone that gives its joint a position of its own, m.
const apart = 0.01

func newPoser(db *mar.Database) *poser {
	sk := db.Skeleton()
	p := &poser{db: db, row: make([]float32, len(db.Columns())), pos: make([]m3.Vec3, sk.Len()), rot: make([]m3.Quat, sk.Len())}
	for j := range sk.Len() {
		if j == 0 || !sk.EndSite[j] && sk.Offsets[j].Len() >= apart {
			p.joints = append(p.joints, j)
		}
	}
	for i := range p.model {
		p.model[i] = make([]m3.Xform, sk.Len())
	}
	return p
}

func (p *poser) pose(dst []m3.Xform, row []float64) {
	for d, v := range row {
		p.row[d] = float32(v)
	}
	p.db.Pose(p.pos, p.rot, p.row)
	p.db.Skeleton().LocalToModel(dst, p.pos, p.rot)
}

func (p *poser) errors(t *Truth, got *Prediction) (e Errors) {
	n := float64(len(t.Step))
	for f := range t.Step {
		p.pose(p.model[0], t.Y.RawRowView(f))
		p.pose(p.model[1], got.Y.RawRowView(f))
		for _, j := range p.joints {
			e.Pose += 100 * float64(p.model[0][j].Pos.Dist(p.model[1][j].Pos)) / n / float64(len(p.joints))
		}
	}
	var want, have float64
	for f, s := range t.Step {
		want, have = want+s, have+got.Step[f]
	}
	scale := want / have
	e.Tempo = math.Abs(have/want - 1)
	want, have = 0, 0
	for f, s := range t.Step {
		want, have = want+s, have+got.Step[f]
		e.Time += math.Abs(have-want) / n
		e.Warp += math.Abs(scale*have-want) / n
		e.Step += math.Abs(got.Step[f]-s) / n
	}
	return e
}

// Mean is the mean of a method's scores over cases.
type Mean struct {
	Method string `json:"method"`
	Cases  int    `json:"cases"`
	Errors
}

// Means returns the means of scores that keep accepts (nil: all), by method as they first appear.
func Means(scores []Score, keep func(*Score) bool) []Mean {
	var means []Mean
	at := map[string]int{}
	for i := range scores {
		s := &scores[i]
		if keep != nil && !keep(s) {
			continue
		}
		k, ok := at[s.Method]
		if !ok {
			k = len(means)
			at[s.Method] = k
			means = append(means, Mean{Method: s.Method})
		}
		m := &means[k]
		m.Cases++
		for q, v := range s.all() {
			*m.all()[q] += *v
		}
	}
	for i := range means {
		for _, v := range means[i].all() {
			*v /= float64(means[i].Cases)
		}
	}
	return means
}

func (e *Errors) all() []*float64 { return []*float64{&e.Pose, &e.Time, &e.Warp, &e.Step, &e.Tempo} }

// each calls f for 0 to n−1 on workers goroutines, and did after each call, from one goroutine at a
// time. It returns the error of the lowest index.
func each(ctx context.Context, n, workers int, f func(i int) error, did func()) error {
	p := netruntime.NewPool(min(workers, n))
	defer p.Close()
	errs := make([]error, n)
	var lock sync.Mutex
	p.Run(n, func(_, i int) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			errs[i] = f(i)
		}
		lock.Lock()
		defer lock.Unlock()
		did()
	})
	return cmp.Or(errs...)
}
