package strnn

import (
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// bindPose returns the joints' positions in the skeleton's bind pose.
func bindPose(p *feature.Person) []m3.Vec3 {
	at := make([]m3.Vec3, p.Skel.Len())
	for j, parent := range p.Skel.Parents {
		if parent >= 0 {
			at[j] = at[parent].Add(p.Skel.Offsets[j])
		}
	}
	return at
}

// armsDown is the direction of hanging arms, for the left side; the right side is mirrored.
var armsDown = m3.V(0.12, -1, 0.08)

// standing returns the frame of a standing person, (columns) raw: the bind pose on the ground, with
// the joints below LeftArm and RightArm turned down.
func (m *Model) standing(soles []float32) []float32 {
	l := m.Layout
	at, row := bindPose(m.Person), make([]float32, l.Columns())
	points := make([]m3.Vec3, len(l.Joints))
	for j, name := range l.Joints {
		points[j] = at[m.Skel.Index(name)]
	}
	for side, prefix := range []string{"Left", "Right"} {
		shoulder, hand := l.Joint(prefix+"Arm"), l.Joint(prefix+"Hand")
		if shoulder < 0 || hand < 0 {
			continue
		}
		down := armsDown
		if side == 1 {
			down.X = -down.X
		}
		turn := m3.Between(points[hand].Sub(points[shoulder]).Normalize(m3.V(0, -1, 0)), down.Normalize(m3.V(0, -1, 0)))
		pivot := points[shoulder]
		for j, name := range l.Joints {
			if m.isDescendant(name, prefix+"Arm") {
				points[j] = pivot.Add(turn.Rotate(points[j].Sub(pivot)))
			}
		}
	}
	low := points[0].Y
	for c, contact := range l.Contacts {
		low = min(low, points[l.Joint(contact.Joint)].Y-soles[c])
	}
	for j, p := range points {
		row[l.Pos(j)], row[l.Pos(j)+1], row[l.Pos(j)+2] = p.X-points[0].X, p.Y-low, p.Z-points[0].Z
	}
	for c := range l.Contacts {
		row[l.Contact(c)] = 1
	}
	return row
}

// Weights of joint heights, per m² and frame, in the cost of steered agents. The training data also
// have people who box or dance while walking.
const (
	hipsWeight = 0.1
	handWeight = 0.01
)

// uprightWeights returns the weights, (columns), that keep hips and hands at the height of a
// standing person.
func (m *Model) uprightWeights() []float32 {
	l := m.Layout
	weights := make([]float32, l.Columns())
	weights[l.Pos(0)+1] = hipsWeight
	for _, name := range []string{"LeftHand", "RightHand"} {
		if j := l.Joint(name); j >= 0 {
			weights[l.Pos(j)+1] = handWeight
		}
	}
	return weights
}

// isDescendant reports whether joint name is joint of or one of its descendants.
func (m *Model) isDescendant(name, of string) bool {
	for j := int16(m.Skel.Index(name)); j >= 0; j = m.Skel.Parents[j] {
		if m.Skel.Names[j] == of {
			return true
		}
	}
	return false
}
