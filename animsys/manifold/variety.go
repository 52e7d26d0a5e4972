package manifold

import (
	"math"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// The networks' strides are more alike than a person's, and their people more alike than people. So trunk and arms
// turn a little, each person's in their own way and in each stride otherwise. Legs do not: feet would slide.
const (
	varyPeriod = 60 // frames
	degree     = math.Pi / 180
)

// varied is by how much a turn varies, as deviations.
type varied struct{ own, stride float32 } // rad

// Turns of the trunk about the hips, and of each arm about its shoulder ahead.
var (
	variedTrunk = [3]varied{{1.5 * degree, 1.2 * degree}, {0, 2 * degree}, {0.5 * degree, 0.6 * degree}} // about x, y and z
	variedArm   = varied{3 * degree, 4 * degree}
)

// at returns the turn of a person in a frame. moves is 0 for people who stand: they have no strides.
func (v *varied) at(w *wanders, frame int, moves float32) float32 {
	own := drawn(w.person, channelOwn+w.channel, 0)
	return v.own*m3.Clamp(own, -mannerMost, mannerMost) + moves*v.stride*m3.Clamp(w.at(frame), -mannerMost, mannerMost)
}

// variety turns joints of a person.
type variety struct {
	trunk []int    // joints
	arms  [2][]int // from the shoulder on
}

func newVariety(m *Model) (v variety) {
	return variety{m.below("Spine"), [2][]int{m.below("LeftArm"), m.below("RightArm")}}
}

// below returns the joints from one on.
func (m *Model) below(of string) (joints []int) {
	for j, name := range m.Layout.Joints {
		if name == of || m.isAncestor(of, name) {
			joints = append(joints, j)
		}
	}
	return joints
}

// run turns trunk and arms of a person in rows, (frames, columns) raw. stands, (frames), is 1 where it stands, else 0. Person 0 is
// left as it is.
func (v *variety) run(l *feature.Motion, rows []float32, stands []float64, person uint32) {
	if person == 0 || len(v.trunk) == 0 {
		return
	}
	var w [len(variedTrunk) + len(v.arms)]wanders
	for i := range w {
		w[i] = wanders{person: person, channel: channelVaried + i, period: varyPeriod}
	}
	cols := l.Columns()
	for f := range stands {
		moves := 1 - standing(stands, f)
		row := rows[f*cols:][:cols]
		var turn [len(variedTrunk)]float32
		for i := range turn {
			turn[i] = variedTrunk[i].at(&w[i], f, moves)
		}
		turnJoints(l, row, 0, v.trunk, m3.FromRotationVector(m3.V(turn[0], turn[1], turn[2])))
		for i, arm := range v.arms {
			if len(arm) > 0 {
				turnJoints(l, row, arm[0], arm, m3.FromRotationVector(m3.V(variedArm.at(&w[len(turn)+i], f, moves), 0, 0)))
			}
		}
	}
}

// turnJoints turns joints of a frame about one.
func turnJoints(l *feature.Motion, row []float32, about int, joints []int, by m3.Quat) {
	p := row[l.Pos(about):]
	pivot := m3.V(p[0], p[1], p[2])
	for _, j := range joints {
		p := row[l.Pos(j):]
		q := pivot.Add(by.Rotate(m3.V(p[0], p[1], p[2]).Sub(pivot)))
		p[0], p[1], p[2] = q.X, q.Y, q.Z
	}
}
