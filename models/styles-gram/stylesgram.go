// Package stylesgram is the shipped styles of ecs.GramStyle on the manifold human, embedded: cold,
// drunk, hurried, limping, marching, relaxed, sneaking, stooped and striding, from the procedural
// people of offline/procgen/human.
//
// The styles are in the public domain (CC0 1.0); the code, the network human, whose hidden values
// they change, and the person hero, to whose poses their maps of single poses are fitted, are MIT: see
// models/LICENSES.md. This command makes the file again, which is due whenever human changes:
//
//	mannequin style transfer --free sneaking,stooped,striding,marching,drunk,limping,cold,hurried,relaxed --out models/styles-gram/styles-gram.safetensors
package stylesgram

import (
	_ "embed" // the styles
	"sync"

	"mannequin/animsys/manifold"
)

//go:embed styles-gram.safetensors
var file []byte

var open = sync.OnceValues(func() (*manifold.StyleSet, error) { return manifold.DecodeStyleSet(file) })

// Open returns the styles. They are decoded once and shared.
func Open() (*manifold.StyleSet, error) { return open() }
