// Package hero is a shipped character: a person who obeys a player at once, as networks that have learned recordings, with its
// weights embedded. See docs/person.md.
//
// The weights are MIT; the notices of the recordings that they have learned are in models/LICENSES.md.
package hero

import (
	_ "embed" // the weights
	"sync"

	"mannequin/animsys/matching"
)

//go:embed hero.character
var file []byte

var open = sync.OnceValues(func() (*matching.File, error) { return matching.DecodeFile(file) })

// Open returns the character. It is decoded once and shared.
func Open() (*matching.File, error) { return open() }
