package motion

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys/manifold"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/command"
	evalmanifold "mannequin/offline/eval/manifold"
	"mannequin/offline/metrics"
	"mannequin/offline/recipes"
	"mannequin/offline/retarget"
)

// synthReport is the report of synth.
type synthReport struct {
	Out       string              `json:"out"`
	Seconds   float64             `json:"seconds"`
	Synthesis float64             `json:"synthesis_s"`
	Editing   float64             `json:"editing_s"`
	Rate      float64             `json:"frames_per_second"`
	Edit      manifold.EditReport `json:"edit"`
	Motion    metrics.People      `json:"motion"`
}

// synthOptions are the flags of synth.
type synthOptions struct {
	kind, path, targets, out string
	read                     retarget.Reading
	networks                 evalmanifold.Networks
	punch, kick              string
	seconds, facing          float64
	cadence, stand           float64
	person                   uint32
	iterations, threads      int
}

func newSynth() *cobra.Command {
	var o synthOptions
	var speeds string
	c := &cobra.Command{
		Use:   "synth {--path PATH | --kind punch|kick --targets FILE} --out FILE.bvh",
		Short: "Make a person walk or run along a curve, punch or kick, and write the motion",
		Long: `Make the motion of a person along a curve on the ground (Holden, Saito and Komura 2016) and
write it as BVH: metres, 60 frames per second, world space. The feet step as people do at that
speed, unless --cadence and --stand change it.

--path is circle (radius 1.5 m), square, star or meander, all around the origin; or a file of
control points: lines "x,z" in metres, TOML with closed and points, or an SVG drawing, of which
the first path counts, 5 cm to the unit. --speed is a number, or "time:speed" pairs with linear
changes in between: 0:1.4,5:1.4,7:3.5.

With --kind punch or kick the person moves hands, or heels and toes, to --targets, seen from the
ground below the hips, x to the left and z ahead. --targets is a table (.csv) with the columns
time, LeftHand.x, LeftHand.y, … in seconds and metres; a TOML file of [[target]] tables as for
mannequin edit, between which the joints rest, of --seconds; or a recording (.bvh, .amc) with
these hands or feet.`,
		Example: `  mannequin synth --path circle --speed 1.4 --seconds 20 --out walk.bvh
  mannequin synth --path track.csv --speed 0:1.4,5:1.4,7:3.5 --seconds 12 --out run.bvh --json
  mannequin synth --kind punch --targets jab.toml --seconds 3 --out jab.bvh
  mannequin synth --kind kick --targets 10_01.bvh --out kick.bvh
  mannequin synth --path meander --facing 90 --speed 0.6 --out sideways.bvh`,
		Args: cobra.NoArgs,
	}
	cli.Reports(c, func(cmd *cobra.Command, _ []string) (cli.Report, error) {
		if err := o.check(cmd); err != nil {
			return nil, err
		}
		speed, err := parseSpeeds(speeds)
		if err != nil {
			return nil, err
		}
		if o.kind != "locomotion" {
			if !cmd.Flags().Changed("iterations") {
				o.iterations = manifold.ActionIterations
			}
			return o.act()
		}
		return o.along(speed)
	})
	command.Choice(c, &o.kind, "kind", "locomotion", recipes.Kinds, "kind of motion")
	c.Flags().StringVar(&o.targets, "targets", "", "`file` of targets of hands or feet: .csv, .toml, .bvh or .amc")
	input.Reading(c, &o.read)
	c.Flags().StringVar(&o.path, "path", "", "circle, square, star, meander, or a `file` of control points")
	c.Flags().StringVar(&speeds, "speed", "1.4", "speed in m/s, or time:speed pairs")
	command.Number(c, &o.seconds, "seconds", 10, command.Positive, maxRollout, "duration of the motion")
	command.Number(c, &o.facing, "facing", 0, -360, 360, "direction that the body faces, degrees to the left of the path; 180 walks backward")
	command.Number(c, &o.cadence, "cadence", 1, 0.25, 4, "factor for the step frequency")
	c.Flags().Uint32Var(&o.person, "person", 1, "who moves: people differ in posture and strides; 0 is the mean of all")
	command.Number(c, &o.stand, "stand", 0, -1, 1, "change of the duration of contacts; -1 is always in the air")
	command.Number(c, &o.iterations, "iterations", manifold.DefaultIterations, 0, 10000, fmt.Sprintf("steps of the edit that locks standing feet and keeps bones; 0 is none; punches and kicks have %d unless given", manifold.ActionIterations))
	cli.Threads(c, &o.threads)
	cli.People(c, &o.networks.Base, &o.networks.Steps, &o.networks.Locomotion)
	cli.Acts(c, &o.punch, &o.kick)
	command.Out(c, &o.out, command.File, "the BVH `file` to write")
	return c
}

// along makes motion along the path.
func (o *synthOptions) along(speed func(frame int) float32) (*synthReport, error) {
	p, err := input.OpenPath(o.path)
	if err != nil {
		return nil, err
	}
	m, err := o.networks.Open()
	if err != nil {
		return nil, err
	}
	frames := max(int(math.Round(o.seconds*manifold.Rate)), 2)
	course, err := manifold.AlongPath(p, frames, speed, func(int) float32 { return float32(o.facing * math.Pi / 180) })
	if err != nil {
		return nil, err
	}
	l, err := m.NewLocomotion(manifold.LocomotionOptions{Batch: 1, Frames: frames, Workers: o.threads})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	gait := manifold.Gait{Person: o.person, Cadence: float32(o.cadence), HeelOff: -float32(o.stand), ToeOff: -float32(o.stand)}
	made, r, err := l.Make([]manifold.Trajectory{course}, []manifold.Gait{gait}, o.iterations, time.Now)
	if err != nil {
		return nil, err
	}
	clip, err := m.Clip(made[0].Rows, manifold.Rate, made[0].Start)
	if err != nil {
		return nil, err
	}
	rep := &synthReport{Out: o.out, Seconds: clip.Seconds(), Synthesis: r.Synthesis.Seconds(), Editing: r.Editing.Seconds(), Edit: r.Edit}
	rep.Rate = float64(frames) / (rep.Synthesis + rep.Editing)
	if rep.Motion, err = metrics.MeasurePeople(m.Model, made[0].Rows, made[0].Contacts, made[0].Start, course); err != nil {
		return nil, err
	}
	return rep, writeClip(o.out, clip)
}

// check returns an error for flags that are not for the kind of motion.
func (o *synthOptions) check(cmd *cobra.Command) error {
	not := []string{"path", "speed", "facing", "cadence", "stand", "person", "footstep", "locomotion"}
	switch {
	case o.kind == "locomotion" && o.path == "":
		return command.Usagef("--path is missing: the curve to follow")
	case o.kind == "locomotion":
		not = []string{"targets", "profile"}
	case o.targets == "":
		return command.Usagef("--targets is missing: the targets of hands or feet for a %s", o.kind)
	case cmd.Flags().Changed("seconds") && !strings.EqualFold(filepath.Ext(o.targets), ".toml"):
		return command.Usagef("--seconds is for --targets of a TOML file: %s has its own length", o.targets)
	}
	for _, k := range recipes.Kinds[1:] { // the network
		if k != o.kind {
			not = append(not, k)
		}
	}
	return cli.Unused(cmd, "is not for --kind "+o.kind, not...)
}

// parseSpeeds reads a speed, or times and speeds, and returns the speed of a frame.
func parseSpeeds(text string) (func(frame int) float32, error) {
	var times, speeds []float64
	for i, part := range strings.Split(text, ",") {
		var t, v float64
		var err error
		at, speed, timed := strings.Cut(part, ":")
		if !timed {
			speed = at
		} else if t, err = strconv.ParseFloat(at, 64); err != nil {
			return nil, command.Usagef("--speed: %q is not a time in seconds", at)
		}
		if v, err = strconv.ParseFloat(speed, 64); err != nil || !(v >= 0 && v <= manifold.MaxSpeed) {
			return nil, command.Usagef("--speed: %q is not a speed from 0 to %d m/s", speed, manifold.MaxSpeed)
		}
		if i > 0 && !(timed && t > times[i-1]) {
			return nil, command.Usagef("--speed: %q does not come later than the pair before it", part)
		}
		times, speeds = append(times, t), append(speeds, v)
	}
	return func(frame int) float32 {
		t := float64(frame) / manifold.Rate
		for i := len(times) - 1; i >= 0; i-- {
			if t < times[i] {
				continue
			}
			if i == len(times)-1 {
				return float32(speeds[i])
			}
			return float32(speeds[i] + (t-times[i])/(times[i+1]-times[i])*(speeds[i+1]-speeds[i]))
		}
		return float32(speeds[0])
	}, nil
}

func (r *synthReport) Print(w io.Writer) error {
	fmt.Fprintf(w, "%s: %.1f s of motion in %.2f s (%.0f frames/s): synthesis %.2f s, %d steps of editing %.2f s\n",
		r.Out, r.Seconds, r.Synthesis+r.Editing, r.Rate, r.Synthesis, r.Edit.Steps, r.Editing)
	m := r.Motion
	fmt.Fprintf(w, "body off the curve: mean %.1f cm, largest %.1f cm; mean angle %.1f°\n", m.Away, m.Farthest, m.Aside)
	_, err := fmt.Fprintf(w, "standing feet slide %.3f cm/frame; bones change by %.2f %% (largest %.1f %%)\n", m.Skate, m.Bone, m.BoneMost)
	return err
}
