//go:build !race

package main

import (
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/internal/testing/golden"
)

// A dwarf, a person, a giant and a toy after three seconds.
func TestGolden(t *testing.T) {
	yard, err := newYard(grown)
	if err != nil && strings.Contains(err.Error(), "render offscreen") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer yard.close()
	picture, err := yard.walk(3 * animsys.TickRate)
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, picture, "sizes")
}
