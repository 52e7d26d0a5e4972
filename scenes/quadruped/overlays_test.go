package quadruped

import (
	"testing"

	"mannequin/engine/hud"
	"mannequin/scenes/internal/testoverlay"
	"mannequin/scenes/world"
)

func TestOverlays(t *testing.T) {
	testoverlay.Check(t, open(t, world.Options{Agents: 5, Workers: 1}), hud.AllOverlays&^hud.Times)
}
