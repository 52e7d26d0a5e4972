package human

import (
	"math"

	"mannequin/engine/m3"
	"mannequin/offline/procgen/internal/smooth"
)

// The lengths of the uniform skeleton's legs, m.
const (
	thighLen = 0.4065
	shankLen = 0.427
	legLen   = thighLen + shankLen
)

// reach is a standing foot's largest distance, as a share of the leg: knees are never straight.
const (
	reach      = 0.994
	standReach = 0.9975 // of who stands
	stretch    = 0.995  // just before it lands
)

// solveLeg returns the rotations of thigh and shank in the world that put the ankle in its place,
// exactly if it is within reach. ahead is the direction of the knee.
func solveLeg(hip, ankle, ahead m3.Vec3) (thigh, shank m3.Quat) {
	v := ankle.Sub(hip)
	d := min(float64(v.Len()), 0.9998*legLen)
	down := v.Normalize(m3.V(0, -1, 0))
	ahead = ahead.Sub(down.Scale(ahead.Dot(down))).Normalize(m3.V(0, 0, 1))
	// The knee's distance along the line from hip to ankle, and beside it.
	x := (d*d + thighLen*thighLen - shankLen*shankLen) / (2 * d)
	y := math.Sqrt(max(thighLen*thighLen-x*x, 0))
	knee := down.Scale(float32(x)).Add(ahead.Scale(float32(y)))
	left := ahead.Cross(down) // axis of the knee
	return boneRot(knee, left), boneRot(down.Scale(float32(d)).Sub(knee), left)
}

// boneRot returns the rotation of −Y to dir and of +X to left.
func boneRot(dir, left m3.Vec3) m3.Quat {
	y := dir.Normalize(m3.V(0, -1, 0)).Neg()
	x := left.Sub(y.Scale(left.Dot(y))).Normalize(m3.V(1, 0, 0))
	return m3.FromAxes(x, y, x.Cross(y))
}

// softLimit returns d up to soft, and beyond it a value that approaches hard.
func softLimit(d, soft, hard float64) float64 {
	if d < soft {
		return d
	}
	return soft + (hard-soft)*math.Tanh((d-soft)/(hard-soft))
}

// leg poses a leg at canonical time t. It returns how far the pelvis must sink for it to reach the
// ground, in metres; −1 for a foot in the air.
func (g *figure) leg(p *pose, foot int, t float64) (short float64) {
	h := g.foot(foot, t)
	b := g.body
	hip := p.root.Add(p.rot[0].Rotate(b.Offsets[b.upLeg[foot]]))
	d := hip.Sub(h.ankle)
	short = -1
	const fade = 0.08 // s
	free := h.free / (fade * g.course.cadence(t))
	if free < 0.5 {
		limit := reach + (standReach-reach)*(1-g.course.moving.at(t))
		limit = (limit + (stretch-limit)*smooth.Step(2*free)) * legLen
		flat := float64(d.Flat().Len())
		short = float64(d.Y) - math.Sqrt(max(limit*limit-flat*flat, 0.01))
	}
	if h.free > 0 {
		far := float64(d.Len())
		near := softLimit(far, g.m.extend[0]*legLen, g.m.extend[1]*legLen)
		near = far + smooth.Step(free)*(near-far)
		near = softLimit(near, 0.985*legLen, 0.9975*legLen)
		h.ankle = hip.Sub(d.Scale(float32(near / far)))
	}
	side := sideOf(foot)
	ahead := p.rot[0].Forward().Flat().Normalize(m3.V(0, 0, 1)).
		Add(m3.YawQuat(float32(h.yaw)).Forward().Scale(1.2))
	ahead = m3.YawQuat(float32(side * g.m.kneeOut)).Rotate(ahead)
	thigh, shank := solveLeg(hip, h.ankle, ahead)
	p.rot[b.upLeg[foot]], p.rot[b.upLeg[foot]+1] = thigh, shank
	p.rot[b.upLeg[foot]+2] = footRot(h.yaw, h.pitch)
	p.rot[b.upLeg[foot]+3] = toeRot(h.yaw, h.toes)
	return short
}
