package play

import (
	"fmt"
	"slices"
	"strings"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/scenes"
	"mannequin/scenes/internal/steer"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// drive is the system that turns the player's input into the character's goal.
type drive struct {
	steer.Passive
	scene   *Scene
	input   scenes.Input // of this tick
	speeds  []float32    // in metres of the world, ascending, not empty
	can     [control.NumActions]bool
	own     []own // the character's own actions
	gait    int   // of speeds
	locked  bool
	pressed bool    // the key of the lock
	facing  m3.Vec3 // while locked, in the world
	goal    control.Goal
	goals   generic.Map1[control.Goal]
}

// crouch is the tag of a stance that characters have often.
const crouch = "crouch"

// gaits is the number of keys for speeds.
const gaits = int(scenes.Canter)

func newDrive(s *Scene) *drive {
	d := &drive{scene: s, goals: generic.NewMap1[control.Goal](&s.ECS)}
	for _, v := range s.of.Speeds(gaits) {
		d.speeds = append(d.speeds, v*s.own.Scale)
	}
	if d.speeds == nil {
		d.speeds = []float32{control.PaceSpeed * s.own.Scale}
	}
	for _, tag := range s.of.Tags {
		switch a, ok := s.of.Action(tag); {
		case !ok:
		case a.Tag() < 0:
			d.can[a] = true
		case strings.EqualFold(tag, crouch): // first
			d.own = slices.Insert(d.own, 0, own{a, tag})
		default:
			d.own = append(d.own, own{a, tag})
		}
	}
	d.own = d.own[:min(len(d.own), len(ownKeys))]
	return d
}

// own is an action of the character's own.
type own struct {
	action control.Action
	tag    string
}

// ownKeys are the keys of scenes.Input.Own.
var ownKeys = [...]string{"5", "6", "7", "8", "9", "0"}

// actions are the player's keys for them.
var actions = []struct {
	action   control.Action
	key, pad string
	held     func(in *scenes.Input) bool
}{
	{control.Jump, "Space", "A", func(in *scenes.Input) bool { return in.Jump }},
	{control.Sit, "X", "B", func(in *scenes.Input) bool { return in.Sit }},
	{control.Lie, "C", "X", func(in *scenes.Input) bool { return in.Lie }},
	{control.Stand, "V", "Y", func(in *scenes.Input) bool { return in.Stand }},
}

// Update sets the goal.
func (d *drive) Update(*arche.World) {
	in, root := &d.input, d.scene.Crowd.Roots[0]
	switch {
	case in.Gait == scenes.Faster:
		d.gait++
	case in.Gait == scenes.Slower:
		d.gait--
	case in.Gait > scenes.KeepGait && int(in.Gait) <= gaits:
		d.gait = int(in.Gait) - 1
	}
	d.gait = min(max(d.gait, 0), len(d.speeds)-1)
	if in.Lock && !d.pressed {
		d.locked, d.facing = !d.locked, root.Rot.Forward()
	}
	d.pressed = in.Lock
	stick := m3.V(steer.Axis(in.Side), 0, steer.Axis(in.Forward))
	if l := stick.Len(); l > 1 {
		stick = stick.Scale(1 / l)
	}
	back := root.Rot.Conj()
	d.goal = control.Goal{Move: back.Rotate(stick), Speed: d.speeds[d.gait]}
	d.goal.Face = d.goal.Move
	if d.locked {
		d.goal.Face = back.Rotate(d.facing)
	}
	for _, a := range actions {
		if d.can[a.action] && a.held(in) {
			d.goal.Action = a.action
			break
		}
	}
	if i := int(in.Own); i > 0 && i <= len(d.own) {
		d.goal.Action = d.own[i-1].action
	}
	*d.goals.Get(d.scene.hero) = d.goal
}

// texts adds the help, and what the player asks for.
func (d *drive) texts(dst *scenes.Frame) {
	var keys, pads []string
	for _, a := range actions {
		if d.can[a.action] {
			keys, pads = append(keys, a.key+": "+a.action.String()), append(pads, a.pad+": "+a.action.String())
		}
	}
	for i, o := range d.own {
		if keys = append(keys, ownKeys[i]+": "+o.tag); i == 0 {
			pads = append(pads, "right stick: "+o.tag)
		}
	}
	var speeds []string
	for i, v := range d.speeds {
		speeds = append(speeds, fmt.Sprintf("%d: %.1f", i+1, v))
	}
	dst.Help = append(dst.Help, "W A S D or arrows: go there on the screen", strings.Join(speeds, "   ")+" m/s", "Q: keep facing there; again: release")
	dst.GamepadHelp = append(dst.GamepadHelp, "left stick: go there   LB RB: slower and faster", "cross up: keep facing there; again: release")
	if keys != nil {
		dst.Help, dst.GamepadHelp = append(dst.Help, "hold "+strings.Join(keys, "   ")), append(dst.GamepadHelp, "hold "+strings.Join(pads, "   "))
	}
	dst.Help, dst.GamepadHelp = append(dst.Help, "R: back to the start"), append(dst.GamepadHelp, "Back: back to the start")
	asked := "stand"
	switch l := d.goal.Move.Len(); {
	case d.goal.Action.Tag() >= 0:
		asked = d.scene.of.Tags[d.goal.Action.Tag()]
	case d.goal.Action != control.Idle:
		asked = d.goal.Action.String()
	case l > 0.01:
		asked = fmt.Sprintf("%.2f m/s", d.goal.Speed*l)
	}
	if d.locked {
		asked += ", facing is locked"
	}
	dst.HUD = append(dst.HUD, "asked for: "+asked)
}
