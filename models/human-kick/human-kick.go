// Package humankick is the network that generates kicks from the positions of the feet, trained on
// recordings of the CMU Graphics Lab Motion Capture Database, with its weights embedded.
//
// Code and weights are MIT: see models/LICENSES.md.
package humankick

import (
	_ "embed" // the weights

	"mannequin/netruntime"
)

//go:embed human-kick.safetensors
var weights []byte

var open = netruntime.Embedded("models/human-kick", weights)

// Open returns the network. It is decoded once and shared.
func Open() (*netruntime.Net, error) { return open() }
