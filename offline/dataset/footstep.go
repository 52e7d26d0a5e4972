package dataset

import (
	"math"

	"mannequin/animsys/feature"
)

// The least and most frames of a step at Rate, from landing to landing.
const (
	stepLeast = 20
	stepMost  = 120
)

// dutyReach is the number of frames before and after one that count for a contact's duty.
const dutyReach = 100

// Footsteps returns the stepping of clip c's contacts, (Frames, contacts+1), after Holden et al.
// 2016, sec. 6.3. Each contact has a duty angle π·d/(u + d), with d frames of stance and u of swing
// in its step. A contact that does not step takes them from the 100 frames to either side.
//
// The last column is the pace of stepping Δω, radians per frame: a turn from one landing to
// the next, the mean over the contacts that step. If none steps it is 0 while the body
// hardly moves; if the body moves on, the whole row is NaN, unknown. The first and the last
// step are extended by their own length.
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
		for f := range stands { // for a contact that does not step
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

// goes is the speed, m/s, above which a body must have stepped, even without a whole step.
const goes = 0.3

// stands reports in which frames of clip c contact i is on the ground.
func (m *MotionSet) stands(c, i int) []bool {
	clip, cols := &m.Clips[c], m.Layout.Columns()
	s := make([]bool, clip.Frames)
	for f := range s {
		s[f] = clip.Rows[f*cols+m.Layout.Contact(i)] > 0.5
	}
	return s
}

// step is one step of a contact, from landing to landing.
type step struct {
	down, up, next int // frames
}

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

// StepLags returns the phase lag of each contact's stance after the first one's, on average over
// all clips, in radians from −π to π, for the square waves of Holden et al. 2016, eq. 7.
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
