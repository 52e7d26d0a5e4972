// Package dog is the shipped dog: a mode-adaptive network trained on motion capture of a real dog,
// with its weights embedded.
//
// The weights are licensed CC BY-NC 4.0, not for commercial use, like the recordings: see
// models/LICENSES.md. The code is MIT.
package dog

import (
	_ "embed" // the weights

	"mannequin/netruntime"
)

//go:embed dog.safetensors
var weights []byte

var open = netruntime.Embedded("models/dog", weights)

// Open returns the network. It is decoded once and shared.
func Open() (*netruntime.Net, error) { return open() }
