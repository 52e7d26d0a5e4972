package matching_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/matching"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/extreme"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
	"mannequin/internal/testing/testgen"
	"mannequin/internal/testing/testmatching"
	"mannequin/offline/procgen/human"
)

// play returns the roots of the first of n agents over ticks; goal says what it does from where it is.
func play(t *testing.T, d *matching.Database, n, ticks int, goal func(row, tick int, at feature.Place) control.Goal) (*matching.Stream, []feature.Place) {
	t.Helper()
	s := must.Get(d.NewStream(matching.StreamOptions{Capacity: n}))(t)
	p := testgen.Play(s, d.Skel.Len())
	for i := range n {
		must.Get(s.Add(feature.Place{Pos: m3.V(float32(i)*5, 0, 0)}, nil))(t)
	}
	var out []feature.Place
	for tick := range ticks {
		for row := range n {
			s.Controls()[row] = goal(row, tick, s.Root(row))
		}
		must.Do(t, p.Tick(n))
		out = append(out, s.Root(0))
	}
	return s, out
}

// toward is a goal in the direction of a velocity of the world, facing another.
func toward(at feature.Place, velocity, face m3.Vec3) control.Goal {
	back := m3.YawQuat(-at.Yaw)
	g := control.Goal{Move: back.Rotate(velocity.Normalize(m3.Vec3{})), Speed: velocity.Len()}
	if face != (m3.Vec3{}) {
		g.Face = back.Rotate(face)
	}
	return g
}

// An agent walks and runs as fast as it is asked to, in that direction, faces where it should, and stops.
func TestStreamFollowsGoals(t *testing.T) {
	d := testmatching.People(t)
	for _, c := range []struct {
		velocity m3.Vec3
		within   float32
	}{
		{m3.Vec3{}, 0.05}, {m3.V(0, 0, 1.3), 0.15}, {m3.V(1.3, 0, 0), 0.15}, {m3.V(-0.9, 0, -0.9), 0.15}, {m3.V(0, 0, -2.8), 0.3},
	} {
		_, roots := play(t, d, 1, 420, func(_, _ int, at feature.Place) control.Goal {
			return toward(at, c.velocity, c.velocity.Normalize(m3.V(0, 0, 1)))
		})
		last := roots[len(roots)-1]
		v := last.Pos.Sub(roots[len(roots)-121].Pos).Scale(0.5)
		if v.Dist(c.velocity) > c.within {
			t.Errorf("asked for %v it goes %v", c.velocity, v)
		}
		if off := m3.WrapAngle(last.Yaw - m3.YawOf(c.velocity.Normalize(m3.V(0, 0, 1)))); m3.Abs(off) > 0.15 {
			t.Errorf("asked for %v it faces %.2f rad beside", c.velocity, off)
		}
	}
}

// Without a direction to face an agent goes on in the frame in which it stands, turned or not.
func TestStreamMovesInItsFrame(t *testing.T) {
	d := testmatching.People(t)
	var began float32
	_, roots := play(t, d, 1, 360, func(_, tick int, at feature.Place) control.Goal {
		switch {
		case tick < 120:
			return toward(at, m3.V(0, 0, 1.3), m3.V(0, 0, 1))
		case tick < 130: // it begins to turn back
			began = at.Yaw
			return toward(at, m3.V(0, 0, -1.3), m3.V(0, 0, -1))
		}
		return control.Goal{Move: m3.V(0, 0, 1), Speed: 1.3}
	})
	way := roots[359].Pos.Sub(roots[239].Pos)
	if off := m3.WrapAngle(m3.YawOf(way) - began); m3.Abs(off) > 0.6 {
		t.Errorf("it stood at %.2f rad when it was told to go ahead, and goes %.2f rad aside", began, off)
	}
}

// A responsive character reaches the speed of its goal in at most two thirds of the usual time. Its file keeps the setting, and
// has another fingerprint.
func TestResponsive(t *testing.T) {
	took := func(d *matching.Database) int {
		_, roots := play(t, d, 1, 180, func(_, tick int, at feature.Place) control.Goal {
			if tick < 60 {
				return control.Goal{}
			}
			return toward(at, m3.V(0, 0, 1.3), m3.V(0, 0, 1))
		})
		for f := 61; f < len(roots); f++ {
			if roots[f].Pos.Dist(roots[f-1].Pos)*60 > 0.9*1.3 {
				return f - 60
			}
		}
		return len(roots)
	}
	natural := testmatching.People(t)
	quick := *natural
	quick.Responsive = true
	if a, b := took(natural), took(&quick); 3*b > 2*a {
		t.Errorf("it takes %d ticks, and %d if it is responsive", a, b)
	}
	again := must.Get(matching.Decode(encoded(t, &quick)))(t)
	if !again.Responsive || took(again) != took(&quick) {
		t.Error("a file forgets that its character is responsive")
	}
	if a, b := (&matching.File{Database: natural}).Fingerprint(), (&matching.File{Database: again}).Fingerprint(); a == b {
		t.Error("both have the same fingerprint")
	}
}

// An agent that stands shows only idle frames, and plays each stretch of them for seconds.
func TestStreamStands(t *testing.T) {
	d := testmatching.Dogs(t)
	idle := matching.Tags(1) << slices.Index(d.Tags, "idle")
	s := must.Get(d.NewStream(matching.StreamOptions{Capacity: 1}))(t)
	p := testgen.Play(s, d.Skel.Len())
	must.Get(s.Add(feature.Place{}, nil))(t)
	jumps, shown := 0, map[int]bool{}
	const walks, rests, ticks = 120, 300, 1500
	for tick := range ticks {
		if s.Controls()[0] = (control.Goal{}); tick < walks {
			s.Controls()[0] = control.Goal{Move: m3.V(0, 0, 1), Speed: 1}
		}
		before := s.Frame(0)
		must.Do(t, p.Tick(1))
		if tick < rests {
			continue
		}
		f := s.Frame(0)
		shown[f] = true
		if d.TagsOf(f)&idle == 0 {
			t.Fatalf("in tick %d it shows frame %d, with the tags %b", tick, f, d.TagsOf(f))
		}
		if f != before+1 {
			jumps++
		}
	}
	if jumps > (ticks-rests)/60 || len(shown) < 60 {
		t.Errorf("%d jumps in %d ticks, and %d frames are shown", jumps, ticks-rests, len(shown))
	}
}

// A turn of a goal turns the agent at its rate, without a step to the side.
func TestStreamTurns(t *testing.T) {
	d := testmatching.People(t)
	_, roots := play(t, d, 1, 480, func(_, _ int, at feature.Place) control.Goal {
		return control.Goal{Move: m3.V(0, 0, 1), Speed: 1.3, Turn: 0.5}
	})
	var turned, way float32
	for i := 240; i < len(roots); i++ {
		turned += m3.WrapAngle(roots[i].Yaw - roots[i-1].Yaw)
		way += roots[i].Pos.Dist(roots[i-1].Pos)
	}
	if rate := turned / 4; m3.Abs(rate-0.5*control.MaxTurn) > 0.12 {
		t.Errorf("turns at %.2f rad/s, want %.2f", rate, 0.5*control.MaxTurn)
	}
	if speed := way / 4; m3.Abs(speed-1.3) > 0.2 {
		t.Errorf("goes at %.2f m/s, want 1.3", speed)
	}
}

// An agent follows a path at the speed that it is asked for, and stops at the end of an open one.
func TestStreamFollowsPaths(t *testing.T) {
	d := testmatching.People(t)
	circle := must.Get(control.Circle(4))(t)
	line := must.Get(control.NewPath([]m3.Vec3{{}, m3.V(0, 0, 3), m3.V(0, 0, 6)}, false))(t)
	_, roots := play(t, d, 1, 900, func(int, int, feature.Place) control.Goal {
		return control.Goal{Path: circle, Speed: 1.3}
	})
	var worst, way float32
	for i, r := range roots[480:] { // it begins in the middle
		_, off := circle.Nearest(r.Pos)
		worst = max(worst, off)
		way += r.Pos.Dist(roots[479+i].Pos)
	}
	if worst > 0.06 || m3.Abs(way/7-1.3) > 0.1 {
		t.Errorf("on a circle it is up to %.2f m beside, at %.2f m/s", worst, way/7)
	}
	_, roots = play(t, d, 1, 600, func(int, int, feature.Place) control.Goal {
		return control.Goal{Path: line, Speed: 1.3}
	})
	if last := roots[len(roots)-1]; last.Pos.Dist(m3.V(0, 0, 6)) > 0.4 || last.Pos.Dist(roots[len(roots)-61].Pos) > 0.1 {
		t.Errorf("at the end of a line of 6 m it is at %v", last.Pos)
	}
}

// A dog takes actions whose tags the database has, and goes on afterwards.
func TestStreamTakesActions(t *testing.T) {
	d := testmatching.Dogs(t)
	for _, a := range []control.Action{control.Sit, control.Lie, control.Stand, control.Jump} {
		s, _ := play(t, d, 1, 180, func(_, tick int, at feature.Place) control.Goal {
			g := toward(at, m3.V(0, 0, 1), m3.V(0, 0, 1))
			if tick > 60 {
				g = control.Goal{Action: a}
			}
			return g
		})
		if bit := matching.Tags(1) << a; d.TagsOf(s.Frame(0))&bit == 0 {
			t.Errorf("asked for %s it shows a frame of tags %b", a, d.TagsOf(s.Frame(0)))
		}
	}
	s, _ := play(t, d, 1, 240, func(_, tick int, at feature.Place) control.Goal {
		if tick < 60 {
			return control.Goal{Action: control.Sit}
		}
		return toward(at, m3.V(0, 0, 1), m3.V(0, 0, 1))
	})
	if d.TagsOf(s.Frame(0))&(1<<control.Sit) != 0 {
		t.Error("it goes on sitting")
	}
}

// An agent that has walked to the last frame before another action continues from an earlier frame. It does not stay in that frame and
// glide.
func TestStreamEndsBeforeActions(t *testing.T) {
	takes, _, err := human.Generate(human.Options{Minutes: 1, Actions: []string{human.Walk}, Styles: []string{"neutral"}})
	must.Do(t, err)
	walk := takes[0].Clip.Section(0, 150)
	var tags []matching.Tags
	for f := range walk.Frames {
		tags = append(tags, 1<<(f/100)) // walks, then rolls
	}
	d := must.Get(matching.Build(walk.Skel, []matching.Clip{{Motion: walk, Tags: tags}}, matching.Options{Tags: []string{"move", "roll"}}))(t)
	s := must.Get(d.NewStream(matching.StreamOptions{Capacity: 1}))(t)
	p := testgen.Play(s, d.Skel.Len())
	must.Get(s.Add(feature.Place{}, nil))(t)
	last, same := -1, 0
	for tick := range 600 {
		s.Controls()[0] = control.Goal{Move: m3.V(0, 0, 1), Speed: d.Speeds(1)[0]}
		must.Do(t, p.Tick(1))
		if f := s.Frame(0); f != last {
			last, same = f, 0
		} else if same++; same > 3 {
			t.Fatalf("in tick %d the agent has shown frame %d for %d ticks", tick, f, same)
		}
	}
}

// Goals full of NaN and infinities leave an agent and its neighbour sound.
func TestStreamStaysSound(t *testing.T) {
	d := testmatching.People(t)
	for _, x := range []float64{math.NaN(), math.Inf(1), math.MaxFloat32, -math.MaxFloat32} {
		s, roots := play(t, d, 2, 120, func(row, tick int, at feature.Place) (g control.Goal) {
			if row == 1 {
				extreme.Made{}.Fill(reflect.ValueOf(&g).Elem(), x)
				return g
			}
			return toward(at, m3.V(0, 0, 1), m3.Vec3{})
		})
		if at := s.Root(1); !at.Finite() || at.Pos.Dist(m3.V(5, 0, 0)) > 30 {
			t.Errorf("asked for %g an agent is at %v", x, at)
		}
		if z := roots[119].Pos.Z; !(z > 0.5) {
			t.Errorf("beside it another went %g m", z)
		}
	}
}

// Clips of another skeleton, without frames or with faults are refused with the clip's name.
func TestBuildRefuses(t *testing.T) {
	sk := testdog.Skeleton()
	other := *sk
	other.Offsets = slices.Clone(sk.Offsets)
	other.Offsets[3].Y++
	clip := func(change func(c *skel.Clip)) []matching.Clip {
		c := skel.NewClip(sk, 60, 60)
		change(c)
		return []matching.Clip{{Name: "walk", Motion: c}}
	}
	plain := clip(func(*skel.Clip) {})
	nan := float32(math.NaN())
	for want, build := range map[string]func() (*matching.Database, error){
		"no clips":         func() (*matching.Database, error) { return matching.Build(sk, nil, matching.Options{}) },
		"wants a skeleton": func() (*matching.Database, error) { return matching.Build(nil, plain, matching.Options{}) },
		"no joint called": func() (*matching.Database, error) {
			return matching.Build(&skel.Skeleton{Names: []string{"a"}, Parents: []int16{-1}, Offsets: make([]m3.Vec3, 1), EndSite: make([]bool, 1)}, plain, matching.Options{})
		},
		`"walk": it is of an`: func() (*matching.Database, error) { return matching.Build(&other, plain, matching.Options{}) },
		`"walk": it has no mo`: func() (*matching.Database, error) {
			return matching.Build(sk, []matching.Clip{{Name: "walk"}}, matching.Options{})
		},
		`"walk": it has 1 fram`: func() (*matching.Database, error) {
			return matching.Build(sk, []matching.Clip{{Name: "walk", Motion: skel.NewClip(sk, 60, 1)}}, matching.Options{})
		},
		"shorter than": func() (*matching.Database, error) {
			return matching.Build(sk, []matching.Clip{{Motion: skel.NewClip(sk, 60, 15)}}, matching.Options{})
		},
		`"walk": joint Spine`: func() (*matching.Database, error) {
			return matching.Build(sk, clip(func(c *skel.Clip) { c.Pos[2*sk.Len()+1].Y = nan }), matching.Options{})
		},
		`"walk": it has 0 fram`: func() (*matching.Database, error) {
			return matching.Build(sk, clip(func(c *skel.Clip) { c.FPS = 0 }), matching.Options{})
		},
		`"walk": it is 5.9e+10 s long`: func() (*matching.Database, error) {
			return matching.Build(sk, clip(func(c *skel.Clip) { c.FPS = 1e-9 }), matching.Options{})
		},
		"want a unit quaternion": func() (*matching.Database, error) {
			return matching.Build(sk, clip(func(c *skel.Clip) { c.Rot[2*sk.Len()+1] = m3.Quat{} }), matching.Options{})
		},
		`tags 0 and 2 are both called "sit"`: func() (*matching.Database, error) {
			return matching.Build(sk, plain, matching.Options{Tags: []string{"sit", "", "sit", ""}})
		},
		"0.001 to 100": func() (*matching.Database, error) {
			return matching.Build(sk, plain, matching.Options{Weights: matching.Weights{Facing: 1e30}})
		},
		`"walk": it has 60 frames and 7 tags`: func() (*matching.Database, error) {
			p := clip(func(*skel.Clip) {})
			p[0].Tags = make([]matching.Tags, 7)
			return matching.Build(sk, p, matching.Options{})
		},
		"65 tags": func() (*matching.Database, error) {
			return matching.Build(sk, plain, matching.Options{Tags: make([]string, 65)})
		},
		"weights": func() (*matching.Database, error) {
			return matching.Build(sk, plain, matching.Options{Weights: matching.Weights{Place: -1}})
		},
		"Roles": func() (*matching.Database, error) {
			return matching.Build(sk, plain, matching.Options{Roles: &ik.Roles{}})
		},
	} {
		if _, err := build(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	d := must.Get(matching.Build(sk, plain, matching.Options{}))(t)
	if _, err := d.NewStream(matching.StreamOptions{}); err == nil {
		t.Error("a stream without room")
	}
	for _, change := range []func(t *matching.Tuning){
		func(t *matching.Tuning) { t.Every = 0 }, func(t *matching.Tuning) { t.Velocity = 0 }, func(t *matching.Tuning) { t.Stay = nan }, func(t *matching.Tuning) { t.Share = -1 },
		func(t *matching.Tuning) { t.Velocity = 1e30 }, func(t *matching.Tuning) { t.Facing = 1e4 },
	} {
		tuning := matching.DefaultTuning()
		change(&tuning)
		if _, err := d.NewStream(matching.StreamOptions{Capacity: 1, Tuning: &tuning}); err == nil {
			t.Errorf("a stream with %+v", tuning)
		}
	}
}
