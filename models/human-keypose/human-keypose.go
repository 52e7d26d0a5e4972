// Package humankeypose is the network that generates people's motion between key poses, trained on
// recordings of the CMU Graphics Lab Motion Capture Database, O3DE and ReActIdle, with its weights
// embedded.
//
// Code and weights are MIT: see models/LICENSES.md.
package humankeypose

import (
	_ "embed" // the weights

	"mannequin/netruntime"
)

//go:embed human-keypose.safetensors
var weights []byte

var open = netruntime.Embedded("models/human-keypose", weights)

// Open returns the network. It is decoded once and shared.
func Open() (*netruntime.Net, error) { return open() }
