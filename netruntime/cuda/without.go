//go:build !cuda

package cuda

import (
	"errors"

	"mannequin/netruntime"
	"mannequin/netruntime/internal/reserve"
)

// Built reports whether the program was built with the tag cuda.
const Built = false

var errNotBuilt = errors.New("cuda: this program was built without the tag cuda")

var state reserve.GPU

// NewSession returns a session of n on the GPU, or on the processor if there is none.
func NewSession(n *netruntime.Net, o Options) (netruntime.Session, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	state.Announce(o.Log, "", errNotBuilt)
	return n.NewSession(o.SessionOptions)
}

// Measure needs a GPU.
func Measure(netruntime.Session, int, int, int) (Timing, error) { return Timing{}, errNotBuilt }

// MeasurePeaks needs a GPU.
func MeasurePeaks(Precision) (Peaks, error) { return Peaks{}, errNotBuilt }

// Device returns the name of the GPU that sessions run on, or an error that says why there is none.
func Device() (string, error) { return "", errNotBuilt }

// Fallbacks returns the number of runs that the processor has computed because the GPU was lost.
func Fallbacks() int64 { return 0 }
