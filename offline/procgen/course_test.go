package procgen

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mannequin/engine/m3"
)

// In a curve a walking dog moves where it faces, within the bend of its body.
func TestCurvesGoAhead(t *testing.T) {
	var all float64
	const seeds = 12
	for seed := range uint64(seeds) {
		tl := newTimeline(rand.New(rand.NewPCG(seed, 17)), "Idle")
		tl.move("walk", 0.5, 0, 1, 4)
		tk := tl.finish("curve")
		pos, part := positions(tk), tk.Parts[0]
		var sum float64 // over whole strides, about: hips sway
		for f := part.From + 60; f < part.To; f++ {
			facing := m3.YawOf(pos[f][neck].Sub(pos[f][hips]))
			sum += wrapAngle(float64(facing - m3.YawOf(pos[f][hips].Sub(pos[f-1][hips]))))
		}
		lead := sum / float64(part.To-part.From-60)
		if all += lead / seeds; lead < rad(-12) || lead > rad(28) {
			t.Errorf("seed %d faces %.0f° into the curve", seed, lead*180/math.Pi)
		}
	}
	if t.Logf("faces %.1f° into the curve", all*180/math.Pi); all < 0 || all > rad(22) {
		t.Errorf("faces %.0f° into the curve on the average", all*180/math.Pi)
	}
}

// A leap's label is as long as a controller's command, and the paws leave the ground within it.
func TestLeapLabel(t *testing.T) {
	for seed := range uint64(8) {
		tl := newTimeline(rand.New(rand.NewPCG(seed, 19)), "Idle")
		tl.move("trot", 2, 0, 0, 1)
		tl.jump(2.4, 0.18)
		tl.move("trot", 2, 0, 0, 1)
		tk := tl.finish("leap")
		ranges := tk.Labels().Segments["Jump"]
		if len(ranges) != 1 || ranges[0][1]-ranges[0][0]+1 != 20 {
			t.Fatalf("seed %d: Jump from and to %v", seed, ranges)
		}
		pos, left := positions(tk), 0
		for f := ranges[0][0] - 20; f < ranges[0][1]+30; f++ {
			if left == 0 && !slices.ContainsFunc(tips[:], func(tip int) bool { return pos[f][tip].Y < 0.02 }) && pos[f][hips].Y > hipHeight {
				left = f
			}
		}
		if left < ranges[0][0] || left > ranges[0][1] {
			t.Errorf("seed %d leaves the ground at frame %d, its label is %v", seed, left, ranges[0])
		}
	}
}
