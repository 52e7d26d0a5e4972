package human

import "math"

// gait is a usual walk, run or stand in absolute numbers: lengths in metres, angles in radians.
// Amplitudes are half of the range, at the usual pace.
type gait struct {
	cadence, cadencePace float64 // cycles (two steps) per second; relative increase at pace 1
	stride, stridePace   float64 // distance per cycle; likewise
	duty, dutyPace       float64 // share of the cycle that a foot stands; increase at pace 1

	// Feet.
	width    float64 // distance of the balls of the feet from the course, half of the track
	ahead    float64 // distance of the ball ahead of the hips in the middle of its stance
	toeOut   float64 // angle of the feet from the course
	strike   float64 // toes up at heel strike
	flatAt   float64 // share of the stance after which the sole is flat
	heelAt   float64 // share of the stance after which the heel rises
	rise     float64 // heel up at toe-off
	fling    float64 // further rise of the heel in the swing
	flung    float64 // share of the swing at its peak
	lift     float64 // height of the ankle in the swing, added to the foot's roll
	liftAt   float64 // share of the swing at its peak
	approach float64 // speed of the heel before it lands, over the body's
	drop     float64 // its speed down then, m per cycle
	follow   float64 // speed of the toes after toe-off, over the body's
	spring   float64 // their speed up then, m per cycle
	arrive   float64 // share of the swing in which the foot slows down

	// Lengths of a swinging leg, as shares: beyond the first its foot is held back, the second is
	// the limit.
	extend [2]float64

	// Pelvis.
	bend     float64 // height below the legs' reach
	bounce   float64 // up in the middle of a stance; negative: down, as in running
	bounceAt float64 // delay after the middle of the stance, share of a cycle
	sway     float64 // toward the standing foot
	surge    float64 // forward and back
	yaw      float64 // of the pelvis, with the leg that lands
	list     float64 // drop of the pelvis on the side of the swinging leg
	listAt   float64 // lead before the middle of the stance, share of a cycle
	tilt     float64 // of the pelvis, forward
	kneeOut  float64 // of the knees, outward from between feet and pelvis

	// Trunk and head.
	lean      float64 // of the chest, forward
	curve     float64 // of the upper back, on top of lean
	chestYaw  float64 // against the pelvis
	chestRoll float64 // of the chest over the standing foot
	nod       float64 // of the chest, twice per cycle
	neck      float64 // pitch ahead of the chest's
	head      float64 // pitch, chin down
	headNod   float64 // twice per cycle
	headRoll  float64 // from side to side
	headTilt  float64 // to the left, always
	shrug     float64 // of the shoulders, up
	round     float64 // of the shoulders, forward

	// Arms.
	swing      float64 // of the upper arms
	armMean    float64 // middle of the swing, forward
	armOut     float64 // from the body
	armOutUp   float64 // increase when the arm is ahead or behind
	armIn      float64 // twist of the upper arms, which brings bent forearms across the body
	elbow      float64 // bend
	elbowSwing float64 // increase when the arm is ahead, decrease behind
	wrist      float64 // bend toward the palm
	hang       float64 // delay of the wrist
	curl       float64 // of the fingers

	limp  float64 // weakness of the right leg, 0…1
	noise float64 // noise of the posture; 1: usual
	still float64 // weight shift in a stand
	sag   float64 // drop of the pelvis over the idle leg in a stand
}

// walking is a usual walk, from textbooks of gait analysis, scaled to a person of 1.62 m.
var walking = gait{
	cadence: 0.94, cadencePace: 0.13, stride: 1.28, stridePace: 0.17, duty: 0.615, dutyPace: -0.025,
	width: 0.048, ahead: 0.05, toeOut: rad(6), strike: rad(19), flatAt: 0.2, heelAt: 0.56, rise: rad(46), fling: rad(11), flung: 0.35,
	lift: 0.012, liftAt: 0.5, approach: 0.8, follow: 0.4, arrive: 0.32, extend: [2]float64{0.96, 0.995},
	bend: 0.004, bounce: 0.016, sway: 0.02, surge: 0.008, yaw: rad(6.5), list: rad(4.2), listAt: 0.12, tilt: rad(8), kneeOut: rad(3),
	lean: rad(2), curve: rad(2), chestYaw: rad(5), chestRoll: rad(1.6), nod: rad(0.9), neck: rad(9), head: rad(2), headNod: rad(0.7), headRoll: rad(0.6),
	shrug: rad(0), round: rad(2),
	swing: rad(19), armMean: rad(-3), armOut: rad(7.5), armOutUp: rad(1.5), armIn: rad(14), elbow: rad(22), elbowSwing: rad(14), wrist: rad(6), hang: rad(7), curl: rad(22),
	noise: 1, still: 0.035, sag: rad(3),
}

// running is a jog at about 2.8 m/s.
var running = gait{
	cadence: 1.36, cadencePace: 0.06, stride: 2.02, stridePace: 0.24, duty: 0.31, dutyPace: -0.04,
	width: 0.032, ahead: 0.045, toeOut: rad(5), strike: rad(7), flatAt: 0.2, heelAt: 0.45, rise: rad(58), fling: rad(38), flung: 0.33,
	lift: 0.13, liftAt: 0.45, approach: 0.8, drop: 0.7, follow: 0.4, spring: 1.1, arrive: 0.35, extend: [2]float64{0.93, 0.985},
	bend: 0.004, bounce: -0.036, sway: 0.01, surge: 0.008, yaw: rad(8), list: rad(4.5), listAt: 0, tilt: rad(12), kneeOut: rad(2),
	lean: rad(8), curve: rad(3), chestYaw: rad(10), chestRoll: rad(2.5), nod: rad(1.5), neck: rad(8), head: rad(1), headNod: rad(1), headRoll: rad(0.6),
	shrug: rad(2), round: rad(4),
	swing: rad(30), armMean: rad(-14), armOut: rad(18), armOutUp: rad(3), armIn: rad(26), elbow: rad(97), elbowSwing: rad(8), wrist: rad(5), hang: rad(5), curl: rad(60),
	noise: 1,
}

// standing is a stand. Its canonical time runs at a walk's cadence.
var standing = func() gait {
	g := walking
	g.width, g.ahead, g.toeOut = 0.075, 0.06, rad(9)
	return g
}()

func gaitOf(action string) gait {
	switch action {
	case Run:
		return running
	case Stand:
		return standing
	}
	return walking
}

func landsAt(foot int) float64 { return 0.5 * float64(foot) }

// personGait is the gait of one person in one style.
type personGait struct {
	gait
	running bool
}

func newPersonGait(g gait, s *style) personGait {
	m := personGait{gait: g, running: g.bounce < 0}
	// Styles change a run less than a walk. Its elbows are bent in any style.
	cadence, stride, track, upper, bent := s.cadence, s.stride, 1.0, 1.0, 1.0
	if m.running {
		track, upper, bent = 0.6, 0.65, 0.25
		if cadence > 0 {
			cadence, stride = math.Pow(cadence, 0.7), math.Pow(stride, 0.7)
		}
	}
	for _, f := range []edit{{&m.cadence, cadence}, {&m.stride, stride}, {&m.strike, s.strike}, {&m.rise, s.rise}, {&m.fling, s.rise},
		{&m.bounce, s.bounce}, {&m.sway, s.sway}, {&m.yaw, s.yaw}, {&m.list, s.list},
		{&m.chestYaw, s.chestYaw}, {&m.chestRoll, s.chestRoll}, {&m.nod, s.nod}, {&m.headNod, s.headNod},
		{&m.swing, s.swing}, {&m.elbowSwing, s.elbowSwing}, {&m.noise, s.noise}} {
		if f.by != 0 {
			*f.number *= f.by
		}
	}
	for _, c := range []edit{{&m.duty, s.duty}, {&m.width, track * s.width}, {&m.toeOut, s.toeOut}, {&m.lift, s.lift},
		{&m.bend, s.bend}, {&m.bounceAt, s.bounceAt}, {&m.tilt, s.tilt}, {&m.kneeOut, s.kneeOut},
		{&m.lean, upper * s.lean}, {&m.curve, upper * s.curve}, {&m.neck, s.neck}, {&m.head, s.head},
		{&m.headRoll, s.headRoll}, {&m.headTilt, s.headTilt}, {&m.shrug, s.shrug}, {&m.round, s.round},
		{&m.armMean, s.armMean}, {&m.armOut, s.armOut}, {&m.armOutUp, s.armOutUp}, {&m.armIn, s.armIn},
		{&m.elbow, bent * s.elbow}, {&m.wrist, s.wrist}, {&m.curl, s.curl}, {&m.limp, s.limp}, {&m.sag, s.sag}} {
		*c.number += c.by
	}
	m.curl = min(m.curl, rad(80))
	return m
}

// edit is a factor or a sum for one number of a gait.
type edit struct {
	number *float64
	by     float64
}

// vary changes m to another person: by a few per cent, a degree or two. n returns random numbers of
// unit deviation without outliers.
func (m *personGait) vary(n func() float64) {
	for _, x := range []*float64{&m.cadence, &m.stride} {
		*x *= 1 + 0.025*n()
	}
	for _, x := range []*float64{&m.strike, &m.rise, &m.bounce, &m.sway, &m.yaw, &m.list, &m.chestYaw, &m.chestRoll, &m.nod, &m.headNod, &m.swing, &m.elbowSwing, &m.hang} {
		*x *= 1 + 0.09*n()
	}
	for _, x := range []*float64{&m.tilt, &m.lean, &m.curve, &m.neck, &m.head, &m.shrug, &m.round, &m.armMean, &m.armOut, &m.armIn, &m.toeOut, &m.wrist} {
		*x += rad(1.3) * n()
	}
	m.elbow = math.Max(rad(5), m.elbow+rad(2.5)*n())
	m.width += 0.004 * n()
}

func (m *personGait) dutyAt(pace float64) float64 { return m.duty + m.dutyPace*pace }
