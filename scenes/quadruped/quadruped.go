// Package quadruped is the scene of a dog that the player controls, alone or among a herd.
package quadruped

import (
	"errors"
	"fmt"
	"strings"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/internal/statehash"
	"mannequin/scenes"
	"mannequin/scenes/herd"
	"mannequin/scenes/internal/steer"
	"mannequin/scenes/world"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Options configure the scene. Agents are the other dogs, which wander about; none is usual.
type Options struct {
	world.Options
	Model *mann.Model   // required
	Far   []*mann.Model // for distant dogs: see mann.ControllerOptions
}

// Speeds of the gaits in m/s.
var Speeds = [...]float32{
	scenes.Walk: control.WalkSpeed, scenes.Pace: control.PaceSpeed, scenes.Trot: control.TrotSpeed, scenes.Canter: control.CanterSpeed,
}

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

// Scene is the running scene; it is a scenes.Scene.
type Scene struct {
	world.Pack
	drive *drive
	dog   arche.Entity
}

var (
	_ scenes.Scene  = (*Scene)(nil)
	_ scenes.Traced = (*Scene)(nil)
	_ scenes.Saver  = (*Scene)(nil)
)

// elbowRoom is the number of dogs' places around the player's dog that stay free at the start:
// about 3 m.
const elbowRoom = 6

// New builds the scene: the player's dog at the origin, the herd around it.
func New(opt Options) (*Scene, error) {
	if err := opt.Complete("quadruped", 0, func(n int) float32 { return herd.GroundSize(1 + n) }); err != nil {
		return nil, err
	}
	s := &Scene{}
	err := s.Init(&opt.Options, opt.Model, opt.Far, 1+opt.Agents)
	if err == nil {
		err = s.start(opt.Agents)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// start starts the world with the player's dog and n others.
func (s *Scene) start(n int) (err error) {
	roam := s.Herd()
	roam.Led = 0
	s.drive = &drive{gait: scenes.Pace, goals: generic.NewMap1[control.Goal](&s.ECS)}
	if err = s.Start(s.drive, roam); err != nil {
		return err
	}
	if s.dog, err = s.Crowd.Spawn(m3.Vec3{}, 0); err != nil {
		return err
	}
	s.drive.dog = s.dog
	return s.Spawn(roam, n, elbowRoom)
}

// Step runs one tick. A dog that leaves the terrain starts again in its middle.
func (s *Scene) Step(in scenes.Input) error {
	if in.Reset || steer.Inside(s.Terrain, s.Crowd.Roots[0].Pos) < 0 {
		if err := s.Crowd.Place(s.dog, m3.Vec3{}, 0); err != nil {
			return err
		}
	}
	s.drive.input = in
	s.ApplyLOD(&in, s.dog)
	return s.Tick()
}

// Hash returns the hash of all dogs and of the chosen gait.
func (s *Scene) Hash() uint64 {
	return uint64(statehash.Hash(s.Pack.Hash()).Int(int(s.drive.gait)))
}

// Frame describes what to draw.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.Terrain)
	s.Draw(dst, alpha)
	s.DrawPath(dst, 0)
	dst.Focus = dst.Casts[0].Of(0)[0].Pos
	dst.Heading = s.Crowd.Roots[0].Rot.Yaw()
	s.DrawOverlays(dst, 0, 0, false, alpha)
	s.Experts.Draw(dst)
	dst.Help = append(dst.Help, help...)
	dst.GamepadHelp = append(dst.GamepadHelp, gamepadHelp...)
	dst.HUD = append(dst.HUD,
		"asked for: "+intent(s.drive.goal, s.drive.gait),
		fmt.Sprintf("does: %s, %.2f m/s", s.doing(), s.Dogs.Velocity(0).Len()))
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

// doing names the action with the largest weight.
func (s *Scene) doing() string {
	best := control.Idle
	for a := range control.NumActions {
		if s.Dogs.Weight(0, a) > s.Dogs.Weight(0, best) {
			best = a
		}
	}
	return best.String()
}

// drive is the system that turns the player's input into the goal of the dog.
type drive struct {
	steer.Passive
	gait  scenes.Gait // the present speed step
	input scenes.Input
	goal  control.Goal // the last
	dog   arche.Entity
	goals generic.Map1[control.Goal]
}

// Update sets the goal.
func (d *drive) Update(*arche.World) {
	in := &d.input
	switch {
	case in.Gait == scenes.Faster:
		d.gait = min(d.gait+1, scenes.Canter)
	case in.Gait == scenes.Slower:
		d.gait = max(d.gait-1, scenes.Walk)
	case in.Gait > scenes.KeepGait && int(in.Gait) < len(Speeds):
		d.gait = in.Gait
	}
	move := m3.V(clamp(in.Side), 0, clamp(in.Forward))
	if l := move.Len(); l > 1 {
		move = move.Scale(1 / l)
	}
	d.goal = control.Goal{Move: move, Turn: clamp(in.Turn), Speed: Speeds[d.gait]}
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
	*d.goals.Get(d.dog) = d.goal
}

// clamp limits an axis to [−1, 1]. NaN and infinity are 0.
func clamp(v float32) float32 {
	if !m3.Finite(v) {
		return 0
	}
	return m3.Clamp(v, -1, 1)
}

// Autopilot returns the input of a recording without a player. Its first ten seconds show a walk, a
// trot through a bend, a jump and a sit; then come the other gaits, a sidestep and lying down.
func Autopilot() scenes.Script {
	type in = scenes.Input
	return scenes.Script{
		{Seconds: 2, Input: in{Forward: 1, Gait: scenes.Walk}},
		{Seconds: 2.6, Input: in{Forward: 1, Turn: 1, Gait: scenes.Trot}}, // back to the herd
		{Seconds: 0.9, Input: in{Forward: 1}},
		{Seconds: 0.7, Input: in{Forward: 1, Jump: true}},
		{Seconds: 0.6, Input: in{Forward: 1, Gait: scenes.Pace}},
		{Seconds: 4.2, Input: in{Sit: true}},
		{Seconds: 2, Input: in{Forward: 1, Turn: -1}},
		{Seconds: 3, Input: in{Forward: 1, Gait: scenes.Canter}},
		{Seconds: 2, Input: in{Forward: 1, Turn: 1, Gait: scenes.Pace}},
		{Seconds: 2, Input: in{Forward: 0.6, Side: 0.8}},
		{Seconds: 5, Input: in{Lie: true}},
		{Seconds: 1, Input: in{Forward: 1, Gait: scenes.Walk}},
	}
}
