// Package humanfootstep is the network that predicts people's foot contacts, trained on recordings
// of CMU, O3DE and ReActIdle, with its weights embedded.
//
// Code and weights are MIT: see models/LICENSES.md.
package humanfootstep

import (
	_ "embed" // the weights

	"mannequin/netruntime"
)

//go:embed human-footstep.safetensors
var weights []byte

var open = netruntime.Embedded("models/human-footstep", weights)

// Open returns the network. It is decoded once and shared.
func Open() (*netruntime.Net, error) { return open() }
