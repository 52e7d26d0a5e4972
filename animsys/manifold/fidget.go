package manifold

import (
	"math"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// People who stand are never still: they breathe, balance and stir their arms. The networks' postures of
// people who stand only wander, within seconds. What is added has the spectrum of recorded people who stand
// (ReActIdle, LAFAN1): from 1 to 6 Hz, amplitudes fall with the square of the frequency.
const (
	livelyPeriod = 90  // frames in which people become livelier or calmer,
	livelyVaries = 0.8 // as a deviation of the logarithm

	breathPeriod = 4 * Rate // frames
	breathVaries = 0.5      // of a breath, how far its beginning wanders
	breathRise   = 0.003    // m, of the chest, half of the way from lowest to highest
)

// fidget is a part's small motion: deviations of a slow and of a quick one.
type fidget struct{ slow, quick float32 }

const (
	slowPeriod, quickPeriod = 24, 10 // frames in which they change
)

var (
	fidgetBody    = fidget{0.0013, 0.0004}              // of the hips over the feet, m, aside and ahead
	fidgetTrunk   = fidget{0.1 * degree, 0.03 * degree} // of the trunk about the hips, rad, about each axis
	fidgetArm     = fidget{0.6 * degree, 0.16 * degree} // of each arm about its shoulder
	fidgetForeArm = fidget{0.6 * degree, 0.2 * degree}  // and below the elbow
)

// stir is a fidget along one axis.
type stir struct{ slow, quick wanders }

// stirs gives a person's stirs their channels, from channel on.
func stirs(s []stir, person uint32, channel int) {
	for i := range s {
		s[i].slow = wanders{person: person, channel: channel + 2*i, period: slowPeriod}
		s[i].quick = wanders{person: person, channel: channel + 2*i + 1, period: quickPeriod}
	}
}

func (s *stir) at(frame int, of fidget) float32 {
	return of.slow*s.slow.at(frame) + of.quick*s.quick.at(frame)
}

// fidgets moves trunk and arms of people who stand.
type fidgets struct {
	trunk  []int    // joints
	arms   [2][]int // from the shoulder on
	elbows [2][]int
}

func newFidgets(m *Model) fidgets {
	return fidgets{m.below("Spine"), [2][]int{m.below("LeftArm"), m.below("RightArm")}, [2][]int{m.below("LeftForeArm"), m.below("RightForeArm")}}
}

// run stirs a person in rows, (frames, columns) raw. stands, (frames), is 1 where it stands, else 0; first is the
// number of the first frame. Nobody is still.
func (v *fidgets) run(l *feature.Motion, rows []float32, stands []float64, person uint32, first int) {
	if person == 0 || len(v.trunk) == 0 {
		return
	}
	var all [13]stir
	stirs(all[:], person, channelFidget)
	trunk, arms, elbows := all[:3], all[3:9], all[9:]
	breath := wanders{person: person, channel: channelFidget + 2*len(all), period: breathPeriod}
	lively := wanders{person: person, channel: channelFidget + 2*len(all) + 1, period: livelyPeriod}
	cols := l.Columns()
	for f := range stands {
		on := standing(stands, f)
		if on == 0 {
			continue
		}
		row, frame := rows[f*cols:][:cols], first+f
		much := on * float32(m3.Exp64(livelyVaries*float64(m3.Clamp(lively.at(frame), -mannerMost, mannerMost))))
		turn := func(s []stir, of fidget) m3.Quat {
			var by [3]float32
			for i := range s {
				by[i] = much * s[i].at(frame, of)
			}
			return m3.FromRotationVector(m3.V(by[0], by[1], by[2]))
		}
		turnJoints(l, row, 0, v.trunk, turn(trunk, fidgetTrunk))
		phase := float32(frame%breathPeriod)/breathPeriod + breathVaries*breath.at(frame)
		up := on * breathRise * m3.Sin(2*math.Pi*phase)
		for i, arm := range v.arms {
			if len(arm) == 0 || len(v.elbows[i]) == 0 {
				continue
			}
			for _, j := range arm {
				row[l.Pos(j)+1] += up
			}
			turnJoints(l, row, arm[0], arm, turn(arms[3*i:][:3], fidgetArm))
			turnJoints(l, row, v.elbows[i][0], v.elbows[i], turn(elbows[2*i:][:2], fidgetForeArm))
		}
	}
}

// standing is how much a body stands in frame f, 0 to 1. stands, (frames), is 1 where it does, else 0.
func standing(stands []float64, f int) float32 {
	return float32(math.Min(math.Max(convolved(stands, sinkKernel, f), 0), 1))
}
