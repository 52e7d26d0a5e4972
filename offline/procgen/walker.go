package procgen

import (
	"math"

	"mannequin/engine/m3"
	"mannequin/offline/procgen/internal/smooth"
)

// walker turns a timeline into poses.
type walker struct {
	tl          *timeline
	frames      int
	end         float64       // time of the last frame, s
	place       []groundFrame // under the hips, per frame
	feet        [numLegs][]stance
	cursor      [numLegs]int       // the last stance used, per leg
	sink        [2][]float64       // of hips and chest per frame, for standing legs to reach the ground
	pull        [numLegs][]float64 // of paws in the air toward the leg's root, per frame
	drift       [9]smooth.Noise    // weight shifts: sway, ahead, yaw, roll, head, neck, back, hips, chest
	wag         smooth.Noise
	tailSprings [2]spring // the tail's yaw and pitch
}

// groundFrame is a place on the ground and a heading.
type groundFrame struct{ x, z, yaw float64 }

// apply returns the point left and ahead of g in the world.
func (g groundFrame) apply(left, ahead float64) m3.Vec3 {
	s, c := math.Sincos(g.yaw)
	return m3.V(float32(g.x+left*c+ahead*s), 0, float32(g.z-left*s+ahead*c))
}

func newWalker(tl *timeline) *walker {
	w := &walker{tl: tl, frames: len(tl.phase)}
	w.end = float64(w.frames-1) / fps
	for i := range w.drift {
		w.drift[i] = smooth.NewNoise(tl.rng, tl.uniform(0.12, 0.3))
	}
	w.course()
	for leg := range w.feet {
		w.feet[leg] = w.footholds(leg, tl.schedule(leg))
	}
	w.fitHeights()
	return w
}

// course integrates speed and turn, about the pivot, into the frames under the hips. On the spot a
// body turns about its middle. In a walk the hips follow the heading, like the rear wheels of a
// cart, so that curves need no steps aside.
func (w *walker) course() {
	const sub = 4      // steps per frame
	const walks = 0.15 // m/s at which both count equally
	pivot := w.tl.style.pivot
	at := groundFrame{yaw: w.tl.uniform(-math.Pi, math.Pi)}
	for f := range w.frames {
		w.place = append(w.place, at)
		for k := range sub {
			t := (float64(f) + (float64(k)+0.5)/sub) / fps
			const dt = 1.0 / (fps * sub)
			turn := w.tl.turn.at(t)
			s, c := math.Sincos(at.yaw + turn*dt/2)
			v, l := w.tl.ahead.at(t), w.tl.side.at(t)
			still := 1 / (1 + v*v/(walks*walks))
			l -= turn * (pivot[1] + (pivot[0]-pivot[1])*still)
			at.x += (v*s + l*c) * dt
			at.z += (v*c - l*s) * dt
			at.yaw += turn * dt
		}
	}
}

// placeAt returns the frame under the hips at a time within the clip.
func (w *walker) placeAt(t float64) groundFrame {
	x := min(max(t*fps, 0), float64(w.frames-1))
	i := min(int(x), w.frames-2)
	u := x - float64(i)
	a, b := w.place[i], w.place[i+1]
	return groundFrame{a.x + u*(b.x-a.x), a.z + u*(b.z-a.z), a.yaw + u*(b.yaw-a.yaw)}
}

func (w *walker) param(k int, t float64) float64 { return w.tl.params[k].at(t) }

// bend returns the bend of the trunk into the turn, to the left, at time t, radians.
func (w *walker) bend(t float64) float64 {
	return 0.42 * math.Tanh(w.tl.turn.at(t))
}

// Where the paws stand, in the frame under the hips.
const (
	foreHome = 0.405 // m ahead
	hindHome = -0.05
	foreHalf = 0.075 // m outward
	hindHalf = 0.060
)

// home returns the best place of a leg's paw at time t.
func (w *walker) home(leg int, t float64) m3.Vec3 {
	g := w.placeAt(t)
	if isFore(leg) {
		g.yaw += 0.45 * w.bend(t)
		return g.apply(sideOf(leg)*(foreHalf+w.param(foreOut, t)), foreHome+w.param(foreAhead, t)+0.4*sideOf(leg)*w.param(stagger, t))
	}
	return g.apply(sideOf(leg)*(hindHalf+w.param(hindOut, t)), hindHome+w.param(hindAhead, t)+sideOf(leg)*w.param(stagger, t))
}
