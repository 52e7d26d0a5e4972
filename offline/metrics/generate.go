package metrics

import (
	"fmt"
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/dataset"
)

// Made is generated motion in one gait.
type Made struct {
	Raw    Motion  `json:"raw"`              // the network's pose
	Shown  Motion  `json:"shown"`            // the displayed pose, with foot lock
	InGait float64 `json:"in_gait,omitzero"` // share of frames with the gait's speed and turn
	Takes  []Take  `json:"-"`                // by goal
}

// add adds the frames of t in keep (nil: all but the first).
func (m *Made) add(t Take, l Legs, keep []bool) {
	m.Raw.add(t.Raw, l, keep)
	m.Shown.add(t.Shown, l, keep)
}

func (t Take) cut(first int) Take {
	t.Raw, t.Shown = t.Raw.Section(first, t.Raw.Frames), t.Shown.Section(first, t.Shown.Frames)
	t.Roots, t.Weights, t.Gating = t.Roots[first:], t.Weights[first:], t.Gating[first*t.Experts:]
	return t
}

// Generated measures seconds of motion for each gait's goals, after a stand and time to settle.
func Generated(r *Rollout, gaits []Gait, seconds float64) ([]Made, error) {
	const stand, settle = mann.Rate, 2 * mann.Rate
	legs, err := DogLegs(r.skeleton())
	if err != nil {
		return nil, err
	}
	var agents []Agent
	for _, g := range gaits {
		for _, goal := range g.Goals {
			agents = append(agents, Agent{Goal: sequence(step{stand, goal})})
		}
	}
	takes, err := r.Run(agents, stand+settle+int(seconds*mann.Rate))
	if err != nil {
		return nil, err
	}
	out := make([]Made, len(gaits))
	for i, g := range gaits {
		for range g.Goals {
			t := takes[0].cut(stand + settle)
			takes = takes[1:]
			out[i].add(t, legs, nil)
			out[i].InGait += g.share(t.Roots) / float64(len(g.Goals))
			out[i].Takes = append(out[i].Takes, t)
		}
	}
	return out, nil
}

// segment is recorded rows first to end−1 whose commands an agent gets, with a lead from row from.
type segment struct {
	set              *dataset.MANN
	from, first, end int // rows
}

// segments cuts the runs of sets into stretches of at most matchedFrames.
func segments(sets []*dataset.MANN) ([]segment, error) {
	if err := checkLayouts(sets); err != nil {
		return nil, err
	}
	var out []segment
	for set, run := range runs(sets) {
		for first := run[0]; first < run[1]; first += matchedFrames {
			out = append(out, segment{set, max(run[0], first-matchedLead), first, min(first+matchedFrames, run[1])})
		}
	}
	return out, nil
}

const (
	matchedFrames = 20 * mann.Rate
	matchedLead   = 2 * mann.Rate // frames to get going
)

// goal returns the goal in a tick. The lead repeats the first row if the run has none before.
func (d *segment) goal(tick int, _ m3.Xform) control.Goal {
	return rowGoal(d.set, min(max(d.first+tick-matchedLead, d.from), d.end-1))
}

// Matched measures motion that follows the recordings' own commands: in every frame the direction,
// speed, turn and action of the recording. Frames of the generated motion belong to a gait by their
// own speed and turn, with the rule of GroundTruth. So both are made of similar manoeuvres.
func Matched(r *Rollout, gaits []Gait, sets ...*dataset.MANN) ([]Made, error) {
	legs, err := DogLegs(r.skeleton())
	if err != nil {
		return nil, err
	}
	stretches, err := segments(sets)
	if err != nil {
		return nil, err
	}
	agents := make([]Agent, len(stretches))
	for i := range stretches {
		agents[i].Goal = stretches[i].goal
	}
	takes, err := r.Run(agents, matchedLead+matchedFrames)
	if err != nil {
		return nil, err
	}
	out := make([]Made, len(gaits))
	for i, t := range takes {
		frames := matchedLead + stretches[i].end - stretches[i].first
		for g := range gaits {
			keep := make([]bool, t.Raw.Frames)
			for f := matchedLead; f < frames; f++ {
				keep[f] = t.Weights[f][control.Move] > 0.5 && gaits[g].covers(rootPace(t.Roots[:frames], f))
			}
			out[g].add(t, legs, keep)
		}
	}
	return out, nil
}

// rowGoal returns the goal that asks for the recorded motion around row r.
func rowGoal(set *dataset.MANN, r int) control.Goal {
	action, _ := rowAction(set, r)
	g := control.Goal{Action: action}
	if action != control.Move && action != control.Jump {
		return g
	}
	speed, turn := rowPace(set, r)
	g.Speed = float32(speed)
	g.Turn = m3.Clamp(float32(turn*math.Pi/180)/control.MaxTurn, -1, 1)
	p := set.Input(r)[set.Layout.InSample(after)+feature.SamplePos:]
	g.Move = m3.V(p[0], 0, p[1]).Normalize(m3.V(0, 0, 1))
	return g
}

// rootPace is rowPace of a root: its length on five chords of the second around frame f, and its
// turn rate. Beyond the ends the root stands.
func rootPace(roots []m3.Xform, f int) (speed, turn float64) {
	at := func(f int) m3.Xform { return roots[min(max(f, 0), len(roots)-1)] }
	for k := -30; k < 30; k += 12 {
		speed += float64(at(f + k).Pos.Dist(at(f + k + 12).Pos))
	}
	return speed, float64(m3.WrapAngle(at(f+36).Rot.Yaw()-at(f-30).Rot.Yaw())) * 180 / math.Pi / around
}

// share returns the share of gait g in the frames of a root that have a second around them.
func (g *Gait) share(roots []m3.Xform) float64 {
	in, of := 0, 0
	for f := 30; f+36 < len(roots); f++ {
		of++
		if g.covers(rootPace(roots, f)) {
			in++
		}
	}
	return float64(in) / float64(max(of, 1))
}

// neckOf returns the joint toward which the root faces.
func neckOf(sk *skel.Skeleton) (int, error) {
	neck := sk.Index("Neck")
	if neck < 0 {
		return 0, fmt.Errorf("metrics: the skeleton has no joint %q: the root faces toward it", "Neck")
	}
	return neck, nil
}

// facing returns the positions and directions of a clip's root: joint 0, facing the joint neck.
func facing(c *skel.Clip, neck int) (pos, dir []m3.Vec3) {
	model := make([]m3.Xform, c.Skel.Len())
	for f := range c.Frames {
		c.Model(model, f)
		pos, dir = append(pos, model[0].Pos), append(dir, model[neck].Pos.Sub(model[0].Pos))
	}
	return pos, dir
}
