package judge

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"mannequin/engine/m3"
)

// feed names values that measures are made of.
type feed int

const (
	feedToe       feed = iota // speed of the planted toe, cm/s, per frame
	feedFlight                // 1 if toes and ankles of both feet are over 3 cm up, per frame
	feedJerk                  // of each joint, m/s³, per frame
	feedJerkHands             // of these joints
	feedJerkHips
	feedJerkTrunk
	feedJerkHead
	feedJerkArms
	feedJerkLegs
	feedJerkFeet
	feedKnee     // bend of each, degrees, per frame
	feedStraight // 1 for each knee straighter than 2°, per frame
	feedElbow    // bend of each, degrees, per frame
	feedSwing    // range of each hand fore and aft of the body, cm, per window
	feedOpposed  // correlation of the hands' distance fore and aft with the feet's, per motion
	feedBounce   // range of the hips' height, cm, per window
	feedSway     // range of the hips aside of their path, cm, per window
	feedSurge    // the same fore and aft
	feedLean     // standard deviation of the trunk's lean fore and aft, degrees, per window
	feedTilt     // the same aside
	feedTwist    // of the shoulders against the hips
	feedTorso    // 1 if a hand is within 14 cm of the spine, per frame
	feedCross    // 1 if the knees cross, per frame
	feedFeet     // 1 if the feet are within 6 cm, per frame
	feedSunk     // 1 if a toe is over 2 cm below its standing height, per frame
	feedLife     // mean distance of joints from their mean over a second, cm, per second
	feedKneeSide // difference of the knees' mean bend, degrees, per motion
	feedStepSide // difference of the mean times of left and right steps, s, per motion
	feedStride   // mean distance of joints of neighbouring strides at one phase, cm
	feedTimes    // squared difference of their times over twice the squared mean
	feedStopping // time from 0.9 to 0.25 m/s, s, per stop
	feedStarting // time from 0.25 to 0.9 m/s, s, per start
	feedDip      // of the hips in stops and starts below the median of the seconds around, cm
	feedDeepest  // largest bend of a knee in them, degrees
	feedSteps    // time of each step, s; those from here on have one series for each of stepSpeeds
	numFeeds     = feedSteps + feed(len(stepSpeeds))
)

// stepSpeeds are the lowest speeds of the ranges in which steps are counted, m/s. Each range ends
// where the next begins.
var stepSpeeds = [...]float64{0.7, 1, 1.3, 1.6, 1.9, 2.5, 3.2}

// series holds values by kind of frame.
type series struct {
	frames [numKinds]int
	values [numKinds][numFeeds][]float64
	bones  float64
	keeps  []float64 // speed in the last third over that in the first, of motions of 20 s and more
}

func (s *series) add(k Kind, f feed, v float64) { s.values[k][f] = append(s.values[k][f], v) }

// window is the length of windows, frames: a stride of a slow walk. They overlap by half.
const window = Rate * 6 / 5

// collect adds the values of a motion.
func (s *series) collect(b *body) {
	s.bones = max(s.bones, b.bones)
	for f := range b.n {
		for k := range numKinds {
			if b.kinds[f].has(k) {
				s.frames[k]++
				s.frame(b, f, k)
			}
		}
	}
	sways, surges := b.about()
	for k := range numKinds {
		b.runs(k, window, func(from, to int) {
			for at := from; at+window <= to; at += window / 2 {
				s.window(b, k, at, sways, surges)
			}
		})
	}
	b.runs(Stand, Rate, func(from, to int) {
		for at := from; at+Rate <= to; at += Rate {
			s.add(Stand, feedLife, 100*b.life(at))
		}
	})
	s.gait(b)
	s.changes(b)
	s.sides(b)
}

// jerks are the joints of the feeds of jerk.
var jerks = [...]struct {
	feed feed
	of   string
}{{feedJerkHands, "hands"}, {feedJerkHips, "hips"}, {feedJerkTrunk, "trunk"}, {feedJerkHead, "head"}, {feedJerkArms, "arms"}, {feedJerkLegs, "legs"}, {feedJerkFeet, "feet"}}

const (
	straightKnee = 2    // degrees
	inTorso      = 0.14 // m
	sunk         = 0.02 // m
	feetTouch    = 0.06 // m
)

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// frame adds the values of frame f.
func (s *series) frame(b *body, f int, k Kind) {
	v, ok := b.planted(f)
	if ok {
		s.add(k, feedToe, 100*v)
	}
	s.add(k, feedFlight, one(b.inAir(f)))
	under, inside := false, false
	for i := range 2 {
		bend := b.bend(thigh[i], knee[i], ankle[i], f)
		s.add(k, feedKnee, bend)
		s.add(k, feedStraight, one(bend < straightKnee))
		s.add(k, feedElbow, b.bend(arm[i], elbow[i], hand[i], f))
		under = under || float64(b.at[toe[i]][f].Y) < b.floor[i]-sunk
		inside = inside || b.nearSpine(hand[i], f) < inTorso
	}
	s.add(k, feedTorso, one(inside))
	s.add(k, feedSunk, one(under))
	s.add(k, feedCross, one(b.local(knee[0], f).X < b.local(knee[1], f).X))
	s.add(k, feedFeet, one(b.feetApart(f) < feetTouch))
	if f < 3 || f+4 >= b.n || k > Back {
		return
	}
	for _, j := range joints {
		s.add(k, feedJerk, float64(b.jerk(j, f).Len()))
	}
	for _, of := range jerks {
		for _, j := range members[of.of] {
			s.add(k, of.feed, float64(b.jerk(j, f).Len()))
		}
	}
}

// window adds the values of the window that begins at frame at.
func (s *series) window(b *body, k Kind, at int, sways, surges []float64) {
	var hands [2][]float64
	var height, lean, tilt, twist []float64
	for f := at; f < at+window; f++ {
		for i := range 2 {
			hands[i] = append(hands[i], float64(b.local(hand[i], f).Z))
		}
		height = append(height, float64(b.at[hips][f].Y))
		trunk := b.local(chest, f).Sub(b.local(hips, f))
		lean = append(lean, degrees(math.Atan2(float64(trunk.Z), float64(trunk.Y))))
		tilt = append(tilt, degrees(math.Atan2(float64(trunk.X), float64(trunk.Y))))
		twist = append(twist, degrees(float64(m3.WrapAngle(b.across(arm, f)-b.across(thigh, f)))))
	}
	for i := range 2 {
		s.add(k, feedSwing, 100*spanOf(hands[i]))
	}
	s.add(k, feedBounce, 100*spanOf(height))
	s.add(k, feedLean, stat.StdDev(lean, nil))
	s.add(k, feedTilt, stat.StdDev(tilt, nil))
	s.add(k, feedTwist, stat.StdDev(twist, nil))
	if k == Straight && at >= smooth && at+window+smooth <= b.n {
		s.add(k, feedSway, 100*spanOf(sways[at:at+window]))
		s.add(k, feedSurge, 100*spanOf(surges[at:at+window]))
	}
}

// across returns the direction from the right of two joints to the left, radians about the vertical.
func (b *body) across(of [2]int, f int) float32 {
	return m3.YawOf(b.at[of[0]][f].Sub(b.at[of[1]][f]))
}

// smooth is the number of frames on either side over which the hips' path is smoothed: a stride.
const smooth = 33

// about returns the hips' places aside and ahead of their smoothed path, m, along the way.
func (b *body) about() (aside, ahead []float64) {
	aside, ahead = make([]float64, b.n), make([]float64, b.n)
	sums := make([][2]float64, b.n+1)
	for f, p := range b.at[hips] {
		sums[f+1] = [2]float64{sums[f][0] + float64(p.X), sums[f][1] + float64(p.Z)}
	}
	for f := smooth; f+smooth < b.n; f++ {
		p, n := b.at[hips][f], float64(2*smooth+1)
		x := float64(p.X) - (sums[f+smooth+1][0]-sums[f-smooth][0])/n
		z := float64(p.Z) - (sums[f+smooth+1][1]-sums[f-smooth][1])/n
		way := b.at[hips][f+smooth].Sub(b.at[hips][f-smooth])
		sin, cos := math.Sincos(float64(m3.YawOf(way)))
		aside[f], ahead[f] = x*cos-z*sin, x*sin+z*cos
	}
	return aside, ahead
}

// life returns the mean distance of joints from their mean over the second from frame at, m.
func (b *body) life(at int) (d float64) {
	for _, j := range joints {
		var mean m3.Vec3
		for f := at; f < at+Rate; f++ {
			mean = mean.Add(b.at[j][f].Scale(1.0 / Rate))
		}
		for f := at; f < at+Rate; f++ {
			d += float64(b.at[j][f].Dist(mean)) / float64(Rate*len(joints))
		}
	}
	return d
}

// steady bounds the difference of the speeds of two strides that are compared, as a share, and their
// turn, degrees per second.
const steady, steadyTurn = 0.15, 30

// gait adds the values of steps and strides.
func (s *series) gait(b *body) {
	steps := b.steps
	for i := 1; i < len(steps); i++ {
		mid, frames := int((steps[i].at+steps[i-1].at)/2), steps[i].at-steps[i-1].at
		if frames > longestStep {
			continue
		}
		for _, k := range []Kind{Walk, Run, Diagonal} {
			for r := len(stepSpeeds) - 1; r >= 0 && b.kinds[mid].has(k); r-- {
				if b.speed[mid] >= stepSpeeds[r] {
					s.add(k, feedSteps+feed(r), frames/Rate)
					break
				}
			}
		}
	}
	for _, k := range []Kind{Walk, Run} {
		strides := b.strides(k)
		for i := 1; i < len(strides); i++ {
			p, q := &strides[i-1], &strides[i]
			if p.to != q.from || math.Abs(p.speed-q.speed) > steady*p.speed || max(p.turn, q.turn) > steadyTurn {
				continue
			}
			s.add(k, feedStride, 100*p.apart(q))
			t, u := p.to-p.from, q.to-q.from
			s.add(k, feedTimes, 2*(t-u)*(t-u)/((t+u)*(t+u)))
		}
	}
}

// changes adds the values of starts and stops.
func (s *series) changes(b *body) {
	for _, c := range b.changes() {
		kind := feedStopping
		if c.start {
			kind = feedStarting
		}
		s.add(Stop, kind, float64(c.to-c.from)/Rate)
		lowest, deepest := math.Inf(1), 0.0
		var around []float64
		for f := max(c.from-Rate, 0); f < min(c.to+Rate, b.n); f++ {
			h := float64(b.at[hips][f].Y)
			if f < c.from-Rate/4 || f > c.to+Rate/4 {
				around = append(around, h)
				continue
			}
			lowest = min(lowest, h)
			for i := range 2 {
				deepest = max(deepest, b.bend(thigh[i], knee[i], ankle[i], f))
			}
		}
		if len(around) > 0 {
			s.add(Stop, feedDip, 100*max(0, median(around)-lowest))
		}
		s.add(Stop, feedDeepest, deepest)
	}
}

// sides adds the differences of left and right.
func (s *series) sides(b *body) {
	for _, k := range []Kind{Stand, Walk, Run} {
		var bends [2][]float64
		var hands, feet []float64 // the left hand before the right, the right foot before the left
		for f := range b.n {
			if !b.kinds[f].has(k) {
				continue
			}
			for i := range 2 {
				bends[i] = append(bends[i], b.bend(thigh[i], knee[i], ankle[i], f))
			}
			hands = append(hands, float64(b.local(hand[0], f).Z-b.local(hand[1], f).Z))
			feet = append(feet, float64(b.local(ankle[1], f).Z-b.local(ankle[0], f).Z))
		}
		if len(hands) < fewest {
			continue
		}
		s.add(k, feedKneeSide, math.Abs(stat.Mean(bends[0], nil)-stat.Mean(bends[1], nil)))
		if c := stat.Correlation(hands, feet, nil); !math.IsNaN(c) {
			s.add(k, feedOpposed, c)
		}
	}
	steps := b.steps
	for _, k := range []Kind{Walk, Run, Diagonal} {
		var times [2][]float64
		for i := 1; i < len(steps); i++ {
			mid, frames := int((steps[i].at+steps[i-1].at)/2), steps[i].at-steps[i-1].at
			if frames <= longestStep && b.kinds[mid].has(k) {
				side := 1
				if steps[i].left {
					side = 0
				}
				times[side] = append(times[side], frames/Rate)
			}
		}
		if min(len(times[0]), len(times[1])) >= 2 {
			s.add(k, feedStepSide, math.Abs(stat.Mean(times[0], nil)-stat.Mean(times[1], nil)))
		}
	}
}

func spanOf(v []float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, x := range v {
		lo, hi = min(lo, x), max(hi, x)
	}
	return hi - lo
}
