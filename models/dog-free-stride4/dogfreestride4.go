// Package dogfreestride4 is the free dog for the far distance: a variant of models/dog-free that
// advances 4 ticks at a time, with its weights embedded (see mann.ControllerOptions.LOD).
//
// The weights are in the public domain (CC0 1.0): see models/LICENSES.md. The code is MIT.
package dogfreestride4

import (
	_ "embed" // the weights

	"mannequin/netruntime"
)

//go:embed dog-free-stride4.safetensors
var weights []byte

var open = netruntime.Embedded("models/dog-free-stride4", weights)

// Open returns the network. It is decoded once and shared.
func Open() (*netruntime.Net, error) { return open() }
