package clipset

import (
	"fmt"

	"mannequin/offline/label"
)

const (
	leapPush = FPS * 13 / 100              // frames before a flight with which a jump begins: a player waits for no more
	leapLand = int(label.LeapWindow * FPS) // frames after it
	leapStop = FPS / 5                     // least frames from a flight to the push for the next one
	leapRest = FPS / 2                     // least frames of what is before or after a jump
)

// Leaps cuts the jumps out of recordings: each becomes a clip that plays once, from the push to the landing, and is entered while it
// pushes off. So a jump that has begun is finished, and nobody begins one in the air. It returns how many there are.
func (s *Set) Leaps() (n int) {
	var out []Clip
	for i := range s.Clips {
		c := &s.Clips[i]
		flights := s.leaps(c)
		if len(flights) == 0 {
			out = append(out, *c)
			continue
		}
		for k, f := range flights {
			end := min(f[1]+leapLand, c.Motion.Frames)
			if k+1 < len(flights) {
				end = min(end, flights[k+1][0]-leapPush)
			}
			out = append(out, c.section(fmt.Sprintf("%s, jump %d", c.Name, k+1), max(f[0]-leapPush, 0), end))
		}
		n += len(flights)
		// What is before, between and after the jumps.
		for f, end := 0, 0; f < c.Motion.Frames; f = end + 1 {
			for end = f; end < c.Motion.Frames && c.Actions[end] != label.Jump; {
				end++
			}
			switch {
			case end-f < leapRest:
			case f == 0:
				out = append(out, c.section(c.Name, f, end))
			default:
				out = append(out, c.section(fmt.Sprintf("%s from %.1f s", c.Name, float64(f)/FPS), f, end))
			}
		}
	}
	s.Clips = out
	return n
}

// leaps returns the flights of a recording that show a jump; see label.Stance.Flights. Hops without a landing between them are one.
func (s *Set) leaps(c *Clip) (flights [][2]int) {
	if once, _ := s.once(c); c.made || c.Loop || once {
		return nil
	}
	for _, f := range s.stance.Flights(c.Motion) {
		if c.Actions[f[0]] != label.Jump {
			continue
		}
		if n := len(flights); n > 0 && f[0]-leapPush < flights[n-1][1]+leapStop {
			flights[n-1][1] = f[1]
			continue
		}
		flights = append(flights, f)
	}
	return flights
}

// section returns frames of the clip from first up to end, as a clip of its own.
func (c *Clip) section(name string, first, end int) Clip {
	out := *c
	if out.Name, out.Motion = name, c.Motion.Section(first, end); c.Actions != nil { // they have been found
		out.Actions = c.Actions[first:end]
	}
	return out
}
