package manifold

import (
	"math"
	"strings"

	"mannequin/animsys/feature"
)

// People who go straight aside close one foot to the other, or cross their legs with one foot well ahead of
// the other. The networks have seen few of either and make the mean of both: strides half as long again as
// recorded, in which the feet would pass through each other. Those few also make trunk and arms tremble.
const (
	asideFrom, asideFull = 55 * degree, 75 * degree // between the way and straight ahead or back
	asideLeast           = 0.1                      // m/s: slower people do not go aside

	// Strides per second of recorded people who go aside: from 1.1 at 0.5 m/s to 1.75 from 1.4 m/s on.
	asidePace, asidePaceBySpeed, asidePaceFrom = 0.8, 0.7, 1.4

	asideGap   = 0.21 // m between the ankles, aside, where neither foot is ahead; the edit leaves 0.1 to 0.2, recorded 0.11 to 0.27
	footAhead  = 0.25 // m from ankle to ankle, fore and aft: then feet pass
	asideReach = 45   // frames around in which feet are nearest: half a slow stride

	gapSigma   = 15 // frames, deviations of the Gaussians that smooth the gap
	upperSigma = 2  // and trunk, head and arms
)

var gapKernel, upperKernel = kernel(gapSigma), kernel(upperSigma)

// aside is how much a body goes aside, 0 to 1.
func aside(body []float32) float64 {
	x, z := math.Abs(float64(body[feature.MotionX])), math.Abs(float64(body[feature.MotionZ]))
	return rise(math.Atan2(x, z), asideFrom, asideFull) * rise(math.Hypot(x, z), asideLeast, 2*asideLeast)
}

// rise goes smoothly from 0 at from to 1 at to.
func rise(v, from, to float64) float64 {
	u := min(max((v-from)/(to-from), 0), 1)
	return u * u * (3 - 2*u)
}

// asideSteps returns the advance of the phase of stepping in a frame, radians, of a body to which the
// footstep network gives advance.
func asideSteps(advance float32, body []float32) float32 {
	share := aside(body)
	if share == 0 {
		return advance
	}
	speed := math.Hypot(float64(body[feature.MotionX]), float64(body[feature.MotionZ]))
	quick := float32(2 * math.Pi / Rate * (asidePace + asidePaceBySpeed*min(speed, asidePaceFrom)))
	return advance + float32(share)*max(0, quick-advance)
}

// sidesteps corrects the poses of bodies that go aside. It has columns of a layout.
type sidesteps struct {
	feet  [2][]int // of heel and toe, left and right
	knees [2]int   // −1: none
	upper []int    // of all joints that are in no leg
}

func newSidesteps(m *Model) (s sidesteps) {
	l := m.Layout
	for i, side := range [2]string{"Left", "Right"} {
		for _, c := range l.Contacts {
			if strings.HasPrefix(c.Joint, side) {
				s.feet[i] = append(s.feet[i], l.Pos(l.Joint(c.Joint)))
			}
		}
		if s.knees[i] = -1; l.Joint(side+"Leg") >= 0 {
			s.knees[i] = l.Pos(l.Joint(side + "Leg"))
		}
	}
	for j, name := range l.Joints {
		if l.ContactOf(name) < 0 && !strings.HasSuffix(name, "Leg") {
			s.upper = append(s.upper, l.Pos(j), l.Pos(j)+1, l.Pos(j)+2)
		}
	}
	return s
}

// sidestep corrects the rows of a motion along body, (frames, feature.MotionLen), as far as it goes aside.
// worker is who does that.
func (w *Walker) sidestep(rows, body []float32, worker int) {
	frames := len(rows) / w.model.Layout.Columns()
	share, room := w.line[worker][0][:frames], w.line[worker][1:]
	some := false
	for f := range share {
		share[f] = aside(body[f*feature.MotionLen:])
		some = some || share[f] > 0
	}
	if some {
		w.sidesteps.part(rows, share, room[0][:frames], room[1][:frames])
		w.sidesteps.calm(rows, share, room[0][:frames])
	}
}

// part moves feet apart. The gap that is added changes slowly, so that standing feet hardly slide. short and most are room.
func (s *sidesteps) part(rows []float32, share, short, most []float64) {
	if len(s.feet[0]) == 0 || len(s.feet[1]) == 0 {
		return
	}
	cols := len(rows) / len(share)
	for f := range short {
		left, right := rows[f*cols+s.feet[0][0]:], rows[f*cols+s.feet[1][0]:]
		gap, ahead := float64(left[0]-right[0]), math.Abs(float64(left[2]-right[2]))
		short[f] = share[f] * max(0, asideGap-gap) * (1 - rise(ahead, footAhead/2, footAhead))
	}
	for f := range most {
		most[f] = 0
		for _, v := range short[max(f-asideReach, 0):min(f+asideReach+1, len(short))] {
			most[f] = max(most[f], v)
		}
	}
	for f := range most {
		by := float32(max(0, convolved(most, gapKernel, f))) / 2
		for i, feet := range s.feet {
			for _, c := range feet {
				rows[f*cols+c] += by
			}
			if s.knees[i] >= 0 {
				rows[f*cols+s.knees[i]] += by / 2
			}
			by = -by
		}
	}
}

// calm smooths trunk, head and arms. was is room.
func (s *sidesteps) calm(rows []float32, share, was []float64) {
	cols := len(rows) / len(share)
	for _, c := range s.upper {
		for f := range was {
			was[f] = float64(rows[f*cols+c])
		}
		for f := range was {
			if share[f] > 0 {
				rows[f*cols+c] += float32(share[f] * (convolved(was, upperKernel, f) - was[f]))
			}
		}
	}
}
