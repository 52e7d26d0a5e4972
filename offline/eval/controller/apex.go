package controller

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"mannequin/animsys"
	"mannequin/engine/m3"
)

// Apex is how much later the path of a character turns back than that of the stick, if it were obeyed at once: the delay between their
// apexes (Agrawal et al. 2024).
type Apex struct {
	Name  string  `json:"name"`
	Delay float64 `json:"delay_s"` // mean of the turns in which it does
	Never int     `json:"never"`   // turns, of twelve, in which it does not turn back
}

// apexes are how many turns are measured.
const apexes = 12

// weave is a stick that swings, and the axis along which its path has apexes.
type weave struct {
	name   string
	period float64                                        // s
	stick  func(phase float64) (velocity, facing m3.Vec3) // by the phase, rad
	axis   m3.Vec3
}

func weaves(walk, run float32) []weave {
	ahead, left := m3.V(0, 0, 1), m3.V(1, 0, 0)
	return []weave{
		{"walk in waves", 3, func(p float64) (v, face m3.Vec3) {
			v = m3.YawQuat(float32(math.Sin(p))).Forward().Scale(walk)
			return v, v.Normalize(ahead)
		}, left},
		{"aside, to and fro", 3, func(p float64) (v, face m3.Vec3) { return left.Scale(walk * float32(math.Sin(p))), ahead }, left},
		{"run, turn round", 4, func(p float64) (v, face m3.Vec3) {
			if face = ahead; math.Sin(p) < 0 {
				face = ahead.Neg()
			}
			return face.Scale(run), face
		}, ahead},
	}
}

// Apexes measures how late a character turns back on three ways at two speeds, m/s of its own size.
func Apexes(s Subject, walk, run float32) ([]Apex, error) {
	if err := gaits(walk, run); err != nil {
		return nil, err
	}
	if s.Size == 0 {
		s.Size = 1
	}
	var out []Apex
	for _, w := range weaves(walk/s.Size, run/s.Size) {
		path, err := s.weave(&w)
		if err != nil {
			return nil, err
		}
		delay, never := w.delay(path)
		out = append(out, Apex{w.name, delay, never})
	}
	return out, nil
}

// weave returns where a character is along the axis in each tick.
func (s *Subject) weave(w *weave) (path []float64, err error) {
	c, err := s.world(1)
	if err != nil {
		return nil, err
	}
	defer c.crowd.Close()
	e := c.agents[0]
	for tick := range int((apexes/2 + 1.5) * w.period * animsys.TickRate) {
		velocity, face := w.stick(2 * math.Pi * float64(tick) / animsys.TickRate / w.period)
		c.ask(e, velocity, face)
		if err := c.schedule.Step(); err != nil {
			return nil, err
		}
		path = append(path, float64(c.crowd.Root(e).Pos.Dot(w.axis)))
	}
	return path, nil
}

// delay returns the mean time from an apex of the stick's path to that of a path, and how many there are not. The apexes of the stick's are
// at the half and the whole turns of its phase; the first two are left out.
func (w *weave) delay(path []float64) (mean float64, never int) {
	half := w.period / 2 * animsys.TickRate // ticks
	for k := range apexes {
		at := float64(k+3) * half
		sign := 1.0 // the first apex is the farthest along the axis
		if k%2 == 1 {
			sign = -1
		}
		first, end := int(at-half/3), min(int(at+0.9*half), len(path))
		best := first
		for f := first; f < end; f++ {
			if sign*path[f] > sign*path[best] {
				best = f
			}
		}
		if best == first || best == end-1 {
			never++
			continue
		}
		mean += (float64(best) - at) / animsys.TickRate
	}
	return mean / float64(max(apexes-never, 1)), never
}

// PrintApexes writes a table.
func PrintApexes(to io.Writer, all []Apex) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "turns back after the stick\tmean\t")
	for _, a := range all {
		switch a.Never {
		case 0:
			fmt.Fprintf(w, "%s\t%.2f s\t\n", a.Name, a.Delay)
		case apexes:
			fmt.Fprintf(w, "%s\t–\t\n", a.Name)
		default:
			fmt.Fprintf(w, "%s\t%.2f s\tnot in %d of %d turns\n", a.Name, a.Delay, a.Never, apexes)
		}
	}
	return w.Flush()
}
