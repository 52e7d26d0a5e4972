package strnn

import (
	"strings"
	"testing"

	"mannequin/scenes"
	"mannequin/scenes/internal/overlay"
	"mannequin/scenes/internal/testoverlay"
	"mannequin/scenes/world"
)

func TestOverlays(t *testing.T) {
	s := open(t, world.Options{Agents: 5, Workers: 1})
	testoverlay.Check(t, s, overlay.All)
	var f scenes.Frame
	s.Frame(&f, 1)
	testoverlay.Ring(t, &f) // around who is watched
	if len(f.HUD) != 1 || !strings.HasPrefix(f.HUD[0], "5 people; watching: person ") {
		t.Errorf("the HUD says %q", f.HUD)
	}
}
