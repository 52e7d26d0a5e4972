// Package humanstrnn is the network that continues people's motion and removes noise from it, with
// a guide for crowds, trained on recordings of CMU, O3DE and ReActIdle, with its weights embedded.
//
// Code and weights are MIT: see models/LICENSES.md.
package humanstrnn

import (
	_ "embed" // the weights

	"mannequin/netruntime"
)

//go:embed human-strnn.safetensors
var weights []byte

var open = netruntime.Embedded("models/human-strnn", weights)

// Open returns the network. It is decoded once and shared.
func Open() (*netruntime.Net, error) { return open() }
