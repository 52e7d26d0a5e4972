package dataset

import (
	"math"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// steps is the track of a body that goes ahead at the given speed, m/s, with its
// four tips swinging for the last share of every period, in frames, each tip a
// quarter of a period after the one before; before frame from it stands.
func steps(l *feature.MANN, frames, from int, period, swing, speed float64) *track {
	n := len(l.Joints)
	t := &track{n: frames, joints: n, roots: make([]ground, frames), pos: make([]m3.Vec3, frames*n)}
	tip := map[string]float64{}
	for k, name := range l.Tips {
		tip[name] = float64(k) / 4
	}
	for f := range frames {
		gone := max(0, float64(f-from)) / period // periods
		for j, name := range l.Joints {
			z, y := gone, 0.3
			if at, ok := tip[name]; ok {
				whole, part := math.Modf(gone + 1 - at)
				lift := max(0, (part-(1-swing))/swing)
				z, y = whole-1+lift, 0.1*math.Sin(math.Pi*lift)
				if gone == 0 {
					z, y = 0, 0
				}
			}
			t.pos[f*n+j] = m3.V(0, float32(y), float32(z*speed*period/fps))
		}
	}
	return t
}

// A phase goes round once per step, always on, in each tip as in the one before a
// quarter of a period earlier, whatever the tempo and the share of the swing, with
// 0 in the middle of a swing. A standing tip has none.
func TestPhasesOfSteps(t *testing.T) {
	l := feature.Dog()
	l.Phases = true
	for _, c := range []struct{ period, swing, speed float64 }{{60, 0.35, 0.5}, {40, 0.45, 1.1}, {28, 0.6, 2}} {
		const frames, from, first, last = 600, 200, 300, 480
		tr := steps(l, frames, from, c.period, c.swing, c.speed)
		tr.step(l)
		at := func(f, tip int) (amplitude, angle float64) {
			p := tr.phases[(f*len(l.Tips)+tip)*feature.PhaseLen:]
			return math.Hypot(float64(p[0]), float64(p[1])), math.Atan2(float64(p[1]), float64(p[0]))
		}
		for tip := range l.Tips {
			var round float64
			for f := first; f < last; f++ {
				r, a := at(f, tip)
				_, next := at(f+1, tip)
				step := math.Remainder(next-a, 2*math.Pi)
				if round += step; step <= 0 || r < 0.3 || r > 1 {
					t.Fatalf("period %g, frame %d, tip %d: amplitude %g, goes on by %g", c.period, f, tip, r, step)
				}
				if _, before := at(f-int(c.period/4*float64(tip)), 0); math.Abs(math.Remainder(a-before, 2*math.Pi)) > 0.2 {
					t.Fatalf("period %g, frame %d: tip %d has %g, the first a while before %g", c.period, f, tip, a, before)
				}
			}
			if want := 2 * math.Pi * (last - first) / c.period; math.Abs(round-want) > 0.1*want {
				t.Errorf("period %g, tip %d: went round by %g, want %g", c.period, tip, round, want)
			}
			if r, _ := at(from-90, tip); r > 0.1 {
				t.Errorf("period %g: a tip that stands has amplitude %g", c.period, r)
			}
			middle := from + int(c.period*(3+float64(tip)/4-c.swing/2))
			if _, a := at(middle, tip); math.Abs(a) > 0.35 {
				t.Errorf("period %g, tip %d: phase %g in the middle of a swing", c.period, tip, a)
			}
		}
	}
}
