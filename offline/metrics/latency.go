package metrics

import (
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
)

// Latency is the time from a command until its action shows, s. nil: not within four seconds.
type Latency struct {
	Action string   `json:"action"`
	From   string   `json:"from"`
	Weight *float64 `json:"weight_s"` // until the action's weight is 90 %
	Pose   *float64 `json:"pose_s"`   // until the pose is within Spread of a recorded one, for half a second
	Back   *float64 `json:"back_s"`   // the same for idle, after the command to idle

	Begin  float64 `json:"gap_at_command_m"` // distance from the action's poses at the command
	Least  float64 `json:"gap_least_m"`      // the least after it
	Spread float64 `json:"spread_m"`         // Poses.Spread
}

// latencyStarts are the goals before the command.
var latencyStarts = []struct {
	name string
	goal control.Goal
}{{"idle", control.Goal{}}, {"pace", ahead(GaitSpeeds[1])}}

const (
	actLead = 3 * mann.Rate // ticks before the command
	actHold = 4 * mann.Rate // ticks of the action
	actBack = 4 * mann.Rate // ticks of idle after it

	poseStays = mann.Rate / 2 // ticks for which a reached pose is kept, except a jump's
)

// Latencies measures the model's actions with poses (see ActionPoses), from idle and from a pace.
func Latencies(r *Rollout, poses [control.NumActions]*Poses) ([]Latency, error) {
	var out []Latency
	var agents []Agent
	var actions []control.Action
	for _, a := range []control.Action{control.Sit, control.Lie, control.Stand, control.Jump} {
		if poses[a] == nil || !r.Can(a) {
			continue
		}
		for _, from := range latencyStarts {
			out = append(out, Latency{Action: a.String(), From: from.name, Spread: poses[a].Spread})
			actions = append(actions, a)
			steps := append([]step{{0, from.goal}}, perform(actLead, control.Goal{Action: a})...)
			agents = append(agents, Agent{Goal: sequence(append(steps, step{actLead + actHold, control.Goal{}})...)})
		}
	}
	if len(agents) == 0 {
		return nil, nil
	}
	takes, err := r.Run(agents, actLead+actHold+actBack)
	if err != nil {
		return nil, err
	}
	for i, t := range takes {
		l, a := &out[i], actions[i]
		for f := actLead; f < actLead+actHold && l.Weight == nil; f++ {
			if t.Weights[f][a] >= 0.9 {
				l.Weight = seconds(f - actLead)
			}
		}
		gaps := poses[a].gaps(t.Shown.Section(actLead-1, actLead+actHold))
		stay := poseStays
		if a == control.Jump {
			stay = 1
		}
		l.Begin, l.Pose, l.Least = gaps[0], reached(gaps, l.Spread, stay), slices.Min(gaps)
		if idle := poses[control.Idle]; idle != nil {
			l.Back = reached(idle.gaps(t.Shown.Section(actLead+actHold-1, t.Shown.Frames)), idle.Spread, poseStays)
		}
	}
	return out, nil
}

// reached returns the time of the first stay frames with gaps of at most spread; nil: none.
func reached(gaps []float64, spread float64, stay int) *float64 {
	n := 0
	for f, g := range gaps {
		if n++; g > spread {
			n = 0
		} else if n == stay {
			return seconds(f + 1 - stay)
		}
	}
	return nil
}

func seconds(ticks int) *float64 {
	s := float64(ticks) / mann.Rate
	return &s
}
