package mar

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"mannequin/animsys/mar"
	"mannequin/offline/eval"
	"mannequin/offline/eval/figure"
	"mannequin/offline/metrics/transfer"
	"mannequin/offline/procgen/human"
	"mannequin/offline/registration"
	"mannequin/offline/retarget"
)

// Options are the flags of eval mar.
type Options struct {
	Data, Far []string
	Reading   retarget.Reading // how recordings are read
	Database  string
	Folds     int
	Takes     int
	Threads   int
	Free      bool
	Figures   string
}

// Report is the result.
type Report struct {
	Sets    []Set     `json:"sets"`
	Far     []Far     `json:"far"`
	Speed   *Speed    `json:"speed"`
	Figures []string  `json:"figures,omitempty"`
	Bars    eval.Bars `json:"bars"`
}

// Set is the result of all methods on a set.
type Set struct {
	Name    string                     `json:"name"`
	From    string                     `json:"from"`
	Mixed   bool                       `json:"mixed"` // several actions in one database
	Free    bool                       `json:"free"`  // procedural
	Takes   int                        `json:"takes"`
	Frames  int                        `json:"frames"`
	Means   []transfer.Mean            `json:"means"`
	Actions map[string][]transfer.Mean `json:"actions,omitempty"` // of a mixed set
	Scores  []transfer.Score           `json:"scores"`
}

// Mean returns the means of a method, nil if it was not measured.
func (s *Set) Mean(method string) *transfer.Mean {
	i := slices.IndexFunc(s.Means, func(m transfer.Mean) bool { return m.Method == method })
	if i < 0 {
		return nil
	}
	return &s.Means[i]
}

// best returns the mean of the method with the least error of poses, nil if none was measured.
func (s *Set) best(methods ...string) (best *transfer.Mean) {
	for _, name := range methods {
		if m := s.Mean(name); m != nil && (best == nil || m.Pose < best.Pose) {
			best = m
		}
	}
	return best
}

// Measure measures style transfer.
func Measure(ctx context.Context, o Options, progress eval.Progress) (*Report, error) {
	album, err := figure.NewAlbum(o.Figures)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	var fig figures
	for _, dir := range o.Data {
		if err := r.folder(ctx, dir, o, &fig, progress); err != nil {
			return nil, err
		}
	}
	if o.Free {
		if err := r.free(ctx, o); err != nil {
			return nil, err
		}
	}
	if err := r.costs(ctx, o); err != nil {
		return nil, err
	}
	r.Bars = r.bars()
	if album != nil {
		err = fig.draw(album, r)
		r.Figures = album.Paths
	}
	return r, err
}

// neutralStyles are the possible input styles of a folder.
var neutralStyles = []string{"neutral", "normal"}

// folder measures the recordings of a folder: every action by itself, and all together.
func (r *Report) folder(ctx context.Context, dir string, o Options, fig *figures, progress eval.Progress) error {
	progress.Stage("reading")
	type class struct{ action, style string }
	seen := map[class]int{}
	all, _, err := registration.Read([]string{dir}, registration.ReadOptions{Reading: o.Reading, Workers: o.Threads, Lenient: true, Keep: func(_ string, l registration.Label) bool {
		seen[class{l.Action, l.Style}]++
		return seen[class{l.Action, l.Style}] <= o.Takes
	}})
	if err != nil {
		return err
	}
	whole := transfer.Set{Name: filepath.Base(dir) + " mixed", Lines: map[string]registration.Timeline{}}
	for _, n := range neutralStyles {
		if slices.ContainsFunc(all, func(t *registration.Take) bool { return t.Style == n }) {
			whole.From = n
			break
		}
	}
	var sets []transfer.Set
	actions := 0
	for _, takes := range registration.Actions(all) {
		if ctx.Err() != nil {
			return eval.ErrInterrupted
		}
		if !slices.ContainsFunc(takes, func(t *registration.Take) bool { return t.Style == whole.From }) || len(takes) < 2 {
			continue // nothing to translate
		}
		line, _, err := registration.Register(takes, registration.Options{Workers: o.Threads})
		if err != nil {
			return err
		}
		actions++
		whole.Takes, whole.Lines[line.Action] = append(whole.Takes, takes...), *line
		s := transfer.Set{Name: filepath.Base(dir) + " " + line.Action, From: whole.From, Takes: takes, Lines: whole.Lines}
		if _, err := s.Folds(1); err == nil {
			sets = append(sets, s)
		}
	}
	if actions > 1 {
		whole.Takes = transfer.Halve(whole.Takes)
		sets = append(sets, whole)
	}
	if len(sets) == 0 {
		return errors.New(dir + ": no action of which two takes are neutral (or normal) and two in another style: nothing can be held out")
	}
	for i := range sets {
		if err := r.set(ctx, &sets[i], o, fig, progress, false); err != nil {
			return err
		}
	}
	return nil
}

// set measures one set.
func (r *Report) set(ctx context.Context, s *transfer.Set, o Options, fig *figures, progress eval.Progress, free bool) error {
	e := Set{Name: s.Name, From: s.From, Free: free, Takes: len(s.Takes)}
	var actions []string
	for _, t := range s.Takes {
		e.Frames += t.Clip.Frames
		if !slices.Contains(actions, t.Action) {
			actions = append(actions, t.Action)
		}
	}
	e.Mixed = len(actions) > 1
	var err error
	opt := transfer.Options{Folds: o.Folds, Workers: o.Threads, Local: free}
	if fig != nil {
		opt.Look = func(t *transfer.Translation) { fig.look(s.Name, t) }
	}
	if progress != nil {
		progress.Stage(s.Name)
	}
	if e.Scores, err = transfer.Evaluate(ctx, s, opt); err != nil {
		if ctx.Err() != nil {
			return eval.ErrInterrupted
		}
		return err
	}
	e.Means = transfer.Means(e.Scores, nil)
	if e.Mixed {
		e.Actions = map[string][]transfer.Mean{}
		for _, a := range actions {
			if m := transfer.Means(e.Scores, func(s *transfer.Score) bool { return s.Action == a }); m != nil {
				e.Actions[a] = m
			}
		}
	}
	r.Sets = append(r.Sets, e)
	return nil
}

// freeContents are the measured contents of procedural motion. All would take many times as long and
// show the same.
var freeContents = []string{"walk-straight", "walk-circle-left", "walk-turn-left", "walk-faster", "walk-start", "run-straight", "run-slalom", "stand-look"}

// free measures procedural motion: of two takes of every content in every style one is held out.
func (r *Report) free(ctx context.Context, o Options) error {
	takes, lines, err := human.Generate(human.Options{Workers: o.Threads})
	if err != nil {
		return err
	}
	takes = slices.DeleteFunc(takes, func(t *registration.Take) bool { return !slices.Contains(freeContents, t.Content) })
	o.Folds = 1
	return r.set(ctx, &transfer.Set{Name: "free", From: human.Styles()[0], Takes: takes, Lines: lines}, o, nil, nil, true)
}

// known returns the label of an action and a style of a database. ok reports whether it has them.
func known(db *mar.Database, action, style string) (l mar.Label, ok bool) {
	a, s := slices.Index(db.Actions, action), slices.Index(db.Styles, style)
	if a < 0 || s < 0 {
		return l, false
	}
	l.Actions[a/64], l.Styles = 1<<(a%64), 1<<s
	return l, true
}
