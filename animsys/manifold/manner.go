package manifold

import (
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/netruntime/grad"
)

// How a person moves is an input of the networks: some values with mean 0 and deviation 1 over all
// recorded people (recipes.Synth). Each person has their own, around which they wander slowly. The
// step frequency wanders too, so that no stride is exactly like another.
const (
	mannerOwn    = 0.7  // deviation between people
	mannerWander = 0.45 // about a person's own
	mannerPeriod = 160  // frames in which the values wander on
	mannerMost   = 2    // deviations
	pacePeriod   = 50   // frames
	paceVaries   = 0.04 // deviation of the step frequency, a share
)

// Channels of random numbers, beside those of the values.
const (
	channelPace   = 1 << 16
	channelOwn    = 1 << 17
	channelWeight = 1 << 18 // and the next
	channelVaried = 1 << 19 // and the next four
	channelFidget = 1 << 20 // and the next 27
	channelBody   = 1 << 21 // and the next three
)

// drawn returns a random number with about the standard normal distribution.
func drawn(person uint32, channel, k int) float32 {
	h := grad.Hash(uint64(person)<<32|uint64(uint32(channel)), uint64(k))
	const third = 1<<21 - 1
	return float32(h&third+h>>21&third+h>>42&third)*(2.0/third) - 3
}

// wanders is a random value that changes slowly with time: numbers drawn every period, joined
// smoothly.
type wanders struct {
	person          uint32
	channel, period int
	last            int // number of the draw before
	a, b            float32
	begun           bool
}

func (w *wanders) at(frame int) float32 {
	// Channels do not change at the same time.
	frame += int(grad.Hash(uint64(w.channel), uint64(w.person)) % uint64(w.period))
	k := frame / w.period
	if !w.begun || k != w.last {
		w.last, w.begun = k, true
		w.a, w.b = drawn(w.person, w.channel, k), drawn(w.person, w.channel, k+1)
	}
	u := float32(frame%w.period) / float32(w.period)
	u *= u * (3 - 2*u)
	return (w.a*(1-u) + w.b*u) / m3.Sqrt((1-u)*(1-u)+u*u)
}

// writeManners writes a person's values from frame first on into columns of dst, (frames, cols),
// from column at on. Person 0 has all values 0.
func writeManners(dst []float32, cols, at int, person uint32, first int) {
	for c := at; c < cols; c++ {
		w := wanders{person: person, channel: c - at, period: mannerPeriod}
		own := mannerOwn * drawn(person, channelOwn+c-at, 0)
		for f := range len(dst) / cols {
			v := float32(0)
			if person != 0 {
				v = m3.Clamp(own+mannerWander*w.at(first+f), -mannerMost, mannerMost)
			}
			dst[f*cols+c] = v
		}
	}
}

// sway is where a body is, seen from its place on the curve. People do not glide along curves:
// their hips go from side to side with every stride, and ahead and back with every step.
type sway struct{ x, z, yaw float32 } // m to the left and ahead, rad to the left

// sway16 is a packed sway: in units of 15 µm and 15 µrad, half a metre and half a radian at most.
type sway16 [3]int16

const swayUnit = 1.0 / (1 << 16)

func (s sway) pack() sway16 {
	return sway16{feature.Round16(s.x / swayUnit), feature.Round16(s.z / swayUnit), feature.Round16(s.yaw / swayUnit)}
}

func (s sway16) unpack() sway {
	return sway{swayUnit * float32(s[0]), swayUnit * float32(s[1]), swayUnit * float32(s[2])}
}

// on returns the place of a body whose place on the curve is p.
func (s sway) on(p feature.Place) feature.Place {
	return feature.Place{Pos: p.Pos.Add(m3.YawQuat(p.Yaw).Rotate(m3.V(s.x, 0, s.z))), Yaw: m3.WrapAngle(p.Yaw + s.yaw)}
}

// mixSway returns the sway between two, u from 0 to 1.
func mixSway(a, b sway, u float32) sway {
	return sway{a.x + u*(b.x-a.x), a.z + u*(b.z-a.z), a.yaw + u*(b.yaw-a.yaw)}
}

// swaySigma is the deviation, in frames, of the Gaussian that tells sway from motion along a curve:
// networks are given recorded motion smoothed by 25 frames in the mean.
const swaySigma = 24

var swayKernel = kernel(swaySigma)

// swayLine has room for the deviations of a motion from its curve.
type swayLine [feature.MotionLen][]float64

func newSwayLine(frames int) (l swayLine) {
	for i := range l {
		l[i] = make([]float64, frames)
	}
	return l
}

// find writes the sway of a motion: how its rows, (frames, cols) raw with the body's motion from
// column at on, get ahead of body, (frames, feature.MotionLen), without what is slow of that.
func (l *swayLine) find(dst []sway, rows []float32, cols, at int, body []float32) {
	frames := len(dst)
	for i := range l {
		sum, line := 0.0, l[i][:frames]
		for f := range line {
			line[f] = sum
			sum += float64(rows[f*cols+at+i]-body[f*feature.MotionLen+i]) / Rate
		}
	}
	for f := range dst {
		var s [feature.MotionLen]float32
		for i := range l {
			s[i] = float32(l[i][f] - convolved(l[i][:frames], swayKernel, f))
		}
		dst[f] = sway{s[feature.MotionX], s[feature.MotionZ], s[feature.MotionYaw]}
	}
}

// addSway writes the motion of a body that sways about its motion along a curve, body, (frames,
// feature.MotionLen), into dst.
func addSway(dst, body []float32, of []sway) {
	for f := range of {
		next := feature.Place{}.Advance(body[f*feature.MotionLen:], 1.0/Rate)
		motion(dst[f*feature.MotionLen:], of[f].on(feature.Place{}), of[min(f+1, len(of)-1)].on(next))
	}
}
