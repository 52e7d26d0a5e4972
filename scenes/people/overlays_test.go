package people

import (
	"testing"

	"mannequin/scenes/internal/marks"
	"mannequin/scenes/internal/testmarks"
)

func TestOverlays(t *testing.T) {
	testmarks.Check(t, open(t, Options{Agents: 5, Workers: 1}), marks.All)
}
