// Package scenes is what every scene shares: the player's input, the plain
// description of what to draw, and the interface between a scene and whatever
// shows it. A scene knows nothing of windows: the same one runs in a window, in
// a headless recording, in tests and on a server.
package scenes

import (
	"fmt"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/terrain"
)

// TickRate is the steps per second of every scene.
const TickRate = 60

// Scene is a world with its schedule. It belongs to one goroutine.
type Scene interface {
	// Step advances the world by one tick of 1/TickRate seconds.
	Step(in Input) error
	// Frame describes the world a fraction alpha in [0, 1] of the way from the
	// tick before the last to the last. It reuses dst's slices, which stay valid
	// until the next call with the same dst.
	Frame(dst *Frame, alpha float32)
	// Hash sums up in 64 bits what is shown as of the last tick and what the player
	// steers, to the bit: the same setup and inputs give the same sums, tick by tick, for
	// any number of workers. It is quick enough for every tick, and allocates nothing.
	Hash() uint64
	// Close stops the scene's workers. The scene must not be used afterwards.
	Close() error
}

// Input is what comes to the world from outside during one tick, apart from any
// device: the same inputs give the same world. The zero value is hands off.
type Input struct {
	Forward float32 // ahead +, back −; in [−1, 1]
	Side    float32 // sideways, left +, right −; in [−1, 1]
	Turn    float32 // left +, right −; in [−1, 1]
	Gait    Gait    // the gait to change to, Faster or Slower, or KeepGait
	Sit     bool    // held
	Lie     bool    // held
	Stand   bool    // held: up on the hind legs
	Jump    bool    // held
	Reset   bool    // back to the start
	Touch   Touch   // what is done to the scene's panel

	// From where it is watched, and how much time there is. A scene may take less
	// trouble with what is far away.
	Watched bool    // Eye says
	Eye     m3.Vec3 // where the camera is, world, m
	Ahead   m3.Vec3 // where it looks, unit; zero is everywhere
	Saving  float32 // how much of the trouble is to be saved, 0 to 1
}

// Gait is a speed step of the player's character.
type Gait uint8

// The speed steps, slowest first.
const (
	KeepGait Gait = iota
	Walk
	Pace
	Trot
	Canter

	Faster // a step up from the present one
	Slower
)

// Frame is what to draw: characters posed in world space on a terrain. All lengths
// are metres, all positions world space. Who shows it sets Show, the scene the rest.
type Frame struct {
	Show Overlay // what to draw besides the characters
	Has  Overlay // what of it there is in this scene

	Casts       []Cast
	Terrain     *terrain.Field
	Focus       m3.Vec3   // what a camera should look at
	Heading     float32   // the focus's yaw in radians, for a camera that follows
	Seat        Seat      // from where it is watched at first
	Shot        Shot      // where the scene has the camera; the zero value leaves that to who watches
	Path        []m3.Vec3 // the focus's planned path on the ground; may be empty
	Lines       []Line    // of Show, and around who is watched
	Graphs      []Graph   // of Show, valid until the next step
	Caption     string    // what is said, in large letters at the bottom; may be empty
	Help        []string  // key help, one line each
	GamepadHelp []string  // the same for a gamepad
	HUD         []string  // what is going on, one line each
	Panel       Panel     // what the player can change; may be empty
}

// Cast is those characters of a frame who share a skeleton.
type Cast struct {
	Skel *skel.Skeleton
	// Bones are each joint's world transform, (characters, Skel.Len()).
	Bones []m3.Xform
	Tint  [][3]float32 // (characters) linear RGB colour of coat or clothes, 0–1
}

// Len returns how many characters there are.
func (c *Cast) Len() int { return len(c.Tint) }

// Of returns the bones of character i.
func (c *Cast) Of(i int) []m3.Xform { n := c.Skel.Len(); return c.Bones[i*n : (i+1)*n] }

// Begin empties the frame, but for Show, and keeps its slices for what is to come.
func (f *Frame) Begin(t *terrain.Field) {
	*f = Frame{
		Show: f.Show, Terrain: t, Casts: f.Casts[:0], Path: f.Path[:0], Lines: f.Lines[:0], Graphs: f.Graphs[:0],
		Help: f.Help[:0], GamepadHelp: f.GamepadHelp[:0], HUD: f.HUD[:0], Panel: f.Panel,
	}
}

// Cast appends an empty cast on the skeleton and returns it, to be filled in before
// the next: its slices have the room of the frame before.
func (f *Frame) Cast(sk *skel.Skeleton) *Cast {
	n := len(f.Casts)
	if n < cap(f.Casts) {
		f.Casts = f.Casts[:n+1]
	} else {
		f.Casts = append(f.Casts, Cast{})
	}
	c := &f.Casts[n]
	c.Skel, c.Bones, c.Tint = sk, c.Bones[:0], c.Tint[:0]
	return c
}

// Shot is where a scene has the camera.
type Shot struct {
	On          bool
	Eye, Target m3.Vec3
	FOV         float32 // vertical, rad
	Cut         bool    // since the last tick it has jumped: nothing leads over
}

// Count returns n and what there are so many of: "1 dog", "2 dogs".
func Count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// Lasting is a scene that comes to an end.
type Lasting interface {
	// Seconds returns how long it is.
	Seconds() float64
}

// Saver is a scene that heeds Input.Watched and Input.Saving: it takes less trouble with
// what is far away.
type Saver interface{ Saves() }

// Exporter is a scene whose player can ask for its motion.
type Exporter interface {
	// Export returns the motion that the player has asked for since the last call,
	// nil where nobody has.
	Export() (*skel.Clip, error)
}
