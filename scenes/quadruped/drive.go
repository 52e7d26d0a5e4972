package quadruped

import (
	"fmt"
	"strings"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/scenes"
	"mannequin/scenes/internal/steer"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

var gaits = [...]string{scenes.Walk: "walk", scenes.Pace: "pace", scenes.Trot: "trot", scenes.Canter: "canter"}

var help = []string{
	"W A S D or arrows: walk and turn    Q E: sidestep",
	"1 2 3 4: walk, pace, trot, canter",
	"hold X: sit   C: lie   V: stand   Space: jump",
	"R: back to the start",
}

var gamepadHelp = []string{
	"left stick: go there   cross: step ahead, back and aside",
	"LB RB: slower and faster gait",
	"hold B: sit   X: lie   Y: stand   A: jump",
	"Back: back to the start",
}

// Drive is the system that turns the player's input into the goal of a dog.
type Drive struct {
	steer.Passive
	Dog   arche.Entity // whom the player controls
	Input scenes.Input // of this tick
	gait  scenes.Gait  // the present speed step
	goal  control.Goal // the last
	goals generic.Map1[control.Goal]
}

// NewDrive returns the system for a dog of world w.
func NewDrive(w *arche.World) *Drive {
	return &Drive{gait: scenes.Pace, goals: generic.NewMap1[control.Goal](w)}
}

// Gait returns the present speed step, for a hash.
func (d *Drive) Gait() int { return int(d.gait) }

// Texts adds the help, and what the player asks for.
func (d *Drive) Texts(dst *scenes.Frame) {
	dst.Help = append(dst.Help, help...)
	dst.GamepadHelp = append(dst.GamepadHelp, gamepadHelp...)
	dst.HUD = append(dst.HUD, "asked for: "+intent(d.goal, d.gait))
}

// Update sets the goal.
func (d *Drive) Update(*arche.World) {
	in := &d.Input
	switch {
	case in.Gait == scenes.Faster:
		d.gait = min(d.gait+1, scenes.Canter)
	case in.Gait == scenes.Slower:
		d.gait = max(d.gait-1, scenes.Walk)
	case in.Gait > scenes.KeepGait && int(in.Gait) < len(Speeds):
		d.gait = in.Gait
	}
	move := m3.V(steer.Axis(in.Side), 0, steer.Axis(in.Forward))
	if l := move.Len(); l > 1 {
		move = move.Scale(1 / l)
	}
	d.goal = control.Goal{Move: move, Turn: steer.Axis(in.Turn), Speed: Speeds[d.gait]}
	switch {
	case in.Jump:
		d.goal.Action = control.Jump
	case in.Sit:
		d.goal.Action = control.Sit
	case in.Lie:
		d.goal.Action = control.Lie
	case in.Stand:
		d.goal.Action = control.Stand
	}
	*d.goals.Get(d.Dog) = d.goal
}

// intent returns the text for what the player asks for.
func intent(g control.Goal, gait scenes.Gait) string {
	if g.Action != control.Idle {
		return g.Action.String()
	}
	pick := func(v float32, positive, negative string) string {
		if v > 0 {
			return positive
		}
		return negative
	}
	var out []string
	switch x, z := g.Move.X, g.Move.Z; {
	case z > 0 && z >= m3.Abs(x):
		out = append(out, fmt.Sprintf("%s, %.1f m/s", gaits[gait], g.Speed*g.Move.Len()))
	case m3.Abs(x) > m3.Abs(z):
		out = append(out, "steps to the "+pick(x, "left", "right"))
	case z < 0:
		out = append(out, "steps back")
	}
	if m3.Abs(g.Turn) > 0.1 {
		out = append(out, "turn "+pick(g.Turn, "left", "right"))
	}
	if len(out) == 0 {
		return "nothing (gait: " + gaits[gait] + ")"
	}
	return strings.Join(out, ", ")
}
