package strnn

import (
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// rested returns where the skeleton's joints are at rest.
func rested(p *feature.Person) []m3.Vec3 {
	at := make([]m3.Vec3, p.Skel.Len())
	for j, parent := range p.Skel.Parents {
		if parent >= 0 {
			at[j] = at[parent].Add(p.Skel.Offsets[j])
		}
	}
	return at
}

// hanging is where the arms of who stands point, to the left or, mirrored, to the right.
var hanging = m3.V(0.12, -1, 0.08)

// standing returns the frame of somebody who stands, (columns) raw: the skeleton at rest,
// on the ground, with its arms down, which are what LeftArm and RightArm carry.
func (m *Model) standing(soles []float32) []float32 {
	l := m.Layout
	at, row := rested(m.Person), make([]float32, l.Columns())
	points := make([]m3.Vec3, len(l.Joints))
	for j, name := range l.Joints {
		points[j] = at[m.Skel.Index(name)]
	}
	for side, prefix := range []string{"Left", "Right"} {
		shoulder, hand := l.Joint(prefix+"Arm"), l.Joint(prefix+"Hand")
		if shoulder < 0 || hand < 0 {
			continue
		}
		down := hanging
		if side == 1 {
			down.X = -down.X
		}
		turn := m3.Between(points[hand].Sub(points[shoulder]).Normalize(m3.V(0, -1, 0)), down.Normalize(m3.V(0, -1, 0)))
		pivot := points[shoulder]
		for j, name := range l.Joints {
			if m.under(name, prefix+"Arm") {
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

// Weights of how high joints are, per m² and frame, in what is asked of who is led: people
// who box or dance walk, too, but not so who walks about.
const (
	hipsHeight = 0.1
	handHeight = 0.01
)

// bearing returns the weights with which frames shall be like those of who stands,
// (columns): hips and hands as high.
func (m *Model) bearing() []float32 {
	l := m.Layout
	weights := make([]float32, l.Columns())
	weights[l.Pos(0)+1] = hipsHeight
	for _, name := range []string{"LeftHand", "RightHand"} {
		if j := l.Joint(name); j >= 0 {
			weights[l.Pos(j)+1] = handHeight
		}
	}
	return weights
}

// under reports whether a joint of the skeleton is another, or carried by it.
func (m *Model) under(name, of string) bool {
	for j := int16(m.Skel.Index(name)); j >= 0; j = m.Skel.Parents[j] {
		if m.Skel.Names[j] == of {
			return true
		}
	}
	return false
}
