package metrics

import (
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/dataset"
)

// Rates are the speed (m/s), acceleration (m/s²) and jerk (m/s³) of a joint in the world.
type Rates struct {
	Speed        float64 `json:"speed"`
	Acceleration float64 `json:"acceleration"`
	Jerk         float64 `json:"jerk"`
}

// rates calls visit for each joint and frame of c from frame 3 on, with finite differences.
func rates(c *skel.Clip, visit func(joint, frame int, r Rates)) {
	var h [4][]m3.Xform
	for i := range h {
		h[i] = make([]m3.Xform, c.Skel.Len())
	}
	for f := range c.Frames {
		h[0], h[1], h[2], h[3] = h[1], h[2], h[3], h[0]
		c.Model(h[3], f)
		if f < 3 {
			continue
		}
		for j := range h[3] {
			a, b, d, e := h[0][j].Pos, h[1][j].Pos, h[2][j].Pos, h[3][j].Pos
			v := e.Sub(d)
			w := v.Sub(d.Sub(b))
			z := w.Sub(d.Sub(b).Sub(b.Sub(a)))
			visit(j, f, Rates{c.FPS * float64(v.Len()), c.FPS * c.FPS * float64(w.Len()), c.FPS * c.FPS * c.FPS * float64(z.Len())})
		}
	}
}

// RecordedRates returns the rates that one in a thousand recorded joints and frames exceeds.
func RecordedRates(sets ...*dataset.MANN) Rates {
	var v, a, j []float64
	for set, run := range runs(sets) {
		rates(set.Replay(run[0], run[1]), func(_, _ int, r Rates) {
			v, a, j = append(v, r.Speed), append(a, r.Acceleration), append(j, r.Jerk)
		})
	}
	return Rates{Quantile(v, 0.999), Quantile(a, 0.999), Quantile(j, 0.999)}
}

// Mode is something to ask a character for.
type Mode struct {
	Name string
	Goal control.Goal
}

// Modes returns the modes between which transitions are measured, without the actions that are lacking.
func Modes(r *Rollout) []Mode {
	aside := control.Goal{Move: m3.V(1, 0, 0), Speed: 0.4, Action: control.Move}
	back := control.Goal{Move: m3.V(0, 0, -1), Speed: 0.4, Action: control.Move}
	out := []Mode{{"idle", control.Goal{}}}
	for i, name := range []string{"walk", "pace", "trot", "canter"} {
		out = append(out, Mode{name, ahead(GaitSpeeds[i])})
	}
	out = append(out, Mode{"back", back}, Mode{"aside", aside}, Mode{"turn", control.Goal{Turn: 1, Action: control.Move}})
	for _, a := range []control.Action{control.Jump, control.Sit, control.Stand, control.Lie} {
		if r.Can(a) {
			out = append(out, Mode{a.String(), control.Goal{Action: a}})
		}
	}
	return out
}

// Transition is the harshest moment of a change from one mode to another.
type Transition struct {
	From string `json:"from"`
	To   string `json:"to"`
	// The largest rates of any joint from shortly before the change to 2.5 s after it, of the
	// displayed pose and of the network's.
	Shown  Rates   `json:"shown"`
	Raw    Rates   `json:"raw"`
	Joint  string  `json:"joint"`  // with the largest jerk of the displayed pose
	Second float64 `json:"second"` // its time after the change
}

const (
	modeLead = 4 * mann.Rate // ticks of the first mode
	jumpLead = 48            // ticks from the command of a first jump to the change, in mid-jump
	changed  = 150           // ticks after the change that count
)

// Transitions measures the change from each mode to each other one. A jump is asked for at a trot;
// a change after a jump begins in the air.
func Transitions(r *Rollout, modes []Mode) ([]Transition, error) {
	var out []Transition
	var agents []Agent
	for _, a := range modes {
		for _, b := range modes {
			if a.Name == b.Name {
				continue
			}
			out = append(out, Transition{From: a.Name, To: b.Name})
			steps := []step{{0, a.Goal}}
			if a.Goal.Action == control.Jump { // the change is in mid-jump
				steps = []step{{0, ahead(GaitSpeeds[2])}, perform(modeLead-jumpLead, a.Goal)[0]}
			}
			agents = append(agents, Agent{Goal: sequence(append(steps, perform(modeLead, b.Goal)...)...)})
		}
	}
	takes, err := r.Run(agents, modeLead+changed)
	if err != nil {
		return nil, err
	}
	const first = modeLead - 6
	for i, t := range takes {
		o := &out[i]
		rates(t.Raw.Section(first, t.Raw.Frames), func(_, _ int, v Rates) { o.Raw.most(v) })
		rates(t.Shown.Section(first, t.Shown.Frames), func(j, f int, v Rates) {
			if v.Jerk > o.Shown.Jerk {
				o.Joint, o.Second = t.Shown.Skel.Names[j], float64(first+f-modeLead)/mann.Rate
			}
			o.Shown.most(v)
		})
	}
	return out, nil
}

func (r *Rates) most(v Rates) {
	r.Speed, r.Acceleration, r.Jerk = max(r.Speed, v.Speed), max(r.Acceleration, v.Acceleration), max(r.Jerk, v.Jerk)
}

// Over returns r divided by o.
func (r Rates) Over(o Rates) Rates {
	return Rates{r.Speed / o.Speed, r.Acceleration / o.Acceleration, r.Jerk / o.Jerk}
}

// Perform drives an agent per mode: lead ticks of idle (a trot for jumps), then ticks of the mode.
func Perform(r *Rollout, modes []Mode, lead, ticks int) ([]Take, error) {
	agents := make([]Agent, len(modes))
	for i, m := range modes {
		before := control.Goal{}
		if m.Goal.Action == control.Jump {
			before = ahead(GaitSpeeds[2])
		}
		agents[i].Goal = sequence(append([]step{{0, before}}, perform(lead, m.Goal)...)...)
	}
	return r.Run(agents, lead+ticks)
}
