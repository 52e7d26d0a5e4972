package metrics

import (
	"errors"
	"fmt"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Rollout drives a model as a game does: the whole tick of package animsys, on
// flat ground.
type Rollout struct {
	Model   *mann.Model
	Far     *mann.Model          // nil, or what drives everybody in Model's place: a model of a longer stride, as for agents far away
	Workers int                  // the result does not depend on it
	Tick    func(rows int) error // nil, or called before each tick of so many agents; an error ends the rollout

	Restored int // in how many ticks, so far, a controller has put its agent back
}

// Agent is one character of a rollout.
type Agent struct {
	Start m3.Vec3 // where it stands at first, at rest
	Yaw   float32 // which way it faces there, radians
	// Goal returns what it should do in a tick, counted from 0, given its root.
	Goal func(tick int, root m3.Xform) control.Goal
}

// constant returns the goal function of someone who wants g all the time.
func constant(g control.Goal) func(int, m3.Xform) control.Goal {
	return func(int, m3.Xform) control.Goal { return g }
}

// Take is what one agent showed, a frame per tick, in metres and world space.
type Take struct {
	Raw      *skel.Clip                    // the network's pose on the skeleton
	Shown    *skel.Clip                    // the pose that is displayed: blended, its paws held by the ground solver
	Roots    []m3.Xform                    // (frames) on the ground, +Z forward
	Weights  [][control.NumActions]float32 // (frames) action weights
	Gating   []float32                     // (frames, Experts) the experts' weights
	Experts  int
	Restored int // ticks after which the controller put it back
}

// Run drives all agents at once for so many ticks. It is an error if a pose is
// not finite.
func (r *Rollout) Run(agents []Agent, ticks int) ([]Take, error) {
	n := len(agents)
	ground, err := terrain.Flat(terrain.Grid{Size: 8, Cell: 4}) // goes on beyond its edges
	if err != nil {
		return nil, err
	}
	w := arche.NewWorld()
	opt := mann.ControllerOptions{Capacity: n, Workers: r.Workers}
	if r.Far != nil {
		opt.LOD = []*mann.Model{r.Far}
	}
	controller, err := r.Model.NewController(opt)
	if err != nil {
		return nil, err
	}
	crowd, err := animsys.NewCrowd(&w, controller, animsys.Options{Ground: ground, Workers: r.Workers})
	if err != nil {
		return nil, errors.Join(err, controller.Close())
	}
	defer crowd.Close()
	schedule, err := ecs.NewSchedule(&w, 1./mann.Rate, animsys.Systems()...)
	if err != nil {
		return nil, err
	}
	defer schedule.Close()
	goals := generic.NewMap1[control.Goal](&w)
	dogs, takes := make([]arche.Entity, n), make([]Take, n)
	for i, a := range agents {
		if dogs[i], err = crowd.Spawn(a.Start, a.Yaw); err != nil {
			return nil, err
		}
		if r.Far != nil {
			if err := crowd.SetUpdateRate(dogs[i], animsys.UpdateRate(r.Far.Layout.Step())); err != nil {
				return nil, err
			}
		}
		takes[i] = Take{Raw: skel.NewClip(r.Model.Skel, mann.Rate, ticks), Shown: skel.NewClip(r.Model.Skel, mann.Rate, ticks),
			Roots: make([]m3.Xform, ticks), Weights: make([][control.NumActions]float32, ticks)}
	}
	for f := range ticks {
		if r.Tick != nil {
			if err := r.Tick(n); err != nil {
				return nil, err
			}
		}
		for i, a := range agents {
			*goals.Get(dogs[i]) = a.Goal(f, controller.Root(i))
		}
		if err := schedule.Step(); err != nil {
			return nil, err
		}
		for i := range takes {
			t, weights := &takes[i], controller.Gating(i)
			if weights != nil {
				t.Experts = len(weights)
			} else { // between two steps they are those of the last
				weights = t.Gating[len(t.Gating)-t.Experts:]
			}
			t.Gating = append(t.Gating, weights...)
			if err := t.add(crowd, controller, i, f); err != nil {
				return nil, err
			}
		}
	}
	for _, t := range takes {
		r.Restored += t.Restored
	}
	return takes, nil
}

// add records frame f of row.
func (t *Take) add(c *animsys.Crowd, dogs *mann.Controller, row, f int) error {
	p, q := dogs.Batch.Pose(row)
	pos, rot := t.Raw.Frame(f)
	copy(pos, p)
	copy(rot, q)
	pos, rot = t.Shown.Frame(f)
	t.Shown.Skel.ModelToLocal(pos, rot, c.BonesAt(row))
	for j := range pos {
		if !pos[j].Finite() || !rot[j].Finite() {
			return fmt.Errorf("metrics: agent %d, frame %d: joint %s is not finite", row, f, t.Shown.Skel.Names[j])
		}
	}
	t.Roots[f] = dogs.Root(row)
	for a := range control.NumActions {
		t.Weights[f][a] = dogs.Weight(row, a)
	}
	t.Restored = dogs.Restored(row)
	return nil
}

// section returns the frames of c from first up to last, sharing its memory.
func section(c *skel.Clip, first, last int) *skel.Clip {
	n := c.Skel.Len()
	return &skel.Clip{Skel: c.Skel, FPS: c.FPS, Frames: last - first, Pos: c.Pos[first*n : last*n], Rot: c.Rot[first*n : last*n]}
}
