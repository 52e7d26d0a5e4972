package metrics

import (
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
)

func ahead(speed float32) control.Goal {
	return control.Goal{Move: m3.V(0, 0, 1), Speed: speed, Action: control.Move}
}

// GaitSpeeds are the speeds in m/s of walk, pace, trot and canter (paper, section 8).
var GaitSpeeds = [4]float32{0.5, 1.1, 1.9, 3.3}

// SpeedHeld is the speed after a command to go forward. It may depend on the command before.
type SpeedHeld struct {
	From    float64 `json:"from_m_s"` // the command before, 0 to stand
	Command float64 `json:"command_m_s"`
	Speed   float64 `json:"speed_m_s"` // of the root, forward, mean of the third and fourth second after the command

	// Of the displayed pose from the third to the sixth second: gaits may differ at one speed.
	Skate float64 `json:"skate_cm"`
	Gait  string  `json:"gait"` // from its footfall
}

// Off returns the relative difference from the command.
func (s SpeedHeld) Off() float64 { return math.Abs(s.Speed/s.Command - 1) }

// SpeedsHeld commands each of GaitSpeeds from a stand, and after another of them for three seconds.
func SpeedsHeld(r *Rollout) ([]SpeedHeld, error) {
	const stand, before, settle, window, more = mann.Rate, 3 * mann.Rate, 2 * mann.Rate, 2 * mann.Rate, 2 * mann.Rate
	legs, err := DogLegs(r.skeleton())
	if err != nil {
		return nil, err
	}
	var out []SpeedHeld
	var agents []Agent
	for _, from := range append([]float32{0}, GaitSpeeds[:]...) {
		for _, to := range GaitSpeeds {
			if from == to {
				continue
			}
			out = append(out, SpeedHeld{From: float64(from), Command: float64(to)})
			first := ahead(from)
			if from == 0 {
				first = control.Goal{}
			}
			agents = append(agents, Agent{Goal: sequence(step{stand, first}, step{stand + before, ahead(to)})})
		}
	}
	takes, err := r.Run(agents, stand+before+settle+window+more)
	if err != nil {
		return nil, err
	}
	for i, t := range takes {
		const first = stand + before + settle
		// All agents face +Z at first. Circles and steps back do not hold a speed.
		way := t.Roots[first+window-1].Pos.Sub(t.Roots[first-1].Pos)
		out[i].Speed = float64(way.Z) * mann.Rate / window
		shown := t.Shown.Section(first-1, t.Shown.Frames)
		out[i].Skate = Measure(shown, legs).Skate
		f, err := FootfallOf(shown)
		if err != nil {
			return nil, err
		}
		out[i].Gait = f.Gait
	}
	return out, nil
}

// chord is a fifth of a second in ticks. Shorter steps would measure the root's sway.
const chord = mann.Rate / 5

// travel returns the length of a root's path in chords, m.
func travel(roots []m3.Xform) (sum float64) {
	for f := chord; f < len(roots); f += chord {
		sum += float64(roots[f].Pos.Dist(roots[f-chord].Pos))
	}
	return sum
}
