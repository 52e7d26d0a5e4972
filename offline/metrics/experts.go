package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// Vanishes is the share of an ability below which a network without one expert has lost it.
const Vanishes = 0.5

// Experts returns the number of experts of a mode-adaptive network, 1 for other networks.
func Experts(net *netruntime.Net) int {
	if t, ok := net.Tensor("experts.0.weight"); ok && len(t.Shape) == 3 {
		return t.Shape[0]
	}
	return 1
}

// Without returns the network without its k-th expert, as in the paper's Table 5: α = Σ ω_i α_i
// over the other experts. Their ω stay the same and so sum to less than one.
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

// Ability is a measure of one command: see Abilities.
type Ability struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
}

const (
	ableLead = mann.Rate     // ticks of idle before the command
	ableHold = 5 * mann.Rate // ticks of the command
	ableEnd  = 2 * mann.Rate // ticks at its end that count
)

// Abilities measures what a model can do from idle, in the network's pose:
//
//   - walk, pace, trot, canter, back, aside: speed in the direction asked for, m/s
//   - limbs: bend of the legs in the trot, degrees per frame
//   - left, right: turn rate in a walk, degrees per second
//   - jump: height that the lowest joint reaches, m
//   - sit, lie, stand: share of the distance to the recordings' poses of the action that was covered; 1 is
//     within their spread
//
// All are 0 if the controller had to restore the agent.
func Abilities(r *Rollout, poses [control.NumActions]*Poses) ([]Ability, error) {
	legs, err := DogLegs(r.skeleton())
	if err != nil {
		return nil, err
	}
	var out []Ability
	var agents []Agent
	var values []func(Take) float64
	add := func(name, unit string, steps []step, value func(Take) float64) {
		out = append(out, Ability{Name: name, Unit: unit})
		agents = append(agents, Agent{Goal: sequence(steps...)})
		values = append(values, value)
	}
	for _, m := range Modes(r) {
		if m.Goal.Action == control.Move && m.Goal.Turn == 0 {
			add(m.Name, "m/s", perform(ableLead, m.Goal), func(t Take) float64 { return speedAlong(t.Roots, m.Goal.Move) })
		}
	}
	trot := step{ableLead, ahead(GaitSpeeds[2])}
	add("limbs", "°/frame", []step{trot}, func(t Take) float64 {
		return Measure(t.Raw.Section(t.Raw.Frames-ableEnd, t.Raw.Frames), legs).Stiffness
	})
	for _, turn := range []float32{1, -1} {
		g, name := ahead(GaitSpeeds[0]), map[float32]string{1: "left", -1: "right"}[turn]
		g.Turn = turn
		add(name, "°/s", perform(ableLead, g), func(t Take) float64 { return float64(turn) * turnRate(t.Roots) })
	}
	if r.Can(control.Jump) {
		const at = ableLead + ableHold/2
		steps := append([]step{trot}, perform(at, control.Goal{Action: control.Jump})...)
		add("jump", "m", steps, func(t Take) float64 { return flight(t.Raw.Section(at, t.Raw.Frames)) })
	}
	for _, a := range []control.Action{control.Sit, control.Lie, control.Stand} {
		if p := poses[a]; p != nil && r.Can(a) {
			add(a.String(), "of the way", perform(ableLead, control.Goal{Action: a}), func(t Take) float64 {
				g := p.gaps(t.Raw.Section(ableLead-1, t.Raw.Frames))
				return math.Min((g[0]-slices.Min(g))/max(g[0]-p.Spread, 1e-6), 1)
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

// speedAlong returns the mean speed of roots in a direction of their own frame, at the end.
func speedAlong(roots []m3.Xform, move m3.Vec3) float64 {
	var sum float64
	for f := len(roots) - ableEnd; f < len(roots); f++ {
		sum += float64(roots[f].Pos.Sub(roots[f-1].Pos).Dot(roots[f].Rot.Rotate(move)))
	}
	return sum * mann.Rate / ableEnd
}

// turnRate returns the mean turn rate to the left at the end, degrees per second.
func turnRate(roots []m3.Xform) float64 {
	var sum float64
	for f := len(roots) - ableEnd; f < len(roots); f++ {
		sum += float64(m3.WrapAngle(roots[f].Rot.Yaw() - roots[f-1].Rot.Yaw()))
	}
	return sum * mann.Rate / ableEnd * 180 / math.Pi
}

// flight returns the greatest height of the lowest joint in c.
func flight(c *skel.Clip) float64 {
	return max(0, slices.Max(perFrame(c, func(now, _ []m3.Xform) float64 {
		return float64(slices.MinFunc(now, func(a, b m3.Xform) int { return cmp.Compare(a.Pos.Y, b.Pos.Y) }).Pos.Y)
	})))
}
