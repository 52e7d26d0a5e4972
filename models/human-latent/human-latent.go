// Package humanlatent is the network that generates a second of people's motion from a few latent
// values, trained on recordings of the CMU Graphics Lab Motion Capture Database, with its weights
// embedded.
//
// Code and weights are MIT: see models/LICENSES.md.
package humanlatent

import (
	_ "embed" // the weights

	"mannequin/netruntime"
)

//go:embed human-latent.safetensors
var weights []byte

var open = netruntime.Embedded("models/human-latent", weights)

// Open returns the network. It is decoded once and shared.
func Open() (*netruntime.Net, error) { return open() }
