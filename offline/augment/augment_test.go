package augment

import (
	"math"
	"reflect"
	"slices"
	"testing"

	arche "github.com/mlange-42/arche/ecs"

	"mannequin/animsys/matching"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"
)

// Most wishes to go aside or backward are as slow as the clips that do so; wishes to go ahead are as fast as the clips.
func TestWishes(t *testing.T) {
	db := testmatching.Dogs(t)
	p := newPlayer(db, arche.Entity{}, Options{Seed: 1}, 0)
	var aside, slow, fast, all int
	for range 4000 {
		p.wish()
		v := p.velocity.Len()
		switch {
		case v == 0:
		case p.velocity.Dot(p.face) < 0.7*v:
			if aside++; v <= p.speeds[len(p.speeds)/2]*1.001 {
				slow++
			}
		default:
			if all++; v > p.speeds[len(p.speeds)-1] {
				fast++
			}
		}
	}
	if aside < 300 || slow < aside*6/10 || slow > aside*95/100 || fast < all/20 {
		t.Errorf("of %d wishes to go aside %d are slow; of %d to go ahead %d are fast", aside, slow, all, fast)
	}
}

// Agents stand, walk and run about, turn to all sides, and show the actions that are asked for. Equal input gives equal clips.
func TestPlay(t *testing.T) {
	db := testmatching.Dogs(t)
	opt := Options{Seconds: 120, Actions: []string{"sit"}, Seed: 3}
	clips := must.Get(Play(db, opt))(t)
	var seconds, turned float64
	slow, fast, shown := 0, 0, map[string]int{}
	for _, c := range clips {
		n := c.Motion.Frames
		if len(c.Roots) != n || len(c.Actions) != n || c.HeldOut {
			t.Fatalf("%d frames, %d roots, %d actions", n, len(c.Roots), len(c.Actions))
		}
		seconds += c.Motion.Seconds()
		for f := 1; f < n; f++ {
			switch v := c.Roots[f].Pos.Dist(c.Roots[f-1].Pos) * float32(c.Motion.FPS); {
			case v < 0.1:
				slow++
			case v > db.Speeds(5)[3]:
				fast++
			}
			turned = max(turned, math.Abs(float64(c.Roots[f].Yaw)))
		}
		for _, a := range c.Actions {
			shown[a]++
		}
	}
	frames := int(60 * seconds)
	if math.Abs(seconds-opt.Seconds) > 1 || slow < frames/20 || fast < frames/20 || turned < 3 {
		t.Errorf("%g s: %d frames are slow, %d fast, of %d; they turn by %g rad", seconds, slow, fast, frames, turned)
	}
	if len(shown) != 3 || shown["idle"] == 0 || shown["move"] == 0 || shown["sit"] < frames/50 {
		t.Errorf("they show %v", shown)
	}
	if again := must.Get(Play(db, opt))(t); !reflect.DeepEqual(clips[0].Roots, again[0].Roots) || !slices.Equal(clips[5].Motion.Rot, again[5].Motion.Rot) {
		t.Error("the same seed plays otherwise")
	}
	for _, bad := range []*matching.Database{new(matching.Database), db} {
		if _, err := Play(bad, Options{}); err == nil {
			t.Error("nothing is played")
		}
	}
}
