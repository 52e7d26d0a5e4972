package procgen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/metrics"
	"mannequin/offline/procgen/internal/smooth"
)

// tips are the paws in the order of the legs.
var tips = [numLegs]int{leftHandSite, rightHandSite, leftFootSite, rightFootSite}

// positions returns the world places of all joints in every frame of a take.
func positions(tk *Take) [][numJoints]m3.Vec3 {
	out := make([][numJoints]m3.Vec3, tk.Clip.Frames)
	model := make([]m3.Xform, numJoints)
	for f := range out {
		tk.Clip.Model(model, f)
		for j := range model {
			out[f][j] = model[j].Pos
		}
	}
	return out
}

// stands reports whether a paw is on the ground and still at frame f, from its motion.
func stands(pos [][numJoints]m3.Vec3, leg, f int) bool {
	p := pos[f][tips[leg]]
	return p.Y < 1e-3 && f > 0 && p.Dist(pos[f-1][tips[leg]]) < 5e-4
}

// straight makes a clip that moves straight at a speed, and returns it with that part.
func straight(name string, speed float64, lead int, seed uint64) (*Take, Part) {
	tl := newTimeline(rand.New(rand.NewPCG(seed, 1)), "Idle")
	tl.idle(0.5)
	if name == "canter" {
		tl.move("trot", 2.3, 0, 0, 0.3)
		// The curve before chooses the lead.
		tl.move("canter", speed, 0, 0.3*float64(lead), 0.3)
	}
	tl.move(name, speed, 0, 0, 6)
	tk := tl.finish(name)
	p := tk.Parts[len(tk.Parts)-1]
	p.To -= 20 // the clip's end cuts the last strides
	return tk, p
}

// footfall is the footfall of a stretch: strides per second, and of each leg the duty factor and
// the phase of its touchdown after the left hind leg's.
type footfall struct {
	rate        float64
	duty, phase [numLegs]float64
	flight      float64 // share of time with no paw on the ground
	speed       float64 // of the hips
}

func footfalls(t *testing.T, pos [][numJoints]m3.Vec3, p Part) footfall {
	t.Helper()
	var down [numLegs][]float64
	var ff footfall
	var on [numLegs]int
	none := 0
	for f := p.From; f < p.To; f++ {
		any := false
		for leg := range numLegs {
			now := stands(pos, leg, f)
			any = any || now
			if now {
				on[leg]++
			}
			if now && !stands(pos, leg, f-1) {
				down[leg] = append(down[leg], float64(f))
			}
		}
		if !any {
			none++
		}
	}
	n := float64(p.To - p.From)
	ff.flight = float64(none) / n
	lh := down[leftHind]
	if len(lh) < 4 {
		t.Fatalf("%s: the left hind paw comes down %d times", p.Name, len(lh))
	}
	period := (lh[len(lh)-1] - lh[0]) / float64(len(lh)-1)
	ff.rate = fps / period
	for leg := range numLegs {
		ff.duty[leg] = float64(on[leg]) / n
		// The mean on the circle.
		var s, c float64
		for _, d := range down[leg] {
			i := 0
			for i+1 < len(lh) && lh[i+1] <= d {
				i++
			}
			a := smooth.Tau * (d - lh[i]) / period
			s, c = s+math.Sin(a), c+math.Cos(a)
		}
		ff.phase[leg] = wrap01(math.Atan2(s, c) / smooth.Tau)
	}
	a, b := pos[p.From][hips], pos[p.To-1][hips]
	ff.speed = float64(b.Sub(a).Flat().Len()) / (n - 1) * fps
	return ff
}

// gaitName returns the gait that package metrics finds in a stretch.
func gaitName(t *testing.T, tk *Take, p Part) string {
	t.Helper()
	ff := must.Get(metrics.FootfallOf(tk.Clip.Section(p.From, p.To)))(t)
	return ff.Name()
}

// apart is the distance of two phases.
func apart(a, b float64) float64 { return math.Abs(wrap(a - b)) }

// Duty factor and lag tell symmetrical gaits apart (Hildebrand 1965). A walk has feet down for more
// than half of the stride, and fore feet follow hind feet by a quarter (lateral sequence). In a
// pace the two of a side go almost together (lateral couplets), in a trot diagonal ones.
func TestSymmetricalGaits(t *testing.T) {
	for _, g := range []struct {
		name   string
		speeds []float64
		lag    [2]float64
		duty   [2]float64
		flies  float64 // the speed from which there is a moment without a paw on the ground
	}{
		{"walk", []float64{0.35, 0.5, 0.75}, [2]float64{0.20, 0.30}, [2]float64{0.55, 0.78}, 9},
		{"pace", []float64{0.85, 1.1, 1.45}, [2]float64{0.05, 0.15}, [2]float64{0.42, 0.64}, 9},
		{"trot", []float64{1.55, 1.9, 2.55}, [2]float64{0.45, 0.55}, [2]float64{0.30, 0.53}, 1.5},
	} {
		for i, speed := range g.speeds {
			t.Run(fmt.Sprint(g.name, "=", speed), func(t *testing.T) {
				tk, part := straight(g.name, speed, 0, uint64(i))
				ff := footfalls(t, positions(tk), part)
				t.Logf("%+v", ff)
				if n := gaitName(t, tk, part); n != g.name {
					t.Errorf("package metrics takes it for: %s", n)
				}
				if math.Abs(ff.speed/speed-1) > 0.04 {
					t.Errorf("goes at %.2f m/s", ff.speed)
				}
				if d := apart(ff.phase[rightHind], 0.5); d > 0.04 {
					t.Errorf("hind feet are %.2f strides apart", ff.phase[rightHind])
				}
				if d := apart(ff.phase[rightFore]-ff.phase[leftFore], 0.5); d > 0.04 {
					t.Errorf("fore feet land at %.2f and %.2f", ff.phase[leftFore], ff.phase[rightFore])
				}
				if l := ff.phase[leftFore]; l < g.lag[0] || l > g.lag[1] {
					t.Errorf("lag %.2f, want %v", l, g.lag)
				}
				for leg, d := range ff.duty {
					if d < g.duty[0] || d > g.duty[1] {
						t.Errorf("leg %d is down for %.2f of the stride, want %v", leg, d, g.duty)
					}
				}
				if (ff.flight > 0.02) != (speed >= g.flies) {
					t.Errorf("no paw is down for %.3f of the time", ff.flight)
				}
				if ff.rate < 0.8 || ff.rate > 2.8 {
					t.Errorf("%.2f strides per second", ff.rate)
				}
			})
		}
	}
}

// A canter has three beats, trailing hind foot, the other with the fore foot
// across, leading fore foot, and then a flight.
func TestCanter(t *testing.T) {
	for i, speed := range []float64{2.7, 3.3, 3.9} {
		for _, lead := range []int{-1, 1} {
			t.Run(fmt.Sprint(speed, " ", lead), func(t *testing.T) {
				tk, part := straight("canter", speed, lead, uint64(i))
				ff := footfalls(t, positions(tk), part)
				t.Logf("%+v", ff)
				if n := gaitName(t, tk, part); n != "canter" {
					t.Errorf("package metrics takes it for: %s", n)
				}
				trail, hind, across, fore := leftHind, rightHind, leftFore, rightFore
				if lead > 0 { // to the left
					trail, hind, across, fore = rightHind, leftHind, rightFore, leftFore
				}
				at := func(leg int) float64 { return wrap01(ff.phase[leg] - ff.phase[trail]) }
				if apart(at(hind), at(across)) > 0.04 {
					t.Errorf("the diagonal pair lands at %.2f and %.2f", at(hind), at(across))
				}
				if !(0.2 < at(hind) && at(hind) < 0.35 && at(across)+0.15 < at(fore) && at(fore) < 0.7) {
					t.Errorf("beats at 0, %.2f, %.2f", at(hind), at(fore))
				}
				if ff.flight < 0.03 || ff.flight > 0.35 {
					t.Errorf("in flight for %.2f of the time", ff.flight)
				}
				if math.Abs(ff.speed/speed-1) > 0.04 {
					t.Errorf("goes at %.2f m/s", ff.speed)
				}
				for leg, d := range ff.duty {
					if d < 0.17 || d > 0.42 {
						t.Errorf("leg %d is down for %.2f of the stride", leg, d)
					}
				}
			})
		}
	}
}

// Faster motion has more strides per second, lower duty factors, and no leg that runs backward.
func TestSpeedsAndRates(t *testing.T) {
	last := footfall{rate: 0, duty: [numLegs]float64{1, 1, 1, 1}}
	for _, c := range []struct {
		name  string
		speed float64
	}{{"walk", 0.4}, {"walk", 0.75}, {"pace", 1.1}, {"trot", 1.9}, {"canter", 3.3}} {
		tk, part := straight(c.name, c.speed, 1, 3)
		ff := footfalls(t, positions(tk), part)
		if ff.rate <= last.rate || ff.duty[leftHind] >= last.duty[leftHind] {
			t.Errorf("%s at %g m/s: %.2f strides per second, down for %.2f; slower: %.2f, %.2f", c.name, c.speed, ff.rate, ff.duty[leftHind], last.rate, last.duty[leftHind])
		}
		last = ff
	}
	for seed := range uint64(20) {
		tl := newTimeline(rand.New(rand.NewPCG(seed, 7)), "Idle")
		gaitsRound(tl)
		jumpRound(tl)
		for leg := range numLegs {
			for f := 1; f < len(tl.phase); f++ {
				own := func(f int) float64 { return tl.phase[f] - tl.land[leg].at(float64(f)/fps) }
				if own(f) <= own(f-1) {
					t.Fatalf("seed %d: leg %d runs backward at frame %d", seed, leg, f)
				}
			}
		}
	}
}

// From a stand the hind paw behind steps first, then its side's fore paw: a visible choice.
func TestSetsOff(t *testing.T) {
	for _, name := range []string{"walk", "pace", "trot"} {
		for seed := range uint64(6) {
			tl := newTimeline(rand.New(rand.NewPCG(seed, 11)), "Idle")
			tl.idle(2)
			start := tl.frame()
			tl.move(name, speeds[name][0], 0, 0, 1.5)
			pos := positions(tl.finish("start"))
			ahead := pos[start][neck].Sub(pos[start][hips]).Flat()
			first := rightHind
			if pos[start][leftFootSite].Sub(pos[start][rightFootSite]).Dot(ahead) < 0 {
				first = leftHind
			}
			var order []int
			for f := start - 12; f < start+60; f++ {
				for leg := range numLegs {
					if pos[f][tips[leg]].Y > 0.005 && !slices.Contains(order, leg) {
						order = append(order, leg)
					}
				}
			}
			if len(order) < 2 || order[0] != first || name == "walk" && order[1] != first-leftHind {
				t.Errorf("%s, seed %d: legs leave the ground in the order %v, the hind leg behind is %d", name, seed, order, first)
			}
		}
	}
}
