package matching_test

import (
	"bytes"
	"slices"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/matching"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
	"mannequin/internal/testing/testgen"
	"mannequin/internal/testing/testmatching"
	"mannequin/offline/procgen/human"
)

// actor plays one agent of Actors, and returns the names of the clips and the tags of each tick.
func actor(t *testing.T, ticks int, goal func(tick int, at feature.Place) control.Goal) (clips []string, roots []feature.Place) {
	t.Helper()
	d := testmatching.Actors(t)
	s := must.Get(d.NewStream(matching.StreamOptions{Capacity: 1}))(t)
	p := testgen.Play(s, d.Skel.Len())
	must.Get(s.Add(feature.Place{}, nil))(t)
	for tick := range ticks {
		s.Controls()[0] = goal(tick, s.Root(0))
		must.Do(t, p.Tick(1))
		name, _ := d.Clip(s.Frame(0))
		if d.TagsOf(s.Frame(0)) == 1<<3 {
			name = testmatching.Crouch
		}
		clips, roots = append(clips, name), append(roots, s.Root(0))
	}
	return clips, roots
}

// action returns the action of a tag of Actors.
func action(t *testing.T, tag string) control.Action {
	t.Helper()
	a, ok := testmatching.Actors(t).Action(tag)
	if !ok {
		t.Fatalf("no action is %q", tag)
	}
	return a
}

// Names of tags are actions: those of control, and the database's own.
func TestActions(t *testing.T) {
	d := testmatching.Actors(t)
	for tag, want := range map[string]control.Action{"idle": control.Idle, "Move": control.Move, "death": control.Own + 2, "CROUCH": control.Own + 3} {
		if a, ok := d.Action(tag); a != want || ok != (tag != "idle") { // no frame is tagged idle
			t.Errorf("%s is %v, %t; want %v", tag, a, ok, want)
		}
	}
	if a, ok := d.Action("fly"); ok || a != control.Idle {
		t.Errorf("fly is %v, %t", a, ok)
	}
	for a, want := range map[control.Action]int{control.Own: 0, control.Own + 63: 63, control.Own + 64: -1, control.Sit: -1, control.NumActions: -1} {
		if a.Tag() != want {
			t.Errorf("%v is tag %d, want %d", a, a.Tag(), want)
		}
	}
	// Agents ignore tags that are not there.
	for _, a := range []control.Action{control.Own + 1, control.Own + 5, control.Own + 63, control.Own + 64, 255} {
		clips, roots := actor(t, 120, func(int, feature.Place) control.Goal {
			return control.Goal{Action: a, Move: m3.V(0, 0, 1), Speed: 1.3}
		})
		if z := roots[119].Pos.Z; z < 1.5 || slices.Contains(clips, testmatching.Roll) {
			t.Errorf("asked for %v it went %.2f m in clips %v", a, z, slices.Compact(clips))
		}
	}
}

// A crouch is a stance: who crouches stands and walks where the goal says, as fast as low clips do, and rises when it is not
// asked for any more.
func TestCrouch(t *testing.T) {
	crouch := action(t, testmatching.Crouch)
	clips, roots := actor(t, 600, func(tick int, at feature.Place) control.Goal {
		g := control.Goal{}
		if tick >= 120 && tick < 480 {
			g = toward(at, m3.V(1.2, 0, 0), m3.V(1, 0, 0))
		}
		if tick >= 60 && tick < 360 {
			g.Action = crouch
		}
		return g
	})
	for _, c := range []struct {
		from, to int
		low      bool
		speed    float32
	}{{0, 60, false, 0}, {90, 120, true, 0}, {240, 360, true, 1.2}, {400, 480, false, 1.2}, {560, 600, false, 0}} {
		for tick := c.from; tick < c.to; tick++ {
			if (clips[tick] == testmatching.Crouch) != c.low {
				t.Fatalf("in tick %d it plays %s", tick, clips[tick])
			}
		}
		v := roots[c.to-1].Pos.Sub(roots[c.from].Pos).Scale(60 / float32(c.to-1-c.from))
		if v.Dist(m3.V(c.speed, 0, 0)) > 0.2 {
			t.Errorf("in ticks %d to %d it goes at %v m/s, want %g", c.from, c.to, v, c.speed)
		}
	}
	// Low clips walk: who should run does not slide.
	_, roots = actor(t, 300, func(_ int, at feature.Place) control.Goal {
		g := toward(at, m3.V(0, 0, 4), m3.V(0, 0, 1))
		g.Action = crouch
		return g
	})
	if v := roots[299].Pos.Sub(roots[239].Pos).Len(); v > 2.2 {
		t.Errorf("crouched it runs at %.2f m/s", v)
	}
	// And goes no slower than they do, or it would stand.
	_, roots = actor(t, 300, func(_ int, at feature.Place) control.Goal {
		g := toward(at, m3.V(0, 0, 0.05), m3.V(0, 0, 1))
		g.Action = crouch
		return g
	})
	if v := roots[299].Pos.Sub(roots[239].Pos).Len(); v < 0.3 {
		t.Errorf("asked to crouch slowly it goes at %.2f m/s", v)
	}
}

// An action of one clip plays from its beginning to its end, however briefly it was asked for; and again while it is asked
// for. Another action ends it. A last pose is held.
func TestOnce(t *testing.T) {
	roll, death, crouch := action(t, testmatching.Roll), action(t, testmatching.Death), action(t, testmatching.Crouch)
	asked := func(from, to int, a control.Action) func(int, feature.Place) control.Goal {
		return func(tick int, _ feature.Place) (g control.Goal) {
			if tick >= from && tick < to {
				g.Action = a
			}
			return g
		}
	}
	count := func(clips []string, name string) (ticks, begins int) {
		for i, c := range clips {
			if c == name {
				if ticks++; i == 0 || clips[i-1] != name {
					begins++
				}
			}
		}
		return
	}
	clips, roots := actor(t, 200, asked(60, 61, roll))
	if n, begins := count(clips, testmatching.Roll); n < 38 || n > 50 || begins != 1 || clips[60] != testmatching.Roll || clips[199] == testmatching.Roll {
		t.Errorf("a roll of 50 ticks takes %d, begins %d times, and after it there is %s", n, begins, clips[199])
	}
	if way := roots[199].Pos.Len(); way < 0.5 || way > 1.2 {
		t.Errorf("it rolls %.2f m", way)
	}
	for _, way := range []m3.Vec3{m3.V(0, 0, -3), m3.V(3, 0, 0)} {
		away := func(tick int, at feature.Place) control.Goal {
			g := asked(60, 61, roll)(tick, at)
			if tick > 70 {
				g = toward(at, way, way)
			}
			return g
		}
		if n, begins := count(first(actor(t, 200, away)), testmatching.Roll); n < 38 || begins != 1 {
			t.Errorf("a roll that should go elsewhere in its midst takes %d ticks, and begins %d times", n, begins)
		}
	}
	if n, _ := count(first(actor(t, 200, asked(60, 200, roll))), testmatching.Roll); n != 140 {
		t.Errorf("asked for in 140 ticks it rolls in %d", n)
	}
	clips, _ = actor(t, 200, asked(60, 180, death))
	if n, begins := count(clips, testmatching.Death); n != 120 || begins != 1 || clips[180] == testmatching.Death {
		t.Errorf("asked for in 120 ticks it lies in %d, falls %d times, then there is %s", n, begins, clips[180])
	}
	clips, _ = actor(t, 100, func(tick int, at feature.Place) control.Goal {
		if tick < 20 {
			return control.Goal{Action: roll}
		}
		return control.Goal{Action: crouch}
	})
	if clips[19] != testmatching.Roll || clips[20] != testmatching.Crouch {
		t.Errorf("a crouch in a roll: %s, then %s", clips[19], clips[20])
	}
}

// An action that has begun goes on frame by frame, from its beginning, whatever the goal's other fields say.
func TestOnceGoesOn(t *testing.T) {
	d, roll := testmatching.Actors(t), action(t, testmatching.Roll)
	s := must.Get(d.NewStream(matching.StreamOptions{Capacity: 1}))(t)
	p := testgen.Play(s, d.Skel.Len())
	must.Get(s.Add(feature.Place{}, nil))(t)
	last, begins := -1, 0
	for tick := range 300 {
		s.Controls()[0] = control.Goal{}
		if tick > 20 {
			s.Controls()[0] = control.Goal{Action: roll, Move: m3.V(float32(tick/7%2), 0, float32(tick/11%3-1)), Speed: 1}
		}
		must.Do(t, p.Tick(1))
		name, at := d.Clip(s.Frame(0))
		if name != testmatching.Roll {
			at = -1
		} else if at != last+1 || last < 0 {
			if begins++; at >= 12 || last >= 0 && last != 49 {
				t.Fatalf("in tick %d it goes from frame %d of the roll to %d", tick, last, at)
			}
		}
		last = at
	}
	if begins < 5 {
		t.Errorf("it rolls %d times", begins)
	}
}

func first(clips []string, _ []feature.Place) []string { return clips }

// What an agent does in the midst of an action, and holds at its end, is saved and restored.
func TestOnceSaved(t *testing.T) {
	d := testmatching.Actors(t)
	for _, tag := range []string{testmatching.Roll, testmatching.Death, testmatching.Crouch} {
		for _, saved := range []int{10, 80} {
			run := func(save bool) (frames []int) {
				s := must.Get(d.NewStream(matching.StreamOptions{Capacity: 1}))(t)
				p := testgen.Play(s, d.Skel.Len())
				must.Get(s.Add(feature.Place{}, nil))(t)
				for tick := range 160 {
					if tick == saved && save {
						var st generator.State
						s.Save(&st, 0)
						s = must.Get(d.NewStream(matching.StreamOptions{Capacity: 1}))(t)
						p = testgen.Play(s, d.Skel.Len())
						st.Rewind()
						must.Get(s.Restore(&st))(t)
					}
					s.Controls()[0] = control.Goal{Action: action(t, tag)}
					must.Do(t, p.Tick(1))
					frames = append(frames, s.Frame(0))
				}
				return frames
			}
			if a, b := run(false), run(true); !slices.Equal(a, b) {
				t.Errorf("%s, saved in tick %d: it goes on otherwise", tag, saved)
			}
		}
	}
}

// A file keeps what is played once, and clips that contradict themselves are refused.
func TestOnceInFiles(t *testing.T) {
	d := testmatching.Actors(t)
	e := must.Get(matching.Decode(encoded(t, d)))(t)
	if e.Fingerprint() != d.Fingerprint() {
		t.Error("a file is another database")
	}
	again := encoded(t, e)
	if !bytes.Equal(again, encoded(t, d)) {
		t.Error("written again, a file differs")
	}
	sk := testdog.Skeleton()
	for _, c := range []matching.Clip{{Once: true, Loop: true}, {Holds: true}} {
		c.Name, c.Motion = "roll", skel.NewClip(sk, 60, 60)
		_, err := matching.Build(sk, []matching.Clip{c}, matching.Options{})
		must.FailWith(t, err, "a loop has no end")
	}
}

// The tick does not allocate, whatever is asked for.
func TestActionsDoNotAllocate(t *testing.T) {
	d := testmatching.Actors(t)
	s := must.Get(d.NewStream(matching.StreamOptions{Capacity: 1}))(t)
	p := testgen.Play(s, d.Skel.Len())
	must.Get(s.Add(feature.Place{}, nil))(t)
	all := []control.Action{control.Idle, action(t, testmatching.Roll), action(t, testmatching.Crouch), action(t, testmatching.Death)}
	tick := 0
	if n := testing.AllocsPerRun(200, func() {
		s.Controls()[0] = control.Goal{Action: all[tick/13%4], Move: m3.V(0, 0, 1), Speed: 1}
		tick++
		must.Do(t, p.Tick(1))
	}); n != 0 {
		t.Errorf("%g allocations in a tick", n)
	}
}

// Idle frames that show another action are not idle: an agent without a goal neither shows them nor begins with one. After an action that
// plays once it jumps once.
func TestIdle(t *testing.T) {
	takes, _, err := human.Generate(human.Options{Minutes: 1, Actions: []string{human.Walk, human.Run, human.Stand}, Styles: []string{"neutral"}})
	must.Do(t, err)
	const idle, move, crouch, wave = 1, 2, 4, 8
	build := func(stand matching.Tags) *matching.Database {
		var clips []matching.Clip
		for _, k := range takes {
			tags := matching.Tags(move)
			if k.Action == human.Stand {
				tags = stand
				clips = append(clips, matching.Clip{Name: "wave", Motion: k.Clip.Section(0, 50), Once: true, Tags: []matching.Tags{wave}},
					matching.Clip{Name: "as still", Motion: k.Clip, Tags: []matching.Tags{move}})
			}
			clips = append(clips, matching.Clip{Name: k.Name, Motion: k.Clip, Tags: []matching.Tags{tags}})
		}
		return must.Get(matching.Build(takes[0].Clip.Skel, clips, matching.Options{Tags: []string{"idle", "move", "crouch", "wave"}}))(t)
	}
	for _, stand := range []matching.Tags{idle | crouch, idle} {
		d := build(stand)
		if tags := d.TagsOf(d.Rest()); tags&^(idle|move) != 0 || stand == idle && tags != idle {
			t.Errorf("standing is tagged %b: agents begin with a frame tagged %b", stand, tags)
		}
		s := must.Get(d.NewStream(matching.StreamOptions{Capacity: 1}))(t)
		p := testgen.Play(s, d.Skel.Len())
		must.Get(s.Add(feature.Place{}, nil))(t)
		last, jumps, held := s.Frame(0), 0, 0
		for tick := range 700 {
			s.Controls()[0] = control.Goal{}
			switch {
			case tick < 120:
				s.Controls()[0] = control.Goal{Move: m3.V(0, 0, 1), Speed: 1.3}
			case tick >= 300 && tick < 310:
				s.Controls()[0].Action, _ = d.Action("wave")
			}
			must.Do(t, p.Tick(1))
			tags := d.TagsOf(s.Frame(0))
			if tags&crouch != 0 {
				t.Fatalf("in tick %d it crouches", tick)
			}
			if waved := d.TagsOf(last) == wave; waved && tags != wave {
				jumps = 1
			} else if jumps > 0 && tick < 370 && s.Frame(0) != last+1 {
				jumps++
			}
			if held++; s.Frame(0) != last {
				held = 0
			} else if held > 60 {
				t.Fatalf("in tick %d it is frozen", tick)
			}
			last = s.Frame(0)
		}
		if jumps != 1 && stand == idle {
			t.Errorf("it jumps %d times when the action is over", jumps)
		}
	}
}
