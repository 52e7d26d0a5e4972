package api

import (
	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// Kinds of goals.
const (
	GoalDirection = iota
	GoalStick
	GoalPlace
)

// Goal is what an agent does until it gets another one; see mqGoal.
type Goal struct {
	Kind, Action        int32
	Move, Face, Place   m3.Vec3
	Radius, Speed, Turn float32
}

const nearest = 0.1 // m; closer, an agent would turn about the place

// own takes a goal from the host.
func (a *axes) own(g *Goal) (Goal, error) {
	o := Goal{g.Kind, g.Action, a.fromDir(g.Move), a.fromDir(g.Face), a.fromPoint(g.Place), max(g.Radius/a.unit, nearest), g.Speed / a.unit, a.turn * g.Turn}
	return o, o.valid()
}

// valid returns an error if a value of the goal is not finite or out of range.
func (g *Goal) valid() error {
	switch {
	case g.Kind < GoalDirection || g.Kind > GoalPlace:
		return Errorf(Argument, "a goal has the kind %d: want 0 to %d", g.Kind, GoalPlace)
	case g.Action < 0 || g.Action >= int32(control.NumActions) && g.Action < int32(control.Own) || g.Action >= int32(control.Own)+64:
		return Errorf(Argument, "a goal has the action %d: want 0 to %d, or one of mqModel_FindAction", g.Action, control.NumActions-1)
	case !g.Move.Finite() || !g.Face.Finite() || !g.Place.Finite() || !m3.Finite(g.Radius) || !m3.Finite(g.Speed) || !m3.Finite(g.Turn):
		return Errorf(Argument, "a goal has numbers that are not finite: move %v, face %v, place %v, near %g, speed %g, turn %g", g.Move, g.Face, g.Place, g.Radius, g.Speed, g.Turn)
	case g.Speed < 0:
		return Errorf(Argument, "a goal has the speed %g, below 0: move says in which direction", g.Speed)
	}
	return nil
}

// now returns what the goal asks of an agent with a root.
func (g *Goal) now(root m3.Xform, kind int32) control.Goal {
	goal := control.Goal{Move: g.Move, Face: g.Face, Speed: g.Speed, Turn: g.Turn, Action: control.Action(g.Action)}
	switch g.Kind {
	case GoalStick:
		back := root.Rot.Conj()
		goal.Move, goal.Face = back.Rotate(g.Move.Flat()), back.Rotate(g.Face.Flat())
		if goal.Face == (m3.Vec3{}) {
			goal.Face = goal.Move
		}
	case GoalPlace:
		goal.Move, goal.Face, goal.Turn = m3.Vec3{}, m3.Vec3{}, 0
		way := g.Place.Sub(root.Pos).Flat()
		if !(way.Len() > g.Radius) {
			break
		}
		if kind == KindCharacter {
			goal.Move = root.Rot.Conj().Rotate(way.Normalize(m3.V(0, 0, 1)))
			goal.Face = goal.Move
		} else { // quadrupeds of a network walk curves
			goal.Move, goal.Turn = m3.V(0, 0, 1), control.Steer(root.Rot.Yaw(), m3.YawOf(way))
		}
	}
	if l := goal.Move.Len(); l > 1 {
		goal.Move = goal.Move.Scale(1 / l)
	}
	return goal
}
