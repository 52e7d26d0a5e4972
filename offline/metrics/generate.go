package metrics

import (
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/dataset"
)

// Made is the motion that a model makes in one gait.
type Made struct {
	Raw    Motion  `json:"raw"`              // as the network poses it
	Shown  Motion  `json:"shown"`            // as it is displayed, its paws held by the ground solver
	InGait float64 `json:"in_gait,omitzero"` // share of the frames whose speed and turn are the gait's
	Takes  []Take  `json:"-"`                // by goal
}

// add takes in the frames of t that keep tells (all but the first if nil).
func (m *Made) add(t Take, l Legs, keep []bool) {
	m.Raw.add(t.Raw, l, keep)
	m.Shown.add(t.Shown, l, keep)
}

// cut returns the frames of t from first on.
func (t Take) cut(first int) Take {
	t.Raw, t.Shown = section(t.Raw, first, t.Raw.Frames), section(t.Shown, first, t.Shown.Frames)
	t.Roots, t.Weights, t.Gating = t.Roots[first:], t.Weights[first:], t.Gating[first*t.Experts:]
	return t
}

// standing returns a goal function that stands for so many ticks before it wants g.
func standing(ticks int, g control.Goal) func(int, m3.Xform) control.Goal {
	return func(tick int, _ m3.Xform) control.Goal {
		if tick < ticks {
			return control.Goal{}
		}
		return g
	}
}

// Generated measures the motion that a model makes of each gait's goals,
// seconds long, after a second on the spot and two to settle: no recording goes
// off from the rest pose.
func Generated(r *Rollout, gaits []Gait, seconds float64) ([]Made, error) {
	const stand, settle = mann.Rate, 2 * mann.Rate
	legs, err := DogLegs(r.Model.Skel)
	if err != nil {
		return nil, err
	}
	var agents []Agent
	for _, g := range gaits {
		for _, goal := range g.Goals {
			agents = append(agents, Agent{Goal: standing(stand, goal)})
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

// drive is a stretch of a run of rows that one agent is asked for: rows first to
// end−1, and to get going those before it, down to from.
type drive struct {
	set              *dataset.MANN
	from, first, end int // rows
}

// drives cuts the runs of sets into stretches of at most matchedFrames.
func drives(sets []*dataset.MANN) ([]drive, error) {
	var out []drive
	for _, set := range sets {
		if err := checkLayout(set.Layout); err != nil {
			return nil, err
		}
		for _, run := range set.Runs() {
			for first := run[0]; first < run[1]; first += matchedFrames {
				out = append(out, drive{set, max(run[0], first-matchedLead), first, min(first+matchedFrames, run[1])})
			}
		}
	}
	return out, nil
}

const (
	matchedFrames = 20 * mann.Rate
	matchedLead   = 2 * mann.Rate // frames to get going
)

// goal returns what is asked for in a tick; before the run began, its begin.
func (d *drive) goal(tick int, _ m3.Xform) control.Goal {
	return rowGoal(d.set, min(max(d.first+tick-matchedLead, d.from), d.end-1))
}

// Matched measures the motion that a model makes of the recordings' own
// commands: it is asked in every frame for the way, the speed and the turn that
// the recording takes around it, and for its action. Frames of the motion made
// belong to a gait by the rule that GroundTruth has for recorded ones, by the
// motion's own speed and turn: so that both are mixed of like manoeuvres.
func Matched(r *Rollout, gaits []Gait, sets ...*dataset.MANN) ([]Made, error) {
	legs, err := DogLegs(r.Model.Skel)
	if err != nil {
		return nil, err
	}
	stretches, err := drives(sets)
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
		keep := make([][]bool, len(gaits))
		for g := range gaits {
			keep[g] = make([]bool, t.Raw.Frames)
		}
		for f := matchedLead; f < frames; f++ {
			speed, turn := rootPace(t.Roots[:frames], f)
			for g := range gaits {
				keep[g][f] = t.Weights[f][control.Move] > 0.5 && gaits[g].covers(speed, turn)
			}
		}
		for g := range gaits {
			out[g].add(t, legs, keep[g])
		}
	}
	return out, nil
}

// rowGoal returns the goal that asks for what the recording does around row r.
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

// rootPace is rowPace of a root's way: its length on five chords of the second
// around frame f, and its rate of turn. Beyond the ends the root stands.
func rootPace(roots []m3.Xform, f int) (speed, turn float64) {
	at := func(f int) m3.Xform { return roots[min(max(f, 0), len(roots)-1)] }
	for k := -30; k < 30; k += 12 {
		speed += float64(at(f + k).Pos.Dist(at(f + k + 12).Pos))
	}
	yaw := func(x m3.Xform) float32 { return x.Rot.Yaw() }
	return speed, float64(m3.WrapAngle(yaw(at(f+36))-yaw(at(f-30)))) * 180 / math.Pi / around
}

// share returns the share of a root's way that is of gait g, of the frames that
// have a second around them.
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

// facing returns the places and directions of a clip's root: the ground under
// joint 0, facing the joint neck.
func facing(c *skel.Clip, neck int) (pos, dir []m3.Vec3) {
	model := make([]m3.Xform, c.Skel.Len())
	for f := range c.Frames {
		c.Model(model, f)
		pos, dir = append(pos, model[0].Pos), append(dir, model[neck].Pos.Sub(model[0].Pos))
	}
	return pos, dir
}
