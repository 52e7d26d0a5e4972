// Package dogstride2 is the shipped dog for the far distance: a variant of models/dog that advances
// 2 ticks at a time, with its weights embedded (see mann.ControllerOptions.LOD).
//
// The weights are licensed CC BY-NC 4.0, not for commercial use, like the recordings: see
// models/LICENSES.md. The code is MIT.
package dogstride2

import (
	_ "embed" // the weights

	"mannequin/netruntime"
)

//go:embed dog-stride2.safetensors
var weights []byte

var open = netruntime.Embedded("models/dog-stride2", weights)

// Open returns the network. It is decoded once and shared.
func Open() (*netruntime.Net, error) { return open() }
