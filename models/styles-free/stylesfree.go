// Package stylesfree is the shipped database of styles: people who walk, run and
// stand in eight styles, made from rules by offline/procgen/human, embedded. It is
// what animsys/mar translates motion with.
//
// The data are in the public domain (CC0 1.0): see models/LICENSES.md. The code is
// MIT. They are made again, to the same bytes on the same family of processors, by
//
//	mannequin style build --free --half --out models/styles-free/styles-free.safetensors
package stylesfree

import (
	_ "embed" // the takes
	"fmt"
	"sync"

	"mannequin/animsys/mar"
)

//go:embed styles-free.safetensors
var file []byte

var open = sync.OnceValues(func() (*mar.Database, error) {
	db, err := mar.Decode(file)
	if err != nil {
		return nil, fmt.Errorf("models/styles-free: %w", err)
	}
	return db, nil
})

// Open returns the database. It is decoded once, which takes a second or two, and
// shared.
func Open() (*mar.Database, error) { return open() }
