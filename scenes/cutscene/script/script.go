// Package script reads the scripts of cutscenes: TOML files with actors and what they do at which
// time. docs/cutscene.md describes the format. Package cutscene plays a script.
package script

import (
	"fmt"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// Limits of a script.
const (
	MaxFile         = 128 << 10 // bytes
	MaxLength       = 600       // s
	MaxActors       = 32
	MaxActorSeconds = 3600 // actors times length, which the memory of a scene grows with
	MaxEntries      = 1000 // of moves, and of each other kind of entry
	MaxPoints       = 200  // of a path
	MaxCaption      = 200  // characters
	MaxPlace        = 50   // largest coordinate on the ground, m
)

// Script is a scene as written. Times are seconds from its beginning.
// Directions on the ground are yaws in radians: 0 faces +Z, π/2 faces +X.
type Script struct {
	Name     string // of the file, for errors
	Checksum string // of its contents, "sha256:…"
	Title    string
	Length   float32
	Terrain  string // hills, flat, slope or steps
	Seed     uint64

	Actors   []Actor
	Moves    []Move // those of an actor are in the order of time
	Actions  []Action
	Styles   []Style
	Looks    []Look
	Reaches  []Reach
	Shots    []Shot // in the order of time, the first at 0; may be none
	Captions []Caption
}

// Errorf returns an error about a line of the script.
func (s *Script) Errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", s.Name, line, fmt.Errorf(format, args...))
}

// Kind is the kind of an actor.
type Kind uint8

// The kinds.
const (
	Dog Kind = iota
	Person
)

// Actor is a character of the scene.
type Actor struct {
	Line     int
	Name     string
	Kind     Kind
	Model    string // a shipped model's name or a file; empty is the default
	At       m3.Vec3
	Yaw      float32
	Colour   [3]float32 // linear RGB of coat or clothes, if Coloured
	Coloured bool
}

// Span is the time and the weight of an entry.
type Span struct {
	From, To float32
	In, Out  float32 // s of fading in and out; 0 where another entry ends or begins
	Weight   float32 // in between, 0 to 1
}

// At returns the weight at time t, 0 to Weight.
func (s *Span) At(t float32) float32 {
	if t < s.From || t >= s.To {
		return 0
	}
	u, most := float32(1), (s.To-s.From)/2
	if ease := min(s.In, most); ease > 0 {
		u = min(u, (t-s.From)/ease)
	}
	if ease := min(s.Out, most); ease > 0 {
		u = min(u, (s.To-t)/ease)
	}
	return s.Weight * u * u * (3 - 2*u)
}

// follows lets s take over from was if it begins when was ends.
func (s *Span) follows(was *Span) {
	if m3.Abs(s.From-was.To) < 0.01 {
		s.In, was.Out = 0, 0
	}
}

// Move is a walk of an actor along a path.
type Move struct {
	Line  int
	Actor int
	Path  *control.Path // from the end of the move before
	Arcs  []float32     // along it, m: 0, and that of each point of the script
	Times []float32     // when the actor is there; the first is the start
}

// From returns the time at which the move begins.
func (m *Move) From() float32 { return m.Times[0] }

// To returns the time at which the move ends.
func (m *Move) To() float32 { return m.Times[len(m.Times)-1] }

// Along returns the distance along the path at which the actor should be at time t, m, and its
// speed there, m/s: 0 before and after the move.
func (m *Move) Along(t float32) (arc, speed float32) {
	last := len(m.Times) - 1
	switch {
	case t < m.Times[0]:
		return 0, 0
	case t >= m.Times[last]:
		return m.Arcs[last], 0
	}
	i := 0
	for m.Times[i+1] <= t {
		i++
	}
	speed = (m.Arcs[i+1] - m.Arcs[i]) / (m.Times[i+1] - m.Times[i])
	return m.Arcs[i] + speed*(t-m.Times[i]), speed
}

// Target is a place that an actor looks at, reaches for or faces: a point, or an actor's joint.
type Target struct {
	Actor  int     // −1 for a point
	Joint  string  // of the actor; empty is the eyes
	Point  m3.Vec3 // without an actor; its height is above the ground
	Offset m3.Vec3 // added to an actor's joint, world axes
}

// Action is what an actor does besides walking.
type Action struct {
	Line     int
	Actor    int
	From, To float32
	Do       control.Action // a dog's sit, lie, stand or jump; Idle is facing Target
	Target   Target
}

// Style is a style of a person for some time.
type Style struct {
	Line  int
	Actor int
	Name  string
	Span
}

// Look is a target that an actor looks at for some time.
type Look struct {
	Line  int
	Actor int
	Target
	Span
}

// Reach is a target that a person's hand reaches for, for some time.
type Reach struct {
	Line  int
	Actor int
	Right bool // the right hand
	Target
	Span
}

// Shot is a camera, until the next shot begins. Heights of points are above the ground.
type Shot struct {
	Line   int
	From   float32
	Ease   float32 // s of moving from the shot before; 0 is a cut
	FOV    float32 // vertical, rad
	Follow int     // the actor that the eye's points are relative to, in world axes; −1 is none
	Eye    Curve
	Watch  int   // the actor that it looks at; −1 is Target
	Target Curve // the points that it looks at
}

// Curve is a Catmull-Rom curve through points in space.
type Curve struct {
	Points []m3.Vec3
	Times  []float32 // of the points
}

// Caption is a text that is shown for some time.
type Caption struct {
	Line     int
	From, To float32
	Text     string
}
