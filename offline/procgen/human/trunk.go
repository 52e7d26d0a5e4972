package human

import (
	"math"

	"mannequin/engine/m3"
	"mannequin/offline/procgen/internal/smooth"
)

// pose is the rotation of all joints in the world.
type pose struct {
	root m3.Vec3
	rot  []m3.Quat // per joint
}

// beat is the phase of the oscillations in one frame.
type beat struct {
	t      float64 // canonical time, cycles
	sec    float64 // s
	middle float64 // phase of the middle of the left foot's stance
	going  float64 // 0 in a stand, about 1 in motion, depending on the pace
	stand  float64 // 1 in a stand, 0 in motion
}

func (g *figure) beatAt(t, sec float64) beat {
	moving := g.course.moving.at(t)
	return beat{t: t, sec: sec, middle: g.course.duty(t) / 2, going: moving * (1 + 0.22*g.course.pace.at(t)), stand: 1 - moving}
}

// once oscillates once per cycle, with its peak at phase at.
func (b *beat) once(at float64) float64 { return math.Cos(smooth.Tau * (b.t - at)) }

// twice oscillates twice per cycle.
func (b *beat) twice(at float64) float64 { return math.Cos(2 * smooth.Tau * (b.t - at)) }

// rootHeight is the height of the hips over straight legs, m.
const rootHeight = 0.100 + legLen + ankleHeight

// trunk poses pelvis, back, neck and head. The pelvis is sink below its height over straight legs.
func (g *figure) trunk(p *pose, b *beat, sink float64) {
	m, c, j := &g.m, g.course, g.body
	n := func(i int) float64 { return m.noise * g.drift[i].At(b.sec) }
	at := c.at(b.t)
	look := c.look.at(b.t)
	turn := c.ahead(b.t)
	lean := c.lean(b.t)
	shift := c.shift.at(b.t) * b.stand
	breath := math.Sin(smooth.Tau*(b.t*0.3+g.breath)) * (0.6 + 0.4*b.stand) * min(1, m.noise)
	// A weak leg is hurried over: the body drops onto it, and the chest follows.
	weak := m.limp * b.going * b.once(b.middle+0.5)

	height := m.bounce*b.going*b.twice(b.middle+m.bounceAt) - 0.012*weak - sink + 0.0012*n(0)
	left := m.sway*b.going*b.once(b.middle-0.03) + m.still*shift + 0.004*n(1)*b.stand + 0.002*n(1)
	ahead := -m.surge*b.going*math.Sin(2*smooth.Tau*(b.t-b.middle)) + 0.004*n(2)*b.stand
	p.root = c.place(b.t, left, ahead)
	p.root.Y = float32(rootHeight + height)

	pelvisYaw := -m.yaw*b.going*b.once(0.02) + 0.12*turn + rad(0.6)*n(3)
	pelvisRoll := m.list*b.going*b.once(b.middle-m.listAt) + m.sag*shift*0.8 - 0.35*lean + rad(0.4)*n(4)
	push := 0.5 * c.push(b.t)
	pelvisPitch := m.tilt + 0.25*m.lean + rad(1)*b.going*b.twice(b.middle+0.12) + 0.4*push
	pelvis := turned(at.yaw+pelvisYaw, pelvisPitch, pelvisRoll)

	chestYaw := m.chestYaw*b.going*b.once(0.04) + 0.35*turn + 0.15*look + rad(0.8)*n(5)
	chestRoll := -m.chestRoll*b.going*b.once(b.middle-0.06) - rad(4)*weak - 0.5*m.sag*shift - 0.6*lean + rad(0.5)*n(6)
	chestPitch := m.lean + push + m.nod*b.going*b.twice(b.middle-0.2) - rad(0.6)*breath + rad(0.7)*n(7)
	loin := turned(at.yaw+0.4*chestYaw+0.4*pelvisYaw, chestPitch-0.2*m.curve, 0.5*(chestRoll+pelvisRoll))
	chest := turned(at.yaw+chestYaw, chestPitch+m.curve, chestRoll)
	p.rot[0] = pelvis
	p.rot[j.lowerBack] = mean(pelvis.Mul(about(0, -rad(11))), loin, 0.55) // in a straight back the pelvis leans ahead
	p.rot[j.spine] = mean(loin, chest, 0.45)
	p.rot[j.chest] = chest
	g.chestYaw, g.chestPitch, g.chestRoll = chestYaw, chestPitch, chestRoll

	// The head keeps its heading and pitch, except for nods, and looks along the course.
	headYaw := 0.9*look + 0.75*turn + 0.12*chestYaw + rad(1.5)*n(8)
	headPitch := m.head + 0.3*push - m.headNod*b.going*b.twice(b.middle-0.1) + rad(1.2)*n(9)
	headRoll := -m.headTilt - m.headRoll*b.going*b.once(b.middle) - 0.3*lean + 0.15*chestRoll + rad(0.7)*n(10)
	neckPitch := chestPitch + m.curve + m.neck - 0.5*m.nod*b.going*b.twice(b.middle-0.2)
	head := turned(at.yaw+headYaw, headPitch, headRoll)
	neck := turned(at.yaw+0.5*(chestYaw+headYaw), 0.7*neckPitch+0.3*headPitch, 0.5*(chestRoll+headRoll))
	p.rot[j.neck] = mean(chest, turned(at.yaw+chestYaw, neckPitch, chestRoll), 0.5)
	p.rot[j.neck+1] = neck
	p.rot[j.neck+2] = head
}

// mean returns the rotation at a share s between a and b.
func mean(a, b m3.Quat, s float64) m3.Quat { return a.Slerp(b, float32(s)) }
