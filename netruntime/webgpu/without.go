//go:build !webgpu

package webgpu

import (
	"errors"

	"mannequin/netruntime"
	"mannequin/netruntime/internal/reserve"
)

// Built reports whether the program was built with the tag webgpu.
const Built = false

var errNotBuilt = errors.New("webgpu: this program was built without the tag webgpu")

var state reserve.GPU

// NewSession returns a session of n on the GPU, or on the processor if there is none.
func NewSession(n *netruntime.Net, o Options) (netruntime.Session, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	state.Announce(o.Log, "", errNotBuilt)
	return n.NewSession(o.SessionOptions)
}

// NewNearest returns a search of points on the GPU, for o.Batch queries at a time, or nil if there is none.
func NewNearest(p *netruntime.Points, o Options) (netruntime.Nearest, error) {
	if err := errors.Join(o.setDefaults(), checkPoints(p, o.Batch)); err != nil {
		return nil, err
	}
	state.Announce(o.Log, "", errNotBuilt)
	return nil, nil
}

// Device returns the name of the GPU that sessions run on, or an error that says why there is none.
func Device() (string, error) { return "", errNotBuilt }

// Fallbacks returns the number of runs that the processor has computed because the GPU was lost.
func Fallbacks() int64 { return 0 }
