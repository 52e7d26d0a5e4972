package inbetween

import (
	"math"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/procgen/human"
)

// walk returns a walk made from rules, and its layouts.
func walk(t *testing.T) (*keypose.Layout, *skel.Clip) {
	t.Helper()
	takes, _ := must.Get2(human.Generate(human.Options{Seed: 1, Minutes: 0.2, Styles: []string{"neutral"}, Workers: 1}))(t)
	for _, take := range takes {
		if take.Content == "walk-straight" {
			l := must.Get(keypose.NewLayout(take.Clip.Skel))(t)
			return l, take.Clip
		}
	}
	t.Fatal("no walk is made")
	return nil, nil
}

// The recording has no error and its own steps. Interpolation meets its keys, and loses steps.
func TestEven(t *testing.T) {
	l, c := walk(t)
	truth := func(track *keypose.Track) error {
		track.Interpolate()
		track.SetClip(c, 0, 1)
		return nil
	}
	s := must.Get(Even(l, feature.Human(), "walk", "truth", c, 1, truth))(t)
	if s.Joints > 1e-3 || s.Root > 1e-3 || s.Yaw > 0.05 || s.Hit > 1e-3 || !s.StepsRight || s.Steps != s.TrueSteps || s.TrueSteps < 4 || s.Skate != s.TrueSkate {
		t.Errorf("the recording itself: %+v", s)
	}
	s = must.Get(Even(l, feature.Human(), "walk", "interpolation", c, 1, Interpolate))(t)
	if s.Joints < 1 || s.Hit > 1e-3 || s.Skate < 2*s.TrueSkate {
		t.Errorf("interpolation: %+v", s)
	}
	if _, err := Even(l, feature.Human(), "walk", "interpolation", c, 1e4, Interpolate); err == nil {
		t.Error("one key is enough")
	}
	// A motion 3 cm too far to the left, except at its keys.
	aside := func(track *keypose.Track) error {
		track.Interpolate()
		track.SetClip(c, 0, 1)
		for f := range track.Place {
			if f%60 != 0 {
				track.Place[f].Pos = track.Place[f].Pos.Add(m3.YawQuat(track.Place[f].Yaw).Rotate(m3.V(0.03, 0, 0)))
			}
		}
		return nil
	}
	s = must.Get(Even(l, feature.Human(), "walk", "aside", c, 1, aside))(t)
	if math.Abs(s.Joints-3) > 0.01 || math.Abs(s.Root-3) > 0.01 || s.Hit > 1e-3 {
		t.Errorf("3 cm aside: %+v", s)
	}
}

// A growing error is larger in the last second, a constant one is not. Tilts hide no heading.
func TestDrift(t *testing.T) {
	l, c := walk(t)
	long := skel.NewClip(c.Skel, c.FPS, 661)
	for f := range long.Frames {
		pos, rot := c.Frame(f % c.Frames)
		p, r := long.Frame(f)
		copy(p, pos)
		copy(r, rot)
	}
	const rad = 180 / math.Pi
	for _, v := range []struct {
		name                   string
		spoil                  func(t *keypose.Track, f int)
		drift, turn, any, anyT float64
	}{
		{"none", func(*keypose.Track, int) {}, 0, 0, 0, 0},
		{"grows", func(t *keypose.Track, f int) {
			t.Place[f].Yaw += 0.0002 * float32(f)
			t.Place[f].Pos.X += 0.0001 * float32(f)
		}, 6.3, 0.1262 * rad, 3.3, 0.0662 * rad},
		{"stays", func(t *keypose.Track, f int) {
			t.Place[f].Yaw -= 0.05
			t.Place[f].Pos.Z += 0.02
		}, 2, 0.05 * rad, 2, 0.05 * rad},
		{"trembles", func(t *keypose.Track, f int) { t.Place[f].Yaw += 0.05 * float32(f%3-1) }, 0, 0, 0, 0},
		{"in the tilt", func(t *keypose.Track, f int) {
			i := f * len(t.Layout.Joints)
			t.Rot[i] = m3.YawQuat(0.05).Mul(t.Rot[i])
		}, 0, 0.05 * rad, 0, 0.05 * rad},
	} {
		s, err := Even(l, feature.Human(), "walk", v.name, long, 1, func(track *keypose.Track) error {
			track.Interpolate()
			track.SetClip(long, 0, 1)
			for f := range track.Frames {
				v.spoil(track, f)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range []float64{s.Drift, s.Turn, s.AnyDrift, s.AnyTurn} {
			if want := []float64{v.drift, v.turn, v.any, v.anyT}[i]; math.Abs(got-want) > 0.02*want+0.1 {
				t.Errorf("%s: figure %d is %g, want %g", v.name, i, got, want)
			}
		}
	}
}

// Walking backward is recognised.
func TestAside(t *testing.T) {
	l, c := walk(t)
	forward, backward := l.NewTrack(c.Frames, 60), l.NewTrack(c.Frames, 60)
	forward.SetClip(c, 0, 1)
	backward.SetClip(c, 0, 1)
	for f := range backward.Place {
		backward.Place[f].Yaw += math.Pi
	}
	if all, _ := aside(forward, forward); all != 0 {
		t.Errorf("%d seconds of a walk straight on go backward", all)
	}
	all, right := aside(backward, backward)
	if all < 2 || right != all {
		t.Errorf("of %d seconds backward %d are", all, right)
	}
	if _, right := aside(backward, forward); right != 0 {
		t.Errorf("a walk straight on goes backward for %d seconds", right)
	}
}

// Flickering contacts are not steps.
func TestSteps(t *testing.T) {
	var stand [][]bool
	for f := range 200 {
		left, right := f/25%2 == 0, f/25%2 == 1
		if f%25 == 12 {
			left = !left
		}
		stand = append(stand, []bool{left, left, right, right})
	}
	// The left is down at first, and comes down at 50, 100, 150; the right at 25, 75, 125, 175.
	if inner, all := steps(stand); inner != 7 || all != 7 {
		t.Errorf("%d steps, %d not next to the ends, want 7", all, inner)
	}
	if inner, all := steps(stand[45:183]); inner != 4 || all != 6 { // the ends are next to 50 and 175
		t.Errorf("%d steps, %d not next to the ends, want 6 and 4", all, inner)
	}
}

// L2P of the truth is 0 and grows with the gap. One coordinate off by one deviation is 1.
func TestTransitions(t *testing.T) {
	l, c := walk(t)
	clips := []*skel.Clip{c.Resampled(keypose.Rate)}
	s := NewSpread(l, clips)
	last := 0.0
	for _, gap := range []int{5, 15, 30} {
		r := must.Get(Transitions(l, s, "interpolation", clips, gap, Interpolate))(t)
		if r.Cases < 3 || !(r.L2P > last) {
			t.Errorf("gap %d: %+v, shorter ones %g", gap, r, last)
		}
		last = r.L2P
	}
	tall := func(track *keypose.Track) error {
		w := transitions(clips)[0].track(l)
		track.Interpolate()
		copy(track.Place, w.Place)
		copy(track.Height, w.Height)
		copy(track.Rot, w.Rot)
		for f := range track.Height {
			track.Height[f] += 0.01
		}
		return nil
	}
	first := []*skel.Clip{{Skel: clips[0].Skel, FPS: keypose.Rate, Frames: windowFrames + 1,
		Pos: clips[0].Pos[:(windowFrames+1)*l.Skel.Len()], Rot: clips[0].Rot[:(windowFrames+1)*l.Skel.Len()]}}
	r := must.Get(Transitions(l, s, "tall", first, 15, tall))(t)
	want := 0.0
	for _, j := range l.Joints {
		d := 0.01 / s.Std[3*int(j)+1]
		want += d * d
	}
	if want = math.Sqrt(want); math.Abs(r.L2P-want) > 1e-3*want || math.Abs(r.Joints-1) > 1e-3 || r.L2Q > 1e-3 {
		t.Errorf("a centimetre too high: %+v, want L2P %g", r, want)
	}
}
