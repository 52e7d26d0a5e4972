// Package cutscene is the scene that plays a script: dogs and people that walk, act, look and reach
// at given times, seen by a scripted camera. It records each tick, so that any moment can be shown
// again at once, with the same bits.
package cutscene

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"mannequin/animsys/manifold"
	"mannequin/animsys/mar"
	"mannequin/engine/hud"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/cutscene/script"
	"mannequin/scenes/world"
	"mannequin/terrain"
)

// Options configure the scene. Its script has the number of agents, the terrain and the seed.
type Options struct {
	world.Options
	Script *script.Script // required

	// Net opens a network by its name or file; required. Dog, Manifold, Footstep and Locomotion are
	// the names of the networks of actors that name none.
	Net                                 func(name string) (*netruntime.Net, error)
	Dog, Manifold, Footstep, Locomotion string

	// Transfers and Styles open the styles of ecs.GramStyle and of ecs.MARStyle; nil is none. If
	// both have a style of a name, Transfers counts.
	Transfers func() (*manifold.StyleSet, error)
	Styles    func() (*mar.Database, error)
}

const (
	// prelude is the number of ticks before the scene begins: people need them to walk from its
	// first moment on.
	prelude = 120
	// hurry is the largest number of ticks in one Step while seeking, so that a window keeps
	// responding.
	hurry = 8
	// skip is the number of ticks by which the arrow keys seek. They do it again after repeat ticks
	// while held.
	skip, repeat = scenes.TickRate, 15
)

// The buttons, in order.
const (
	play = iota
	loop
	begin
	direct
)

var buttons = []hud.Button{
	play:   {Label: "play", Key: 'K', Lit: true},
	loop:   {Label: "loop", Key: 'L'},
	begin:  {Label: "start", Key: 'R'},
	direct: {Label: "camera", Key: 'C', Lit: true},
}

var help = []string{
	"left, right: a second back, ahead   R, Home: to the start   or the slider",
	"K: play, pause   L: loop   C: the script's camera, or yours",
}

// Scene is the running scene; it is a scenes.Scene.
type Scene struct {
	world.World
	Script *script.Script

	groups   []*group
	controls controls
	actors   []*actor
	camera   camera

	ticks    int // of the whole scene: 0 to ticks−1 can be shown
	made     int // ticks that are recorded
	now, was int // the tick that is shown, and the one before
	goal     int // the tick to seek, or −1
	held     int // ticks for which an arrow key is held
	panel    hud.Panel
}

var _ scenes.Scene = (*Scene)(nil)

// New builds the scene and its first moment.
func New(opt Options) (*Scene, error) {
	if opt.Script == nil || opt.Net == nil {
		return nil, errors.New("cutscene: Options.Script or Net is missing")
	}
	field, err := world.Ground(opt.Script.Terrain, terrain.Grid{Size: 2*script.MaxPlace + 40, Cell: 0.5},
		terrain.HillsOptions{Seed: opt.Script.Seed, Wavelength: 14, MaxSlope: 0.25})
	if err != nil {
		return nil, err
	}
	opt.Terrain = field
	s := &Scene{Script: opt.Script, ticks: int(math.Ceil(float64(opt.Script.Length)*scenes.TickRate)) + 1, made: -prelude, goal: -1}
	s.Init(&opt.Options)
	s.controls = newControls(&s.ECS)
	if err := s.build(&opt); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.camera = newCamera(opt.Script, field)
	s.panel = hud.Panel{Title: opt.Script.Title, Buttons: slices.Clone(buttons),
		Sliders: []hud.Slider{{Label: "time, s", Max: float32(s.ticks-1) / scenes.TickRate}}}
	if err := s.make(0, prelude+1); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// make computes and records ticks until tick is recorded, at most most of them.
func (s *Scene) make(tick, most int) error {
	for ; s.made <= tick && most > 0; most-- {
		t := float32(s.made) / scenes.TickRate
		for _, a := range s.actors {
			a.direct(s, t)
		}
		if err := s.Schedule.Step(); err != nil {
			return err
		}
		for _, a := range s.actors {
			a.smooth(s.Terrain)
			if s.made >= 0 {
				a.record(s.made)
			}
		}
		s.made++
	}
	return nil
}

// Seconds returns the duration of the scene.
func (s *Scene) Seconds() float64 { return float64(s.ticks-1) / scenes.TickRate }

// Seek shows the moment t, seconds from the beginning, or the nearest one. A recorded moment is
// shown at once; others are computed first, hundreds of ticks per second.
func (s *Scene) Seek(t float64) error {
	tick := s.nearest(t)
	if err := s.make(tick, math.MaxInt); err != nil {
		return err
	}
	s.jump(tick)
	return nil
}

// nearest returns the tick nearest to a time.
func (s *Scene) nearest(t float64) int {
	if !(t > 0) {
		return 0
	}
	return int(min(math.Round(t*scenes.TickRate), float64(s.ticks-1)))
}

// jump shows a tick without interpolation.
func (s *Scene) jump(tick int) { s.now, s.was, s.goal = tick, tick, -1 }

// Step runs one tick: the scene plays on, or seeks.
func (s *Scene) Step(in scenes.Input) error {
	s.control(in)
	if s.goal >= 0 {
		if err := s.make(s.goal, hurry); err != nil {
			return err
		}
		goal := s.goal
		s.jump(min(goal, s.made-1))
		if s.now < goal {
			s.goal = goal
		}
		return nil
	}
	b := s.panel.Buttons
	switch {
	case !b[play].Lit:
		s.was = s.now
	case s.now+1 < s.ticks:
		if err := s.make(s.now+1, 1); err != nil {
			return err
		}
		s.was, s.now = s.now, s.now+1
	case b[loop].Lit:
		s.jump(0)
	default:
		s.was = s.now
		b[play].Lit = false
	}
	return nil
}

// control handles the input.
func (s *Scene) control(in scenes.Input) {
	at := s.now
	if s.goal >= 0 {
		at = s.goal
	}
	move := in.Touch.Move
	in.Touch.Move = 0 // an arrow is a second, not a step of the slider
	switch {
	case move == 0:
		s.held = 0
	case s.held%repeat == 0:
		s.seek(at + int(math.Copysign(skip, float64(move))))
		fallthrough
	default:
		s.held++
	}
	s.panel.Sliders[0].Value = float32(at) / scenes.TickRate
	if s.panel.Turn(in.Touch) >= 0 {
		s.seek(s.nearest(float64(s.panel.Sliders[0].Value)))
	}
	b := s.panel.Buttons
	switch key := s.panel.Pressed(in.Touch); {
	case key == b[begin].Key || in.Reset:
		s.seek(0)
	case key == b[play].Key:
		if b[play].Lit = !b[play].Lit; b[play].Lit && s.now == s.ticks-1 {
			s.seek(0)
		}
	case key == b[loop].Key:
		b[loop].Lit = !b[loop].Lit
	case key == b[direct].Key:
		b[direct].Lit = !b[direct].Lit
	}
}

// seek makes the next steps go to a tick.
func (s *Scene) seek(tick int) { s.goal = min(max(tick, 0), s.ticks-1) }

// Frame describes what to draw. The focus is the first actor.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.Terrain)
	for _, g := range s.groups {
		out := dst.Cast(g.crowd.Skel)
		for _, a := range g.actors {
			out.Add(a.bones(s.was), a.bones(s.now), alpha, a.tint)
		}
	}
	first := s.actors[0]
	dst.Focus = first.bones(s.was)[0].Pos.Lerp(first.bones(s.now)[0].Pos, alpha)
	dst.Heading = first.yaws[s.now]
	t := (float32(s.was) + alpha*float32(s.now-s.was)) / scenes.TickRate
	if s.panel.Buttons[direct].Lit {
		dst.Shot = s.camera.at(s, t, alpha)
	}
	for i := range s.Script.Captions {
		if c := &s.Script.Captions[i]; t >= c.From && t < c.To {
			dst.Caption = c.Text
		}
	}
	dst.Help = append(dst.Help, help...)
	if s.goal >= 0 {
		dst.HUD = append(dst.HUD, fmt.Sprintf("on the way to %.1f s …", float64(s.goal)/scenes.TickRate))
	}
	dst.Panel.Copy(&s.panel)
	dst.Panel.Sliders[0].Value = float32(s.now) / scenes.TickRate
}

// Hash returns a hash of the moment that is shown.
func (s *Scene) Hash() uint64 {
	h := fnv.New64a()
	var b []byte
	put := func(v ...float32) {
		for _, x := range v {
			u := math.Float32bits(x)
			b = append(b, byte(u), byte(u>>8), byte(u>>16), byte(u>>24))
		}
	}
	for _, a := range s.actors {
		for _, x := range a.bones(s.now) {
			put(x.Pos.X, x.Pos.Y, x.Pos.Z, x.Rot.X, x.Rot.Y, x.Rot.Z, x.Rot.W)
		}
		p := a.places[s.now]
		put(p.X, p.Y, p.Z, a.yaws[s.now])
	}
	h.Write(b)
	return h.Sum64()
}
