package motion

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/keypose"
	"mannequin/animsys/skel"
	"mannequin/animsys/strnn"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/offline/dataset"
	evalstrnn "mannequin/offline/eval/strnn"
	"mannequin/offline/retarget"
)

// predictOptions are the flags of predict.
type predictOptions struct {
	model   string
	read    retarget.Reading
	at      float64
	seconds float64
	spread  float32
	seed    uint64
	draws   int
	feet    bool
	threads int
}

// predictReport is the report of predict.
type predictReport struct {
	Out      string  `json:"out"`
	Recorded float64 `json:"recorded_s"`
	Made     float64 `json:"made_s"`
	Went     float64 `json:"went_m"` // over the ground in the predicted part
	Rate     float64 `json:"frames_per_second"`
}

func newPredict() *cobra.Command {
	var o predictOptions
	c := &cobra.Command{
		Use:   "predict RECORDING... --out OUT.bvh",
		Short: "Continue a person's motion",
		Long: `Continue the motion of a person for any time, with a spatio-temporal recurrent network (Wang,
Ho, Shum and Zhu 2019), and write recording and prediction as BVH on the human skeleton: metres,
60 frames per second, world space. RECORDING is a BVH, FBX, glTF, AMC or TXT file of any skeleton that
mannequin import --retarget can read, at any frame rate.

A motion has many possible futures. Every 2/3 s some are drawn, and the one most like the last 4 s
of the recording is taken, so people keep doing what they did: who stands stands, who walks walks
on. Another --seed gives another motion. With less --spread of the draws motions differ less, with
a single one of --draws people forget what they did within some seconds. Standing feet are locked
as in the game, and predicted toes that move fast clear the ground.`,
		Example: `  mannequin predict walk.bvh --seconds 60 --out on.bvh
  mannequin predict boxing.bvh --at 2.5 --seed 7 --out on.bvh --json`,
	}
	cli.Converts(c, "a recording", ".bvh", func(_ *cobra.Command, in, out string) (cli.Report, error) { return predict(in, out, o) })
	cli.Model(c, &o.model, "model", "human-strnn", "the network")
	input.Reading(c, &o.read)
	command.Number(c, &o.at, "at", 0, 0, math.Inf(1), "`second` of the recording at which the prediction begins; 0 is its end")
	command.Number(c, &o.seconds, "seconds", 10, command.Positive, 3600, "duration of the prediction")
	command.Number(c, &o.spread, "spread", evalstrnn.PredictSpread, 0, 3, "standard deviation of the draws; 0 is the mean of all futures")
	cli.Seed(c, &o.seed, "the draws")
	command.Number(c, &o.draws, "draws", evalstrnn.PredictDraws, 1, 1000, "futures that are drawn for each 2/3 s")
	c.Flags().BoolVar(&o.feet, "feet", true, "lock standing feet, and lift toes that skim the ground")
	cli.Threads(c, &o.threads)
	return c
}

func (r *predictReport) Print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %.1f s recorded and %.1f s predicted, in which the body moved %.1f m; %.0f frames/s\n", r.Out, r.Recorded, r.Made, r.Went, r.Rate)
	return err
}

func predict(path, out string, o predictOptions) (*predictReport, error) {
	m, err := models.OpenAs(o.model, strnn.NewModel)
	if err != nil {
		return nil, err
	}
	recorded, start, err := dataset.OpenPerson(path, m.Layout, m.Skel, o.read)
	if err != nil {
		return nil, err
	}
	cols := m.Layout.Columns()
	half := make([]float32, len(recorded)/cols/2*cols)
	strnn.HalveRate(half, recorded, m.Layout)
	have := len(half) / cols
	if o.at > 0 {
		if o.at*strnn.Rate > float64(have) {
			return nil, fmt.Errorf("%s has %.2f s, --at is %.2f: want at most that", path, float64(have)/strnn.Rate, o.at)
		}
		have = int(o.at * strnn.Rate)
	}
	if have < m.Encode {
		return nil, fmt.Errorf("%s has %.2f s before the prediction begins, the network needs %.2f: give a longer recording, or a later --at", path, float64(have)/strnn.Rate, float64(m.Encode)/strnn.Rate)
	}
	p, err := m.NewPredictor(strnn.PredictorOptions{Batch: 1, Draws: o.draws, Workers: o.threads, CleanUp: true})
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
	r := &predictReport{Out: out, Recorded: float64(have) / strnn.Rate, Made: float64(frames-have) / strnn.Rate, Rate: float64(frames-have) / time.Since(begin).Seconds()}
	for f := have; f < frames; f++ {
		v := rows[f*cols+m.Layout.Body():]
		r.Went += float64(feature.Place{}.Advance(v, 1.0/strnn.Rate).Pos.Len())
	}
	m.Enliven(rows, have)
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
		if err := clearFeet(clip, m.Person, double, 2*have); err != nil {
			return nil, err
		}
	}
	return r, writeClip(out, clip)
}

// clearFeet lifts the toes of a locked clip that move fast near the ground, after its first have frames: predicted feet
// glide down where a person's come down at once, and a lock tick by tick cannot know where they will land. rows are the
// (frames, columns) that the clip was made from.
func clearFeet(c *skel.Clip, p *feature.Person, rows []float32, have int) error {
	rig, err := generator.Person(p.Layout, c.Skel, nil)
	if err != nil {
		return err
	}
	l, err := keypose.NewLayout(c.Skel)
	if err != nil {
		return err
	}
	lock, err := l.NewFootLock()
	if err != nil {
		return err
	}
	t, stand := l.NewTrack(c.Frames, float32(c.FPS)), make([]float32, c.Frames*keypose.Feet)
	for f := range c.Frames {
		if f < have {
			t.Key(f)
		}
		for i, k := range rig.Contacts {
			stand[f*keypose.Feet+i] = rows[f*p.Layout.Columns()+p.Layout.Contact(int(k))]
		}
	}
	t.Interpolate()
	t.SetClip(c, 0, 1)
	lock.Loose = true
	if err := lock.Apply(t, stand); err != nil {
		return err
	}
	*c = *t.Clip()
	return nil
}
