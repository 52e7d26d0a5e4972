package motion

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys"
	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/offline/dataset"
	evalstrnn "mannequin/offline/eval/strnn"
	"mannequin/offline/mocap"
)

// predictOptions are the flags of predict.
type predictOptions struct {
	model   string
	out     string
	at      float64
	seconds float64
	spread  float32
	seed    uint64
	feet    bool
	threads int
	asJSON  bool
}

// predictReport is what the command prints.
type predictReport struct {
	Out      string  `json:"out"`
	Recorded float64 `json:"recorded_s"`
	Made     float64 `json:"made_s"`
	Went     float64 `json:"went_m"` // over the ground in what was made
	Rate     float64 `json:"frames_per_second"`
}

func newPredict() *cobra.Command {
	o := predictOptions{spread: evalstrnn.PredictSpread, seed: 1}
	c := &cobra.Command{
		Use:   "predict RECORDING --out OUT.bvh",
		Short: "Go on from a person's motion",
		Long: `Go on from the motion of a person, as long as you like, with a spatio-temporal
recurrent network (Wang, Ho, Shum and Zhu 2019), and write both as BVH on the human
skeleton: metres, 60 frames per second, world space. RECORDING is a BVH, AMC or TXT file of
any skeleton that a retargeting profile fits (mannequin import --retarget), at any
frame rate.

A motion may go on in many ways. One is drawn every 2/3 s: another --seed is another
motion. With a --spread of 1 people keep doing what they do; with more they do this
and that of all that was learnt, with less they come to rest. --feet holds standing
feet as the game does.`,
		Example: `  mannequin predict walk.bvh --seconds 60 --out on.bvh
  mannequin predict boxing.bvh --at 2.5 --seed 7 --feet --out on.bvh --json`,
		Args: command.Want("one recording", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !(o.seconds > 0 && o.seconds <= 3600):
				return command.Usagef("--seconds is %v, want more than 0, up to 3600", o.seconds)
			case !(o.at >= 0):
				return command.Usagef("--at is %v, want 0 or more", o.at)
			case !(o.spread >= 0 && o.spread <= 3):
				return command.Usagef("--spread is %v, want 0 to 3", o.spread)
			case o.threads < 1 || o.threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", o.threads)
			}
			r, err := predict(args[0], o)
			if err != nil {
				return err
			}
			if o.asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), r)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %.1f s recorded and %.1f s more, in which the body went %.1f m; %.0f frames/s\n", r.Out, r.Recorded, r.Made, r.Went, r.Rate)
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&o.model, "model", "human-strnn", "a shipped model's `name`, or a model file of train strnn")
	f.StringVarP(&o.out, "out", "o", "", "BVH `file` to write")
	f.Float64Var(&o.at, "at", 0, "`second` of the recording from which to go on; 0: its end")
	f.Float64Var(&o.seconds, "seconds", 10, "how long")
	f.Float32Var(&o.spread, "spread", o.spread, "deviation of what is drawn; 0: the middle of all ways")
	f.Uint64Var(&o.seed, "seed", o.seed, "of what is drawn")
	f.BoolVar(&o.feet, "feet", false, "hold standing feet")
	f.IntVar(&o.threads, "threads", runtime.GOMAXPROCS(0), "workers; the result does not depend on it")
	f.BoolVar(&o.asJSON, "json", false, "print the report as JSON")
	cli.Must(c.MarkFlagRequired("out"))
	return c
}

func predict(path string, o predictOptions) (*predictReport, error) {
	net, err := models.Open(o.model)
	if err != nil {
		return nil, err
	}
	m, err := strnn.NewModel(net)
	if err != nil {
		return nil, err
	}
	recorded, start, err := dataset.OpenPerson(path, m.Layout, m.Skel, nil)
	if err != nil {
		return nil, err
	}
	cols := m.Layout.Columns()
	half := make([]float32, len(recorded)/cols/2*cols)
	strnn.HalveRate(half, recorded, m.Layout)
	have := len(half) / cols
	if o.at > 0 {
		if o.at*strnn.Rate > float64(have) {
			return nil, fmt.Errorf("%s has %.2f s, --at is %.2f: want no more", path, float64(have)/strnn.Rate, o.at)
		}
		have = int(o.at * strnn.Rate)
	}
	if have < m.Encode {
		return nil, fmt.Errorf("%s has %.2f s up to where it is to go on, the network needs %.2f: give a longer recording, or a later --at", path, float64(have)/strnn.Rate, float64(m.Encode)/strnn.Rate)
	}
	p, err := m.NewPredictor(strnn.PredictorOptions{Batch: 1, Workers: o.threads, CleanUp: true})
	if err != nil {
		return nil, err
	}
	frames := have + int(o.seconds*strnn.Rate)
	rows := append(half[:have*cols:have*cols], make([]float32, (frames-have)*cols)...)
	p.SetSampling(o.seed, o.spread)
	begin := time.Now()
	err = errors.Join(p.Extend(rows, 1, have, frames), p.Close())
	if err != nil {
		return nil, fmt.Errorf("%s: %w: try another --seed, or a smaller --spread", path, err)
	}
	r := &predictReport{Out: o.out, Recorded: float64(have) / strnn.Rate, Made: float64(frames-have) / strnn.Rate, Rate: float64(frames-have) / time.Since(begin).Seconds()}
	for f := have; f < frames; f++ {
		v := rows[f*cols+m.Layout.Body():]
		r.Went += float64(feature.Place{}.Advance(v, 1.0/strnn.Rate).Pos.Len())
	}
	double := make([]float32, 2*len(rows))
	strnn.DoubleRate(double, rows, m.Layout)
	start.Pos = start.Pos.Flat()
	clip, err := m.Clip(double, dataset.Rate, start)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if o.feet {
		if clip, err = animsys.StandClip(clip, m.Layout, double); err != nil {
			return nil, err
		}
	}
	return r, atomicfile.Write(o.out, func(w io.Writer) error { return mocap.WriteClip(w, clip) })
}
