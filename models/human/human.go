// Package human is the motion manifold of people: an autoencoder over time, trained on recordings
// of the CMU Graphics Lab Motion Capture Database, with its weights embedded.
//
// Code and weights are MIT: see models/LICENSES.md.
package human

import (
	_ "embed" // the weights

	"mannequin/netruntime"
)

//go:embed human.safetensors
var weights []byte

var open = netruntime.Embedded("models/human", weights)

// Open returns the network. It is decoded once and shared.
func Open() (*netruntime.Net, error) { return open() }
