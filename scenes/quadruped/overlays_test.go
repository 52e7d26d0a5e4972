package quadruped

import (
	"testing"

	"mannequin/scenes"
	"mannequin/scenes/internal/testmarks"
)

func TestOverlays(t *testing.T) {
	testmarks.Check(t, open(t, Options{Herd: 5, Workers: 1}), scenes.AllOverlays&^scenes.Times)
}
