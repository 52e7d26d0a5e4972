package controller

import (
	"fmt"
	"io"
	"math"
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
	ahead, left := m3.V(0, 0, 1), m3.V(1, 0, 0)
	slow, brisk := 0.36*walk, 1.43*walk
	ways := []struct {
		name, action string
		way          m3.Vec3
		speeds       []float32
	}{
		{"ahead", "", ahead, []float32{slow, walk, (walk + run) / 2, run}},
		{"aside", "", left, []float32{slow, walk, brisk}},
		{"backward", "", ahead.Neg(), []float32{slow, walk, brisk}},
		{"crouched", "crouch", ahead, []float32{slow, 0.86 * walk}},
	}
	var out []Held
	for _, w := range ways {
		action, ok := s.action(w.action)
		if !ok {
			continue
		}
		for _, v := range w.speeds {
			h, err := s.hold(w.way, v/s.Size, action)
			if err != nil {
				return nil, err
			}
			size := float64(s.Size)
			h.Way, h.Asked, h.Got, h.Beside = w.name, float64(v), h.Got*size, h.Beside*size
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

// hold lets two agents, one asked to the other side, go in a direction, facing ahead.
func (s *Subject) hold(way m3.Vec3, speed float32, action control.Action) (out Held, err error) {
	w, err := s.world(2)
	if err != nil {
		return out, err
	}
	defer w.crowd.Close()
	const settles, lasts = 4 * animsys.TickRate, 6 * animsys.TickRate
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
			root := w.crowd.Root(e)
			if tick == settles-1 {
				from[i] = root.Pos
			} else if tick >= settles {
				out.Off += math.Abs(float64(root.Rot.Yaw())) * 180 / math.Pi / lasts / 2
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
	return out, nil
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
