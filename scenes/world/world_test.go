package world

import (
	"strings"
	"testing"

	"mannequin/terrain"
)

// Options without agents or a terrain get the scene's; wrong ones are refused.
func TestComplete(t *testing.T) {
	size := func(agents int) float32 { return SunflowerSize(agents, 10) }
	var opt Options
	if err := opt.Complete("test", 7, size); err != nil || opt.Agents != 7 || opt.Terrain == nil {
		t.Errorf("%+v, %v", opt, err)
	}
	far := &terrain.Field{}
	for want, opt := range map[string]Options{"test: -1 agents: want 1 to 4096": {Agents: -1}, "4097": {Agents: MaxAgents + 1}, "terrain": {Terrain: far}} {
		if err := opt.Complete("test", 1, size); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// Agents in a sunflower are apart from each other and within its size.
func TestSunflower(t *testing.T) {
	const n = 300
	for i := range n {
		at, _ := Sunflower(i)
		if 2*at.Len() > SunflowerSize(n, 0) {
			t.Errorf("agent %d is at %v", i, at)
		}
		for k := range i {
			if other, _ := Sunflower(k); at.Dist(other) < 1.2 {
				t.Errorf("agents %d and %d are %g m apart", i, k, at.Dist(other))
			}
		}
	}
}
