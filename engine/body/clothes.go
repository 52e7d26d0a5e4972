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

// Channels of the face's separate parts; see Clothes.
var (
	eyeball  = [4]float32{2: 2}
	iris     = [4]float32{3: 2}
	bristles = [4]float32{3: 1}
	mouth    = [4]float32{0: 2}
)

// coat returns the function for the coat of a vertex at p that mainly follows joint; see Clothes.
func (h *human) coat() func(p, n m3.Vec3, joint int) [4]float32 {
	// edge is a channel at d metres beyond its border. It rises over width: more for coarse meshes.
	edge := func(d, width float32) float32 { return m3.Clamp(0.5+d/(width*h.u), 0, 1) }
	const wide = 0.3
	hem, collar := h.hem(), h.collar()
	skull := h.at("Head")
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
		case onHead:
			q := p.Sub(skull).Scale(1 / (headSize * h.u))
			c[0] = 1
			c[3] = edge(headSize*h.u*hair(q), wide)
		default:
			c[1] = edge(hem.Y-p.Y, wide)
			q := p.Sub(collar).Scale(1 / h.u)
			rho := m3.Sqrt(q.X*q.X + q.Z*q.Z)
			c[0] = edge(h.u*(0.9*q.Y+0.42*q.Z-max(0, rho-0.06)), 0.16)
		}
		return c
	}
}

// hair returns the distance of q, relative to the head's joint, behind the hairline.
func hair(q m3.Vec3) float32 {
	line := []struct{ z, y float32 }{{-0.12, 0}, {-0.05, 0.015}, {-0.022, 0.045}, {0.016, 0.075},
		{0.030, 0.075}, {0.045, 0.125}, {0.085, 0.150}, {0.12, 0.160}}
	y := line[0].y
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		if q.Z >= a.z {
			y = m3.Lerp(a.y, b.y, min((q.Z-a.z)/(b.z-a.z), 1))
		}
	}
	// No hair around the ears.
	ear := m3.V(0, (q.Y-0.076)/0.036, (q.Z-0.006)/0.032)
	return min(q.Y-y, 0.025*(ear.Len()-1)+max(0, 0.05-m3.Abs(q.X)))
}
