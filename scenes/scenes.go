// Package scenes holds what all scenes share: the player's input, the plain description of what
// to draw, and the interface between a scene and a program that shows it. Scenes know nothing
// of windows: the same scene runs in a window, a headless recording, a test and a server.
package scenes

import (
	"fmt"
	"slices"

	"mannequin/animsys/generator"
	"mannequin/animsys/skel"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/terrain"
)

// TickRate is the number of steps per second of every scene.
const TickRate = generator.TickRate

// Scene is a world with its schedule. It belongs to one goroutine.
type Scene interface {
	// Step advances the world by one tick of 1/TickRate seconds.
	Step(in Input) error
	// Frame describes the world between the last two ticks: alpha is 0 at the older and 1 at
	// the newer. It reuses the slices of dst, which stay valid until the next call with dst.
	Frame(dst *Frame, alpha float32)
	// Hash returns a hash of what the last tick shows and of what the player steers. Equal setups
	// and inputs give equal hashes in every tick, for any number of workers. It allocates
	// nothing and is fast enough to call in every tick.
	Hash() uint64
	// Close stops the scene's workers. The scene must not be used afterwards.
	Close() error
}

// Input is the input to the world during one tick, independent of any device. Equal inputs give
// equal worlds. The zero value is no input.
type Input struct {
	Forward float32   // ahead +, back −; in [−1, 1]. With Frame.InWorld along the world's +Z
	Side    float32   // left +, right −; in [−1, 1]. With Frame.InWorld along the world's +X
	Turn    float32   // left +, right −; in [−1, 1]
	Gait    Gait      // gait to change to, Faster, Slower or KeepGait
	Sit     bool      // held
	Lie     bool      // held
	Stand   bool      // held: stand on the hind legs
	Jump    bool      // held
	Own     uint8     // held: the number of one of the character's own actions, from 1; 0 is none
	Lock    bool      // held; a press locks where the character faces, and the next one releases it
	Reset   bool      // restarts the scene
	Touch   hud.Touch // input to the scene's panel

	// The camera and the time budget, for the level of detail. Distant agents may update less
	// often.
	Watched bool    // Eye and Ahead are valid
	Eye     m3.Vec3 // camera position, world, m
	Ahead   m3.Vec3 // viewing direction, unit; zero is all directions
	Saving  float32 // share of the work to save, 0 to 1
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

	Faster // one step up
	Slower // one step down
)

// Speed returns the speed that g asks for, out of speeds, which ascend and have one for each gait.
// now is the present speed.
func (g Gait) Speed(speeds []float32, now float32) float32 {
	switch {
	case g == Faster:
		for _, v := range speeds {
			if v > now {
				return v
			}
		}
	case g == Slower:
		for _, v := range slices.Backward(speeds) {
			if v < now {
				return v
			}
		}
	case g > KeepGait && int(g) < len(speeds):
		return speeds[g]
	}
	return now
}

// Frame is what to draw: characters posed in world space on a terrain. Lengths are in metres and
// positions in world space. The viewer sets Show, the scene sets the rest.
type Frame struct {
	Show hud.Overlay // overlays to draw
	Has  hud.Overlay // overlays that this scene offers

	Casts       []Cast
	Far         []Far // characters whose poses the processor does not know; may be empty
	Terrain     *terrain.Field
	Blocks      []hud.Block // on the terrain; may be empty
	Focus       m3.Vec3     // point that a camera should look at
	Heading     float32     // yaw of the focus, rad, for a camera that follows
	Seat        Seat        // initial camera
	InWorld     bool        // Forward and Side of the input are a direction in the world, and Turn is not read
	Shot        Shot        // camera of the scene's own; the zero value leaves it to the viewer
	Path        []m3.Vec3   // planned path of the focus on the ground; may be empty
	Lines       []hud.Line  // of the overlays in Show, and around the selected character
	Graphs      []hud.Graph // of the overlays in Show, valid until the next step
	Caption     string      // large text at the bottom; may be empty
	Help        []string    // key help, one line each
	GamepadHelp []string    // the same for a gamepad
	HUD         []string    // status lines
	Panel       hud.Panel   // controls of the scene; may be empty
}

// Height returns the height of the terrain at (x, z), or of the highest block there, m.
func (f *Frame) Height(x, z float32) float32 {
	y := f.Terrain.Height(x, z)
	for i := range f.Blocks {
		if top, ok := f.Blocks[i].Top(x, z); ok && !f.Blocks[i].Loose {
			y = max(y, top)
		}
	}
	return y
}

// Cast is the characters of a frame that share a skeleton.
type Cast struct {
	Skel *skel.Skeleton
	// Roles are the skeleton's legs, spine and neck; nil says that its names tell.
	Roles *ik.Roles
	// Bones are each joint's world transform, (characters, Skel.Len()).
	Bones []m3.Xform
	Tint  [][3]float32 // (characters) linear RGB colour of coat or clothes, 0–1
}

// Len returns the number of characters.
func (c *Cast) Len() int { return len(c.Tint) }

// Of returns the bones of character i.
func (c *Cast) Of(i int) []m3.Xform { n := c.Skel.Len(); return c.Bones[i*n : (i+1)*n] }

// Add appends a character, posed a fraction alpha of the way from last to now.
func (c *Cast) Add(last, now []m3.Xform, alpha float32, tint [3]float32) {
	n := len(c.Bones)
	c.Bones = slices.Grow(c.Bones, len(now))[:n+len(now)]
	c.Skel.Interpolate(c.Bones[n:], last, now, alpha)
	c.Tint = append(c.Tint, tint)
}

// Begin empties the frame except for Show, and keeps its slices for reuse.
func (f *Frame) Begin(t *terrain.Field) {
	*f = Frame{
		Show: f.Show, Terrain: t, Casts: f.Casts[:0], Far: f.Far[:0], Path: f.Path[:0], Blocks: f.Blocks[:0], Lines: f.Lines[:0], Graphs: f.Graphs[:0],
		Help: f.Help[:0], GamepadHelp: f.GamepadHelp[:0], HUD: f.HUD[:0], Panel: f.Panel,
	}
}

// Cast appends an empty cast with skeleton sk and returns it. Fill it in before the next call.
// Its slices reuse memory of an earlier frame.
func (f *Frame) Cast(sk *skel.Skeleton) *Cast {
	n := len(f.Casts)
	f.Casts = slices.Grow(f.Casts, 1)[:n+1]
	c := &f.Casts[n]
	c.Skel, c.Roles, c.Bones, c.Tint = sk, nil, c.Bones[:0], c.Tint[:0]
	return c
}

// Far is the characters of a frame that share a skeleton and live in the OpenGL that draws them, far from the camera.
type Far struct {
	Skel     *skel.Skeleton
	Matrices uint32       // buffer of the viewer's OpenGL, as stage.Crowd.SetFrom takes it, for the body that grows around Skel
	Hips     []m3.Xform   // (characters) joint 0 in the world, turned to where the character faces; NaN: there is no such character
	Tint     [][3]float32 // (characters) linear RGB colour of the coat, 0–1
}

// Shot is a camera that the scene places.
type Shot struct {
	On          bool
	Eye, Target m3.Vec3
	FOV         float32 // vertical, rad
	Cut         bool    // the camera jumped in the last tick: do not interpolate
}

// Count returns a number with its noun: "1 dog", "2 dogs".
func Count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// Traced is a scene that reports the stages of its tick to a profiler. It measures no time
// itself: its behaviour depends on no clock.
type Traced interface {
	// Stages returns the names of the stages in order, none if there is nothing to report.
	Stages() []string
	// Trace sets a function that is called with its index when a stage begins, and with the
	// number of stages when the last one ends. nil removes it.
	Trace(f func(stage int))
}

// Lasting is a scene that ends.
type Lasting interface {
	// Seconds returns the scene's duration.
	Seconds() float64
}

// Saver is a scene that uses Input.Watched and Input.Saving: its distant agents update less often.
type Saver interface{ Saves() }

// Resident is a scene some of whose agents can live on a GPU.
type Resident interface {
	// OnGPU returns the number of agents there, and the GPU's name: 0 and "" without one.
	OnGPU() (agents int, device string)
}

// Exporter is a scene whose player can export its motion.
type Exporter interface {
	// Export returns the motion that the player asked for since the last call, nil if there is
	// none.
	Export() (*skel.Clip, error)
}
