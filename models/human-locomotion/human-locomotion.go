// Package humanlocomotion is the network that makes people walk and run, trained on recordings of
// CMU, O3DE and ReActIdle, with its weights embedded.
//
// Code and weights are MIT: see models/LICENSES.md.
package humanlocomotion

import (
	_ "embed" // the weights

	"mannequin/netruntime"
)

//go:embed human-locomotion.safetensors
var weights []byte

var open = netruntime.Embedded("models/human-locomotion", weights)

// Open returns the network. It is decoded once and shared.
func Open() (*netruntime.Net, error) { return open() }
