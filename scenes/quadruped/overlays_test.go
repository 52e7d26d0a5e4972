package quadruped

import (
	"testing"

	"mannequin/engine/hud"
	"mannequin/scenes/internal/testmarks"
)

func TestOverlays(t *testing.T) {
	testmarks.Check(t, open(t, Options{Herd: 5, Workers: 1}), hud.AllOverlays&^hud.Times)
}
