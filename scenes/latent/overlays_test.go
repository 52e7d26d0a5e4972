package latent

import (
	"testing"

	"mannequin/engine/hud"
	"mannequin/internal/testing/testlatent"
	"mannequin/scenes"
	"mannequin/scenes/internal/overlay"
	"mannequin/scenes/internal/testoverlay"
	"mannequin/scenes/world"
)

func TestOverlays(t *testing.T) {
	m, next := testlatent.Shipped(t)
	testoverlay.Check(t, open(t, Options{Options: world.Options{Workers: 1}, Model: m}), overlay.All)
	s := open(t, Options{Options: world.Options{Workers: 1, Agents: 3}, Model: m, Next: next})
	testoverlay.Check(t, s, overlay.All)
	var f scenes.Frame
	f.Show = hud.Skeletons
	s.Frame(&f, 1)
	if got, want := len(f.Lines), 4*(m.Skel.Len()-1); got != want {
		t.Errorf("%d bones, want %d, those of the others too", got, want)
	}
}
