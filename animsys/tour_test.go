//go:build cuda || webgpu

package animsys_test

import (
	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// tour returns what a dog does in a tick of ten seconds: a walk, turns, the gaits, a jump and a rest.
func tour(tick int) control.Goal {
	g := control.Goal{Action: control.Move, Move: m3.V(0, 0, 1)}
	switch tick / 60 {
	case 0, 1:
		g.Speed = control.WalkSpeed
	case 2:
		g.Speed, g.Turn = control.WalkSpeed, 0.8
	case 3:
		g.Speed = control.PaceSpeed
	case 4:
		g.Speed, g.Turn = control.TrotSpeed, -0.6
	case 5, 6:
		g.Speed = control.CanterSpeed
	case 7:
		g.Action, g.Speed = control.Jump, control.TrotSpeed
	case 8:
		g = control.Goal{}
	default:
		g = control.Goal{Action: control.Sit}
	}
	return g
}
