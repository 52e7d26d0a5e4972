package animsys_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/layer"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	"mannequin/models/dog"
	"mannequin/models/person"
	"mannequin/offline/retarget"

	arche "github.com/mlange-42/arche/ecs"
)

// gesture returns a clip of a person who waves, or of a dog that shakes its head and wags its tail, and
// the mask of the joints that this takes.
func gesture(t testing.TB, sk *skel.Skeleton, seconds float64) (*layer.Clip, *layer.Mask) {
	t.Helper()
	dog := sk.Index("Tail") >= 0
	c := skel.NewClip(sk, 30, int(seconds*30)+1)
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		pos[0] = m3.V(0, 0.95, 0)
		swing := m3.Sin(2 * math.Pi * float32(f) / 30)
		if dog {
			rot[sk.Index("Neck")] = m3.AxisAngle(m3.Up, 0.5*swing)
			rot[sk.Index("Tail")] = m3.AxisAngle(m3.Up, 0.7*swing)
			continue
		}
		rot[sk.Index("RightArm")] = m3.AxisAngle(m3.V(0, 0, 1), -0.5)
		rot[sk.Index("RightForeArm")] = m3.AxisAngle(m3.V(0, 0, 1), -1.2+0.4*swing)
		rot[sk.Index("LeftArm")] = m3.AxisAngle(m3.V(0, 0, 1), -1.3)
		rot[sk.Index("Spine")] = m3.AxisAngle(m3.Up, 0.1*swing)
	}
	clip := must.Get(layer.New(sk, c, layer.ClipOptions{Name: "gesture", Markers: []layer.Marker{{Name: "half", Time: float32(seconds / 2)}}}))(t)
	if dog {
		return clip, must.Get(layer.Joints(sk, "Neck", "Tail"))(t)
	}
	return clip, must.Get(layer.UpperBody(sk))(t)
}

// A clip on the upper body changes what it plays on and nothing else: hips and legs keep their bits, at
// all update rates. Afterwards all joints have the bits of an agent that never played it.
func TestConformanceClipOnJoints(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		calm, s := k.scene(t, 3, 1), k.scene(t, 3, 2)
		there, all := calm.run(60, numbers(3)...), s.run(60, numbers(3)...)
		clip, mask := gesture(t, s.people.Skel, 1)
		for i, e := range all {
			for _, x := range []*actors{calm, s} {
				setRate(t, x.people, i, []animsys.UpdateRate{animsys.EveryTick, animsys.Every2, animsys.Every4}[i])
			}
			must.Do(t, s.people.Play(e, clip, layer.PlayOptions{Layer: i, Mask: mask, In: 0.3, Out: 0.3}))
		}
		other := [3]bool{}
		for tick := 60; tick < 200; tick++ {
			calm.play(there, numbers(3), tick, tick+1, nil)
			s.play(all, numbers(3), tick, tick+1, nil)
			for i := range all {
				a, b := calm.bones(there[i]), s.bones(all[i])
				for j := range a {
					same := a[j] == b[j]
					other[i] = other[i] || !same
					if !same && (mask.Weights()[j] == 0 || tick >= 160) {
						t.Fatalf("tick %d, agent %d: %s has other bits", tick, i, s.people.Skel.Names[j])
					}
				}
			}
		}
		if other != [3]bool{true, true, true} {
			t.Errorf("clips change poses: %v", other)
		}
	})
}

// A clip that adds nothing to the pose changes no bit.
func TestConformanceAddsNothing(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		calm, s := k.scene(t, 1, 1), k.scene(t, 1, 1)
		there, all := calm.run(30, 0), s.run(30, 0)
		c := skel.NewClip(s.people.Skel, 24, 10)
		for j := range c.Rot {
			c.Rot[j] = m3.AxisAngle(m3.V(0.6, 0.8, 0), 0.3)
		}
		still := must.Get(layer.New(s.people.Skel, c, layer.ClipOptions{}))(t)
		must.Do(t, s.people.Play(all[0], still, layer.PlayOptions{Additive: true, Loop: true, Weight: 0.7, Speed: 0.9}))
		for tick := 30; tick < 120; tick++ {
			calm.play(there, []int{0}, tick, tick+1, nil)
			s.play(all, []int{0}, tick, tick+1, nil)
			if tick == 90 {
				must.Do(t, s.people.Stop(all[0], 0, 0.2))
			}
			if !slices.Equal(calm.bones(there[0]), s.bones(all[0])) {
				t.Fatalf("tick %d: other bits", tick)
			}
		}
	})
}

// Clips have the same bits for any number of workers; an agent that goes leaves its row's layers
// to nobody, and the agent of the last row keeps its own. A tick allocates nothing.
func TestConformanceClipRows(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		track := func(workers int) (out []uint64) {
			s := k.scene(t, 8, workers)
			all := s.run(40, numbers(8)...)
			clip, mask := gesture(t, s.people.Skel, 1)
			agents := numbers(8)
			for i, e := range all {
				if i%2 == 1 {
					must.Do(t, s.people.Play(e, clip, layer.PlayOptions{Mask: mask, Loop: true, Start: float32(i) / 10}))
					must.Do(t, s.people.Play(e, clip, layer.PlayOptions{Layer: 2, Additive: true, Loop: true, Weight: 0.3}))
				}
			}
			for tick := 40; tick < 120; tick++ {
				if tick == 60 {
					must.Do(t, s.people.Despawn(all[1]))
					all, agents = slices.Delete(all, 1, 2), slices.Delete(agents, 1, 2)
				}
				if tick == 70 {
					all, agents = append(all, must.Get(s.start(9))(t)), append(agents, 9)
				}
				s.play(all, agents, tick, tick+1, nil)
				out = append(out, s.people.Hash())
			}
			for i, e := range all {
				playing, _ := s.people.Playing(e, 0)
				if (playing != nil) != (agents[i] < 9 && agents[i]%2 == 1) {
					t.Errorf("agent %d plays %v", agents[i], playing)
				}
			}
			mustNotAllocate(t, func() {
				for i, e := range all {
					must.Do(t, s.people.Play(e, clip, layer.PlayOptions{Layer: 1, Mask: mask}))
					s.control(e, agents[i], 120)
				}
				s.step(90)
			})
			return out
		}
		if one, three := track(1), track(3); !slices.Equal(one, three) {
			t.Error("one worker and three give different bits")
		}
	})
}

// Layers that are restored go on with the same bits.
func TestConformanceClipState(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		s := k.scene(t, 2, 1)
		all := s.run(40, 0, 1)
		clip, mask := gesture(t, s.people.Skel, 1)
		must.Do(t, s.people.Play(all[0], clip, layer.PlayOptions{Mask: mask, Loop: true}))
		must.Do(t, s.people.Play(all[1], clip, layer.PlayOptions{RootMotion: true, Loop: true}))
		s.play(all, []int{0, 1}, 40, 50, nil)
		must.Do(t, s.people.Play(all[0], clip, layer.PlayOptions{Layer: 1, Additive: true}))
		var was, is generator.State
		for row := range 2 {
			s.people.LayersState(&was, row)
		}
		must.Do(t, s.people.Stop(all[0], 0, 0.1))
		must.Do(t, s.people.Stop(all[1], 0, 0.1))
		s.play(all, []int{0, 1}, 50, 60, nil)
		was.Rewind()
		for row := range 2 {
			s.people.LayersState(&was, row)
		}
		must.Do(t, was.Err())
		for row := range 2 {
			s.people.LayersState(&is, row)
		}
		if !slices.Equal(was.Data, is.Data) {
			t.Error("the layers are not those that were saved")
		}
		for cut := range was.Data {
			part := generator.State{Data: was.Data[:cut]}
			part.Rewind()
			s.people.LayersState(&part, 0)
			s.people.LayersState(&part, 1)
			if part.Err() == nil {
				t.Fatalf("%d bytes of %d are a state", cut, len(was.Data))
			}
		}
		s.step(1)
	})
}

// quarterTurn returns a clip of two seconds that moves the body 1.2 m ahead and a quarter of a turn to the
// left.
func quarterTurn(t testing.TB, sk *skel.Skeleton) *layer.Clip {
	c := skel.NewClip(sk, 30, 61)
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		x := float32(f) / 60
		x = x * x * (3 - 2*x)
		pos[0], rot[0] = m3.V(0, 0.9, 1.2*x), m3.YawQuat(math.Pi/2*x)
		if sk.Index("Tail") >= 0 {
			pos[0].Y = 0.45
		}
	}
	return must.Get(layer.New(sk, c, layer.ClipOptions{}))(t)
}

// A clip with root motion moves the agent as far as the clip, and turns it; the generator goes on from
// there.
func TestConformanceRootMotion(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		s := k.scene(t, 1, 1)
		all := s.run(60, 0)
		clip := quarterTurn(t, s.people.Skel)
		must.Do(t, s.people.Play(all[0], clip, layer.PlayOptions{RootMotion: true}))
		s.play(all, []int{0}, 60, 61, nil) // its first pose
		from := s.people.Root(all[0])
		last := slices.Clone(s.bones(all[0]))
		see := func(tick int) {
			for j, x := range s.bones(all[0]) {
				if d := x.Pos.Dist(last[j].Pos); d > 0.4 {
					t.Errorf("tick %d: %s jumps by %.2f m", tick, s.people.Skel.Names[j], d)
				}
			}
			copy(last, s.bones(all[0]))
		}
		s.play(all, []int{0}, 61, 181, see)
		to := s.people.Root(all[0])
		by := from.Inv().Mul(to)
		if d := by.Pos.Dist(m3.V(0, 0, 1.2)); d > 0.02 || m3.Abs(by.Rot.Yaw()-math.Pi/2) > 0.02 {
			t.Errorf("the clip moves the agent by %v and %.2f rad, want 1.2 m ahead and π/2", by.Pos, by.Rot.Yaw())
		}
		s.play(all, []int{0}, 181, 190, see)
		after := s.people.Root(all[0])
		if d := after.Pos.Dist(to.Pos); d > 0.9 || m3.Abs(m3.WrapAngle(after.Rot.Yaw()-to.Rot.Yaw())) > 0.6 {
			t.Errorf("after the clip the agent is %.2f m from its end, turned by %.2f rad", d, m3.WrapAngle(after.Rot.Yaw()-to.Rot.Yaw()))
		}
		s.play(all, []int{0}, 190, 260, see)
	})
}

// Walls stop an agent that a clip moves, and the clip goes on from there. A clip that ignores walls goes through them,
// and so it does after a restore; where it ends, walls hold the agent again.
func TestClipStopsAtWalls(t *testing.T) {
	walls, k := &control.Obstacles{}, kinds(t)[1]
	s := k.scene(t, 1, 1, func(o *animsys.Options) { o.Walls = walls })
	all := s.run(60, 0)
	at := s.people.Root(all[0])
	ahead := at.Rot.Forward()
	across, wall := m3.V(ahead.Z, 0, -ahead.X).Scale(5), at.Pos.Add(ahead.Scale(0.8))
	must.Do(t, walls.Set(control.Wall(wall.Sub(across), wall.Add(across), 0.2)))
	must.Do(t, s.people.Play(all[0], quarterTurn(t, s.people.Skel), layer.PlayOptions{RootMotion: true}))
	nearest := float32(10)
	s.play(all, []int{0}, 60, 170, func(int) {
		nearest = min(nearest, wall.Sub(s.people.Root(all[0]).Pos).Dot(ahead))
	})
	if want := float32(0.1 + 0.35); nearest < want-0.01 || nearest > want+0.05 { // of half the wall and the person
		t.Errorf("the clip brings the agent within %.2f m of the wall's middle, want %g", nearest, want)
	}
	if turn := m3.WrapAngle(s.people.Root(all[0]).Rot.Yaw() - at.Rot.Yaw()); turn < 1 {
		t.Errorf("at the wall the clip has turned the agent by %.2f rad", turn)
	}

	// One that ignores walls ends in this one, which pushes the agent out in some ticks.
	s = k.scene(t, 1, 1, func(o *animsys.Options) { o.Walls = walls })
	all = s.run(60, 0)
	wall = wall.Add(ahead.Scale(0.3))
	must.Do(t, walls.Set(control.Wall(wall.Sub(across), wall.Add(across), 0.2)))
	must.Do(t, s.people.Play(all[0], quarterTurn(t, s.people.Skel), layer.PlayOptions{RootMotion: true, IgnoreWalls: true}))
	beyond := func() float32 { return -wall.Sub(s.people.Root(all[0]).Pos).Dot(ahead) }
	s.play(all, []int{0}, 60, 90, nil)
	must.Do(t, s.people.Restore(must.Get(s.people.Save(nil))(t)))
	farthest := float32(-10)
	s.play(all, []int{0}, 90, 180, func(int) { farthest = max(farthest, beyond()) })
	if farthest < 0.05 {
		t.Errorf("the clip that ignores walls brings the agent %.2f m beyond the wall's middle", farthest)
	}
	was, fastest := s.people.Root(all[0]).Pos, float32(0)
	s.play(all, []int{0}, 180, 240, func(int) {
		at := s.people.Root(all[0]).Pos
		was, fastest = at, max(fastest, at.Dist(was)*animsys.TickRate)
	})
	if at := beyond(); m3.Abs(at) < 0.1+0.35-0.01 {
		t.Errorf("after the clip the agent is %.2f m from the wall's middle", at)
	}
	if fastest > 2.5 {
		t.Errorf("the wall pushes the agent out at %.1f m/s", fastest)
	}
}

func TestPlayErrors(t *testing.T) {
	k := kinds(t)[0]
	s := k.scene(t, 2, 1)
	e := s.run(1, 0)[0]
	clip, mask := gesture(t, s.people.Skel, 1)
	for want, err := range map[string]error{
		"not in this crowd": s.people.Play(arche.Entity{}, clip, layer.PlayOptions{}),
		"not made by New":   s.people.Play(e, nil, layer.PlayOptions{}),
		"layer 4":           s.people.Play(e, clip, layer.PlayOptions{Layer: 4}),
		"layer -1":          s.people.Stop(e, -1, 0),
		"weight":            s.people.Play(e, clip, layer.PlayOptions{Weight: 2, Mask: mask}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// Each contact of each foot gives one event down and one up, in the tick in which it shows, with the
// foot's place and the ground's normal there, whatever the update rate and the number of workers.
func TestConformanceFeetEvents(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		track := func(workers int) (all []animsys.Event) {
			s := k.scene(t, 3, workers)
			agents := s.run(1, numbers(3)...)
			setRate(t, s.people, 1, animsys.Every2)
			setRate(t, s.people, 2, animsys.Every4)
			legs := len(s.people.Ground.Rig.Roles.Legs)
			contact := func(row, leg int) bool { return s.people.Ground.Feet[row*legs+leg].Stands() }
			was := map[arche.Entity][]bool{} // as shown
			for row, e := range agents {
				for leg := range legs {
					was[e] = append(was[e], contact(row, leg))
				}
			}
			downs := 0
			see := func(tick int) {
				events, row := s.people.Events(), 0
				for _, e := range events {
					at, ok := s.people.Row(e.Entity)
					if !ok || at < row {
						t.Fatalf("tick %d: events are not in the order of rows", tick)
					}
					row = at
					down := e.Kind == animsys.FootDown
					if was[e.Entity][e.Leg] == down || contact(at, int(e.Leg)) != down {
						t.Fatalf("tick %d: %v of leg %d of row %d, contact was %v and is %v", tick, e.Kind, e.Leg, at, was[e.Entity][e.Leg], contact(at, int(e.Leg)))
					}
					was[e.Entity][e.Leg] = down
					if down {
						downs++
					}
					if e.Pos != s.bones(e.Entity)[e.Joint].Pos || e.Normal != s.field.Normal(e.Pos.X, e.Pos.Z) {
						t.Fatalf("tick %d: the foot is said to be at %v on %v", tick, e.Pos, e.Normal)
					}
					if !(e.Speed >= 0 && e.Speed < 20) {
						t.Fatalf("tick %d: a foot comes at %g m/s", tick, e.Speed)
					}
				}
				for row := range s.people.Agents() {
					for leg, stood := range was[s.people.Entity(row)] {
						// Those who update in each tick have no change left; others may show it three ticks later.
						if s.people.UpdateRateAt(row) == animsys.EveryTick && stood != contact(row, leg) {
							t.Fatalf("tick %d: the contact of leg %d of row %d has changed without an event", tick, leg, row)
						}
					}
				}
				all = append(all, events...)
			}
			s.play(agents, numbers(3), 1, 200, see)
			setRate(t, s.people, 2, animsys.EveryTick)
			s.play(agents, numbers(3), 200, 240, see)
			must.Do(t, s.people.Despawn(agents[0])) // the last row becomes the first
			s.play(agents[1:], []int{1, 2}, 240, 440, see)
			if k.name != "keypose" && downs < 6 {
				t.Errorf("%d feet came down in 440 ticks", downs)
			}
			return all
		}
		if one, three := track(1), track(3); !slices.Equal(one, three) {
			t.Error("one worker and three have different events")
		}
	})
}

// Each marker gives one event each time the clip passes it, in the very tick, at any update rate, and in
// loops that are shorter than a tick.
func TestMarkerEvents(t *testing.T) {
	k := kinds(t)[0]
	s := k.scene(t, 4, 2)
	all := s.run(8, numbers(4)...)
	for row, rate := range []animsys.UpdateRate{animsys.EveryTick, animsys.Every2, animsys.Every4, animsys.EveryTick} {
		setRate(t, s.people, row, rate)
	}
	s.step(4)
	motion := func(fps float64, frames int, at ...float32) *layer.Clip {
		var m []layer.Marker
		for i, x := range at {
			m = append(m, layer.Marker{Name: string(rune('a' + i)), Time: x})
		}
		return must.Get(layer.New(s.people.Skel, skel.NewClip(s.people.Skel, fps, frames), layer.ClipOptions{Markers: m}))(t)
	}
	tail := must.Get(layer.Tail(s.people.Skel))(t)
	second := motion(30, 31, 0, 0.5, 1)        // a second
	short := motion(500, 2, 0.001, 0.002/1000) // 4 ms in a loop: 4.17 times a tick
	for _, e := range all[:3] {
		must.Do(t, s.people.Play(e, second, layer.PlayOptions{Mask: tail}))
	}
	must.Do(t, s.people.Play(all[3], short, layer.PlayOptions{Mask: tail, Loop: true}))
	type seen struct {
		e    arche.Entity
		name string
	}
	when, count := map[seen][]int{}, 0
	for tick := range 120 {
		s.step(1)
		for _, e := range s.people.Events() {
			switch {
			case e.Clip == short:
				count++
			case e.Kind == animsys.ClipMarker:
				when[seen{e.Entity, e.Marker}] = append(when[seen{e.Entity, e.Marker}], tick)
			case e.Kind == animsys.ClipEnd:
				when[seen{e.Entity, "end"}] = append(when[seen{e.Entity, "end"}], tick)
			}
		}
	}
	for i, e := range all[:3] {
		start := when[seen{e, "a"}]
		if len(start) != 1 || start[0] > []int{1, 2, 4}[i] {
			t.Fatalf("agent %d: the first marker is passed in ticks %v", i, start)
		}
		for name, after := range map[string]int{"b": 29, "c": 59, "end": 59} {
			if at := when[seen{e, name}]; len(at) != 1 || at[0] < start[0]+after-1 || at[0] > start[0]+after+1 {
				t.Errorf("agent %d: %s in ticks %v, want once about %d ticks after %d", i, name, at, after, start[0])
			}
		}
	}
	if want := 2 * 119 * 1000 / 60 / 4; count < want-2 || count > want+10 {
		t.Errorf("%d markers of a loop of 4 ms in 119 ticks, want about %d", count, want)
	}
}

// recordedPersonJerk is the 99.9th percentile of the jerk of all joints of every eighth of CMU's recordings
// of people who walk and run, on our skeleton, m/s³: TestRecordedPersonJerk measures it. Of all of them it
// is 21749: some recordings have faults.
const recordedPersonJerk = 14302

// The constant is the recordings'.
func TestRecordedPersonJerk(t *testing.T) {
	race.Single(t)
	files := must.Get(filepath.Glob(filepath.Join(mocapdata.Dir(t), "cmu-locomotion", "*")))(t)
	var all []float64
	for i, path := range files {
		if i%8 != 0 {
			continue
		}
		clip, _, err := retarget.Open(path, retarget.OpenOptions{FPS: 60})
		if err != nil {
			continue // a notice
		}
		var k jerk
		pose := make([]m3.Xform, clip.Skel.Len())
		for f := range clip.Frames {
			clip.Model(pose, f)
			k.add(pose, func(v float64) { all = append(all, v) })
		}
	}
	slices.Sort(all)
	if got := all[len(all)*999/1000]; math.Abs(got/recordedPersonJerk-1) > 0.01 {
		t.Errorf("99.9 %% of the recorded jerk is below %.0f m/s³, not %d", got, recordedPersonJerk)
	}
}

// While people walk and wave, and dogs trot and shake their heads, no joint has more than twice the jerk of
// recorded ones, and no joint that the clip plays on has more than once: neither where the clip begins, nor
// where it is ended, nor in between.
func TestClipJerk(t *testing.T) {
	walkers, circle := must.Get(person.Open())(t), must.Get(control.Circle(5))(t)
	dogs := must.Get(mann.NewModel(must.Get(dog.Open())(t)))(t)
	for _, k := range []struct {
		kind
		most float64
	}{
		{kindOf(t, "people", func(n, workers int) (generator.Generator[manifold.Curve], error) {
			return walkers.NewStream(manifold.StreamOptions{Capacity: n, Batch: n, Workers: workers})
		}, func(i, tick int) manifold.Curve { return manifold.Curve{Path: circle, Start: float32(i), Speed: 1.4} }), recordedPersonJerk},
		{kindOf(t, "dogs", func(n, workers int) (generator.Generator[control.Goal], error) {
			return dogs.NewController(mann.ControllerOptions{Capacity: n, Workers: workers})
		}, func(i, tick int) control.Goal {
			return control.Goal{Move: m3.V(0, 0, 1), Turn: 0.1 * float32(i), Speed: control.TrotSpeed, Action: control.Move}
		}), recordedJerk},
	} {
		t.Run(k.name, func(t *testing.T) {
			const n = 4
			s := k.scene(t, n, 2)
			all := s.run(200, numbers(n)...)
			clip, mask := gesture(t, s.people.Skel, 1.4)
			jerks, most, ours := make([]jerk, n), 0.0, 0.0
			for tick := 200; tick < 900; tick++ {
				for i, e := range all {
					switch (tick + 37*i) % 180 {
					case 0:
						must.Do(t, s.people.Play(e, clip, layer.PlayOptions{Mask: mask, Loop: i%2 == 0}))
					case 20:
						if i == 2 { // while it blends in
							must.Do(t, s.people.Stop(e, 0, 0))
						}
					case 70:
						must.Do(t, s.people.Stop(e, 0, 0))
					}
				}
				s.play(all, numbers(n), tick, tick+1, nil)
				for i, e := range all {
					j := -1
					v, worst := jerks[i].add(s.bones(e), func(v float64) {
						if j++; mask.Weights()[j] > 0 {
							ours = max(ours, v)
						}
					})
					most = max(most, v)
					if v > 2*k.most {
						t.Errorf("tick %d of agent %d: %s has a jerk of %.0f m/s³", (tick+37*i)%180, i, s.people.Skel.Names[worst], v)
					}
				}
			}
			if ours > k.most {
				t.Errorf("a joint that the clip plays on has a jerk of %.0f m/s³", ours)
			}
			t.Logf("jerk up to %.0f m/s³, %.2f times the recordings' 99.9th percentile; of what the clip plays on up to %.0f", most, most/k.most, ours)
		})
	}
}
