package procgen

import (
	"math"
	"math/rand/v2"
	"strings"

	"mannequin/offline/procgen/internal/smooth"
)

// fps is the frame rate of all clips.
const fps = 60

// style is the style of a clip.
type style struct {
	tempo, bob, sway, clear, nod float64    // factors
	low                          float64    // m, of the hips
	head, tail, back             float64    // radians added to head carriage, tail, flexion
	width                        float64    // m, paws outward
	duty                         float64    // added to the duty factor
	pivot                        [2]float64 // centre of turns, m ahead of the hips: on the spot and in a walk
	breath                       float64    // breaths per second
}

func newStyle(rng *rand.Rand) style {
	u := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	return style{
		tempo: u(0.93, 1.08), bob: u(0.7, 1.3), sway: u(0.7, 1.3), clear: u(0.8, 1.25), nod: u(0.6, 1.4),
		low: u(-0.018, 0.006), head: rad(u(-9, 9)), tail: rad(u(-10, 14)), back: rad(u(-2.5, 2.5)),
		width: u(-0.008, 0.008), duty: u(-0.015, 0.015), pivot: [2]float64{u(0, 0.28), u(-0.04, 0.15)}, breath: u(0.3, 0.5),
	}
}

// timeline is a clip before it has poses: curves of speed, gait and posture over time, up to now.
type timeline struct {
	rng   *rand.Rand
	style style
	now   float64 // a whole number of frames

	ahead, side, turn curve          // m/s, m/s to the left, rad/s to the left
	rate, duty        curve          // strides per second; duty factor
	land              [numLegs]curve // phase of the stride at which each leg lands
	layers            []layer
	clear             [2]curve     // height of swinging fore and hind paws, m
	up                [2]curve     // height of hips and chest in a jump, m
	look, nod         curve        // of the head, radians to the left and up
	rateNoise         smooth.Noise // variation of the stride rate
	params            [numParams]curve

	phase      []float64    // strides so far, per frame
	air        []interval   // steps for posture changes, and raised fore legs
	hold       [][2]float64 // times without other steps
	starts     []float64    // times of starts from a stand
	mode       string       // the present gait or posture
	speed      float64      // for which the gait was chosen, m/s
	restTime   float64      // time at which the paws are at rest, in a stand
	staggering float64      // the stand's stagger, m
	labels     []label
	parts      []Part
}

// layer is a gait that moves the trunk with a weight, shifted so that legs had the shortest way.
type layer struct {
	gait
	shift  float64
	weight curve
}

// interval is a time without contact of a leg.
type interval struct {
	leg  int
	a, b float64
}

// label marks the first frame of an action of labels.json.
type label struct {
	frame int
	name  string
}

// Part is a stretch of a clip that shows one gait or action, without transitions.
type Part struct {
	Name     string // a gait or an action
	From, To int    // frames From to To−1
}

func newTimeline(rng *rand.Rand, name string) *timeline {
	tl := &timeline{rng: rng, style: newStyle(rng), mode: "stand", phase: []float64{rng.Float64()}}
	tl.rateNoise = smooth.NewNoise(rng, 0.25)
	p := tl.stand()
	for k := range tl.params {
		tl.params[k].from = p[k]
	}
	g := stand()
	for leg := range tl.land {
		tl.land[leg].from = g.land[leg]
	}
	tl.layers = []layer{{gait: g, weight: curve{from: 1}}}
	tl.rate.from, tl.duty.from = strideRate.at(0), dutyFactor.at(0)
	tl.clear[0].from, tl.clear[1].from = g.clear, g.clearHind
	tl.label(name)
	return tl
}

func (tl *timeline) uniform(lo, hi float64) float64 { return lo + (hi-lo)*tl.rng.Float64() }

func (tl *timeline) chance(p float64) bool { return tl.rng.Float64() < p }

func (tl *timeline) either(x float64) float64 {
	if tl.chance(0.5) {
		return -x
	}
	return x
}

// step makes a leg step from a to b, seconds from now.
func (tl *timeline) step(leg int, a, b float64) {
	tl.air = append(tl.air, interval{leg, tl.now + a, tl.now + b})
}

// stay keeps the paws in place for some seconds, except for those steps.
func (tl *timeline) stay(seconds float64) {
	tl.hold = append(tl.hold, [2]float64{tl.now, tl.now + seconds})
}

// styled adds the clip's style to a posture.
func (tl *timeline) styled(p posture) posture {
	s := &tl.style
	p[neckPitch] += s.head
	p[headPitch] += 0.3 * s.head
	p[tailPitch] += s.tail
	if p[heel] == 0 {
		p[hipUp] += s.low
		p[flexion] += s.back
	}
	p[foreOut] += s.width
	p[hindOut] += s.width
	return p
}

// stand returns a new stand in the clip's style. No animal stands square: the paws of one side are
// behind, and the hind paw of that side steps first. A network can see that in the stand. From a
// square stand it could not choose a side, and would never start.
func (tl *timeline) stand() posture {
	tl.staggering = tl.either(tl.uniform(0.022, 0.055))
	p := tl.styled(standing())
	p[stagger] = tl.staggering
	return p
}

// behind is 0 if the left side's paws are behind, 1 if the right one's.
func (tl *timeline) behind() int {
	if tl.staggering < 0 {
		return 0
	}
	return 1
}

// setOff makes the hind paw that is behind the next to step, if all paws stand.
func (tl *timeline) setOff() {
	if tl.mode != "stand" || tl.now < tl.restTime {
		return
	}
	// It is about to leave the ground, and the opposite fore paw has just landed.
	last := &tl.phase[len(tl.phase)-1]
	want := tl.land[leftHind+tl.behind()].at(tl.now) + tl.duty.at(tl.now) - 0.005
	*last += wrap01(want - *last)
	tl.starts = append(tl.starts, tl.now)
}

// label sets the action that the clip shows from now on.
func (tl *timeline) label(name string) {
	f := tl.frame()
	if n := len(tl.labels); n > 0 && tl.labels[n-1].name == name {
		return
	} else if n > 0 && tl.labels[n-1].frame == f {
		tl.labels[n-1].name = name
		return
	}
	tl.labels = append(tl.labels, label{f, name})
}

func (tl *timeline) frame() int { return int(math.Round(tl.now * fps)) }

// advance moves now forward, to the nearest frame.
func (tl *timeline) advance(seconds float64) {
	for range max(1, int(math.Round(seconds*fps))) {
		rate := tl.rate.at(tl.now+0.5/fps) * (1 + 0.02*tl.rateNoise.At(tl.now))
		tl.phase = append(tl.phase, tl.phase[len(tl.phase)-1]+rate/fps)
		tl.now = float64(len(tl.phase)-1) / fps
	}
}

// part records that the last seconds showed name.
func (tl *timeline) part(name string, seconds float64) {
	f := tl.frame()
	if from := f - int(seconds*fps); from < f {
		tl.parts = append(tl.parts, Part{name, max(from, 0), f})
	}
}

// pose moves all posture parameters to p within d seconds.
func (tl *timeline) pose(p posture, d float64) {
	for k := range p {
		tl.params[k].to(tl.now, d, p[k])
	}
}

// delay holds some parameters until start, and then moves them to p within d seconds.
func (tl *timeline) delay(p posture, start, d float64, which ...int) {
	for _, k := range which {
		tl.params[k].to(tl.now, max(start, 1e-3), tl.params[k].at(tl.now)) // hold
		tl.params[k].to(tl.now+max(start, 1e-3), d, p[k])
	}
}

// via moves a parameter to mid in d1 seconds and on to x in d2 more.
func (tl *timeline) via(k int, mid, x, d1, d2 float64) {
	tl.params[k].to(tl.now, d1, mid)
	tl.params[k].to(tl.now+d1, d2, x)
}

// enter changes the gait within at least d seconds and returns the time it takes. All legs' phases
// move the shortest way to the new gait's.
func (tl *timeline) enter(g gait, d, rate float64) float64 {
	var from [numLegs]float64
	for i := range from {
		from[i] = tl.land[i].at(tl.now)
	}
	best, shift := math.Inf(1), 0.0
	for k := range 200 {
		c := float64(k) / 200
		var sum float64
		for i := range from {
			e := wrap(g.land[i] + c - from[i])
			sum += e * e
		}
		if sum < best {
			best, shift = sum, c
		}
	}
	var most float64
	for i := range from {
		most = max(most, math.Abs(wrap(g.land[i]+shift-from[i])))
	}
	// A leg's own rate must stay within half of the stride's either way. The quintic's top speed is
	// 1.875 times its mean.
	d = max(d, 1.875*most/(0.5*min(rate, tl.rate.at(tl.now))))
	for i := range from {
		tl.land[i].to(tl.now, d, from[i]+wrap(g.land[i]+shift-from[i]))
	}
	for i := range tl.layers {
		tl.layers[i].weight.to(tl.now, d, 0)
	}
	l := layer{gait: g, shift: shift}
	l.weight.to(tl.now, d, 1)
	tl.layers = append(tl.layers, l)
	tl.clear[0].to(tl.now, d, g.clear*tl.style.clear)
	tl.clear[1].to(tl.now, d, g.clearHind*tl.style.clear)
	return d
}

// gaitFor returns a gait by name. A canter's lead is on the side of the turn.
func (tl *timeline) gaitFor(name string, turn float64) gait {
	switch name {
	case "walk":
		return walk()
	case "pace":
		return pace()
	case "trot":
		return trot()
	case "canter":
		right := tl.chance(0.5)
		if turn != 0 {
			right = turn < 0
		}
		return canter(right)
	}
	return stand()
}

// setGait starts to move in a gait, at forward and lateral speeds in m/s and a turn in rad/s. It
// returns the seconds until the animal does.
func (tl *timeline) setGait(name string, ahead, side, turn float64) float64 {
	// Steps in a turn on the spot count as speed.
	speed := math.Hypot(ahead, side) + 0.3*math.Abs(turn)
	dv := math.Hypot(ahead-tl.ahead.at(tl.now), side-tl.side.at(tl.now))
	d := max(tl.uniform(0.35, 0.6), 1.875*dv/tl.uniform(2.2, 3.6), math.Abs(turn-tl.turn.at(tl.now))/tl.uniform(2.2, 4))
	rate, duty := strideRate.at(speed)*tl.style.tempo, dutyFactor.at(speed)+tl.style.duty
	tl.setOff()
	// A canter's lead follows the turn. Straight ahead it keeps the lead it has.
	mode := name
	switch {
	case name == "canter" && turn < 0:
		mode = "canter right"
	case name == "canter" && turn > 0:
		mode = "canter left"
	case name == "canter" && strings.HasPrefix(tl.mode, name):
		mode = tl.mode
	}
	if mode != tl.mode {
		d = max(d, tl.enter(tl.gaitFor(name, turn), d, rate))
		tl.mode = mode
	}
	tl.ahead.to(tl.now, d, ahead)
	tl.side.to(tl.now, d, side)
	tl.turnTo(turn, d, name == "walk")
	tl.rate.to(tl.now, d, rate)
	tl.duty.to(tl.now, d, duty)
	tl.pose(tl.styled(moving(name, speed)), d)
	tl.speed = speed
	return d
}

// turnTo changes the turn rate within d seconds. In a walk a turn may begin with a jerk: a
// controller asks for the final heading, and the body, still at rest, has to catch up.
func (tl *timeline) turnTo(turn, d float64, walks bool) {
	const most = 2.6 // rad/s
	change := turn - tl.turn.at(tl.now)
	if !walks || turn == 0 || math.Abs(change) < 0.4 || tl.chance(0.4) {
		tl.turn.to(tl.now, d, turn)
		return
	}
	up := tl.uniform(0.25, 0.4)
	surge := turn + change*tl.uniform(0.1, 1.2)
	tl.turn.to(tl.now, up, min(max(surge, -most), most))
	tl.turn.to(tl.now+up, tl.uniform(0.2, 0.5), turn)
}
