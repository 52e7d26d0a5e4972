package inbetween

import (
	"math"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// Each fault shows in its own figure, and the recording has the recording's figures.
func TestBodies(t *testing.T) {
	l, c := walk(t)
	score := func(spoil func(track *keypose.Track, f int)) (made, recorded Body) {
		s := must.Get(Even(l, feature.Human(), "walk", "spoilt", c, 1, func(track *keypose.Track) error {
			track.Interpolate()
			track.SetClip(c, 0, 1)
			for f := range track.Frames {
				spoil(track, f)
			}
			return nil
		}))(t)
		m, r := Bodies([]Score{s, s})
		return m[Walk], r[Walk]
	}
	made, recorded := score(func(*keypose.Track, int) {})
	if made != recorded || made.Frames < 100 || made.Bounce < 1 || made.HipsJerk <= 0 || made.ToeSpeed <= 0 || made.HandIn != 0 || made.Below != 0 {
		t.Fatalf("the recording itself: %+v, want %+v", made, recorded)
	}
	turn := func(joint string, by m3.Quat) func(*keypose.Track, int) {
		return func(track *keypose.Track, f int) {
			for i, j := range l.Joints {
				if l.Skel.Names[j] == joint {
					track.Rot[f*len(l.Joints)+i] = by
				}
			}
		}
	}
	for _, v := range []struct {
		name  string
		spoil func(*keypose.Track, int)
		of    func(b *Body) *float64
		least float64
		most  float64
	}{
		{"a straight leg", turn("LeftLeg", m3.Ident), func(b *Body) *float64 { return &b.Straight }, 0.5, 0.6},
		{"twice the bounce", func(track *keypose.Track, f int) { track.Height[f] += 0.05 * m3.Sin(float32(f)*2*math.Pi/30) },
			func(b *Body) *float64 { return &b.Bounce }, 6, 13},
		{"hips that shake", func(track *keypose.Track, f int) { track.Height[f] += 0.002 * float32(f%2) },
			func(b *Body) *float64 { return &b.HipsJerk }, 1600, 1900}, // 4·2 mm·60³
		{"in the floor", func(track *keypose.Track, f int) { track.Height[f] -= 0.1 },
			func(b *Body) *float64 { return &b.Below }, 1, 1},
		{"sliding", func(track *keypose.Track, f int) { track.Place[f].Pos.X += float32(f) / 60 },
			func(b *Body) *float64 { return &b.ToeSpeed }, 100, 200},
		{"a hand in the belly", func(track *keypose.Track, f int) {
			for _, joint := range []string{"LeftArm", "LeftForeArm"} { // down, and in
				turn(joint, m3.AxisAngle(m3.V(0, 0, 1), -math.Pi/2))(track, f)
			}
		},
			func(b *Body) *float64 { return &b.HandIn }, 0.9, 1},
	} {
		made, recorded := score(v.spoil)
		if got := *v.of(&made); !(got >= v.least && got <= v.most) || got <= *v.of(&recorded) {
			t.Errorf("%s: %g, recorded %g, want %g to %g", v.name, got, *v.of(&recorded), v.least, v.most)
		}
	}
}
