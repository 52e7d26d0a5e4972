package human

import (
	"math"

	"mannequin/engine/m3"
)

// The lengths of the uniform skeleton's legs, m.
const (
	thighLen = 0.4065
	shankLen = 0.427
	legLen   = thighLen + shankLen
)

// reach is the share of a leg's length that a foot on the ground may be away:
// knees are never quite straight in going.
const (
	reach   = 0.994
	stretch = 0.998 // in the last moment before it lands
)

// solveLeg returns the rotations in the world of thigh and shank that take the
// ankle to its place, exactly where that is within reach. ahead is where the knee
// points.
func solveLeg(hip, ankle, ahead m3.Vec3) (thigh, shank m3.Quat) {
	v := ankle.Sub(hip)
	d := min(float64(v.Len()), 0.9998*legLen)
	down := v.Normalize(m3.V(0, -1, 0))
	ahead = ahead.Sub(down.Scale(ahead.Dot(down))).Normalize(m3.V(0, 0, 1))
	// How far the knee is along the way and beside it.
	x := (d*d + thighLen*thighLen - shankLen*shankLen) / (2 * d)
	y := math.Sqrt(max(thighLen*thighLen-x*x, 0))
	knee := down.Scale(float32(x)).Add(ahead.Scale(float32(y)))
	left := ahead.Cross(down) // about which the knee bends
	return boneRot(knee, left), boneRot(down.Scale(float32(d)).Sub(knee), left)
}

// boneRot returns the rotation that takes −Y along dir and +X to left.
func boneRot(dir, left m3.Vec3) m3.Quat {
	y := dir.Normalize(m3.V(0, -1, 0)).Neg()
	x := left.Sub(y.Scale(left.Dot(y))).Normalize(m3.V(1, 0, 0))
	return m3.FromAxes(x, y, x.Cross(y))
}

// resist returns d, or where that is more than soft something from there to hard,
// ever more slowly.
func resist(d, soft, hard float64) float64 {
	if d < soft {
		return d
	}
	return soft + (hard-soft)*math.Tanh((d-soft)/(hard-soft))
}

// leg poses a leg at canonical time t and returns by how much the pelvis would have
// to sink, in metres, for it to reach the ground; −1 where it is in the air.
func (g *figure) leg(p *pose, foot int, t float64) (short float64) {
	h := g.foot(foot, t)
	b := g.body
	hip := p.root.Add(p.rot[0].Rotate(b.Offsets[b.upLeg[foot]]))
	d := hip.Sub(h.ankle)
	short = -1
	const fade = 0.05 // s
	free := h.free / (fade * g.course.cadence(t))
	if free < 0.5 {
		limit := (reach + (stretch-reach)*smooth(2*free)) * legLen
		flat := float64(d.Flat().Len())
		short = float64(d.Y) - math.Sqrt(max(limit*limit-flat*flat, 0.01))
	}
	if h.free > 0 {
		far := float64(d.Len())
		near := resist(far, g.m.extend[0]*legLen, g.m.extend[1]*legLen)
		near = far + smooth(free)*(near-far)
		near = resist(near, reach*legLen, 0.9985*legLen)
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
