package motion

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys/manifold"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/offline/metrics"
	"mannequin/offline/mocap"
	"mannequin/offline/recipes"
)

// synthReport is what the command prints.
type synthReport struct {
	Out       string              `json:"out"`
	Seconds   float64             `json:"seconds"`
	Synthesis float64             `json:"synthesis_s"`
	Editing   float64             `json:"editing_s"`
	Rate      float64             `json:"frames_per_second"`
	Edit      manifold.EditReport `json:"edit"`
	Motion    metrics.People      `json:"motion"`
}

func newSynth() *cobra.Command {
	var (
		kind, path, targets     string
		out, speeds             string
		base, steps, locomotion string
		punch, kick             string
		seconds, facing         float64
		cadence, stand          float64
		iterations, threads     int
		asJSON                  bool
	)
	c := &cobra.Command{
		Use:   "synth {--path PATH | --kind punch|kick --targets FILE} --out FILE.bvh",
		Short: "Make a person walk or run along a curve, punch or kick, and write the motion",
		Long: `Make the motion of a person along a curve on the ground (Holden, Saito and Komura
2016) and write it as BVH: metres, 60 frames per second, world space. The feet step
as people do at that speed, unless --cadence and --stand say otherwise.

--path is circle (radius 1.5 m), square, star or meander, all around the origin; or
a file of control points: lines "x,z" in metres, TOML with closed and points, or an
SVG drawing, of which the first path counts, 5 cm to the unit.
--speed is one number, or "time:speed" pairs between which the speed goes in
straight lines: 0:1.4,5:1.4,7:3.5.

With --kind punch or kick the person moves so that hands, or heels and toes, go
where --targets says, seen from the ground under the hips, x to the left and z
ahead. That is a table (.csv) with the columns time, LeftHand.x, LeftHand.y, … in
seconds and metres; a TOML file of [[target]] tables as for mannequin edit, between
which the joints rest, of --seconds; or a recording (.bvh, .amc), whose hands or
feet they are.`,
		Example: `  mannequin synth --path circle --speed 1.4 --seconds 20 --out walk.bvh
  mannequin synth --path track.csv --speed 0:1.4,5:1.4,7:3.5 --seconds 12 --out run.bvh --json
  mannequin synth --kind punch --targets jab.toml --seconds 3 --out jab.bvh
  mannequin synth --kind kick --targets 10_01.bvh --out kick.bvh
  mannequin synth --path meander --facing 90 --speed 0.6 --out sideways.bvh`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkKind(cmd, kind, path, targets); err != nil {
				return err
			}
			speed, err := parseSpeeds(speeds)
			switch {
			case err != nil:
				return err
			case !(seconds > 0 && seconds <= maxRollout):
				return command.Usagef("--seconds must be above 0 and at most %d", maxRollout)
			case !(math.Abs(facing) <= 360):
				return command.Usagef("--facing is %v, want -360 to 360 degrees", facing)
			case !(cadence >= 0.25 && cadence <= 4):
				return command.Usagef("--cadence is %v, want 0.25 to 4", cadence)
			case !(math.Abs(stand) <= 1):
				return command.Usagef("--stand is %v, want -1 to 1", stand)
			case iterations < 0 || iterations > 10000:
				return command.Usagef("--iterations is %d, want 0 to 10000", iterations)
			case threads < 1 || threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", threads)
			}
			if kind != "locomotion" {
				if !cmd.Flags().Changed("iterations") {
					iterations = manifold.ActionIterations
				}
				net := map[string]string{"punch": punch, "kick": kick}[kind]
				rep, err := synthAct(actOptions{kind, targets, net, base, out, seconds, iterations, threads})
				if err != nil {
					return err
				}
				if asJSON {
					return cli.PrintJSON(cmd.OutOrStdout(), rep)
				}
				rep.Print(cmd.OutOrStdout())
				return nil
			}
			p, err := input.OpenPath(path)
			if err != nil {
				return err
			}
			m, err := input.OpenManifold(base)
			if err != nil {
				return err
			}
			stepsNet, err := models.Open(steps)
			if err != nil {
				return err
			}
			motionNet, err := models.Open(locomotion)
			if err != nil {
				return err
			}
			frames := max(int(math.Round(seconds*manifold.Rate)), 2)
			course, err := manifold.AlongPath(p, frames, speed, func(int) float32 { return float32(facing * math.Pi / 180) })
			if err != nil {
				return err
			}
			l, err := m.With(stepsNet, motionNet).NewLocomotion(manifold.LocomotionOptions{Batch: 1, Frames: frames, Workers: threads})
			if err != nil {
				return err
			}
			defer l.Close()
			gait := manifold.Gait{Cadence: float32(cadence), HeelOff: -float32(stand), ToeOff: -float32(stand)}
			made, r, err := l.Make([]manifold.Trajectory{course}, []manifold.Gait{gait}, iterations, time.Now)
			if err != nil {
				return err
			}
			clip, err := m.Clip(made[0].Rows, manifold.Rate, made[0].Start)
			if err != nil {
				return err
			}
			if err := atomicfile.Write(out, func(w io.Writer) error { return mocap.WriteClip(w, clip) }); err != nil {
				return err
			}
			rep := synthReport{Out: out, Seconds: clip.Seconds(), Synthesis: r.Synthesis.Seconds(), Editing: r.Editing.Seconds(), Edit: r.Edit}
			rep.Rate = float64(frames) / (rep.Synthesis + rep.Editing)
			if rep.Motion, err = metrics.MeasurePeople(m, made[0].Rows, made[0].Contacts, made[0].Start, course); err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), rep)
			}
			rep.Print(cmd.OutOrStdout())
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&kind, "kind", "locomotion", "what is made: "+strings.Join(recipes.Kinds, ", "))
	f.StringVar(&targets, "targets", "", "`file` of where hands or feet go: .csv, .toml, .bvh or .amc")
	f.StringVar(&path, "path", "", "circle, square, star, meander, or a file of control points")
	f.StringVar(&speeds, "speed", "1.4", "speed in m/s, or time:speed pairs")
	f.Float64Var(&seconds, "seconds", 10, "length of the motion")
	f.Float64Var(&facing, "facing", 0, "degrees to the left of the way ahead that the body faces: 180 walks backward")
	f.Float64Var(&cadence, "cadence", 1, "how much faster it steps")
	f.Float64Var(&stand, "stand", 0, "how much longer feet stand, -1 (always in the air) to 1")
	f.IntVar(&iterations, "iterations", manifold.DefaultIterations, fmt.Sprintf("steps of the edit that holds standing feet and bones; 0 leaves it out; punches and kicks have %d where it is not given", manifold.ActionIterations))
	f.IntVar(&threads, "threads", runtime.GOMAXPROCS(0), "workers; the result does not depend on it")
	f.StringVar(&base, "manifold", "human", "a shipped model's name, or a model file: the motion manifold")
	f.StringVar(&steps, "footstep", "human-footstep", "a shipped model's name, or a model file: the network of footsteps")
	f.StringVar(&locomotion, "locomotion", "human-locomotion", "a shipped model's name, or a model file: the network of motion")
	f.StringVar(&punch, "punch", "human-punch", "a shipped model's name, or a model file: the network of punches")
	f.StringVar(&kick, "kick", "human-kick", "a shipped model's name, or a model file: the network of kicks")
	f.StringVarP(&out, "out", "o", "", "the BVH file to write")
	f.BoolVar(&asJSON, "json", false, "print the report as one JSON object")
	cli.Must(c.MarkFlagRequired("out"))
	return c
}

// checkKind reports flags that are not for what is made.
func checkKind(cmd *cobra.Command, kind, path, targets string) error {
	not := []string{"path", "speed", "facing", "cadence", "stand", "footstep", "locomotion"}
	switch {
	case !slices.Contains(recipes.Kinds, kind):
		return command.Usagef("--kind is %q, want %s", kind, strings.Join(recipes.Kinds, ", "))
	case kind == "locomotion" && path == "":
		return command.Usagef("--path is missing: the curve to go along")
	case kind == "locomotion":
		not = []string{"targets"}
	case targets == "":
		return command.Usagef("--targets is missing: where hands or feet go in a %s", kind)
	case cmd.Flags().Changed("seconds") && !strings.EqualFold(filepath.Ext(targets), ".toml"):
		return command.Usagef("--seconds is for --targets of a TOML file: %s has a length of its own", targets)
	}
	for _, k := range recipes.Kinds[1:] { // its network
		if k != kind {
			not = append(not, k)
		}
	}
	for _, name := range not {
		if cmd.Flags().Changed(name) {
			return command.Usagef("--%s is not for --kind %s", name, kind)
		}
	}
	return nil
}

// parseSpeeds reads a speed, or times and speeds, as speeds at frames.
func parseSpeeds(text string) (func(frame int) float32, error) {
	var times, speeds []float64
	for i, part := range strings.Split(text, ",") {
		var t, v float64
		var err error
		at, speed, timed := strings.Cut(part, ":")
		if !timed {
			speed = at
		} else if t, err = strconv.ParseFloat(at, 64); err != nil {
			return nil, command.Usagef("--speed: %q is no time in seconds", at)
		}
		if v, err = strconv.ParseFloat(speed, 64); err != nil || !(v >= 0 && v <= manifold.MaxSpeed) {
			return nil, command.Usagef("--speed: %q is no speed from 0 to %d m/s", speed, manifold.MaxSpeed)
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

func (r *synthReport) Print(w io.Writer) {
	fmt.Fprintf(w, "%s: %.1f s of motion in %.2f s (%.0f frames/s): synthesis %.2f s, %d steps of editing %.2f s\n",
		r.Out, r.Seconds, r.Synthesis+r.Editing, r.Rate, r.Synthesis, r.Edit.Steps, r.Editing)
	m := r.Motion
	fmt.Fprintf(w, "body off the curve: mean %.1f cm, largest %.1f cm; mean angle %.1f°\n", m.Away, m.Farthest, m.Aside)
	fmt.Fprintf(w, "standing feet slide %.3f cm/frame; bones change by %.2f %% (largest %.1f %%)\n", m.Skate, m.Bone, m.BoneMost)
}
