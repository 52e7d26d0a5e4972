// Package humanpunch is the network that generates punches from the positions of the hands, trained
// on recordings of the CMU Graphics Lab Motion Capture Database, with its weights embedded.
//
// Code and weights are MIT: see models/LICENSES.md.
package humanpunch

import (
	_ "embed" // the weights

	"mannequin/netruntime"
)

//go:embed human-punch.safetensors
var weights []byte

var open = netruntime.Embedded("models/human-punch", weights)

// Open returns the network. It is decoded once and shared.
func Open() (*netruntime.Net, error) { return open() }
