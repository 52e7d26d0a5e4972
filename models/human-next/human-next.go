// Package humannext is the network that predicts the next clip of human-latent, trained on
// recordings of the CMU Graphics Lab Motion Capture Database, with its weights embedded.
//
// Code and weights are MIT: see models/LICENSES.md.
package humannext

import (
	_ "embed" // the weights

	"mannequin/netruntime"
)

//go:embed human-next.safetensors
var weights []byte

var open = netruntime.Embedded("models/human-next", weights)

// Open returns the network. It is decoded once and shared.
func Open() (*netruntime.Net, error) { return open() }
