// Package horse is a shipped character: a horse that goals steer, as networks that have learned its clips, with its
// weights embedded.
//
// The weights are in the public domain (CC0 1.0), like the clips: see models/LICENSES.md. The code is MIT.
package horse

import (
	_ "embed" // the weights
	"sync"

	"mannequin/animsys/matching"
)

//go:embed horse.character
var file []byte

var open = sync.OnceValues(func() (*matching.File, error) { return matching.DecodeFile(file) })

// Open returns the character. It is decoded once and shared.
func Open() (*matching.File, error) { return open() }
