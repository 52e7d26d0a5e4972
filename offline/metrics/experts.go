package metrics

import (
	"fmt"
	"math"
	"strings"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// Vanishes is the share of the whole network's ability below which a network
// without one expert counts as having lost it.
const Vanishes = 0.5

// Experts returns the number of experts of a mode-adaptive network, 1 for other
// networks.
func Experts(net *netruntime.Net) int {
	if t, ok := net.Tensor("experts.0.weight"); ok && len(t.Shape) == 3 {
		return t.Shape[0]
	}
	return 1
}

// Without returns the network with its k-th expert switched off as the paper's
// Table 5 does it, by ignoring the blending coefficient: α = Σ ω_i α_i over the
// other experts, whose ω stay what they are and so sum to less than one.
func Without(net *netruntime.Net, k int) (*netruntime.Net, error) {
	n := Experts(net)
	if n < 2 || k < 0 || k >= n {
		return nil, fmt.Errorf("metrics: there is no expert %d to switch off in a network of %d", k, n)
	}
	tensors := net.Tensors()
	for _, t := range tensors {
		if strings.HasPrefix(t.Name, "experts.") {
			size := len(t.Data) / n
			clear(t.Data[k*size : (k+1)*size])
		}
	}
	return netruntime.New(net.Meta(), tensors)
}

// Ability is something that a model can be asked for, with how much of it came:
// see Abilities.
type Ability struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
}

const (
	ableLead = mann.Rate     // ticks of standing first
	ableHold = 5 * mann.Rate // ticks of the command
	ableEnd  = 2 * mann.Rate // the last of them, which count
)

// Abilities measures what a model can do from standing idle, in the network's
// pose:
//
//   - walk, pace, trot, canter, back, aside: speed in the direction asked for, m/s
//   - limbs: how much the legs bend in the trot, degrees per frame
//   - left, right: rate of turning while walking, degrees per second
//   - jump: the height in metres that the lowest joint reaches
//   - sit, lie, stand: how far the pose came from its start to the recordings'
//     poses of the action, as a share of the way; 1 is within their spread
//
// A model that has to be put back after a tick can do nothing from then on.
func Abilities(r *Rollout, poses [control.NumActions]*Poses) ([]Ability, error) {
	legs, err := DogLegs(r.Model.Skel)
	if err != nil {
		return nil, err
	}
	var out []Ability
	var agents []Agent
	var values []func(Take) float64
	add := func(name, unit string, goal func(tick int) control.Goal, value func(Take) float64) {
		out = append(out, Ability{Name: name, Unit: unit})
		agents = append(agents, Agent{Goal: func(tick int, _ m3.Xform) control.Goal {
			if tick < ableLead {
				return control.Goal{}
			}
			return goal(tick - ableLead)
		}})
		values = append(values, value)
	}
	always := func(g control.Goal) func(int) control.Goal { return func(int) control.Goal { return g } }
	for _, m := range Modes(r.Model) {
		switch {
		case m.Goal.Action == control.Move && m.Goal.Turn == 0:
			add(m.Name, "m/s", always(m.Goal), func(t Take) float64 { return speedAlong(t.Roots, m.Goal.Move) })
		}
	}
	add("limbs", "°/frame", always(ahead(GaitSpeeds[2])), func(t Take) float64 {
		return Measure(section(t.Raw, t.Raw.Frames-ableEnd, t.Raw.Frames), legs).Stiffness
	})
	for _, side := range []struct {
		name string
		turn float32
	}{{"left", 1}, {"right", -1}} {
		g := ahead(GaitSpeeds[0])
		g.Turn = side.turn
		add(side.name, "°/s", always(g), func(t Take) float64 { return float64(side.turn) * turnRate(t.Roots) })
	}
	if r.Model.Can(control.Jump) {
		add("jump", "m", func(tick int) control.Goal {
			if tick < ableHold/2 {
				return ahead(GaitSpeeds[2])
			}
			return actionGoal(control.Jump, tick-ableHold/2)
		}, func(t Take) float64 { return flight(section(t.Raw, ableLead+ableHold/2, t.Raw.Frames)) })
	}
	for _, a := range []control.Action{control.Sit, control.Lie, control.Stand} {
		if p := poses[a]; p != nil && r.Model.Can(a) {
			add(a.String(), "of the way", always(control.Goal{Action: a}), func(t Take) float64 {
				g := p.gaps(section(t.Raw, ableLead-1, t.Raw.Frames))
				least := g[0]
				for _, v := range g {
					least = min(least, v)
				}
				return math.Min((g[0]-least)/max(g[0]-p.Spread, 1e-6), 1)
			})
		}
	}
	takes, err := r.Run(agents, ableLead+ableHold)
	if err != nil {
		return nil, err
	}
	for i, t := range takes {
		if t.Restored == 0 {
			out[i].Value = max(values[i](t), 0)
		}
	}
	return out, nil
}

// speedAlong returns the mean speed of the end of a root's way in a direction
// of its own frame.
func speedAlong(roots []m3.Xform, move m3.Vec3) float64 {
	var sum float64
	for f := len(roots) - ableEnd; f < len(roots); f++ {
		sum += float64(roots[f].Pos.Sub(roots[f-1].Pos).Dot(roots[f].Rot.Rotate(move)))
	}
	return sum * mann.Rate / ableEnd
}

// turnRate returns the mean rate of turning left at the end of a root's way,
// degrees per second.
func turnRate(roots []m3.Xform) float64 {
	var sum float64
	for f := len(roots) - ableEnd; f < len(roots); f++ {
		sum += float64(m3.WrapAngle(roots[f].Rot.Yaw() - roots[f-1].Rot.Yaw()))
	}
	return sum * mann.Rate / ableEnd * 180 / math.Pi
}

// flight returns the greatest height of the lowest joint in c.
func flight(c *skel.Clip) float64 {
	model := make([]m3.Xform, c.Skel.Len())
	high := float32(0)
	for f := range c.Frames {
		c.Model(model, f)
		low := model[0].Pos.Y
		for _, x := range model {
			low = min(low, x.Pos.Y)
		}
		high = max(high, low)
	}
	return float64(high)
}
