package controller

import (
	"errors"
	"math"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/procgen/human"
)

func subject(t testing.TB) Subject {
	takes, _, err := human.Generate(human.Options{Minutes: 2, Actions: []string{human.Walk, human.Run, human.Stand}, Styles: []string{"neutral"}})
	must.Do(t, err)
	var s Subject
	var clips []matching.Clip
	for _, k := range takes {
		clips = append(clips, matching.Clip{Name: k.Name, Motion: k.Clip})
		s.Clips = append(s.Clips, k.Clip)
	}
	d := must.Get(matching.Build(takes[0].Clip.Skel, clips, matching.Options{}))(t)
	s.Speeds = d.Speeds(Gaits)
	s.New = func(n int) (generator.Generator[control.Goal], error) {
		return d.NewStream(matching.StreamOptions{Capacity: n})
	}
	return s
}

// A person who is played by matching holds speeds, answers, follows a circle, and slides less than the clips.
func TestMeasure(t *testing.T) {
	s := subject(t)
	r := must.Get(Measure(s))(t)
	if len(r.Speeds) == 0 || !r.Finite || r.Micros <= 0 {
		t.Fatalf("%+v", r)
	}
	for _, v := range r.Speeds {
		if v.Way != ahead { // no clip does
			continue
		}
		if math.Abs(v.Got/v.Asked-1) > 0.15 {
			t.Errorf("asked for %.2f m/s it goes at %.2f", v.Asked, v.Got)
		}
		if v.Bend < 30 || v.Bend > 600 || v.Slip > 0.35 {
			t.Errorf("at %.2f m/s legs bend by %.0f°/s, and feet slip by %.0f %%", v.Asked, v.Bend, 100*v.Slip)
		}
	}
	for name, v := range map[string]float64{"start": r.Start, "stop": r.Stop, "a turn of 90°": r.Turn90, "a turn of 180°": r.Turn180} {
		if !(v > 0.05 && v < 2) {
			t.Errorf("%s takes %.2f s", name, v)
		}
	}
	if r.Path.Distance > 0.2 || r.Path.Angle > 15 {
		t.Errorf("on a circle %.2f m and %.0f° beside", r.Path.Distance, r.Path.Angle)
	}
	if r.Slide.Clips == 0 || r.Jerk.Clips == 0 || r.Jerk.Ratio() > 3 {
		t.Errorf("slide %+v, jerk %+v", r.Slide, r.Jerk)
	}
	if r.Pose > 0.03 || r.Coverage < 0.3 || r.Coverage > 1 {
		t.Errorf("joints are %.1f cm beside the clips', of which %.0f %% came up", 100*r.Pose, 100*r.Coverage)
	}
	var b strings.Builder
	must.Do(t, r.Print(&b))
	if !strings.Contains(b.String(), "speed held backward") {
		t.Error(b.String())
	}
	// Lengths are the character's own.
	s.Size = 2
	if big := must.Get(Measure(s))(t); math.Abs(big.Speeds[0].Asked/r.Speeds[0].Asked-2) > 1e-3 || math.Abs(big.Slide.Clips/r.Slide.Clips-2) > 1e-3 {
		t.Errorf("twice as large: %+v and %+v", big.Speeds, big.Slide)
	}
	clip, asked, err := Record(s)
	if err != nil || clip.Frames != len(asked) || clip.Frames < 60*16 {
		t.Errorf("%d frames and %d texts, %v", clip.Frames, len(asked), err)
	}
	s.Size = 0 // is 1
	if _, usual, err := Record(s); err != nil || usual[100] == asked[100] || strings.HasSuffix(usual[100], " 0.0 m/s") {
		t.Errorf("without a size %q, of size 2 %q, %v", usual[100], asked[100], err)
	}
}

// A character that has no speed is not measured.
func TestStill(t *testing.T) {
	s := subject(t)
	s.Speeds = nil
	if _, err := Measure(s); !errors.Is(err, ErrStill) {
		t.Errorf("clips that stand: %v", err)
	}
}

// Feet under a body that hardly goes are not watched: they would hide those that slide.
func TestFeetOfBodiesThatGo(t *testing.T) {
	s := subject(t)
	w := must.Get(s.world(1))(t)
	defer w.crowd.Close()
	for _, c := range []struct {
		body, foot float32 // m/s
		want       float64
	}{{1, 0.2, 0.2}, {0.3, 0.1, -1}, {1, 0.6, -1}, {0, 0, -1}} {
		watch, bones := newWatch(w.crowd, 0.4), make([]m3.Xform, w.crowd.Skel.Len())
		for tick := range 10 {
			for j := range bones {
				bones[j] = m3.Xform{Pos: m3.V(0, 1, c.body*float32(tick)/animsys.TickRate), Rot: m3.Ident}
			}
			for _, j := range watch.tips {
				bones[j].Pos = m3.V(0, 0, c.foot*float32(tick)/animsys.TickRate)
			}
			watch.add(bones, true)
		}
		if got := average(watch.slide); (c.want < 0) != (len(watch.slide) == 0) || c.want >= 0 && math.Abs(got-c.want) > 1e-3 {
			t.Errorf("a body at %g m/s over feet at %g: %d of them slide at %.2f", c.body, c.foot, len(watch.slide), got)
		}
	}
	if v := s.slow(); !(v > 0.1) || v > s.Speeds[0] {
		t.Errorf("bodies up to %.2f m/s do not go, of the speeds %v", v, s.Speeds)
	}
}

// A pose that is turned and moved over the ground is the same, one that is lifted is as far away as that.
func TestDistance(t *testing.T) {
	a := []m3.Xform{{Pos: m3.V(0, 1, 0)}, {Pos: m3.V(0.3, 0.5, 0.1)}, {Pos: m3.V(-0.2, 0.1, 0.4)}}
	var b []m3.Xform
	turn := m3.Xform{Pos: m3.V(5, 0, -3), Rot: m3.YawQuat(2)}
	for _, x := range a {
		b = append(b, m3.Xform{Pos: turn.Apply(x.Pos)})
	}
	var p, q poses
	p.add(a)
	q.add(b)
	if mean, covered := p.beside(&q, 0.01); mean > 1e-5 || covered != 1 {
		t.Errorf("turned it is %g m away, %g came up", mean, covered)
	}
	for i := range b {
		b[i].Pos.Y += 0.2
	}
	q.at = nil
	q.add(b)
	if mean, covered := p.beside(&q, 0.01); math.Abs(mean-0.2) > 1e-5 || covered != 0 {
		t.Errorf("lifted by 20 cm it is %g m away, %g came up", mean, covered)
	}
}
