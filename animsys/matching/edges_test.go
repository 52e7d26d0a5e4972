package matching

import (
	"math"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
	"mannequin/internal/testing/testgen"
)

// An agent whose pose is shown in one tick of four goes the way of one that is shown in each.
func TestStreamMovesAtAllRates(t *testing.T) {
	sk := testdog.Skeleton()
	d := must.Get(Build(sk, []Clip{{Motion: glide(sk, 1, 0.8, 300)}, {Motion: glide(sk, 2, 0, 300)}, {Motion: glide(sk, 0, 0, 300)}}, Options{}))(t)
	s := must.Get(d.NewStream(StreamOptions{Capacity: 2}))(t)
	p := testgen.Play(s, sk.Len())
	for range 2 {
		must.Get(s.Add(feature.Place{}, nil))(t)
	}
	s.agents[1].Wait = s.agents[0].Wait
	for tick := range 300 {
		for row := range 2 {
			s.goals[row] = control.Goal{Move: m3.V(0, 0, 1), Speed: float32(tick / 40 % 3), Turn: float32(tick / 55 % 2)}
			p.Poses().Update[row] = row == 0 || tick%4 == 0
		}
		must.Do(t, p.Continue())
		p.Advance(0, 2)
		if s.Root(0) != s.Root(1) || s.Frame(0) != s.Frame(1) {
			t.Fatalf("tick %d: shown in each tick it is at %v, frame %d; in one of four at %v, frame %d", tick, s.Root(0), s.Frame(0), s.Root(1), s.Frame(1))
		}
	}
}

// An agent that is asked for an action of which no frame is found goes on as if it were not asked, and one for which
// no frame fits stands: it does not glide.
func TestStreamWithoutFrames(t *testing.T) {
	sk := testdog.Skeleton()
	walk, sit := glide(sk, 1, 0, 300), glide(sk, 1, 0, 300)
	short := Clip{Name: "sit", Motion: glide(sk, 0, 0, 15), Tags: []Tags{1}} // too short to be found
	for name, c := range map[string]struct {
		clips []Clip
		goal  control.Goal
		speed float32
	}{
		"no frame sits":       {[]Clip{{Motion: walk}}, control.Goal{Move: m3.V(0, 0, 1), Speed: 1, Action: control.Sit}, 1},
		"no found frame sits": {[]Clip{{Motion: walk}, short}, control.Goal{Move: m3.V(0, 0, 1), Speed: 1, Action: control.Sit}, 1},
		"all frames sit":      {[]Clip{{Motion: sit, Tags: []Tags{1}}}, control.Goal{Move: m3.V(0, 0, 1), Speed: 1}, 0},
	} {
		d := must.Get(Build(sk, c.clips, Options{Tags: []string{"sit"}}))(t)
		s := must.Get(d.NewStream(StreamOptions{Capacity: 1}))(t)
		p := testgen.Play(s, sk.Len())
		must.Get(s.Add(feature.Place{}, &c.goal))(t)
		for range 120 {
			must.Do(t, p.Tick(1))
		}
		before := s.Root(0).Pos
		for range 60 {
			must.Do(t, p.Tick(1))
		}
		if speed := s.Root(0).Pos.Dist(before); m3.Abs(speed-c.speed) > 0.15 {
			t.Errorf("%s: goes at %.2f m/s, want %g", name, speed, c.speed)
		}
	}
}

// A target's frames that are left out: none of a zero one, and the whole clip of the largest.
func TestSearchSkips(t *testing.T) {
	sk := testdog.Skeleton()
	d := must.Get(Build(sk, []Clip{{Motion: glide(sk, 1, 0.8, 60)}, {Motion: glide(sk, 2, 0, 60)}}, Options{}))(t)
	for skip, want := range map[int][2]int{-1: {0, 0}, 0: {0, 0}, 1: {1, 1}, 5: {5, 5}, math.MaxInt: {60, 99}} {
		target := Target{Query: d.AppendFeatures(nil, 0), Skip: skip}
		if f, _ := d.Search(&target); f < want[0] || f > want[1] {
			t.Errorf("all but frames less than %d from the first: frame %d, want %d to %d", skip, f, want[0], want[1])
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.MaxFloat32} {
		q := d.AppendFeatures(nil, 0)
		q[3] = float32(x)
		if f, _ := d.Search(&Target{Query: q}); f >= d.Frames() || x != x && f >= 0 {
			t.Errorf("with %g in the query: frame %d", x, f)
		}
	}
}

// A path is followed from its nearest point, also by an agent that has followed another one before.
func TestStreamBeginsPathsAtTheNearestPoint(t *testing.T) {
	sk := testdog.Skeleton()
	d := must.Get(Build(sk, []Clip{{Motion: glide(sk, 1, 0, 300)}, {Motion: glide(sk, 0, 0, 300)}}, Options{}))(t)
	s := must.Get(d.NewStream(StreamOptions{Capacity: 1}))(t)
	p := testgen.Play(s, sk.Len())
	must.Get(s.Add(feature.Place{Pos: m3.V(0, 0, 9)}, nil))(t)
	ask := func(g control.Goal) float32 {
		s.goals[0] = g
		must.Do(t, p.Tick(1))
		return s.agents[0].Body.Along
	}
	line := must.Get(control.NewPath([]m3.Vec3{{}, m3.V(0, 0, 10), m3.V(0, 0, 20)}, false))(t)
	bend := must.Get(control.NewPath([]m3.Vec3{m3.V(0.5, 0, 20), m3.V(1, 0, 8), m3.V(0.2, 0, 8), m3.V(0.2, 0, 20)}, false))(t)
	ask(control.Goal{Path: line, Speed: 1})
	ask(control.Goal{})
	from, at := s.agents[0].Body.At.Pos, ask(control.Goal{Path: bend, Speed: 1})
	if want, _ := bend.Nearest(from); m3.Abs(at-want) > 0.1 {
		t.Errorf("begins at %.2f m of the path, the nearest point is at %.2f", at, want)
	}
}

// An action is entered where it lasts: brief stretches of it, such as a gallop's push that looks like rearing, are found only if there
// are no others.
func TestSearchPassesBriefActionsBy(t *testing.T) {
	sk := testdog.Skeleton()
	clip := func(brief int) Clip {
		c := Clip{Motion: glide(sk, 1, 0, 400), Tags: make([]Tags, 400)}
		for f := 100; f < 100+brief; f++ {
			c.Tags[f] = 1
		}
		return c
	}
	for _, c := range []struct {
		stretches []int
		found     int // the clip
	}{{[]int{50, 130}, 1}, {[]int{50, 110}, 0}, {[]int{50}, 0}} {
		var clips []Clip
		for _, n := range c.stretches {
			clips = append(clips, clip(n))
		}
		d := must.Get(Build(sk, clips, Options{Tags: []string{"rear"}}))(t)
		q := d.AppendFeatures(nil, 110) // of the first clip's stretch
		if f, _ := d.Search(&Target{Query: q, Must: 1}); f < 400*c.found || f >= 400*(c.found+1) {
			t.Errorf("of stretches of %v frames, frame %d is found, want one of stretch %d", c.stretches, f, c.found)
		}
	}
}
