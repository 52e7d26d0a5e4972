package body

import "mannequin/engine/m3"

// Ends of clothes.
const (
	hemLevel    = -0.04 // on the scale of human.level
	collarLevel = 1.03
	sleeveEnd   = 0.52 // of the way from shoulder to elbow
	trouserHem  = 0.02 // of the way from ankle to knee
)

func (h *human) hem() m3.Vec3 {
	p, _ := h.level(hemLevel, 0, 0)
	return p
}

// collar returns the middle of the shirt's upper end, in the neck.
func (h *human) collar() m3.Vec3 {
	p, _ := h.level(collarLevel, 0, -0.004)
	return p
}

// coat returns the function for the coat of a vertex at p that mainly follows joint; see Clothes.
func (h *human) coat() func(p, n m3.Vec3, joint int) [4]float32 {
	// edge is a channel at d metres beyond its border. It rises over width: more for coarse meshes.
	edge := func(d, width float32) float32 { return m3.Clamp(0.5+d/(width*h.u), 0, 1) }
	const wide = 0.3
	hem := h.hem()
	ankle, hip := h.at("LeftFoot").Y, h.at("LeftUpLeg").Y
	ground := h.at("LeftToeBase").Y - soleUnderBall*h.u
	cuff := ankle + trouserHem*(h.at("LeftLeg").Y-ankle)
	return func(p, n m3.Vec3, joint int) (c [4]float32) {
		switch h.where[joint] {
		case onArm:
			name := "Left"
			if h.sides[joint] < 0 {
				name = "Right"
			}
			a, b := h.at(name+"Arm"), h.at(name+"ForeArm")
			l := a.Dist(b)
			along := p.Sub(a).Dot(b.Sub(a)) / l
			if along > 0.8*l { // bent below the elbow
				f := h.at(name + "Hand").Sub(b)
				along = max(along, l+max(p.Sub(b).Dot(f.Normalize(m3.Up)), -0.2*l))
			}
			c[0] = edge(along-sleeveEnd*l, 1)
		case onLeg:
			c[1] = edge(hem.Y-p.Y, wide) + 0.5*m3.Clamp((hip-p.Y)/(hip-ankle), 0, 1)
			c[2] = edge(cuff-p.Y, 0.04) + edge(ground+0.02*h.u-p.Y, 0.05)
		default:
			c[1] = edge(hem.Y-p.Y, wide)
		}
		return c
	}
}
