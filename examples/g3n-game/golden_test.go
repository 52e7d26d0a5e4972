//go:build !race

package main

import (
	"strings"
	"testing"
	"time"

	"mannequin/animsys"
	"mannequin/engine/offscreen"
	"mannequin/internal/testing/golden"
)

// The game's yard after six seconds.
func TestGolden(t *testing.T) {
	screen, err := offscreen.Open(480, 270, 4)
	if err != nil {
		if strings.Contains(err.Error(), "render offscreen") {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	defer screen.Close()
	render := must(screen.Renderer())
	screen.GLS.ClearColor(0.10, 0.12, 0.20, 1)
	scene, cam, lantern := newScene()
	herd := newHerd(scene, lantern)
	for range 6 * animsys.TickRate {
		if err := herd.update(time.Second / animsys.TickRate); err != nil {
			t.Fatal(err)
		}
	}
	golden.Check(t, must(screen.Draw(render, scene, cam, nil)), "yard")
}
