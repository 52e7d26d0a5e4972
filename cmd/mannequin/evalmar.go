package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"mannequin/animsys/mar"
	"mannequin/internal/command"
	"mannequin/offline/metrics/transfer"
	"mannequin/offline/procgen/human"
	"mannequin/offline/registration"
)

// evalMAROptions are the flags of eval mar.
type evalMAROptions struct {
	data, far []string
	database  string
	folds     int
	takes     int
	threads   int
	free      bool
	figures   string
	asJSON    bool
}

func newEvalMAR() *cobra.Command {
	var o evalMAROptions
	c := &cobra.Command{
		Use:   "mar [--data DIR]...",
		Short: "Measure realtime style transfer against its rivals",
		Long: `Measure realtime style transfer (Xia, Wang, Chai and Hodgins 2015) as the paper
does, each figure beside the bar that it has to reach:

  poses and timing of takes held out, beside those of linear systems (Hsu et al.
  2005), one global autoregression, Gaussian processes, nearest neighbours and
  local regressions (Fig. 6), for every action of a folder of --data, and for all
  its actions together
  the same with nothing told of the input's action or style
  the same on motion made from rules, where the truth is known (--free)
  clips that are unlike all data (--far): finite, and no faster than they were?
  what a frame costs, and the memory of a large database (Table 2)

The input style of a folder is neutral or normal. --figures draws the paper's
Fig. 3, 4 and 6. docs/mar-measures.md defines every figure.`,
		Example: `  mannequin eval mar --data data/xia --data data/bandai2
  mannequin eval mar --data data/mine --folds 10 --far data/dances --json
  mannequin eval mar --data data/xia --free=false --figures out/eval`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.folds < 1 || o.folds > 1000:
				return command.Usagef("--folds is %d, want 1 to 1000", o.folds)
			case o.takes < 2:
				return command.Usagef("--takes is %d, want at least 2: one is held out, another learnt from", o.takes)
			case o.threads < 1 || o.threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", o.threads)
			case !o.free && len(o.data) == 0:
				return command.Usagef("nothing to measure: give recordings with --data, or leave --free=false away")
			}
			r, err := evalMAR(cmd.Context(), o, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return printReport(cmd.OutOrStdout(), r, o.asJSON)
		},
	}
	p := c.Flags()
	p.StringArrayVar(&o.data, "data", nil, "`folder` of recordings in styles, named as mannequin style build expects; may stand several times")
	p.StringArrayVar(&o.far, "far", nil, "`folder` of recordings unlike the data; may stand several times")
	p.StringVar(&o.database, "database", "", "`file` of a database, for what a frame costs and for --far (default: one of 108,000 frames made from rules)")
	p.IntVar(&o.folds, "folds", 2, "takes that are held out in turn, at most, of each action")
	p.IntVar(&o.takes, "takes", 10, "takes to read, at most, of each action and style")
	p.IntVar(&o.threads, "threads", runtime.GOMAXPROCS(0), "workers; only what a frame costs depends on it")
	p.BoolVar(&o.free, "free", true, "measure on motion made from rules, too")
	p.StringVar(&o.figures, "figures", "", "`folder` to draw Fig. 3, 4 and 6 into")
	p.BoolVar(&o.asJSON, "json", false, "print the report as JSON")
	return c
}

// evalMARReport is what the command prints.
type evalMARReport struct {
	Sets    []evalMARSet  `json:"sets"`
	Far     []evalMARFar  `json:"far"`
	Speed   *evalMARSpeed `json:"speed"`
	Figures []string      `json:"figures,omitempty"`
	Bars    evalBars      `json:"bars"`
}

// evalMARSet is how all methods do on one set.
type evalMARSet struct {
	Name    string                     `json:"name"`
	From    string                     `json:"from"`
	Mixed   bool                       `json:"mixed"` // several actions, learnt from together
	Free    bool                       `json:"free"`  // made from rules
	Takes   int                        `json:"takes"`
	Frames  int                        `json:"frames"`
	Means   []transfer.Mean            `json:"means"`
	Actions map[string][]transfer.Mean `json:"actions,omitempty"` // of a mixed set
	Scores  []transfer.Score           `json:"scores"`
}

// mean returns the means of a method.
func (s *evalMARSet) mean(method string) *transfer.Mean {
	for i := range s.Means {
		if s.Means[i].Method == method {
			return &s.Means[i]
		}
	}
	return nil
}

// best returns which of the methods has the least error of poses, nil where none of
// them was measured.
func (s *evalMARSet) best(methods ...string) (best *transfer.Mean) {
	for _, name := range methods {
		if m := s.mean(name); m != nil && (best == nil || m.Pose < best.Pose) {
			best = m
		}
	}
	return best
}

func evalMAR(ctx context.Context, o evalMAROptions, w io.Writer) (*evalMARReport, error) {
	r := &evalMARReport{}
	var fig figures
	progress := newEvalProgress(ctx, w, 0)
	defer progress.finish()
	for _, dir := range o.data {
		if err := r.folder(ctx, dir, o, &fig, progress); err != nil {
			return nil, err
		}
	}
	if o.free {
		if err := r.free(ctx, o); err != nil {
			return nil, err
		}
	}
	if err := r.costs(ctx, o); err != nil {
		return nil, err
	}
	r.Bars = r.bars()
	if o.figures != "" {
		var err error
		if r.Figures, err = fig.draw(o.figures, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// neutralStyles are those that a folder's input may be in.
var neutralStyles = []string{"neutral", "normal"}

// folder measures on the recordings of a folder: every action by itself, and all
// together.
func (r *evalMARReport) folder(ctx context.Context, dir string, o evalMAROptions, fig *figures, progress *evalProgress) error {
	progress.stage("reading")
	type class struct{ action, style string }
	seen := map[class]int{}
	all, _, err := registration.Read([]string{dir}, registration.ReadOptions{Workers: o.threads, Lenient: true, Keep: func(_ string, l registration.Label) bool {
		seen[class{l.Action, l.Style}]++
		return seen[class{l.Action, l.Style}] <= o.takes
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
			return errInterrupted
		}
		if !slices.ContainsFunc(takes, func(t *registration.Take) bool { return t.Style == whole.From }) || len(takes) < 2 {
			continue // nothing to translate
		}
		line, _, err := registration.Register(takes, registration.Options{Workers: o.threads})
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

var errInterrupted = errors.New("interrupted, nothing measured")

// set measures on one set.
func (r *evalMARReport) set(ctx context.Context, s *transfer.Set, o evalMAROptions, fig *figures, progress *evalProgress, free bool) error {
	e := evalMARSet{Name: s.Name, From: s.From, Free: free, Takes: len(s.Takes)}
	var actions []string
	for _, t := range s.Takes {
		e.Frames += t.Clip.Frames
		if !slices.Contains(actions, t.Action) {
			actions = append(actions, t.Action)
		}
	}
	e.Mixed = len(actions) > 1
	var err error
	opt := transfer.Options{Folds: o.folds, Workers: o.threads, Local: free}
	if fig != nil {
		opt.Look = func(t *transfer.Translation) { fig.look(s.Name, t) }
	}
	progress.stage(s.Name)
	if e.Scores, err = transfer.Evaluate(ctx, s, opt); err != nil {
		if ctx.Err() != nil {
			return errInterrupted
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

// freeContents are those of the motion made from rules that are measured on: all
// would take many times as long and say the same.
var freeContents = []string{"walk-straight", "walk-circle-left", "walk-turn-left", "walk-faster", "walk-start", "run-straight", "run-slalom", "stand-look"}

// free measures on motion made from rules: of two takes of every content in every
// style one is held out, the other learnt from.
func (r *evalMARReport) free(ctx context.Context, o evalMAROptions) error {
	takes, lines, err := human.Generate(human.Options{Workers: o.threads})
	if err != nil {
		return err
	}
	takes = slices.DeleteFunc(takes, func(t *registration.Take) bool { return !slices.Contains(freeContents, t.Content) })
	o.folds = 1
	return r.set(ctx, &transfer.Set{Name: "free", From: human.Styles()[0], Takes: takes, Lines: lines}, o, nil, newEvalProgress(ctx, io.Discard, 0), true)
}

// known returns the label of an action and a style of a database, and whether it has
// them.
func known(db *mar.Database, action, style string) (l mar.Label, ok bool) {
	a, s := slices.Index(db.Actions, action), slices.Index(db.Styles, style)
	if a < 0 || s < 0 {
		return l, false
	}
	l.Actions[a/64], l.Styles = 1<<(a%64), 1<<s
	return l, true
}
