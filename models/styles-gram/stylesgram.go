// Package stylesgram is the shipped styles of ecs.GramStyle on the manifold human: stooped,
// striding and sneaking, from recordings of the CMU Graphics Lab Motion Capture Database, embedded.
//
// Code and styles are MIT: see models/LICENSES.md. This command makes the file again:
//
//	mannequin style transfer stooped:0.5=data/cmu-actions/06_06.bvh striding=data/cmu-locomotion/08_05.bvh sneaking=data/cmu-locomotion/daz43_143_04.bvh@3.2:7.6 --out models/styles-gram/styles-gram.safetensors
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
