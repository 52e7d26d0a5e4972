// Package player turns a player's input into the goal of a character of mannequin make: where on the screen it goes and faces, how fast,
// and what it does.
package player

import (
	"fmt"
	"slices"
	"strings"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/internal/statehash"
	"mannequin/scenes"
	"mannequin/scenes/internal/steer"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Player is the system that sets the goal of a player's character.
type Player struct {
	steer.Passive
	Crowd *animsys.Crowd
	Hero  arche.Entity
	Input scenes.Input // of this tick

	tags    []string  // of the character
	speeds  []float32 // in metres of the world, ascending, not empty
	can     [control.NumActions]bool
	own     []own // the character's own actions
	gait    int   // of speeds
	locked  bool
	pressed bool    // the key of the lock
	facing  m3.Vec3 // while locked, in the world
	jumping bool    // the key of the jump
	jump    int     // ticks for which a press of it still counts
	goal    control.Goal
	goals   generic.Map1[control.Goal]
}

const (
	// crouch is the tag of a stance that characters have often.
	crouch = "crouch"
	// gaits is the number of keys for speeds.
	gaits = int(scenes.Canter)
	// buffer is for how many ticks a press of the jump key counts: a press just before the landing starts the next jump.
	buffer = scenes.TickRate / 5
)

// New returns the player of a character whose unit of length is size metres. Crowd and Hero are to be set.
func New(w *arche.World, of *matching.Character, size float32) *Player {
	p := &Player{tags: of.Tags, goals: generic.NewMap1[control.Goal](w)}
	speeds := of.Speeds(gaits - 1)
	if top := 0.95 * of.FastestSpeed(); len(speeds) > 0 && top > speeds[len(speeds)-1]*7/6 { // runs are rare in the clips
		speeds = append(speeds, top)
	}
	for _, v := range speeds {
		p.speeds = append(p.speeds, v*size)
	}
	if p.speeds == nil {
		p.speeds = []float32{control.PaceSpeed * size}
	}
	for _, tag := range of.Tags {
		switch a, ok := of.Action(tag); {
		case !ok:
		case a.Tag() < 0:
			p.can[a] = true
		case strings.EqualFold(tag, crouch): // first
			p.own = slices.Insert(p.own, 0, own{a, tag})
		default:
			p.own = append(p.own, own{a, tag})
		}
	}
	p.own = p.own[:min(len(p.own), len(ownKeys))]
	return p
}

// Release ends the lock of the facing.
func (p *Player) Release() { p.locked = false }

// Locked reports whether the character keeps facing where it did.
func (p *Player) Locked() bool { return p.locked }

// Goal returns what the character was asked for in the last tick.
func (p *Player) Goal() control.Goal { return p.goal }

// Speeds returns the speeds of the keys, m/s.
func (p *Player) Speeds() []float32 { return p.speeds }

// Hash adds what the player has set to a hash.
func (p *Player) Hash(h statehash.Hash) statehash.Hash {
	return h.Int(p.gait).Bool(p.locked).Bool(p.pressed).Bool(p.jumping).Int(p.jump).Floats(p.facing.X, p.facing.Z)
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
func (p *Player) Update(*arche.World) {
	in, root := &p.Input, p.Crowd.Root(p.Hero)
	switch {
	case in.Gait == scenes.Faster:
		p.gait++
	case in.Gait == scenes.Slower:
		p.gait--
	case in.Gait > scenes.KeepGait && int(in.Gait) <= gaits:
		p.gait = int(in.Gait) - 1
	}
	p.gait = min(max(p.gait, 0), len(p.speeds)-1)
	if in.Lock && !p.pressed {
		p.locked, p.facing = !p.locked, root.Rot.Forward()
	}
	p.pressed = in.Lock
	stick := m3.V(steer.Axis(in.Side), 0, steer.Axis(in.Forward))
	if l := stick.Len(); l > 1 {
		stick = stick.Scale(1 / l)
	}
	back := root.Rot.Conj()
	p.goal = control.Goal{Move: back.Rotate(stick), Speed: p.speeds[p.gait]}
	p.goal.Face = p.goal.Move
	if p.locked {
		p.goal.Face = back.Rotate(p.facing)
	}
	if in.Jump && !p.jumping {
		p.jump = buffer
	}
	p.jumping, p.jump = in.Jump, max(p.jump-1, 0)
	for _, a := range actions {
		if p.can[a.action] && (a.held(in) || a.action == control.Jump && p.jump > 0) {
			p.goal.Action = a.action
			break
		}
	}
	if i := int(in.Own); i > 0 && i <= len(p.own) {
		p.goal.Action = p.own[i-1].action
	}
	*p.goals.Get(p.Hero) = p.goal
}

// Texts adds the help, and what the player asks for.
func (p *Player) Texts(dst *scenes.Frame) {
	var keys, pads []string
	for _, a := range actions {
		if p.can[a.action] {
			keys, pads = append(keys, a.key+": "+a.action.String()), append(pads, a.pad+": "+a.action.String())
		}
	}
	for i, o := range p.own {
		if keys = append(keys, ownKeys[i]+": "+o.tag); i == 0 {
			pads = append(pads, "right stick: "+o.tag)
		}
	}
	var speeds []string
	for i, v := range p.speeds {
		speeds = append(speeds, fmt.Sprintf("%d: %.1f", i+1, v))
	}
	dst.Help = append(dst.Help, "W A S D or arrows: go there on the screen", strings.Join(speeds, "   ")+" m/s", "Q: keep facing there; again: release")
	dst.GamepadHelp = append(dst.GamepadHelp, "left stick: go there   LB RB: slower and faster", "cross up: keep facing there; again: release")
	if keys != nil {
		dst.Help, dst.GamepadHelp = append(dst.Help, "hold "+strings.Join(keys, "   ")), append(dst.GamepadHelp, "hold "+strings.Join(pads, "   "))
	}
	dst.Help, dst.GamepadHelp = append(dst.Help, "R: back to the start"), append(dst.GamepadHelp, "Back: back to the start")
	asked := "stand"
	switch l := p.goal.Move.Len(); {
	case p.goal.Action.Tag() >= 0:
		asked = p.tags[p.goal.Action.Tag()]
	case p.goal.Action != control.Idle:
		asked = p.goal.Action.String()
	case l > 0.01:
		asked = fmt.Sprintf("%.2f m/s", p.goal.Speed*l)
	}
	if p.locked {
		asked += ", facing is locked"
	}
	dst.HUD = append(dst.HUD, "asked for: "+asked)
}
