package motion

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/engine/m3"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/metrics"
)

// maxRollout is the longest rollout in seconds: an hour takes about 160 MB.
const maxRollout = 3600

// rollout is a run of a model and its result.
type rollout struct {
	agent  metrics.Agent
	path   *control.Path // to measure against, or nil
	tags   []string      // that a script may name as actions
	script []control.Goal
	frames int
	take   metrics.Take
}

// rolloutReport is the report of rollout.
type rolloutReport struct {
	Model    string          `json:"model"`
	Out      string          `json:"out"`
	Frames   int             `json:"frames"`
	Seconds  float64         `json:"seconds"`
	Asked    *float64        `json:"speed_asked_m_s,omitempty"` // nil if the script or the walk chooses
	Speed    float64         `json:"speed_mean_m_s"`            // of the root
	Travel   float64         `json:"travel_m"`
	Path     *pathReport     `json:"path,omitempty"`
	Motion   *metrics.Motion `json:"motion,omitempty"`
	Restored int             `json:"restored"` // ticks after which the watchdog reset the pose
}

type pathReport struct {
	Name      string  `json:"name"`
	Length    float64 `json:"length_m"`
	Mean      float64 `json:"distance_mean_m"`
	Max       float64 `json:"distance_max_m"`
	MeanAngle float64 `json:"angle_mean_deg"`
}

func newRollout() *cobra.Command {
	var (
		path, script, action, out string
		speed, seconds            float64
		seed                      uint64
	)
	c := &cobra.Command{
		Use:   "rollout MODEL --out FILE.bvh",
		Short: "Drive a quadruped's model or a character along a path or a script and write its motion",
		Long: `Drive a model or a character of mannequin make on flat ground and write the motion as a game displays it,
with foot lock, as BVH: metres, 60 frames per second, world space. The character starts on the path, facing along it, or
without a path at the origin, facing +Z.

--path is circle (radius 1.5 m), square (corners at ±2 m), star (five points, radius 2.5 m) or
meander (a winding course), all around the origin; wander, a random walk about the origin by
--seed; or a file of control points: lines "x,z" in metres, or TOML with closed and points.
wander chooses its own speeds and actions. So does --script, a TOML file of timed goals:

  [[goal]]
  at = 0.0            # seconds
  action = "move"     # idle, move, jump, sit, lie, stand, and what else a character does, such as roll
  speed = 1.1         # m/s
  turn = 0.25         # -1 (right) to 1 (left)

  [[goal]]
  at = 4.0
  action = "sit"

  [[goal]]
  at = 8.0
  stick = [1, 0]      # a player's stick, in the world: along +X and +Z
  face = [0, 1]       # faces there; by default where the stick points
  speed = 1.4`,
		Example: `  mannequin rollout dog --path circle --speed 1.1 --seconds 30 --out c.bvh
  mannequin rollout dog --path track.csv --speed 2 --seconds 20 --out t.bvh --json
  mannequin rollout dog --action sit --seconds 5 --out sit.bvh
  mannequin rollout train/dog.safetensors --script scene.toml --seconds 12 --out s.bvh
  mannequin rollout hero.character --script scene.toml --seconds 12 --out h.bvh`,
		Args: command.Want("a shipped model's or character's name, or a file of one", 1, 1),
	}
	cli.Reports(c, func(cmd *cobra.Command, args []string) (cli.Report, error) {
		switch {
		case path != "" && script != "":
			return nil, command.Usagef("--path and --script exclude each other")
		case (script != "" || path == "wander") && (cmd.Flags().Changed("speed") || cmd.Flags().Changed("action")):
			return nil, command.Usagef("--speed and --action are not for --script and --path wander, which choose their own")
		}
		act, err := control.ParseAction(action)
		if err != nil {
			return nil, command.Usagef("--action: %v", err)
		}
		drive, actions, err := openRollout(args[0])
		if err != nil {
			return nil, err
		}
		can := func(a control.Action) error {
			goes := drive.Character != nil && (a == control.Idle || a == control.Move)
			if own := a >= control.NumActions; !goes && !own && !drive.Can(a) {
				return fmt.Errorf("%s cannot %v: its actions are %s", args[0], a, strings.Join(actions, ", "))
			}
			return nil
		}
		if err := can(act); err != nil {
			return nil, err
		}
		r := &rollout{frames: max(int(math.Round(seconds*mann.Rate)), 1)}
		if drive.Character != nil {
			r.tags = actions
		}
		if err := r.aim(path, script, act, float32(speed), seed); err != nil {
			return nil, err
		}
		for i, g := range r.script {
			if err := can(g.Action); err != nil {
				return nil, fmt.Errorf("%s: goal %d: %w", script, i+1, err)
			}
		}
		if err := r.run(cmd.Context(), drive); err != nil {
			return nil, err
		}
		if err := writeClip(out, r.take.Shown); err != nil {
			return nil, err
		}
		rep := r.report()
		rep.Model, rep.Out = args[0], out
		if script == "" && path != "wander" {
			rep.Asked = &speed
		}
		if rep.Path != nil {
			rep.Path.Name = path
		}
		return rep, nil
	})
	c.Flags().StringVar(&path, "path", "", "circle, square, star, meander, wander, or a `file` of control points")
	c.Flags().StringVar(&script, "script", "", "a TOML `file` of timed goals")
	command.Choice(c, &action, "action", "move", []string{"idle", "move", "jump", "sit", "lie", "stand"}, "action")
	command.Number(c, &speed, "speed", 1.1, 0, 20, "speed in m/s")
	command.Number(c, &seconds, "seconds", 10, command.Positive, maxRollout, "duration of the motion")
	cli.Seed(c, &seed, "the walk of --path wander")
	command.Out(c, &out, command.File, "the BVH `file` to write")
	return c
}

// openRollout opens what is driven, and names its actions.
func openRollout(name string) (drive *metrics.Rollout, actions []string, err error) {
	m, err := models.OpenAs(name, mann.NewModel)
	if err == nil {
		return &metrics.Rollout{Model: m}, m.Layout.Actions, nil
	}
	f, other := models.OpenCharacter(name)
	if other == nil {
		return &metrics.Rollout{Character: f}, f.Character().Tags, nil
	}
	if u := (*netruntime.UnsupportedError)(nil); errors.As(err, &u) && u.Got == matching.Arch {
		err = other
	} else if _, missing := os.Stat(name); missing != nil {
		err = fmt.Errorf("%w; shipped characters are %s", err, strings.Join(models.Characters(), ", "))
	}
	return nil, nil, err
}

// aim sets goal, start and path by the command line.
func (r *rollout) aim(path, script string, act control.Action, speed float32, seed uint64) error {
	goal := control.Goal{Action: act, Speed: speed}
	if act == control.Move || act == control.Jump {
		goal.Move = m3.V(0, 0, 1)
	}
	r.agent.Goal = func(int, m3.Xform) control.Goal { return goal }
	switch {
	case script != "":
		s, err := control.OpenScript(script, r.tags...)
		if err != nil {
			return err
		}
		r.script = s.Goals()
		r.agent.Goal = func(tick int, root m3.Xform) control.Goal { return s.At(float64(tick)/mann.Rate, root.Rot) }
		if first := s.At(0, m3.Ident).Path; first != nil {
			r.startOn(first)
		}
	case path == "wander":
		w := control.NewWander(1, seed)
		w.Radius = 5
		goals, roots := make([]control.Goal, 1), make([]m3.Xform, 1)
		r.agent.Goal = func(_ int, root m3.Xform) control.Goal {
			roots[0] = root
			w.Update(goals, roots, 1./mann.Rate, 0, 1)
			return goals[0]
		}
	case path != "":
		p, err := input.OpenPath(path, "wander")
		if err != nil {
			return err
		}
		r.path, goal.Path = p, p
		r.startOn(p)
	}
	return nil
}

func (r *rollout) startOn(p *control.Path) {
	at, dir := p.At(0)
	r.agent.Start, r.agent.Yaw = at, m3.YawOf(dir)
}

// run drives the model or the character.
func (r *rollout) run(ctx context.Context, drive *metrics.Rollout) error {
	done := 0
	drive.Workers = 1
	drive.Tick = func(int) error {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("interrupted after %d of %d frames, nothing written", done, r.frames)
		}
		done++
		return nil
	}
	takes, err := drive.Run([]metrics.Agent{r.agent}, r.frames)
	if err != nil {
		return err
	}
	r.take = takes[0]
	return nil
}

func (r *rollout) report() *rolloutReport {
	clip := r.take.Shown
	rep := &rolloutReport{Frames: r.frames, Seconds: clip.Seconds(), Restored: r.take.Restored}
	var pos, face []m3.Vec3
	for f, root := range r.take.Roots {
		pos, face = append(pos, root.Pos), append(face, root.Rot.Forward())
		if f > 0 {
			rep.Travel += float64(pos[f].Dist(pos[f-1]))
		}
	}
	rep.Speed = rep.Travel / rep.Seconds
	if r.path != nil {
		d := metrics.PathDeviation(r.path, pos, face)
		rep.Path = &pathReport{Length: float64(r.path.Length()), Mean: d.Distance, Max: d.Farthest, MeanAngle: d.Angle * 180 / math.Pi}
	}
	if legs, err := metrics.DogLegs(clip.Skel); err == nil { // other animals are not measured
		m := metrics.Measure(clip, legs)
		rep.Motion = &m
	}
	return rep
}

func (rep *rolloutReport) Print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %d frames, %.1f s, %.1f m at a mean of %.2f m/s\n", rep.Out, rep.Frames, rep.Seconds, rep.Travel, rep.Speed)
	if p := rep.Path; p != nil {
		_, err = fmt.Fprintf(w, "distance from the path: mean %.1f cm, largest %.1f cm; mean angle %.1f°\n", 100*p.Mean, 100*p.Max, p.MeanAngle)
	}
	if m := rep.Motion; m != nil {
		_, err = fmt.Fprintf(w, "skate %.3f cm/frame (hind paws %.3f), leg bend %.2f°/frame (hind legs %.2f)\n", m.Skate, m.BackSkate, m.Stiffness, m.BackStiffness)
	}
	if rep.Restored > 0 {
		_, err = fmt.Fprintf(w, "warning: the watchdog reset the pose %d times\n", rep.Restored)
	}
	return err
}
