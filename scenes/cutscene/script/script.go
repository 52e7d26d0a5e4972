// Package script reads what cutscenes are written in: TOML files that say who is there,
// and who does what when. docs/cutscene.md tells what can be written. Nothing of it is
// animated here: package cutscene plays a script.
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
	MaxActorSeconds = 3600 // actors times length: what is kept of a scene grows with it
	MaxEntries      = 1000 // of moves, and of everything else that an actor does
	MaxPoints       = 200  // of a path
	MaxCaption      = 200  // letters
	MaxPlace        = 50   // m from the middle, to all sides
)

// Script is a scene as it is written. Times are seconds from its beginning.
// Directions on the ground are yaws in radians: 0 faces +Z, π/2 faces +X.
type Script struct {
	Name     string // of the file, for errors
	Checksum string // of its contents, "sha256:…"
	Title    string
	Length   float32
	Terrain  string // hills, flat, slope or steps
	Seed     uint64

	Actors   []Actor
	Moves    []Move // each actor's in the order of time
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

// Kind is what an actor is.
type Kind uint8

// The kinds.
const (
	Dog Kind = iota
	Person
)

// Actor is someone in the scene.
type Actor struct {
	Line     int
	Name     string
	Kind     Kind
	Model    string // a shipped model's name or a file; empty: the usual one
	At       m3.Vec3
	Yaw      float32
	Colour   [3]float32 // linear RGB of coat or clothes, where Coloured
	Coloured bool
}

// Span is when something is done, and how much.
type Span struct {
	From, To float32
	In, Out  float32 // s in which it comes and goes; 0 where it takes over from another, and gives way to one
	Weight   float32 // in between, 0 to 1
}

// At returns how much of it there is at time t, 0 to Weight.
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

// follows has s take over from was where it begins when that ends.
func (s *Span) follows(was *Span) {
	if m3.Abs(s.From-was.To) < 0.01 {
		s.In, was.Out = 0, 0
	}
}

// Move is a way that an actor goes.
type Move struct {
	Line  int
	Actor int
	Path  *control.Path // from where the actor has been left
	Arcs  []float32     // along it, m: 0, and where each point of the script is
	Times []float32     // when the actor is there; the first is when it sets out
}

// From returns when the move begins.
func (m *Move) From() float32 { return m.Times[0] }

// To returns when the move ends.
func (m *Move) To() float32 { return m.Times[len(m.Times)-1] }

// Along returns how far along the path the actor should be at time t, m, and how fast
// it should go there, m/s: 0 before the move and after it.
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

// Target is a place that someone looks at, reaches for or faces: a point, or an
// actor's joint.
type Target struct {
	Actor  int     // −1: a point
	Joint  string  // of the actor; empty: the eyes
	Point  m3.Vec3 // where there is no actor; its height is above the ground
	Offset m3.Vec3 // added to an actor's joint, world axes
}

// Action is what an actor does besides going.
type Action struct {
	Line     int
	Actor    int
	From, To float32
	Do       control.Action // a dog's sit, lie, stand or jump; Idle: it faces Target
	Target   Target
}

// Style is how a person moves for a while: one of the database's styles.
type Style struct {
	Line  int
	Actor int
	Name  string
	Span
}

// Look is where an actor looks for a while.
type Look struct {
	Line  int
	Actor int
	Target
	Span
}

// Reach is what a person's hand reaches for.
type Reach struct {
	Line  int
	Actor int
	Right bool // the right hand
	Target
	Span
}

// Shot is the camera from its beginning to the next shot's. Heights of points are
// above the ground.
type Shot struct {
	Line   int
	From   float32
	Ease   float32 // s in which the camera goes over from the shot before; 0 is a cut
	FOV    float32 // vertical, rad
	Follow int     // the actor whose place the eye's points are seen from, in world axes; −1: none
	Eye    Curve
	Watch  int   // the actor that it looks at; −1: Target
	Target Curve // where it looks
}

// Curve is a Catmull-Rom curve through points in space.
type Curve struct {
	Points []m3.Vec3
	Times  []float32 // when it is at each
}

// Caption is what is said.
type Caption struct {
	Line     int
	From, To float32
	Text     string
}
