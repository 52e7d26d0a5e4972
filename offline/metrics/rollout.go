package metrics

import (
	"errors"
	"fmt"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Rollout runs a quadruped through the whole tick of package animsys, on flat ground, as a game does: a mode-adaptive network, or a
// character of mannequin make in its own size.
type Rollout struct {
	Model     *mann.Model
	Far       *mann.Model          // nil, or a model of a longer stride that drives all agents, as for distant ones
	Character *matching.File       // in place of Model
	Workers   int                  // results do not depend on it
	Tick      func(rows int) error // nil, or called before each tick with the number of agents; an error ends the rollout

	Restored int // agent ticks, so far, after which a controller restored its agent
}

// Agent is one character of a rollout.
type Agent struct {
	Start m3.Vec3 // at rest
	Yaw   float32 // radians
	// Goal returns the goal in a tick, counted from 0, given the root.
	Goal func(tick int, root m3.Xform) control.Goal
}

// step is a goal from a tick on.
type step struct {
	from int
	goal control.Goal
}

// sequence returns the goal function of steps in order of ticks. Before the first, the goal is idle.
func sequence(steps ...step) func(int, m3.Xform) control.Goal {
	return func(tick int, _ m3.Xform) (goal control.Goal) {
		for _, s := range steps {
			if tick >= s.from {
				goal = s.goal
			}
		}
		return goal
	}
}

// perform returns the steps of a goal from a tick on. A jump lasts a second, within a trot.
func perform(from int, g control.Goal) []step {
	if g.Action != control.Jump {
		return []step{{from, g}}
	}
	trot := ahead(GaitSpeeds[2])
	jump := trot
	jump.Action = control.Jump
	return []step{{from, jump}, {from + mann.Rate, trot}}
}

// Take is the motion of one agent: a frame per tick, in metres and world space.
type Take struct {
	Raw      *skel.Clip                    // the network's pose on the skeleton
	Shown    *skel.Clip                    // the displayed pose: blended, with foot lock
	Roots    []m3.Xform                    // (frames) on the ground, +Z forward
	Weights  [][control.NumActions]float32 // (frames) action weights
	Gating   []float32                     // (frames, Experts) weights
	Experts  int
	Restored int // ticks after which the controller restored the agent
}

// driver is what moves the agents of a rollout, and says more of them than a game asks for.
type driver interface {
	generator.Generator[control.Goal]
	Root(row int) m3.Xform // in the row's own space
	Weight(row int, a control.Action) float32
	Restored(row int) int
	Gating(row int) []float32 // weights of the experts, if it is due in this tick
	pose(row int) (pos []m3.Vec3, rot []m3.Quat)
}

// network is the driver of a mode-adaptive network.
type network struct{ *mann.Controller }

func (d network) pose(row int) ([]m3.Vec3, []m3.Quat) { return d.Batch.Pose(row) }

// driver returns what moves n agents.
func (r *Rollout) driver(n int) (driver, error) {
	if r.Character != nil {
		return newPlayed(r.Character, n, r.Workers)
	}
	opt := mann.ControllerOptions{Capacity: n, Workers: r.Workers}
	if r.Far != nil {
		opt.LOD = []*mann.Model{r.Far}
	}
	c, err := r.Model.NewController(opt)
	if err != nil {
		return nil, err
	}
	return network{c}, nil
}

// skeleton returns that of the driver's poses.
func (r *Rollout) skeleton() *skel.Skeleton {
	if r.Character != nil {
		return r.Character.Character().Skel
	}
	return r.Model.Skel
}

// Can reports whether agents have the action.
func (r *Rollout) Can(a control.Action) bool {
	if r.Character != nil {
		_, ok := r.Character.Character().Action(a.String())
		return ok
	}
	return r.Model.Can(a)
}

// Run drives all agents for a number of ticks. A pose that is not finite is an error.
func (r *Rollout) Run(agents []Agent, ticks int) ([]Take, error) {
	n := len(agents)
	drives, err := r.driver(n)
	if err != nil {
		return nil, err
	}
	var own []*retarget.Character
	if r.Character != nil {
		sized, err := r.Character.Character().Sized()
		if err != nil {
			return nil, errors.Join(err, drives.Close())
		}
		own = append(own, sized)
	}
	flat, err := newFlatWorld(drives, r.Workers, own...)
	if err != nil {
		return nil, err
	}
	defer flat.close()
	crowd, goals := flat.crowd, generic.NewMap1[control.Goal](&flat.world)
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
		sk := r.skeleton()
		if own != nil {
			if err := crowd.SetCharacter(dogs[i], own[0]); err != nil {
				return nil, err
			}
			sk = own[0].Skel
		}
		takes[i] = Take{Raw: skel.NewClip(sk, mann.Rate, ticks), Shown: skel.NewClip(sk, mann.Rate, ticks),
			Roots: make([]m3.Xform, ticks), Weights: make([][control.NumActions]float32, ticks)}
	}
	for f := range ticks {
		if r.Tick != nil {
			if err := r.Tick(n); err != nil {
				return nil, err
			}
		}
		for i, a := range agents {
			*goals.Get(dogs[i]) = a.Goal(f, crowd.Root(dogs[i]))
		}
		if err := flat.schedule.Step(); err != nil {
			return nil, err
		}
		for i := range takes {
			t, weights := &takes[i], drives.Gating(i)
			switch {
			case weights != nil:
				t.Experts = len(weights)
			case t.Experts > 0: // between two steps: the last weights
				weights = t.Gating[len(t.Gating)-t.Experts:]
			}
			t.Gating = append(t.Gating, weights...)
			if err := t.add(crowd, dogs[i], drives, i, f); err != nil {
				return nil, err
			}
		}
	}
	for _, t := range takes {
		r.Restored += t.Restored
	}
	return takes, nil
}

func (t *Take) add(c *animsys.Crowd, e arche.Entity, dogs driver, row, f int) error {
	t.Roots[f] = c.Roots[row]
	p, q := dogs.pose(row)
	pos, rot := t.Raw.Frame(f)
	copy(pos, p)
	copy(rot, q)
	if own := c.Character(e); own != nil {
		copy(pos, own.Skel.Offsets)
		pos[0] = p[0].Sub(dogs.Root(row).Pos).Scale(own.Scale).Add(t.Roots[f].Pos)
	}
	pos, rot = t.Shown.Frame(f)
	t.Shown.Skel.ModelToLocal(pos, rot, c.Bones(e))
	for j := range pos {
		if !pos[j].Finite() || !rot[j].Finite() {
			return fmt.Errorf("metrics: agent %d, frame %d: joint %s is not finite", row, f, t.Shown.Skel.Names[j])
		}
	}
	for a := range control.NumActions {
		t.Weights[f][a] = dogs.Weight(row, a)
	}
	t.Restored = dogs.Restored(row)
	return nil
}
