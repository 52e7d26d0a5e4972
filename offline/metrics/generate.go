package metrics

import (
	"fmt"
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Generate drives model m toward each goal, all at once from rest (at the
// origin, or at the start of the goal's path), and returns what it shows as one
// clip per goal, in metres in world space, after stand frames on the spot and
// settle frames toward the goal that are not recorded. run is the network: raw outputs for rows raw inputs. It is an error
// if an output is not finite.
func Generate(m *mann.Model, run func(y, x []float32, rows int) error, goals []control.Goal, stand, settle, frames int) ([]*skel.Clip, error) {
	n := len(goals)
	b := mann.NewBatch(m, n)
	clips := make([]*skel.Clip, n)
	for r := range clips {
		clips[r] = skel.NewClip(m.Skel, mann.Rate, frames)
		if p := goals[r].Path; p != nil {
			pos, dir := p.At(0)
			b.Reset(r, pos, m3.YawOf(dir))
		}
	}
	x, y := make([]float32, n*m.Layout.Inputs()), make([]float32, n*m.Layout.Outputs())
	idle := make([]control.Goal, n)
	for f := -stand; f < settle+frames; f++ {
		if f < 0 {
			b.Plan(idle, 0, n)
		} else {
			b.Plan(goals, 0, n)
		}
		b.Gather(x, 0, n)
		if err := run(y, x, n); err != nil {
			return nil, err
		}
		b.Scatter(y, 0, n)
		for r, c := range clips {
			if b.Restored(r) > 0 {
				return nil, fmt.Errorf("metrics: goal %d, frame %d: the network's output is not finite or out of all bounds", r, stand+f)
			}
			if f >= settle {
				pos, rot := c.Frame(f - settle)
				p, q := b.Pose(r)
				copy(pos, p)
				copy(rot, q)
			}
		}
	}
	return clips, nil
}

// Generated measures the motion that model m makes of each gait's goals,
// seconds long, after a second on the spot and two to settle: no recording goes
// off from the rest pose.
func Generated(m *mann.Model, run func(y, x []float32, rows int) error, gaits []Gait, seconds float64) ([]Motion, error) {
	legs, err := DogLegs(m.Skel)
	if err != nil {
		return nil, err
	}
	var goals []control.Goal
	for _, g := range gaits {
		goals = append(goals, g.Goals...)
	}
	clips, err := Generate(m, run, goals, mann.Rate, 2*mann.Rate, int(seconds*mann.Rate))
	if err != nil {
		return nil, err
	}
	out := make([]Motion, len(gaits))
	for i, g := range gaits {
		for range g.Goals {
			out[i].add(clips[0], legs, nil)
			clips = clips[1:]
		}
	}
	return out, nil
}

// Follow is how well a model follows a path.
type Follow struct {
	Path       string  `json:"path"`
	DistanceCM float64 `json:"distance_cm"`
	AngleDeg   float64 `json:"angle_deg"`
}

// PaperFollow is the paper's Table 4, row MANN, on paths whose sizes it does
// not tell.
func PaperFollow() []Follow {
	return []Follow{{"circle", 2.98, 3.21}, {"square", 4.65, 7.21}, {"star", 6.61, 8.76}}
}

// Following measures model m on the built-in paths that PaperFollow names, at
// speed m/s for so many seconds, from rest on the path. The root is the ground
// under joint 0, facing the joint called Neck.
func Following(m *mann.Model, run func(y, x []float32, rows int) error, speed float32, seconds float64) ([]Follow, error) {
	neck := m.Skel.Index("Neck")
	if neck < 0 {
		return nil, fmt.Errorf("metrics: the skeleton has no joint %q, toward which the root faces", "Neck")
	}
	out := PaperFollow()
	goals := make([]control.Goal, len(out))
	for i := range out {
		path, err := control.Builtin(out[i].Path)
		if err != nil {
			return nil, err
		}
		goals[i] = control.Goal{Path: path, Speed: speed}
	}
	clips, err := Generate(m, run, goals, 0, 0, int(seconds*mann.Rate))
	if err != nil {
		return nil, err
	}
	for i, c := range clips {
		pos, facing := make([]m3.Vec3, c.Frames), make([]m3.Vec3, c.Frames)
		model := make([]m3.Xform, c.Skel.Len())
		for f := range pos {
			c.Model(model, f)
			pos[f], facing[f] = model[0].Pos, model[neck].Pos.Sub(model[0].Pos)
		}
		d := PathDeviation(goals[i].Path, pos, facing)
		out[i].DistanceCM, out[i].AngleDeg = 100*d.Distance, d.Angle*180/math.Pi
	}
	return out, nil
}
