package dataset

import (
	"math"

	"mannequin/animsys/feature"
)

// A step: a contact's way from coming down to coming down again takes these many
// frames at Rate. What takes longer is no stepping.
const (
	stepLeast = 20
	stepMost  = 120
)

// dutyReach is how many frames before and after one count for a contact's duty.
const dutyReach = 100

// Footsteps returns how the contacts of clip c step, (Frames, contacts+1) (Holden
// et al. 2016, sec. 6.3): for each contact its duty angle π·d/(u + d), d and u
// being the frames of its step in which it stands and does not, and last the pace
// of stepping, Δω, radians per frame: a turn in the time from one coming down to
// the next, the mean over the contacts that step, 0 where none does
// and the body hardly moves, and all NaN where none does and it moves on: nothing
// is known there. A first and
// a last step go on for as long again; where a contact does not step, the 100
// frames to either side count.
func (m *MotionSet) Footsteps(c int) []float32 {
	frames := m.Clips[c].Frames
	n := len(m.Layout.Contacts)
	out := make([]float32, frames*(n+1))
	paces := make([]int, frames)
	for i := range n {
		stands := m.stands(c, i)
		sum := make([]int, frames+1) // of standing frames before
		for f, s := range stands {
			sum[f+1] = sum[f]
			if s {
				sum[f+1]++
			}
		}
		for f := range stands { // where it does not step
			a, b := max(0, f-dutyReach), min(frames, f+dutyReach+1)
			out[f*(n+1)+i] = float32(math.Pi * float64(sum[b]-sum[a]) / float64(b-a))
		}
		steps := stepsOf(stands)
		for k, s := range steps {
			from, to := s.down, s.next
			if k == 0 || steps[k-1].next != s.down {
				from -= s.next - s.down
			}
			if k == len(steps)-1 || steps[k+1].down != s.next {
				to += s.next - s.down
			}
			for f := max(0, from); f < min(frames, to); f++ {
				out[f*(n+1)+i] = float32(math.Pi * float64(s.up-s.down) / float64(s.next-s.down))
				out[f*(n+1)+n] += float32(2 * math.Pi / float64(s.next-s.down))
				paces[f]++
			}
		}
	}
	cols, body := m.Layout.Columns(), m.Layout.Body()
	for f, k := range paces {
		row := m.Clips[c].Rows[f*cols+body:]
		switch {
		case k > 0:
			out[f*(n+1)+n] /= float32(k)
		case math.Hypot(float64(row[feature.MotionX]), float64(row[feature.MotionZ])) > goes:
			for i := range n + 1 {
				out[f*(n+1)+i] = float32(math.NaN())
			}
		}
	}
	return out
}

// goes is the speed from which a body without a whole step has stepped all the
// same, m/s.
const goes = 0.3

// stands tells in which frames of clip c contact i stands.
func (m *MotionSet) stands(c, i int) []bool {
	clip, cols := &m.Clips[c], m.Layout.Columns()
	s := make([]bool, clip.Frames)
	for f := range s {
		s[f] = clip.Rows[f*cols+m.Layout.Contact(i)] > 0.5
	}
	return s
}

// step is a contact's way from coming down to coming down again.
type step struct {
	down, up, next int // frames
}

// stepsOf finds the steps of a contact.
func stepsOf(stands []bool) (steps []step) {
	s := step{down: -1}
	for f := 1; f < len(stands); f++ {
		switch {
		case stands[f-1] && !stands[f]:
			s.up = f
		case !stands[f-1] && stands[f]:
			if s.next = f; s.down >= 0 && f-s.down >= stepLeast && f-s.down <= stepMost {
				steps = append(steps, s)
			}
			s = step{down: f}
		}
	}
	return steps
}

// StepLags returns by how much of a turn each contact stands later than the first
// one, on average over all clips, in radians from −π to π: the phases of its
// square wave (Holden et al. 2016, eq. 7).
func (m *MotionSet) StepLags() []float32 {
	n := len(m.Layout.Contacts)
	x, y := make([]float64, n), make([]float64, n)
	for c := range m.Clips {
		if m.Clips[c].Mirror {
			continue // left is right there
		}
		first := stepsOf(m.stands(c, 0))
		for i := range n {
			for _, s := range stepsOf(m.stands(c, i)) {
				middle := float64(s.down+s.up) / 2
				for _, r := range first {
					if from := float64(r.down+r.up) / 2; middle >= from-float64(r.next-r.down)/2 && middle < from+float64(r.next-r.down)/2 {
						lag := 2 * math.Pi * (middle - from) / float64(r.next-r.down)
						x[i] += math.Cos(lag)
						y[i] += math.Sin(lag)
						break
					}
				}
			}
		}
	}
	lags := make([]float32, n)
	for i := range lags {
		lags[i] = float32(math.Atan2(y[i], x[i]))
	}
	return lags
}
