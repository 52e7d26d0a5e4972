package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/animsys/skel"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/offline/dataset"
	"mannequin/offline/metrics/inbetween"
)

// evalKeyposeOptions are the flags of eval keypose.
type evalKeyposeOptions struct {
	model   string
	data    []string
	heldOut []string
	gaps    string
	unseen  []string
	sparse  []string
	figures string
	threads int
	asJSON  bool
}

func newEvalKeypose() *cobra.Command {
	var o evalKeyposeOptions
	c := &cobra.Command{
		Use:   "keypose --data DIR",
		Short: "Measure motion that is made between poses",
		Long: `Measure the motion that is made between poses of recordings which the network has
not seen, beside interpolation, each figure beside the bar that it has to reach:

  keys every half second, and every second (Lüdi 2016, sec. 5.1): the distance of
  joints from the recording's, drift in the tenth second, steps, feet that slide,
  ways to go backward and sideways
  with --sparse, networks of the thesis as published, and corrected on the motion
  manifold as it proposes
  with --transitions, gaps of 5, 15 and 30 frames in the protocol of LAFAN1
  (Harvey et al. 2020)

docs/keypose.md defines every figure. --figures draws the thesis's Fig. 5.1 to 5.4,
for each number of poses a second: the walk that goes farthest (up to 2 m/s and
15 s), the recording that goes backward or sideways fastest, and the ways of hips of
that walk, of the recording that turns most and of the walk that takes longest.`,
		Example: `  mannequin eval keypose --data data/cmu-locomotion
  mannequin eval keypose --model mine.safetensors --data data/mine --held-out 'walk_07' --json
  mannequin eval keypose --data data/cmu-locomotion --sparse two.safetensors --sparse one.safetensors --figures out/keypose
  mannequin eval keypose --model local.safetensors --data data/cmu-locomotion --transitions data/lafan1`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.threads < 1 || o.threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", o.threads)
			case o.figures != "" && len(o.sparse) == 0:
				return command.Usagef("--figures shows the thesis's network beside ours: name a model file of train sparse with --sparse")
			}
			r, err := evalKeypose(cmd.Context(), o)
			if err != nil {
				return err
			}
			return printReport(cmd.OutOrStdout(), r, o.asJSON)
		},
	}
	p := c.Flags()
	p.StringVar(&o.model, "model", "human-keypose", "a shipped model's `name`, or a model file")
	p.StringArrayVar(&o.data, "data", nil, "`folder` of recordings, of which the held-out ones are measured; may stand several times")
	p.StringSliceVar(&o.heldOut, "held-out", nil, "`patterns` of the recordings that the network has not seen (default: as train keypose)")
	p.StringVar(&o.gaps, "transitions", "", "`folder` of recordings to measure gaps on")
	p.StringSliceVar(&o.unseen, "transitions-held-out", []string{"*_subject5_*"}, "`patterns` of those that the network has not seen")
	p.StringArrayVar(&o.sparse, "sparse", nil, "a model `file` of train sparse, to measure beside it; may stand several times")
	p.StringVar(&o.figures, "figures", "", "`folder` to draw Fig. 5.1 to 5.4 into")
	p.IntVar(&o.threads, "threads", runtime.GOMAXPROCS(0), "workers")
	p.BoolVar(&o.asJSON, "json", false, "print the report as JSON")
	must(c.MarkFlagRequired("data"))
	return c
}

// evalKeyposeReport is what the command prints.
type evalKeyposeReport struct {
	Model       string                 `json:"model"`
	Means       []evalKeyposeMean      `json:"means"`
	Scores      []inbetween.Score      `json:"scores"`
	Sparse      []evalSparse           `json:"sparse,omitempty"`
	Transitions []inbetween.Transition `json:"transitions,omitempty"`
	Figures     []string               `json:"figures,omitempty"`
	Bars        evalBars               `json:"bars"`
}

// evalKeyposeMean is how a method did on the recordings of a folder.
type evalKeyposeMean struct {
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

func evalKeypose(ctx context.Context, o evalKeyposeOptions) (*evalKeyposeReport, error) {
	if err := figuresFolder(o.figures); err != nil {
		return nil, err
	}
	net, err := models.Open(o.model)
	if err != nil {
		return nil, err
	}
	m, err := keypose.New(net)
	if err != nil {
		return nil, err
	}
	maker, err := m.NewMaker(keypose.MakerOptions{Workers: o.threads})
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
			return holdFeet(t, stand)
		}},
	}
	r := &evalKeyposeReport{Model: net.Meta().Name}
	var fig *keyposeFigures
	if o.figures != "" {
		fig = &keyposeFigures{}
	}
	for _, dir := range o.data {
		_, held, err := dataset.BuildMotion([]string{dir}, dataset.MotionOptions{HeldOut: o.heldOut, Poses: true, Workers: o.threads})
		if err != nil {
			return nil, err
		}
		for _, every := range []float64{0.5, 1} {
			for _, method := range methods {
				var scores []inbetween.Score
				for i := range held.Clips {
					c := &held.Clips[i]
					if ctx.Err() != nil {
						return nil, errInterrupted
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
		sparse, err := measureSparse(ctx, o.sparse, set, held, methods[1].fill, m.Layout, o.threads, fig)
		if err != nil {
			return nil, err
		}
		r.Sparse = append(r.Sparse, sparse...)
	}
	if o.gaps != "" {
		train, held, err := dataset.BuildMotion([]string{o.gaps}, dataset.MotionOptions{HeldOut: o.unseen, Poses: true, Workers: o.threads})
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
		if r.Figures, err = fig.draw(o.figures); err != nil {
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
func meanKeypose(set, method string, every float64, scores []inbetween.Score) evalKeyposeMean {
	m := evalKeyposeMean{Set: set, Method: method, Every: every, Clips: len(scores)}
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
func (r *evalKeyposeReport) bars() evalBars {
	var b evalBars
	for i := 0; i < len(r.Means); i += 3 { // interpolation, network, that with feet held
		base, m := &r.Means[i], &r.Means[i+2]
		of := fmt.Sprintf("%s, %g s", m.Set, m.Every)
		most, share := float64(barBetweenOne), barOverLinear1
		if m.Every == 0.5 {
			most, share = barBetweenHalf, barOverLinearHalf
		}
		b.most("joints between keys, cm", of, &m.Joints, most)
		b.most("joints ÷ interpolation's", of, over(m.Joints, base.Joints), share)
		b.least("share of recordings with as many steps", of, &m.StepsRight, barStepsRight)
		if m.Drift > 0 {
			b.most("drift of the root after 10 s, cm", of, &m.Drift, barDrift)
			b.most("drift of its heading after 10 s, degrees", of, &m.Turn, barDriftYaw)
		}
		b.most("keys missed by, cm", of, &m.Hit, barHit)
		if m.Aside > 0 {
			b.least("share of seconds backward and sideways that are so", of, &m.AsideRight, barAside)
		}
	}
	for i := 0; i < len(r.Transitions); i += 2 {
		base, t := &r.Transitions[i], &r.Transitions[i+1]
		if t.Frames >= 15 {
			b.most("L2P ÷ interpolation's", fmt.Sprintf("%d frames", t.Frames), over(t.L2P, base.L2P), barTransition)
		}
	}
	return b.sorted()
}

func (r *evalKeyposeReport) print(w io.Writer) error {
	t := &evalTables{w: w}
	rows := []string{"recordings\tkeys every\tmethod\tclips\tjoints cm\troot cm\theading °\tkeys missed cm\tlong ones\tdrift cm\tdrift °\tany second cm\t°\tas many steps\taside right\tskate ÷ recorded\tjerk ÷"}
	for _, m := range r.Means {
		rows = append(rows, cells(m.Set, fmt.Sprintf("%g s", m.Every), m.Method, fmt.Sprint(m.Clips), fmt.Sprintf("%.2f", m.Joints), fmt.Sprintf("%.2f", m.Root), fmt.Sprintf("%.2f", m.Yaw),
			fmt.Sprintf("%.3f", m.Hit), fmt.Sprint(m.Long), fmt.Sprintf("%.2f", m.Drift), fmt.Sprintf("%.2f", m.Turn), fmt.Sprintf("%.2f", m.AnyDrift), fmt.Sprintf("%.2f", m.AnyTurn), fmt.Sprintf("%.0f %%", 100*m.StepsRight),
			fmt.Sprintf("%.0f %% of %d", 100*m.AsideRight, m.Aside), orNever("%.2f", over(m.Skate, m.TrueSkate)), orNever("%.2f", over(m.Jerk, m.TrueJerk))))
	}
	t.section(r.Model+" between keys of recordings held out", rows...)
	if len(r.Sparse) > 0 {
		t.section("Poses at even times alone (Lüdi 2016, sec. 4.1), on the joints of its frames", sparseRows(r.Sparse)...)
	}
	if len(r.Transitions) > 0 {
		rows := []string{"gap\tmethod\tcases\tL2P\tL2Q\tjoints cm"}
		for _, v := range r.Transitions {
			rows = append(rows, cells(fmt.Sprint(v.Frames), v.Method, fmt.Sprint(v.Cases), fmt.Sprintf("%.3f", v.L2P), fmt.Sprintf("%.3f", v.L2Q), fmt.Sprintf("%.2f", v.Joints)))
		}
		t.section("Gaps after ten frames, in frames at 30 per second (LAFAN1)", rows...)
	}
	t.table(fmt.Sprintf("keypose in short: %d of %d bars missed, marked *", r.Bars.missed(), len(r.Bars)), 0, r.Bars.rows())
	return t.err
}
