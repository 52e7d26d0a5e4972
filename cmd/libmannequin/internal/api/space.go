package api

import (
	"mannequin/engine/m3"
)

// Space says which axes and units a host has: see mqSpace. An axis is 1 for X, 2 for Y, 3 for Z, and negative for the
// opposite direction.
type Space struct {
	Right, Up, Forward int32
	Units              float32
}

// Own is the library's space.
var Own = Space{-1, 2, 3, 1}

// axes is a Space that is ready for use. The library's own space is right-handed.
type axes struct {
	of   [3]int     // the host's axes by which the library's X, Y and Z go
	sign [3]float32 // in which direction
	unit float32    // units of a metre
	turn float32    // −1 in left-handed spaces, in which turns go the other way round
}

func (s Space) axes() (a axes, err error) {
	own := [3]int32{-s.Right, s.Up, s.Forward} // the library's X is to the left
	var used [4]bool
	for i, axis := range own {
		a.sign[i] = 1
		if axis < 0 {
			axis, a.sign[i] = -axis, -1
		}
		if axis < 1 || axis > 3 || used[axis] { // −2³¹ stays negative
			return a, Errorf(Argument, "the space with right %d, up %d and forward %d does not name each of the axes 1, 2 and 3 once", s.Right, s.Up, s.Forward)
		}
		used[axis] = true
		a.of[i] = int(axis - 1)
	}
	if !(s.Units >= 0.001 && s.Units <= 1000) {
		return a, Errorf(Argument, "the space has %g units in a metre: want 0.001 to 1000", s.Units)
	}
	a.unit = s.Units
	a.turn = a.sign[0] * a.sign[1] * a.sign[2]
	if (a.of[0]+1)%3 != a.of[1] { // an odd permutation
		a.turn = -a.turn
	}
	return a, nil
}

// dir takes a direction to the host.
func (a *axes) dir(v m3.Vec3) m3.Vec3 {
	var h [3]float32
	h[a.of[0]], h[a.of[1]], h[a.of[2]] = a.sign[0]*v.X, a.sign[1]*v.Y, a.sign[2]*v.Z
	return m3.V(h[0], h[1], h[2])
}

// fromDir takes a direction from the host.
func (a *axes) fromDir(v m3.Vec3) m3.Vec3 {
	h := [3]float32{v.X, v.Y, v.Z}
	return m3.V(a.sign[0]*h[a.of[0]], a.sign[1]*h[a.of[1]], a.sign[2]*h[a.of[2]])
}

// point takes a place or a distance to the host.
func (a *axes) point(v m3.Vec3) m3.Vec3 { return a.dir(v).Scale(a.unit) }

// fromPoint takes a place or a distance from the host.
func (a *axes) fromPoint(v m3.Vec3) m3.Vec3 { return a.fromDir(v).Scale(1 / a.unit) }

// rot takes a rotation to the host. A mirrored axis turns the other way round.
func (a *axes) rot(q m3.Quat) m3.Quat {
	v := a.dir(m3.V(q.X, q.Y, q.Z)).Scale(a.turn)
	return m3.Quat{X: v.X, Y: v.Y, Z: v.Z, W: q.W}
}

// fromRot takes a rotation from the host.
func (a *axes) fromRot(q m3.Quat) m3.Quat {
	v := a.fromDir(m3.V(q.X, q.Y, q.Z)).Scale(a.turn)
	return m3.Quat{X: v.X, Y: v.Y, Z: v.Z, W: q.W}
}
