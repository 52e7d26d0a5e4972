package human

import (
	"testing"

	"mannequin/engine/m3"
)

// Limbs do not go through each other: hands pass beside the thighs and one leg
// beside the other. Thighs are about 8 cm thick around their axis, shanks 5.
func TestApart(t *testing.T) {
	const thigh, shank = 0.06, 0.04 // m from the axis, in the sharpest turn
	takes, _ := round(t)
	b := newBody()
	for _, tk := range takes {
		m := model(tk)
		for f := range m {
			at := func(first, side, k int) m3.Vec3 { return m[f][[2][2]int{b.upLeg, b.shoulder}[first][side]+k].Pos }
			for side := range 2 {
				for k := 2; k <= 5; k++ { // elbow to fingertips
					for leg := range 2 {
						if d := fromSegment(at(1, side, k), at(0, leg, 0), at(0, leg, 1)); d < thigh {
							t.Fatalf("%s frame %d: arm %d is %.1f cm from the axis of thigh %d", tk.Name, f, side, 100*d, leg)
						}
					}
				}
				for k := 1; k <= 3; k++ { // knee, ankle, ball
					if d := fromSegment(at(0, side, k), at(0, 1-side, 1), at(0, 1-side, 2)); d < shank {
						t.Fatalf("%s frame %d: leg %d is %.1f cm from the axis of the other", tk.Name, f, side, 100*d)
					}
				}
			}
		}
	}
}

// fromSegment returns the distance of p from the segment ab.
func fromSegment(p, a, b m3.Vec3) float32 {
	d := b.Sub(a)
	return p.Dist(a.Add(d.Scale(m3.Clamp(p.Sub(a).Dot(d)/d.Dot(d), 0, 1))))
}
