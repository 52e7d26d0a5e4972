package latent

import (
	"testing"

	"mannequin/engine/hud"
	"mannequin/internal/testing/testlatent"
	"mannequin/scenes"
	"mannequin/scenes/internal/marks"
	"mannequin/scenes/internal/testmarks"
)

func TestOverlays(t *testing.T) {
	m, next := testlatent.Shipped(t)
	testmarks.Check(t, open(t, Options{Model: m, Workers: 1}), marks.All)
	s := open(t, Options{Model: m, Workers: 1, Agents: 3, Next: next})
	testmarks.Check(t, s, marks.All)
	var f scenes.Frame
	f.Show = hud.Skeletons
	s.Frame(&f, 1)
	if got, want := len(f.Lines), 4*(m.Skel.Len()-1); got != want {
		t.Errorf("%d bones, want %d, those of the others too", got, want)
	}
}
