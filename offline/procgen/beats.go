package procgen

import (
	"math"
	"strings"
)

// move changes to a movement and keeps it for some seconds.
func (tl *timeline) move(name string, ahead, side, turn, seconds float64) {
	tl.label("Walk")
	d := tl.setGait(name, ahead, side, turn)
	tl.look.to(tl.now, d, 0.3*turn)
	tl.nod.to(tl.now, d, 0)
	tl.advance(d)
	tl.advance(seconds)
	tl.part(name, seconds)
}

func (tl *timeline) halt() {
	d := tl.stop()
	tl.advance(0.7 * d)
	tl.label("Idle")
	tl.advance(0.3*d + 0.3)
}

// stop slows down to a stand and returns the seconds until then.
func (tl *timeline) stop() float64 {
	v := math.Hypot(tl.ahead.at(tl.now), tl.side.at(tl.now))
	d := max(0.6, 1.875*v/tl.uniform(2.4, 3.8))
	if tl.mode != "stand" {
		d = max(d, tl.enter(stand(), d, strideRate.at(0.3)))
		tl.mode = "stand"
	}
	for _, c := range []*curve{&tl.ahead, &tl.side, &tl.turn, &tl.look, &tl.nod} {
		c.to(tl.now, d, 0)
	}
	// The strides continue until the feet are square.
	tl.rate.to(tl.now, d+0.6, strideRate.at(0.4))
	tl.duty.to(tl.now, d, dutyFactor.at(0))
	tl.pose(tl.stand(), d+0.2)
	tl.speed, tl.restTime = 0, tl.now+d+1
	return d
}

// idle stands, breathes, shifts its weight and looks around.
func (tl *timeline) idle(seconds float64) {
	tl.label("Idle")
	tl.lookAround("idle", seconds)
}

// lookAround keeps the posture for a while and looks around.
func (tl *timeline) lookAround(name string, seconds float64) {
	for end := tl.now + seconds; tl.now < end-1e-6; {
		d := tl.uniform(0.45, 0.9)
		hold := min(tl.uniform(0.5, 3), max(0.1, end-tl.now-d))
		yaw, up := tl.uniform(-0.9, 0.9), rad(tl.uniform(-14, 12))
		if tl.chance(0.4) {
			yaw, up = 0, rad(tl.uniform(-5, 5))
		} else if name == "idle" && tl.chance(0.12) {
			yaw, up = yaw/2, rad(tl.uniform(-55, -35)) // sniffs at the ground
		}
		if name == "idle" && tl.chance(0.5) {
			tl.shiftStance(d)
		}
		tl.look.to(tl.now, d, yaw)
		tl.nod.to(tl.now, d, up)
		tl.advance(d + hold)
	}
	tl.part(name, seconds)
}

func (tl *timeline) shiftStance(d float64) {
	p := tl.styled(standing())
	p[hipUp] -= tl.uniform(0, 0.02)
	p[pitch] += rad(tl.uniform(-2.5, 2.5))
	p[flexion] += rad(tl.uniform(-2, 3))
	p[neckPitch] += rad(tl.uniform(-8, 6))
	p[tailPitch] += rad(tl.uniform(-8, 20))
	p[tailCurl] += rad(tl.uniform(-5, 12))
	for _, k := range []int{hipUp, pitch, flexion, neckPitch, tailPitch, tailCurl} {
		tl.params[k].to(tl.now, 1.2*d, p[k])
	}
}

// forward turns the head back to the middle.
func (tl *timeline) forward(d float64) {
	tl.look.to(tl.now, d, 0)
	tl.nod.to(tl.now, d, 0)
}

// stepPair makes the two fore legs (or hind legs) step one after the other, the side that is behind
// first. a and b are their starts, as shares of d seconds.
func (tl *timeline) stepPair(fore bool, a, b, d float64) {
	const swing = 0.26
	first := leftHind
	if fore {
		first = leftFore
	}
	k := tl.behind()
	tl.step(first+k, a*d, a*d+swing)
	tl.step(first+1-k, b*d, b*d+swing)
}

// takePosture changes to sitting or lying and stays.
func (tl *timeline) takePosture(name string, p posture, seconds float64) {
	p = tl.styled(p)
	d := tl.uniform(0.9, 1.25)
	tl.forward(d)
	tl.stay(d + 0.4)
	tl.pose(p, 0.7*d)
	switch {
	case name == "Sit" && tl.mode == "Lie": // onto the fore legs
		tl.via(pitch, rad(28), p[pitch], 0.5*d, 0.5*d)
		tl.stepPair(true, 0.42, 0.66, d)
		tl.delay(p, 0.35*d, 0.6*d, hipUp, hipAhead, flexion, foreAhead)
		tl.stepPair(false, 0.05, 0.28, d)
	case name == "Sit": // the rump goes down as the hind paws come under it
		tl.stepPair(false, 0, 0.22, d)
		tl.stepPair(true, 0.45, 0.7, d)
		tl.delay(p, 0.12*d, 0.88*d, hipUp, hipAhead, pitch, flexion, heel, heelAngle, tailPitch, tailCurl)
	case tl.mode == "Sit": // down on the elbows
		tl.stepPair(true, 0, 0.25, d)
		tl.delay(p, 0.15*d, 0.85*d, pitch, hipUp, hipAhead, flexion, tailPitch, tailCurl)
		tl.stepPair(false, 0.5, 0.75, d)
	default: // elbows first
		tl.stepPair(true, 0, 0.22, d)
		tl.stepPair(false, 0.3, 0.5, d)
		tl.via(pitch, rad(-13), p[pitch], 0.55*d, 0.45*d)
		tl.delay(p, 0.25*d, 0.75*d, hipUp, hipAhead, heel, heelAngle, tailPitch, tailCurl)
	}
	tl.mode = name
	tl.advance(0.2)
	tl.label(name)
	tl.advance(d + 0.2)
	tl.stay(seconds + 8)
	tl.lookAround(strings.ToLower(name), seconds)
	tl.hold[len(tl.hold)-1][1] = tl.now
}

func (tl *timeline) sit(seconds float64) { tl.takePosture("Sit", sitting(), seconds) }
func (tl *timeline) lie(seconds float64) { tl.takePosture("Lie", lying(), seconds) }

// beginStop slows down until another beat takes over before the stand.
func (tl *timeline) beginStop() {
	d := tl.stop()
	tl.advance(tl.uniform(0.75, 0.95) * d)
}

// rise returns to standing from sitting or lying. as is its label: the next action.
func (tl *timeline) rise(as string) {
	p := tl.stand()
	d := tl.uniform(0.9, 1.2)
	tl.forward(d)
	tl.stay(d + 0.3)
	tl.pose(p, 0.9*d)
	if tl.mode == "Lie" { // fore legs first
		tl.via(pitch, rad(24), p[pitch], 0.5*d, 0.5*d)
		tl.stepPair(true, 0.4, 0.62, d)
		tl.delay(p, 0.3*d, 0.6*d, foreAhead)
		tl.delay(p, 0.25*d, 0.75*d, hipUp, hipAhead, heel, heelAngle, hindAhead)
		tl.stepPair(false, 0.55, 0.75, d)
	} else {
		tl.delay(p, 0.3*d, 0.6*d, hindAhead)
		tl.stepPair(false, 0.45, 0.68, d)
		tl.stepPair(true, 0.3, 0.55, d)
	}
	tl.mode = "stand"
	tl.advance(0.25 * d)
	tl.label(as)
	tl.advance(0.75 * d)
	tl.restTime = tl.now
	if as == "Idle" {
		tl.advance(0.4)
	}
}

// standUp stands up on the hind legs, stays, and comes down.
func (tl *timeline) standUp(seconds float64) {
	up, down := tl.styled(rearing()), tl.stand()
	tl.forward(0.4)
	// Crouch, to push off.
	crouch := down
	crouch[hipUp], crouch[pitch], crouch[hipAhead] = -0.09, rad(4), -0.05
	crouch[neckPitch] += rad(14)
	crouch[hindAhead] = 0.05
	tl.stay(seconds + 20)
	tl.stepPair(false, 0, 0.18, 1)
	tl.pose(crouch, 0.5)
	tl.advance(0.3)
	tl.label("Stand")
	tl.advance(0.12)
	d := tl.uniform(0.65, 0.9)
	tl.pose(up, d)
	off := tl.now + 0.12*d
	tl.advance(d)
	tl.lookAround("stand", seconds)
	tl.forward(0.3)
	d = tl.uniform(0.7, 0.95)
	land := tl.now + 0.8*d
	soft := down
	soft[hipUp], soft[pitch], soft[hindAhead] = -0.05, rad(-6), up[hindAhead]
	tl.pose(soft, d)
	tl.delay(soft, 0.1, 0.8*d, pawsUp)
	tl.air = append(tl.air, interval{leftFore, off, land}, interval{rightFore, off + 0.03, land + 0.04})
	tl.advance(0.45 * d)
	tl.label("Idle")
	tl.advance(0.55 * d)
	tl.pose(down, 0.5)
	tl.stepPair(false, 0.1, 0.32, 1)
	tl.mode = "stand"
	tl.advance(0.8)
	tl.restTime = tl.now
	tl.hold[len(tl.hold)-1][1] = tl.now
}

const gravity = 9.81

// A leap has the label Jump from 12 frames before the hind feet leave the ground until 8 after. Of
// these 20 frames the middle 10 have full weight, after 20 frames of fading in (package dataset). A
// controller asks for leaps in the same way (mann.Tuning.Ramp and Leap).
const leapFrom, leapTo = 12, 8

// jump leaps out of the present movement at a speed in m/s. The trunk rises by height in m.
func (tl *timeline) jump(speed, height float64) {
	tl.setOff()
	tl.label("Walk") // until shortly before take-off
	flight := 2 * math.Sqrt(2*height/gravity)
	rate := (boundFore - boundHind) / flight
	d := tl.enter(bound(), 0.55, rate)
	// Strides until take-off: more than the change of gait needs.
	r0 := tl.rate.at(tl.now)
	top := max(speed, tl.ahead.at(tl.now))
	mean := max((r0+rate)/2, strideRate.at(top))
	phase0 := tl.phase[len(tl.phase)-1]
	shift := tl.layers[len(tl.layers)-1].shift
	strides := mean * d
	target := math.Ceil(phase0+strides-shift-boundHind) + shift + boundHind
	run := math.Round((target-phase0)/mean*fps) / fps
	off := tl.now + run
	p := tl.styled(moving("canter", 2.6))
	p[hipUp] += 0.01
	tl.pose(p, run)
	tl.forward(0.4)
	dv := max(0.4, run-0.1)
	tl.ahead.to(tl.now, dv, speed)
	tl.side.to(tl.now, dv, 0)
	tl.turn.to(tl.now, dv, 0)
	// No flight before the leap: paws stay down while they reach.
	tl.duty.to(tl.now, run-push, leapDuty(mean, top))
	tl.duty.to(off-push, push, boundDuty)
	_, dr, _ := tl.rate.state(tl.now)
	q := hermite(tl.now, run, phase0, r0, dr, target, rate, 0)
	tl.rate.to(tl.now, run, rate)
	tl.arc(off, flight)
	frames := int(math.Round(run * fps))
	first := tl.now
	labelAt := max(0, frames-leapFrom)
	for k := range frames {
		if k == labelAt {
			tl.label("Jump")
		}
		x, _, _ := q.at(first + float64(k+1)/fps)
		tl.phase = append(tl.phase, x)
		tl.now = float64(len(tl.phase)-1) / fps
	}
	// Nor after it: strides quicken and paws stay down when the fore paws land. All paws are in the
	// last third of their way down by then.
	fast := strideRate.at(speed)
	tl.rate.to(off+flight-0.06, 0.14, fast)
	tl.duty.to(off+0.73*flight, 0.18, leapDuty(fast, speed))
	tl.advance(float64(leapTo) / fps)
	tl.label("Walk")
	tl.advance(flight + 0.1 - float64(leapTo)/fps)
	tl.part("jump", flight+0.3)
	tl.mode, tl.speed = "bound", speed
}

// leapDuty returns the duty factor around a leap, at a rate in strides per second and a speed, m/s.
func leapDuty(rate, speed float64) float64 {
	const most = 0.62
	return min(most, 2*maxReach*rate/speed)
}

// arc sets the heights of hips and chest through a flight: crouch, push, parabola, landing.
func (tl *timeline) arc(off, flight float64) {
	v := gravity * flight / 2
	for i := range tl.up {
		c, lead := &tl.up[i], [2]float64{-0.02, 0.035}[i]
		t0 := off - lead
		crouch := [2]float64{-0.07, -0.06}[i]
		c.to(t0-0.50, 0.30, crouch)
		c.through(t0-0.20, 0.20, -0.03, v, -gravity)
		c.through(t0, flight, -0.03, -v, -gravity)
		c.through(t0+flight, 0.16, crouch*0.9, 0, 0)
		c.to(t0+flight+0.16, 0.35, 0)
	}
}
