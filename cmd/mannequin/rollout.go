package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/metrics"
	"mannequin/offline/mocap"
)

// maxRollout bounds the length of a rollout: an hour fills about 160 MB.
const maxRollout = 3600

// rollout is one drive of a model and what came of it.
type rollout struct {
	goal   func(t float64, root m3.Xform) control.Goal
	start  m3.Vec3
	yaw    float32
	path   *control.Path // to measure against, or nil
	frames int

	clip      *skel.Clip
	pos, face []m3.Vec3 // of the root, per frame
	restored  int
}

// rolloutReport is what the command prints.
type rolloutReport struct {
	Model    string          `json:"model"`
	Out      string          `json:"out"`
	Frames   int             `json:"frames"`
	Seconds  float64         `json:"seconds"`
	Asked    float64         `json:"speed_asked_m_s"`
	Speed    float64         `json:"speed_mean_m_s"` // of the root
	Travel   float64         `json:"travel_m"`
	Path     *pathReport     `json:"path,omitempty"`
	Motion   *metrics.Motion `json:"motion,omitempty"`
	Restored int             `json:"restored"` // ticks whose output was not finite
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
		model, path, script, action, out string
		speed, seconds                   float64
		seed                             uint64
		asJSON                           bool
	)
	c := &cobra.Command{
		Use:   "rollout --model MODEL --out FILE.bvh",
		Short: "Drive a model along a path or a script and write its motion",
		Long: `Drive a model on flat ground and write what it does as BVH: metres, 60 frames per
second, world space. The character starts on the path, facing along it; without
a path it starts at the origin, facing +Z.

--path is circle (radius 1.5 m), square (corners at ±2 m), star (five points,
radius 2.5 m) or meander (a winding course), all around the origin; wander, a walk about the origin that --seed
chooses; or a file of control points: lines "x,z" in metres, or TOML with closed
and points. --script is a TOML file of timed goals:

  [[goal]]
  at = 0.0            # seconds
  action = "move"     # idle, move, jump, sit, lie, stand
  speed = 1.1         # m/s
  turn = 0.25         # -1 (right) to 1 (left)

  [[goal]]
  at = 4.0
  action = "sit"`,
		Example: `  mannequin rollout --model dog --path circle --speed 1.1 --seconds 30 --out c.bvh
  mannequin rollout --model dog --path track.csv --speed 2 --seconds 20 --out t.bvh --json
  mannequin rollout --model dog --action sit --seconds 5 --out sit.bvh
  mannequin rollout --model train/dog.safetensors --script scene.toml --seconds 12 --out s.bvh`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case path != "" && script != "":
				return command.Usagef("--path and --script exclude each other")
			case !(seconds > 0 && seconds <= maxRollout):
				return command.Usagef("--seconds must be above 0 and at most %d", maxRollout)
			case !(speed >= 0 && speed <= 20):
				return command.Usagef("--speed must be 0 to 20 m/s")
			}
			act, err := control.ParseAction(action)
			if err != nil {
				return command.Usagef("--action: %v", err)
			}
			net, err := models.Open(model)
			if err != nil {
				return err
			}
			m, err := mann.NewModel(net)
			if err != nil {
				return err
			}
			if !m.Can(act) {
				return fmt.Errorf("model %s cannot %v: its actions are %v", model, act, m.Layout.Actions)
			}
			r := &rollout{frames: max(int(math.Round(seconds*mann.Rate)), 1)}
			if err := r.aim(path, script, act, float32(speed), seed); err != nil {
				return err
			}
			if err := r.run(cmd.Context(), m); err != nil {
				return err
			}
			if err := atomicfile.Write(out, func(w io.Writer) error { return mocap.WriteClip(w, r.clip) }); err != nil {
				return err
			}
			rep := r.report()
			rep.Model, rep.Out, rep.Asked = model, out, speed
			if rep.Path != nil {
				rep.Path.Name = path
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), rep)
			}
			rep.print(cmd.OutOrStdout())
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&model, "model", "dog", "a shipped model's name, or a model file")
	f.StringVar(&path, "path", "", "circle, square, star, meander, wander, or a file of control points")
	f.StringVar(&script, "script", "", "a TOML file of timed goals")
	f.StringVar(&action, "action", "move", "what to do: idle, move, jump, sit, lie, stand")
	f.Float64Var(&speed, "speed", 1.1, "speed in m/s")
	f.Float64Var(&seconds, "seconds", 10, "length of the motion")
	f.Uint64Var(&seed, "seed", 1, "which walk, for --path wander")
	f.StringVarP(&out, "out", "o", "", "the BVH file to write")
	f.BoolVar(&asJSON, "json", false, "print the report as one JSON object")
	must(c.MarkFlagRequired("out"))
	return c
}

// aim sets goal, start and path from the command line.
func (r *rollout) aim(path, script string, act control.Action, speed float32, seed uint64) error {
	goal := control.Goal{Action: act, Speed: speed}
	if act == control.Move || act == control.Jump {
		goal.Move = m3.V(0, 0, 1)
	}
	r.goal = func(float64, m3.Xform) control.Goal { return goal }
	switch {
	case script != "":
		s, err := control.OpenScript(script)
		if err != nil {
			return err
		}
		r.goal = func(t float64, _ m3.Xform) control.Goal { return s.At(t) }
		if first := s.At(0).Path; first != nil {
			r.startOn(first)
		}
	case path == "wander":
		w := control.NewWander(1, seed)
		w.Radius = 5
		goals, roots := make([]control.Goal, 1), make([]m3.Xform, 1)
		r.goal = func(_ float64, root m3.Xform) control.Goal {
			roots[0] = root
			w.Update(goals, roots, 1./mann.Rate, 0, 1)
			return goals[0]
		}
	case path != "":
		p, err := control.Builtin(path)
		if errors.Is(err, control.ErrUnknownPath) {
			p, err = control.OpenPath(path)
		}
		if err != nil {
			return fmt.Errorf("--path is neither circle, square, star, meander, wander nor a readable file: %w", err)
		}
		r.path, goal.Path = p, p
		r.startOn(p)
	}
	return nil
}

func (r *rollout) startOn(p *control.Path) {
	at, dir := p.At(0)
	r.start, r.yaw = at, m3.YawOf(dir)
}

// run drives the model and fills the clip.
func (r *rollout) run(ctx context.Context, m *mann.Model) error {
	session, err := m.Net.NewSession(netruntime.SessionOptions{Batch: 1, Workers: 1})
	if err != nil {
		return err
	}
	defer session.Close()
	b := mann.NewBatch(m, 1)
	b.Reset(0, r.start, r.yaw)
	x, y := make([]float32, m.Layout.Inputs()), make([]float32, m.Layout.Outputs())
	goals := make([]control.Goal, 1)
	r.clip = skel.NewClip(m.Skel, mann.Rate, r.frames)
	for f := range r.frames {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("interrupted after %d of %d frames, nothing written", f, r.frames)
		}
		goals[0] = r.goal(float64(f)/mann.Rate, b.Root(0))
		b.Plan(goals, 0, 1)
		b.Gather(x, 0, 1)
		if err := session.Run(y, x, 1); err != nil {
			return err
		}
		b.Scatter(y, 0, 1)
		pos, rot := b.Pose(0)
		p, q := r.clip.Frame(f)
		copy(p, pos)
		copy(q, rot)
		root := b.Root(0)
		r.pos = append(r.pos, root.Pos)
		r.face = append(r.face, root.Rot.Rotate(m3.V(0, 0, 1)))
	}
	r.restored = b.Restored(0)
	return nil
}

func (r *rollout) report() *rolloutReport {
	rep := &rolloutReport{Frames: r.frames, Seconds: r.clip.Seconds(), Restored: r.restored}
	for f := 1; f < r.frames; f++ {
		rep.Travel += float64(r.pos[f].Dist(r.pos[f-1]))
	}
	rep.Speed = rep.Travel / rep.Seconds
	if r.path != nil {
		d := metrics.PathDeviation(r.path, r.pos, r.face)
		rep.Path = &pathReport{Length: float64(r.path.Length()), Mean: d.Distance, Max: d.Farthest, MeanAngle: d.Angle * 180 / math.Pi}
	}
	if legs, err := metrics.DogLegs(r.clip.Skel); err == nil { // other animals are not measured
		m := metrics.Measure(r.clip, legs)
		rep.Motion = &m
	}
	return rep
}

func (rep *rolloutReport) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %d frames, %.1f s, %.1f m at a mean of %.2f m/s\n", rep.Out, rep.Frames, rep.Seconds, rep.Travel, rep.Speed)
	if p := rep.Path; p != nil {
		fmt.Fprintf(w, "distance from the path: mean %.1f cm, largest %.1f cm; mean angle %.1f°\n", 100*p.Mean, 100*p.Max, p.MeanAngle)
	}
	if m := rep.Motion; m != nil {
		fmt.Fprintf(w, "skate %.3f cm/frame (hind paws %.3f), leg bend %.2f°/frame (hind legs %.2f)\n", m.Skate, m.BackSkate, m.Stiffness, m.BackStiffness)
	}
	if rep.Restored > 0 {
		fmt.Fprintf(w, "warning: the network's output was not usable %d times\n", rep.Restored)
	}
}
