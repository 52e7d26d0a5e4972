// Package hud describes what is shown on top of a picture: panels of sliders and buttons,
// overlays, lines and graphs. It is plain data: scenes fill it in, engine/stage draws it.
package hud

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mannequin/engine/m3"
)

// Overlay is a set of things to draw besides the characters.
type Overlay uint16

// The overlays. A scene decides whether each shows one agent or all of them.
const (
	Trajectories Overlay = 1 << iota // past and planned paths
	Contacts                         // feet on the ground
	Targets                          // foot targets of the inverse kinematics
	Velocities
	Skeletons
	Roots       // root positions on the ground, and facing directions
	Activations // weights of the network's experts over time
	Times       // durations of the stages of the tick

	AllOverlays Overlay = 1<<iota - 1
)

// overlays are the names of all of them, in order.
var overlays = [...]string{"trajectories", "contacts", "targets", "velocities", "skeletons", "roots", "activations", "times"}

// OverlayNames returns the names of all overlays. Name i belongs to 1 << i.
func OverlayNames() []string { return slices.Clone(overlays[:]) }

// ParseOverlays returns the overlays with the given names.
func ParseOverlays(names []string) (o Overlay, err error) {
	for _, n := range names {
		i := slices.Index(overlays[:], n)
		if i < 0 {
			return 0, fmt.Errorf("no overlay %q: want some of %s", n, strings.Join(overlays[:], ", "))
		}
		o |= 1 << i
	}
	return o, nil
}

// String returns the names, separated by commas.
func (o Overlay) String() string {
	var names []string
	for i, n := range overlays {
		if o>>i&1 == 1 {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}

// Keys returns the function keys that toggle the overlays, from F1, such as "F1 to F6, F8".
func (o Overlay) Keys() string {
	var runs []string
	for i := 0; i < len(overlays); i++ {
		first := i
		for i < len(overlays) && o>>i&1 == 1 {
			i++
		}
		switch i - first {
		case 0:
		case 1:
			runs = append(runs, fmt.Sprintf("F%d", i))
		default:
			runs = append(runs, fmt.Sprintf("F%d to F%d", first+1, i))
		}
	}
	return strings.Join(runs, ", ")
}

// Line is a straight line of constant width on screen. Geometry before it dims but never hides it.
type Line struct {
	From, To m3.Vec3
	Colour   [3]float32 // linear RGB, 0–1
}

// Block is a solid in the world that stands still or moves: a wall, a floor, a ramp.
type Block struct {
	At           m3.Vec3    // the middle of its top, m
	Yaw          float32    // heading of its depth, rad
	Width, Depth float32    // at right angles to the heading and along it, m
	Rise         float32    // height that its top gains along the heading, per metre
	Height       float32    // from the middle of its top to its bottom, which is level, m
	Colour       [3]float32 // linear RGB, 0–1
	Loose        bool       // somebody may carry it: the camera does not keep off it
}

// Top returns the height of the block's top at (x, z), m, and whether the block is there.
func (b *Block) Top(x, z float32) (y float32, ok bool) {
	sin, cos := math.Sincos(float64(b.Yaw))
	x, z = x-b.At.X, z-b.At.Z
	across, along := x*float32(cos)-z*float32(sin), x*float32(sin)+z*float32(cos)
	return b.At.Y + b.Rise*along, 2*m3.Abs(across) <= b.Width && 2*m3.Abs(along) <= b.Depth
}

// Graph is a diagram of curves over time.
type Graph struct {
	Title    string
	Names    []string    // of the curves
	Values   [][]float32 // (curves, any number) oldest first; values that are not finite leave gaps
	Min, Max float32     // of the axis, Min < Max
	Unit     string      // of the values; may be empty
	Seconds  float32     // from the oldest value to the newest; 0 is unknown
}

// Recent is a ring buffer of the last values of a curve.
type Recent struct {
	buffer []float32 // twice as long as what is kept, so that Values is always contiguous
	end    int
}

// NewRecent returns a buffer of n values, all NaN. A buffer of none, like the zero Recent, stays
// empty.
func NewRecent(n int) Recent {
	r := Recent{buffer: make([]float32, 2*max(n, 0))}
	r.Clear()
	return r
}

// Clear makes all values NaN.
func (r *Recent) Clear() {
	r.end = len(r.buffer) / 2
	for i := range r.end {
		r.buffer[i] = float32(math.NaN())
	}
}

// Add appends v and drops the oldest value.
func (r *Recent) Add(v float32) {
	n := len(r.buffer) / 2
	if n == 0 {
		return
	}
	if r.end == 2*n {
		copy(r.buffer, r.buffer[n:])
		r.end = n
	}
	r.buffer[r.end] = v
	r.end++
}

// Values returns the values, oldest first. They are valid until the next Add.
func (r *Recent) Values() []float32 { return r.buffer[r.end-len(r.buffer)/2 : r.end] }
