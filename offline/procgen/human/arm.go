package human

import (
	"math"

	"mannequin/engine/m3"
	"mannequin/offline/procgen/internal/smooth"
)

// arm poses a side's shoulder, arm and hand. Rotations are of a left arm; flip mirrors them.
func (g *figure) arm(p *pose, side int, b *beat) {
	m, j := &g.m, g.body.shoulder[side]
	n := func(i int) float64 { return m.noise * g.drift[11+3*side+i].At(b.sec) }
	flip := func(q m3.Quat) m3.Quat {
		if side == 1 {
			q.Y, q.Z = -q.Y, -q.Z
		}
		return q
	}
	// An arm is ahead when the foot of the other side lands.
	const late = 0.02
	at := landsAt(1-side) + late
	wave := b.once(at)
	k := b.going
	if m.limp > 0 && side == 1 {
		k *= 1 - 0.4*m.limp // a weak side swings less
	}
	// The swing back is longer and slower than the swing ahead.
	swing := m.swing*k*(wave+0.10*math.Cos(2*smooth.Tau*(b.t-at-0.08))) + m.armMean + rad(1.2)*n(0)
	elbow := m.elbow + m.elbowSwing*k*b.once(at+0.05) + rad(1.5)*n(1)
	// In a stand the arms hang, and most of the style's changes are lost.
	const ease = 0.65
	elbow = softFloor(elbow+ease*b.stand*(walking.elbow-m.elbow), rad(7))
	out := m.armOut + ease*b.stand*(walking.armOut-m.armOut) + m.armOutUp*k*b.twice(at) + rad(0.5)*n(2)
	in := m.armIn * (0.6 + 0.4*k*wave) // hands cross in front of the body and pass the hips
	wrist := m.wrist + m.hang*k*math.Sin(smooth.Tau*(b.t-at-0.06))

	chest := p.rot[g.body.chest]
	// Shoulders follow their arms.
	clavicle := flip(about(1, -(m.round + 0.10*swing)).Mul(about(2, m.shrug+0.06*math.Abs(out)-rad(1))))
	shoulder := chest.Mul(clavicle)
	p.rot[j] = shoulder
	// Arms hang from the shoulders, closer to vertical than the chest.
	hang := turned(g.course.at(b.t).yaw+0.7*g.chestYaw, 0.3*g.chestPitch, 0.5*g.chestRoll)
	upper := hang.Mul(flip(about(0, -swing).Mul(about(2, out)).Mul(about(1, -in)).Mul(about(2, -math.Pi/2))))
	fore := upper.Mul(flip(about(1, -elbow))).Mul(flip(about(0, rad(-12)-0.25*in)))
	hand := fore.Mul(flip(about(2, -wrist)))
	p.rot[j+1], p.rot[j+2], p.rot[j+3] = upper, fore, hand
	p.rot[j+4] = hand.Mul(flip(about(2, -m.curl)))
}

// softFloor returns x, or a little above least if x is below it.
func softFloor(x, least float64) float64 {
	const soft = 0.08
	return least + soft*math.Log1p(math.Exp((x-least)/soft))
}
