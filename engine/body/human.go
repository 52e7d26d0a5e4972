package body

import (
	"slices"
	"strings"

	"mannequin/engine/m3"
)

// human collects the blobs of a person in a T-shirt, trousers and shoes, without the head. Lengths are metres of a
// person of 1.62 m, with shoulders 1.2265 m above the ankles; u scales them to the rig.
type human struct {
	rig   *Rig
	bind  []m3.Xform
	u     float32
	shape shape
	parts []part
	tubes []tube
	trunk []int    // joints from the hips to the one below arms and neck
	neck  []int    // joints from there to the head
	where []region // per joint
	sides []int8   // per joint: see plan
}

// region is a part of the body with its own rule for the coat.
type region uint8

const (
	onTrunk region = iota
	onHead
	onArm
	onLeg
)

// humanJoints are the joints that make a rig a human's. Right ones mirror the left.
var humanJoints = []string{"Hips", "Head", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase", "LeftArm", "LeftForeArm", "LeftHand"}

// Angles of the bind pose. Toes point as in the rest pose.
const (
	pelvisLean    = 0.17  // rad: maximum angle of the hip joints ahead of straight below the hips
	legsAside     = 0.07  // rad
	armsDown      = 0.87  // rad, from level
	elbowBend     = 0.35  // rad
	ankleOverBall = 0.040 // m: minimum height of the ankle above the ball of the foot
	soleUnderBall = 0.031 // m
)

var ahead = m3.V(0, 0, 1)

// newHuman plans a human whose rest pose stands and faces +Z, with the arms in any pose.
func newHuman(rig *Rig) (*plan, bool) {
	for _, n := range humanJoints {
		if rig.index(n) < 0 || rig.index(strings.Replace(n, "Left", "Right", 1)) < 0 {
			return nil, false
		}
	}
	h := &human{rig: rig, bind: restPose(rig)}
	hip, knee, ankle, arm := h.at("LeftUpLeg"), h.at("LeftLeg"), h.at("LeftFoot"), h.at("LeftArm")
	h.u = (arm.Y - ankle.Y) / 1.2265
	upright := ankle.Y < knee.Y && knee.Y < hip.Y && hip.Y < arm.Y && arm.Y < h.at("Head").Y
	facing := hip.X > h.at("RightUpLeg").X && arm.X > h.at("RightArm").X && h.at("LeftToeBase").Z > ankle.Z
	if !upright || !facing || !(h.u > 1e-3) || !h.classify() {
		return nil, false
	}
	h.stand()
	h.torso()
	for _, side := range []string{"Left", "Right"} {
		h.arm(side)
		h.leg(side)
	}
	dressed := piece{shape: h.shape, cell: 0.009 * h.u, triangles: bodyLevels, coat: h.coat(), detail: h.detail()}
	return &plan{bind: h.bind, cover: Clothes, pieces: []piece{dressed, h.head(), h.hair()}, parts: h.parts, tubes: h.tubes,
		seen: 2, sides: h.sides}, true
}

// classify finds the trunk and the neck, and the region and side of each joint.
func (h *human) classify() bool {
	r := h.rig
	carries := make([]bool, len(r.Names)) // the left arm
	for i := r.index("LeftArm"); i >= 0; i = int(r.Parents[i]) {
		carries[i] = true
	}
	hips, j := r.index("Hips"), r.index("Head")
	for ; j >= 0 && j != hips; j = int(r.Parents[j]) {
		if carries[j] {
			h.trunk = append(h.trunk, j)
		} else {
			h.neck = append(h.neck, j)
		}
	}
	h.trunk = append(h.trunk, hips)
	slices.Reverse(h.trunk)
	slices.Reverse(h.neck)
	h.where, h.sides = make([]region, len(r.Names)), make([]int8, len(r.Names))
	for i, name := range r.Names {
		if p := r.Parents[i]; p >= 0 {
			h.where[i], h.sides[i] = h.where[p], h.sides[p]
		}
		_, s, bare := side(name)
		if s != 0 {
			h.sides[i] = int8(s)
		}
		switch bare {
		case "Head":
			h.where[i] = onHead
		case "Arm":
			h.where[i] = onArm
		case "UpLeg":
			h.where[i] = onLeg
		}
	}
	return j == hips && carries[hips] && len(h.trunk) > 1
}

// side splits a joint's name into its side, 1 or −1 for the side, and the rest.
func side(joint string) (name string, s float32, bare string) {
	if b, ok := strings.CutPrefix(joint, "Left"); ok {
		return "Left", 1, b
	}
	if b, ok := strings.CutPrefix(joint, "Right"); ok {
		return "Right", -1, b
	}
	return "", 0, joint
}

// stand turns the rest pose into the bind pose, limbs mid-range and soles on the ground.
func (h *human) stand() {
	rest := slices.Clone(h.bind)
	for i, joint := range h.rig.Names {
		x := m3.Xform{Pos: rest[i].Pos, Rot: m3.Ident}
		if p := h.rig.Parents[i]; p >= 0 {
			x = m3.Xform{Pos: h.bind[p].Apply(h.rig.Offsets[i]), Rot: h.bind[p].Rot}
		}
		// along is the bone's direction at rest.
		along := func(child string) m3.Vec3 {
			return rest[h.rig.index(child)].Pos.Sub(rest[i].Pos).Normalize(m3.Up)
		}
		name, s, bare := side(joint)
		switch bare {
		case "Hips":
			d := along("LeftUpLeg").Add(along("RightUpLeg"))
			if lean := m3.Atan2(d.Z, -d.Y); lean > pelvisLean && d.Y < 0 {
				x.Rot = m3.AxisAngle(m3.V(1, 0, 0), lean-pelvisLean)
			}
		case "UpLeg":
			x.Rot = m3.Between(along(name+"Leg"), m3.V(s*m3.Sin(legsAside), -m3.Cos(legsAside), 0))
		case "Leg":
			x.Rot = m3.Between(along(name+"Foot"), m3.V(s*m3.Sin(legsAside), -m3.Cos(legsAside), 0))
		case "Foot":
			d, l := along(name+"ToeBase"), rest[i].Pos.Dist(rest[h.rig.index(name+"ToeBase")].Pos)
			low := d
			low.Y = min(d.Y, -min(ankleOverBall*h.u/l, 0.9))
			flat := d.Flat().Normalize(ahead).Scale(m3.Sqrt(1 - low.Y*low.Y))
			x.Rot = m3.Between(d, m3.V(flat.X, low.Y, flat.Z))
		case "Arm":
			x.Rot = m3.Between(along(name+"ForeArm"), m3.V(s*m3.Cos(armsDown), -m3.Sin(armsDown), 0))
		case "ForeArm":
			bend := along(name + "Hand").Cross(ahead).Normalize(m3.Up)
			x.Rot = x.Rot.Mul(m3.AxisAngle(bend, elbowBend))
		default:
			if slices.Contains(h.trunk, i) {
				x.Rot = m3.Ident // the back stays as it is
			}
		}
		h.bind[i] = x
	}
	up := soleUnderBall*h.u - min(h.at("LeftToeBase").Y, h.at("RightToeBase").Y)
	for i := range h.bind {
		h.bind[i].Pos.Y += up
	}
}

func (h *human) at(joint string) m3.Vec3 { return h.bind[h.rig.index(joint)].Pos }

// dir returns the bind pose's direction of a rest pose's axis at joint.
func (h *human) dir(joint string, axis m3.Vec3) m3.Vec3 {
	return h.bind[h.rig.index(joint)].Rot.Rotate(axis)
}

func (h *human) add(joint int, a, b m3.Vec3, ra, rb, blend float32) *blob {
	h.shape = append(h.shape, blob{joint: joint, a: a, b: b, ra: ra * h.u, rb: rb * h.u, squash: 1, blend: blend * h.u})
	return &h.shape[len(h.shape)-1]
}

// on is add with the joint's name.
func (h *human) on(joint string, a, b m3.Vec3, ra, rb, blend float32) *blob {
	return h.add(h.rig.index(joint), a, b, ra, rb, blend)
}
