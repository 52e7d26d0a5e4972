// Package scenes is what every scene shares: the player's input, the plain
// description of what to draw, and the interface between a scene and whatever
// shows it. A scene knows nothing of windows: the same one runs in a window, in
// a headless recording, in tests and on a server.
package scenes

import (
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
	// Close stops the scene's workers. The scene must not be used afterwards.
	Close() error
}

// Input is what the player does during one tick, apart from any device. The
// zero value is hands off.
type Input struct {
	Forward float32 // ahead +, back −; in [−1, 1]
	Side    float32 // sideways, left +, right −; in [−1, 1]
	Turn    float32 // left +, right −; in [−1, 1]
	Gait    Gait    // the gait to change to, or KeepGait
	Sit     bool    // held
	Lie     bool    // held
	Stand   bool    // held: up on the hind legs
	Jump    bool    // held
	Reset   bool    // back to the start
	Touch   Touch   // what is done to the scene's panel
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
)

// Frame is what to draw: agents posed in world space on a terrain. All lengths
// are metres, all positions world space.
type Frame struct {
	Skel    *skel.Skeleton // the skeleton that all agents share
	Agents  int
	Bones   []m3.Xform   // (Agents, Skel.Len()) each joint's world transform
	Tint    [][3]float32 // (Agents) linear RGB coat colour, 0–1
	Terrain *terrain.Field
	Focus   m3.Vec3   // what a camera should look at
	Heading float32   // the focus's yaw in radians, for a camera that follows
	Path    []m3.Vec3 // the focus's planned path on the ground; may be empty
	Help    []string  // key help, one line each
	HUD     []string  // what is going on, one line each
	Panel   Panel     // what the player can change; may be empty
}

// Exporter is a scene whose player can ask for its motion.
type Exporter interface {
	// Export returns the motion that the player has asked for since the last call,
	// nil where nobody has.
	Export() (*skel.Clip, error)
}
