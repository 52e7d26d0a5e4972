package mann

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
	"mannequin/offline/eval"
	"mannequin/offline/eval/figure"
	"mannequin/offline/metrics"
)

// Options are the flags of eval mann.
type Options struct {
	Model, Near string
	Data        string
	HeldOut     []string
	Seconds     float64
	Threads     int
	Paths       []string
	Plots       string
}

// Report is the result.
type Report struct {
	Model       string              `json:"model"`
	HeldOut     HeldOut             `json:"held_out"`
	Gaits       []Gait              `json:"gaits"`
	Paths       []Path              `json:"paths"`
	Speeds      []metrics.SpeedHeld `json:"speeds"`
	Ways        []metrics.Way       `json:"ways"` // back, aside, on the spot
	Latencies   []metrics.Latency   `json:"latencies"`
	Transitions Transitions         `json:"transitions"`
	Experts     *Experts            `json:"experts,omitempty"` // nil for a network of one
	Restored    int                 `json:"restored"`          // resets by the watchdog, without those of runs without an expert
	Bars        eval.Bars           `json:"bars"`
	Plots       []string            `json:"plots,omitempty"`
}

// HeldOut are the losses on the held-out recordings.
type HeldOut struct {
	Recordings []string       `json:"recordings"`
	Rows       int            `json:"rows"` // mirrored ones included
	Losses     []metrics.Loss `json:"losses"`
}

// Gait compares a gait's motion; paper's entries have no speed and frames.
type Gait struct {
	Name       string          `json:"name"`
	Truth      metrics.Motion  `json:"truth"`
	Model      metrics.Made    `json:"model"`   // with the gait's command
	Matched    metrics.Made    `json:"matched"` // with the recordings' commands
	PaperModel *metrics.Motion `json:"paper_model,omitempty"`
	PaperTruth *metrics.Motion `json:"paper_truth,omitempty"`

	Recorded metrics.Footfall `json:"footfall_recorded"`
	Raw      metrics.Footfall `json:"footfall_raw"`
	Shown    metrics.Footfall `json:"footfall_shown"`
}

// Path is the result on a path.
type Path struct {
	Path string `json:"path"`
	metrics.Follow
	Paper *metrics.PaperPath `json:"paper,omitempty"`
}

// Transitions are the changes from mode to mode.
type Transitions struct {
	Recorded metrics.Rates        `json:"recorded"` // 99.9 percentile of the recordings
	Changes  []metrics.Transition `json:"changes"`
}

// Experts are the abilities without each expert.
type Experts struct {
	Vanishes float64             `json:"vanishes_below"` // share of the whole network's ability
	Whole    []metrics.Ability   `json:"whole"`
	Without  [][]metrics.Ability `json:"without"` // by expert
}

// evaluation is an evaluation in progress.
type evaluation struct {
	opt         Options
	progress    eval.Progress
	rollout     *metrics.Rollout
	album       *figure.Album // nil: no pictures
	train, held *dataset.MANN
	poses       [control.NumActions]*metrics.Poses
	stretches   []footfallStrip
	report      Report
}

// Measure measures a network.
func Measure(o Options, progress eval.Progress) (*Report, error) {
	rollout, err := o.open()
	if err != nil {
		return nil, err
	}
	layout := feature.Dog()
	if rollout.Model != nil {
		layout = rollout.Model.Layout
	}
	paths, err := openPaths(o.Paths)
	if err != nil {
		return nil, err
	}
	e := &evaluation{opt: o, rollout: rollout, progress: progress}
	if e.album, err = figure.NewAlbum(o.Plots); err != nil {
		return nil, err
	}
	if e.train, e.held, err = dataset.BuildMANN(o.Data, dataset.Options{Layout: layout, HeldOut: o.HeldOut, Workers: o.Threads}); err != nil {
		return nil, err
	}
	if e.poses, err = metrics.ActionPoses(e.train, e.held); err != nil {
		return nil, err
	}
	progress.Total(e.rows())
	rollout.Workers, rollout.Tick = o.Threads, progress.Tick
	e.report.Model = o.Model
	for _, s := range []struct {
		name string
		run  func() error
	}{
		{"loss", e.losses},
		{"gaits", e.gaits},
		{"paths", func() error { return e.paths(paths) }},
		{"speeds", func() (err error) { e.report.Speeds, err = metrics.SpeedsHeld(e.rollout); return err }},
		{"ways", func() (err error) { e.report.Ways, err = metrics.Ways(e.rollout); return err }},
		{"actions", func() (err error) { e.report.Latencies, err = metrics.Latencies(e.rollout, e.poses); return err }},
		{"changes", e.transitions},
		{"experts", e.experts},
		{"pictures", e.plots},
	} {
		progress.Stage(s.name)
		if err := s.run(); err != nil {
			return nil, err
		}
	}
	e.report.Restored = e.rollout.Restored
	e.report.Bars = e.report.bars()
	return &e.report, nil
}

// open opens what is measured.
func (o *Options) open() (*metrics.Rollout, error) {
	m, err := models.OpenAs(o.Model, mann.NewModel)
	if err != nil {
		f, other := models.OpenCharacter(o.Model)
		if other != nil {
			return nil, err
		}
		if joints := feature.Dog().Joints; !slices.Equal(f.Character().Skel.Names, joints) {
			return nil, fmt.Errorf("%s: its joints are not those of the recordings, %s to %s", o.Model, joints[0], joints[len(joints)-1])
		}
		return &metrics.Rollout{Character: f}, nil
	}
	r := &metrics.Rollout{Model: m}
	if m.Layout.Step() > 1 { // it drives distant dogs, so a model of near dogs is needed, too
		r.Far = m
		r.Model, err = models.OpenAs(o.Near, mann.NewModel)
	}
	return r, err
}

// net returns the network that is measured, nil for a character.
func (e *evaluation) net() *netruntime.Net {
	switch r := e.rollout; {
	case r.Far != nil:
		return r.Far.Net
	case r.Model != nil:
		return r.Model.Net
	}
	return nil
}

// rows estimates the ticks of one agent that the evaluation takes.
func (e *evaluation) rows() int64 {
	experts := 0
	if net := e.net(); net != nil {
		experts = metrics.Experts(net)
	}
	recorded := int64(e.train.Rows+e.held.Rows) / 2
	drives := int64(13*e.opt.Seconds*mann.Rate) + 6*180 + 16*600 + 8*660 + 132*390
	return int64(e.held.Rows) + 3*recorded/2 + drives + int64(experts+1)*14*360
}

// losses measures the network's on recordings that are held out.
func (e *evaluation) losses() error {
	net := e.net()
	if net == nil {
		return nil
	}
	const maxRows = 256
	session, err := net.NewSession(netruntime.SessionOptions{Batch: maxRows, Workers: e.opt.Threads})
	if err != nil {
		return err
	}
	defer session.Close()
	held := e.held
	if far := e.rollout.Far; far != nil { // its rows have a longer stride
		if _, held, err = dataset.BuildMANN(e.opt.Data, dataset.Options{Layout: far.Layout, HeldOut: e.opt.HeldOut, Workers: e.opt.Threads}); err != nil {
			return err
		}
	}
	e.report.HeldOut = HeldOut{Recordings: held.Clips, Rows: held.Rows}
	e.report.HeldOut.Losses, err = metrics.Losses(held, maxRows, func(y, x []float32, rows int) error {
		if err := e.progress.Tick(rows); err != nil {
			return err
		}
		return session.Run(y, x, rows)
	})
	return err
}

// gaits fills Tables 2 and 3 and the footfalls.
func (e *evaluation) gaits() error {
	gaits := metrics.Gaits()
	truth, err := metrics.GroundTruth(gaits, e.train, e.held)
	if err != nil {
		return err
	}
	falls, stretches, err := metrics.RecordedFootfalls(gaits, e.train, e.held)
	if err != nil {
		return err
	}
	made, err := metrics.Generated(e.rollout, gaits, e.opt.Seconds)
	if err != nil {
		return err
	}
	matched, err := metrics.Matched(e.rollout, gaits, e.train, e.held)
	if err != nil {
		return err
	}
	for i, g := range gaits {
		r := Gait{Name: g.Name, Truth: truth[i], Model: made[i], Matched: matched[i], PaperModel: g.PaperMANN8, PaperTruth: g.PaperTruth, Recorded: falls[i]}
		take := made[i].Takes[0]
		if r.Raw, err = metrics.FootfallOf(take.Raw); err != nil {
			return err
		}
		if r.Shown, err = metrics.FootfallOf(take.Shown); err != nil {
			return err
		}
		e.report.Gaits = append(e.report.Gaits, r)
		e.stretches = append(e.stretches, footfallStrip{stretches[i], take.Raw, take.Shown})
	}
	return nil
}

// namedPath is a path to follow.
type namedPath struct {
	name  string
	path  *control.Path
	paper *metrics.PaperPath // or nil
}

// openPaths returns the paper's paths and those in files.
func openPaths(files []string) ([]namedPath, error) {
	var out []namedPath
	for _, p := range metrics.PaperPaths() {
		path, err := control.Builtin(p.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, namedPath{p.Name, path, &p})
	}
	for _, f := range files {
		path, err := control.OpenPath(f)
		if err != nil {
			return nil, fmt.Errorf("--path: %w", err)
		}
		out = append(out, namedPath{strings.TrimSuffix(filepath.Base(f), filepath.Ext(f)), path, nil})
	}
	return out, nil
}

// Paths are followed at pace, long enough to complete the paper's longest at barPathSpeed.
const (
	pathSpeed   = control.PaceSpeed
	pathSeconds = 40
)

func (e *evaluation) paths(named []namedPath) error {
	var paths []*control.Path
	for _, n := range named {
		paths = append(paths, n.path)
	}
	follow, err := metrics.Following(e.rollout, paths, pathSpeed, max(e.opt.Seconds, pathSeconds))
	if err != nil {
		return err
	}
	for i, n := range named {
		e.report.Paths = append(e.report.Paths, Path{n.name, follow[i], n.paper})
	}
	return nil
}

func (e *evaluation) transitions() (err error) {
	t := &e.report.Transitions
	t.Recorded = metrics.RecordedRates(e.train, e.held)
	t.Changes, err = metrics.Transitions(e.rollout, metrics.Modes(e.rollout))
	return err
}

// experts fills Table 5.
func (e *evaluation) experts() error {
	if e.rollout.Model == nil || e.rollout.Far != nil { // the experts are the near model's
		return nil
	}
	net := e.rollout.Model.Net
	n := metrics.Experts(net)
	if n < 2 {
		return nil
	}
	out := &Experts{Vanishes: metrics.Vanishes}
	var err error
	if out.Whole, err = metrics.Abilities(e.rollout, e.poses); err != nil {
		return err
	}
	for k := range n {
		less, err := metrics.Without(net, k)
		if err != nil {
			return err
		}
		r := *e.rollout
		if r.Model, err = mann.NewModel(less); err != nil {
			return err
		}
		a, err := metrics.Abilities(&r, e.poses)
		if err != nil {
			return err
		}
		out.Without = append(out.Without, a)
	}
	e.report.Experts = out
	return nil
}
