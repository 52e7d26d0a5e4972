// Package dogfree is the shipped dog that is free for any use: a mode-adaptive network trained on
// the procedural motion of offline/procgen, with its weights embedded.
//
// The weights are in the public domain (CC0 1.0): see models/LICENSES.md. The code is MIT.
package dogfree

import (
	_ "embed" // the weights

	"mannequin/netruntime"
)

//go:embed dog-free.safetensors
var weights []byte

var open = netruntime.Embedded("models/dog-free", weights)

// Open returns the network. It is decoded once and shared.
func Open() (*netruntime.Net, error) { return open() }
