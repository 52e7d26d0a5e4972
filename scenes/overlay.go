package scenes

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mannequin/engine/m3"
)

// Overlay is a set of what may be drawn besides the characters.
type Overlay uint16

// What may be drawn. Of whom it is, the scene decides: the one who is watched, or all.
const (
	Trajectories Overlay = 1 << iota // where they come from, and are about to go
	Contacts                         // feet that stand
	Targets                          // where the ground's inverse kinematics has feet go
	Velocities
	Skeletons
	Roots       // where they stand on the ground, and which way they face
	Activations // how much of each expert the network is, over time
	Times       // how long the stages of the tick take

	AllOverlays Overlay = 1<<iota - 1
)

// overlays are the names of all of them, in order.
var overlays = [...]string{"trajectories", "contacts", "targets", "velocities", "skeletons", "roots", "activations", "times"}

// OverlayNames returns the names of all overlays: the i-th is that of 1 << i.
func OverlayNames() []string { return slices.Clone(overlays[:]) }

// ParseOverlays returns the overlays of the given names.
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

// String returns the names, with commas between them.
func (o Overlay) String() string {
	var names []string
	for i, n := range overlays {
		if o>>i&1 == 1 {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}

// Keys returns the function keys that turn them on and off, F1 for the first of all: such
// as "F1 to F6, F8".
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

// Line is a straight line, drawn as wide at any distance. What hides it lets it shine
// through.
type Line struct {
	From, To m3.Vec3
	Colour   [3]float32 // linear RGB, 0–1
}

// Graph is values over time, a curve each.
type Graph struct {
	Title    string
	Names    []string    // of the curves
	Values   [][]float32 // (curves, any number) oldest first; what is not finite leaves a gap
	Min, Max float32     // of the axis, Min < Max
	Unit     string      // of the values; may be empty
	Seconds  float32     // from the oldest value to the newest; 0 is unknown
}

// Recent keeps the last values of a curve.
type Recent struct {
	buffer []float32 // twice as many as are kept, so that these always follow each other
	end    int
}

// NewRecent returns room for n values, NaN until there are any.
func NewRecent(n int) Recent {
	r := Recent{buffer: make([]float32, 2*n)}
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

// Add puts v after the last value; the oldest goes.
func (r *Recent) Add(v float32) {
	if n := len(r.buffer) / 2; r.end == 2*n {
		copy(r.buffer, r.buffer[n:])
		r.end = n
	}
	r.buffer[r.end] = v
	r.end++
}

// Values returns what is kept, oldest first. It is valid until the next Add.
func (r *Recent) Values() []float32 { return r.buffer[r.end-len(r.buffer)/2 : r.end] }

// Traced is a scene that tells when each stage of its tick begins, for those who
// measure times. It keeps none itself: what it does depends on no clock.
type Traced interface {
	// Stages returns the names of the stages in their order, none where there is nothing
	// to tell.
	Stages() []string
	// Trace has f called as each stage begins, with its index, and with their number when
	// the last is done. It replaces what was called before; nil ends it.
	Trace(f func(stage int))
}
