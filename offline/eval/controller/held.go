package controller

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// Held is how well a speed is held that is asked for in a direction, to both sides. Speeds are those of the character's own size, m/s.
type Held struct {
	Way    string  `json:"way"` // ahead, aside, backward, crouched
	Asked  float64 `json:"asked_m_s"`
	Got    float64 `json:"got_m_s"`    // along the direction, the mean of both sides
	Beside float64 `json:"beside_m_s"` // the larger one at right angles to it
	Off    float64 `json:"off_deg"`    // mean angle between where it faces and where it should
	Gait
}

// Gait is how legs go, as the generator poses them: the foot lock would hide a body that glides.
type Gait struct {
	Bend float64 `json:"bend_deg_s"` // how fast their joints turn, °/s
	Slip float64 `json:"slip"`       // the mean speed of the foot that goes slowest, a share of the speed: 1 if no foot ever stands
}

// Ways in which a speed is held.
const (
	ahead    = "ahead"
	aside    = "aside"
	backward = "backward"
	crouched = "crouched"
)

// directions are the ways of a body that faces ahead; aside is to the left.
var directions = map[string]m3.Vec3{ahead: m3.V(0, 0, 1), aside: m3.V(1, 0, 0), backward: m3.V(0, 0, -1), crouched: m3.V(0, 0, 1)}

// gaits measures how the subject's speeds and its top speed are held ahead, and the slowest one aside and backward.
func (s *Subject) gaits() (out []Held, err error) {
	add := func(way string, speed float32) {
		h, e := s.hold(way, speed, control.Move)
		out, err = append(out, h), errors.Join(err, e)
	}
	for _, v := range s.all() {
		add(ahead, v)
	}
	add(aside, s.Speeds[0])
	add(backward, s.Speeds[0])
	return out, err
}

// Change is how a speed ahead is held that is asked for after another one.
type Change struct {
	From  float64 `json:"from_m_s"` // 0: after standing
	Asked float64 `json:"asked_m_s"`
	Got   float64 `json:"got_m_s"`
	Gait
}

// between returns speeds from the slowest to the fastest of a subject: its own, and as many between them that none is more than
// two fifths faster than the one before.
func (s *Subject) between() (out []float32) {
	const most = 1.4
	for _, v := range s.all() {
		if n := len(out); n > 0 {
			last := out[n-1]
			parts := math.Ceil(math.Log(float64(v/last)) / math.Log(most))
			for k := 1.0; k < parts; k++ {
				out = append(out, last*float32(math.Pow(float64(v/last), k/parts)))
			}
		}
		out = append(out, v)
	}
	return out
}

// all returns the speeds of a subject, and its top speed.
func (s *Subject) all() []float32 {
	out := slices.Clone(s.Speeds)
	if s.Top > out[len(out)-1] {
		out = append(out, s.Top)
	}
	return out
}

// changes measures how speeds between the gaits, and those of the gaits, are held after standing and after each of the subject's speeds.
func (s *Subject) changes() (out []Change, err error) {
	const before, settles, lasts = 3 * animsys.TickRate, 4 * animsys.TickRate, 4 * animsys.TickRate
	size := cmp.Or(s.Size, 1)
	for _, from := range append([]float32{0}, s.all()...) {
		for _, to := range s.between() {
			if to != from {
				out = append(out, Change{From: float64(from), Asked: float64(to)})
			}
		}
	}
	w, err := s.world(len(out))
	if err != nil {
		return nil, err
	}
	defer w.crowd.Close()
	at, legs, ahead := make([]m3.Vec3, len(out)), newLegs(w.crowd, len(out)), directions[ahead]
	for tick := range before + settles + lasts {
		for i, e := range w.agents {
			speed := out[i].Asked
			if tick < before {
				speed = out[i].From
			}
			w.ask(e, ahead.Scale(float32(speed)), ahead)
		}
		if err := w.schedule.Step(); err != nil {
			return nil, err
		}
		for i, e := range w.agents {
			gait := legs.tick(i, out[i].Asked)
			if tick == before+settles-1 {
				at[i] = w.crowd.Root(e).Pos
			} else if tick >= before+settles {
				out[i].Gait.add(gait, lasts)
			}
		}
	}
	for i, e := range w.agents {
		c := &out[i]
		c.Got = float64(w.crowd.Root(e).Pos.Sub(at[i]).Dot(ahead)) * animsys.TickRate / lasts
		c.From, c.Asked, c.Got = c.From*float64(size), c.Asked*float64(size), c.Got*float64(size)
	}
	return out, nil
}

// Hold measures how well a character holds speeds from a third of walking on, up to running ahead, and up to one and a half times walking
// aside and backward. walk and run are in m/s of its own size.
func Hold(s Subject, walk, run float32) ([]Held, error) {
	if err := gaits(walk, run); err != nil {
		return nil, err
	}
	if s.Size == 0 {
		s.Size = 1
	}
	slow, brisk := 0.36*walk, 1.43*walk
	ways := []struct {
		name, action string
		speeds       []float32
	}{
		{ahead, "", []float32{slow, walk, (walk + run) / 2, run}},
		{aside, "", []float32{slow, walk, brisk}},
		{backward, "", []float32{slow, walk, brisk}},
		{crouched, "crouch", []float32{slow, 0.86 * walk}},
	}
	var out []Held
	for _, w := range ways {
		action, ok := s.action(w.action)
		if !ok {
			continue
		}
		for _, v := range w.speeds {
			h, err := s.hold(w.name, v/s.Size, action)
			if err != nil {
				return nil, err
			}
			out = append(out, h)
		}
	}
	return out, nil
}

// gaits returns an error if speeds are no walk and run.
func gaits(walk, run float32) error {
	if !(walk > 0 && run >= walk) || !m3.Finite(run) {
		return fmt.Errorf("controller: walking at %g m/s and running at %g: want more than 0, and running not slower", walk, run)
	}
	return nil
}

// hold lets two agents, one asked to the other side, go in a direction, facing ahead. speed is in units of the skeleton a second.
func (s *Subject) hold(name string, speed float32, action control.Action) (out Held, err error) {
	w, err := s.world(2)
	if err != nil {
		return out, err
	}
	defer w.crowd.Close()
	const settles, lasts = 4 * animsys.TickRate, 6 * animsys.TickRate
	way, legs := directions[name], newLegs(w.crowd, 2)
	var from [2]m3.Vec3
	for tick := range settles + lasts {
		for i, e := range w.agents {
			w.ask(e, mirrored(way.Scale(speed), i), m3.V(0, 0, 1))
			w.goals.Get(e).Action = action
		}
		if err := w.schedule.Step(); err != nil {
			return out, err
		}
		for i, e := range w.agents {
			root, gait := w.crowd.Root(e), legs.tick(i, float64(speed))
			if tick == settles-1 {
				from[i] = root.Pos
			} else if tick >= settles {
				out.Off += math.Abs(float64(root.Rot.Yaw())) * 180 / math.Pi / lasts / 2
				out.Gait.add(gait, 2*lasts)
			}
		}
	}
	for i, e := range w.agents {
		const seconds = lasts / animsys.TickRate
		v := mirrored(w.crowd.Root(e).Pos.Sub(from[i]), i).Scale(1.0 / seconds)
		along := v.Dot(way)
		out.Got += float64(along) / 2
		out.Beside = max(out.Beside, float64(v.Sub(way.Scale(along)).Len()))
	}
	size := float64(s.Size)
	out.Way, out.Asked, out.Got, out.Beside = name, float64(speed)*size, out.Got*size, out.Beside*size
	return out, nil
}

// legs measures the gaits of a crowd's agents.
type legs struct {
	crowd *animsys.Crowd
	model []m3.Xform // of one agent, world space
	rot   []m3.Quat  // (agents, joints) local rotations in the tick before
	feet  []m3.Vec3  // (agents, legs)
}

func newLegs(c *animsys.Crowd, agents int) *legs {
	joints, feet := c.Skel.Len(), len(c.Ground.Rig.Roles.Legs)
	return &legs{crowd: c, model: make([]m3.Xform, joints), rot: make([]m3.Quat, agents*joints), feet: make([]m3.Vec3, agents*feet)}
}

// tick returns how an agent's legs have gone since the tick before, at a speed. Rows are those of the agents.
func (l *legs) tick(agent int, speed float64) (out Gait) {
	all := l.crowd.Ground.Rig.Roles.Legs
	pos, rot := l.crowd.Poses.Joints(agent, len(l.model))
	l.crowd.Skel.LocalToModel(l.model, pos, rot)
	was, feet := l.rot[agent*len(rot):], l.feet[agent*len(all):]
	joints, slowest := 0, math.Inf(1)
	for i, leg := range all {
		tip := len(leg) - 1
		for _, j := range leg[:tip] {
			out.Bend += float64(rot[j].Angle(was[j]))
			joints++
		}
		at := l.model[leg[tip]].Pos
		slowest = min(slowest, float64(at.Sub(feet[i]).Flat().Len()))
		feet[i] = at
	}
	copy(was, rot)
	return Gait{Bend: out.Bend / float64(joints) * 180 / math.Pi * animsys.TickRate, Slip: slowest * animsys.TickRate / speed}
}

// add adds one of n ticks to a mean.
func (g *Gait) add(tick Gait, n float64) {
	g.Bend += tick.Bend / n
	g.Slip += tick.Slip / n
}

// PrintHeld writes a table.
func PrintHeld(to io.Writer, all []Held) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "speed held\tasked\tgot\t")
	for _, h := range all {
		fmt.Fprintf(w, "%s\t%.2f m/s\t%.2f m/s\t", h.Way, h.Asked, h.Got)
		if h.Beside > near*h.Asked {
			fmt.Fprintf(w, "and %.2f m/s beside ", h.Beside)
		}
		if h.Off > 15 {
			fmt.Fprintf(w, "faces %.0f° off", h.Off)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
