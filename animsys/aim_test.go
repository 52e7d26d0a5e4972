package animsys_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/keypose"
	"mannequin/animsys/layer"
	"mannequin/animsys/manifold"
	"mannequin/animsys/skel"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	humankeypose "mannequin/models/human-keypose"
	"mannequin/models/person"

	"github.com/mlange-42/arche/generic"
)

// An agent with an ecs.LookAt looks there, and no other agent does; another row takes what is
// remembered along, and a tick allocates nothing.
func TestLookAt(t *testing.T) {
	w, plain := newWorld(t, 3, 2), newWorld(t, 3, 1)
	first, dog := w.spawn(0), w.spawn(1)
	plain.spawn(0)
	plain.spawn(1)
	looks := generic.NewMap1[ecs.LookAt](&w.ecs)
	looks.Add(dog)
	looks.Assign(first, &ecs.LookAt{Target: m3.V(float32(math.NaN()), 0, 0), Weight: 1})
	head, nose := w.crowd.Skel.Index("Head"), w.crowd.Skel.Index("HeadSite")
	target := func() m3.Vec3 {
		row, _ := w.crowd.Row(dog)
		return w.crowd.Roots[row].Apply(m3.V(1.5, 1, 2))
	}
	off := func() float32 {
		row, _ := w.crowd.Row(dog)
		b := w.crowd.BonesAt(row)
		ahead := b[nose].Pos.Sub(b[head].Pos).Normalize(m3.Up)
		return m3.Acos(ahead.Dot(target().Sub(b[head].Pos).Normalize(m3.Up)))
	}
	step := func() {
		t.Helper()
		*looks.Get(dog) = ecs.LookAt{Target: target(), Weight: 1}
		for _, w := range []*world{w, plain} {
			if err := w.schedule.Step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 120 {
		step()
	}
	if d := off() * 180 / math.Pi; d > 3 { // the target goes along with the dog, a tick late
		t.Errorf("the dog looks %.1f° aside", d)
	}
	for j, x := range plain.crowd.BonesAt(0) {
		if x != w.crowd.BonesAt(0)[j] {
			t.Fatalf("who looks at what is no number has another joint %d", j)
		}
	}
	for j, x := range plain.crowd.BonesAt(1) {
		if turns := w.crowd.BonesAt(1)[j] != x; turns != (j >= w.crowd.Skel.Index("Neck") && j <= nose) {
			t.Errorf("that joint %s turns is %v", w.crowd.Skel.Names[j], turns)
		}
	}
	if err := w.crowd.Despawn(first); err != nil {
		t.Fatal(err)
	}
	if step(); off() > 3*math.Pi/180 {
		t.Errorf("in another row it looks %.1f° aside", off()*180/math.Pi)
	}
	if n := testing.AllocsPerRun(10, func() { _ = w.schedule.Step() }); n > 0 {
		t.Errorf("%g allocations in a tick", n)
	}
}

// reachers is a kind of people along curves, some of whom stand.
func reachers(t *testing.T, speed float32) kind {
	walkers, circle := must.Get(person.Open())(t), must.Get(control.Circle(5))(t)
	return kindOf(t, "people", func(n, workers int) (generator.Generator[manifold.Curve], error) {
		return walkers.NewStream(manifold.StreamOptions{Capacity: n, Batch: n, Workers: workers})
	}, func(i, tick int) manifold.Curve {
		if speed == 0 {
			return manifold.Curve{}
		}
		return manifold.Curve{Path: circle, Start: float32(i), Speed: speed}
	})
}

// A hundred places that arms can reach, while people walk and stand: the hand is there in the time that
// was asked for, without a jerk, and what is not possible is refused with a reason.
func TestReachInTime(t *testing.T) {
	race.Single(t)
	for name, speed := range map[string]float32{"standing": 0, "walking": 1.3} {
		t.Run(name, func(t *testing.T) {
			const n = 25
			s := reachers(t, speed).scene(t, n, 2)
			all := s.run(600, numbers(n)...)
			people := s.people
			reach := generic.NewMap1[ecs.Reach](&s.ecs)
			for _, e := range all {
				reach.Add(e)
			}
			rng := rand.New(rand.NewPCG(7, 7))
			upper := must.Get(layer.UpperBody(people.Skel))(t).Weights()
			plain := reachers(t, speed).scene(t, n, 1) // who reach for nothing
			others := plain.run(600, numbers(n)...)
			jerks, plainJerks, own := make([]jerk, n), make([]jerk, n), 0.0
			asked, refused, missed, most, off, where := 0, 0, 0, 0.0, 0.0, ""
			tick := 600
			step := func() {
				s.play(all, numbers(n), tick, tick+1, nil)
				tick++
				plain.play(others, numbers(n), tick-1, tick, nil)
				for i, e := range all {
					j, bones, without := -1, s.bones(e), plain.bones(others[i])
					jerks[i].add(bones, func(v float64) {
						if j++; upper[j] > 0 && v > most {
							most, where = v, people.Skel.Names[j]
						}
					})
					k := -1
					plainJerks[i].add(without, func(v float64) {
						if k++; upper[k] > 0 {
							own = max(own, v)
						}
					})
					for j := range bones {
						if upper[j] == 0 && bones[j] != without[j] {
							t.Fatalf("reaching changes the bits of %s", people.Skel.Names[j])
						}
					}
				}
			}
			for range 2 {
				before := make([]m3.Vec3, n)
				for i, e := range all {
					before[i] = s.bones(e)[0].Pos
				}
				for range 15 {
					step()
				}
				due := make([]float32, n) // s; 0: refused
				side := make([]animsys.Side, n)
				for i, e := range all {
					m := s.bones(e)
					side[i] = animsys.Side(rng.IntN(2))
					out := float32(1 - 2*int(side[i]))
					joint := func(name string) int {
						return people.Skel.Index([]string{"Left", "Right"}[side[i]] + name)
					}
					shoulder := m[joint("Arm")].Pos
					length := shoulder.Dist(m[joint("ForeArm")].Pos) + m[joint("ForeArm")].Pos.Dist(m[joint("HandIndex1")].Pos)
					seconds := 0.7 + 0.3*rng.Float32()
					// In front and to the hand's side, up to the stretched arm, of where the person will be.
					yaw, pitch := out*(1.1*rng.Float32()-0.3), 1.6*rng.Float32()-0.9
					way := m3.V(m3.Sin(yaw)*m3.Cos(pitch), m3.Sin(pitch), m3.Cos(yaw)*m3.Cos(pitch))
					ahead := m[0].Pos.Sub(before[i]).Flat().Scale(4 * seconds)
					at := shoulder.Add(ahead).Add(m3.YawQuat(people.Root(e).Rot.Yaw()).Rotate(way).Scale(length * (0.4 + 0.5*rng.Float32())))
					asked++
					if err := people.CanReach(e, side[i], at, seconds); err != nil {
						refused++
						t.Logf("refused: %v", err)
						continue
					}
					due[i] = seconds
					hand := ecs.Hand{Target: at, Weight: 1, Seconds: seconds}
					if side[i] == animsys.Left {
						reach.Get(e).Left = hand
					} else {
						reach.Get(e).Right = hand
					}
				}
				for k := range 150 {
					step()
					for _, ev := range people.Events() {
						if ev.Kind != animsys.HandThere {
							continue
						}
						i := slices.Index(all, ev.Entity)
						target := reach.Get(ev.Entity).Left.Target
						if side[i] == animsys.Right {
							target = reach.Get(ev.Entity).Right.Target
						}
						d := float64(ev.Pos.Dist(target))
						if off = max(off, d); d > 0.02 {
							missed++
						}
						if late := float64(k+1)/animsys.TickRate - float64(due[i]); int(ev.Leg) != int(side[i]) || math.Abs(late) > 1.01/animsys.TickRate {
							t.Errorf("hand %d arrives %.3f s late", ev.Leg, late)
						}
						due[i] = -1
						*reach.Get(ev.Entity) = ecs.Reach{} // it lets go
					}
				}
				for i := range due {
					if due[i] > 0 {
						t.Errorf("person %d has not said that the hand is there", i)
					}
				}
			}
			t.Logf("%d of %d refused, %d more than 2 cm off, at most %.1f cm; jerk %.2f times the recordings' 99.9th percentile, without reaching %.2f", refused, asked, missed, 100*off, most/recordedPersonJerk, own/recordedPersonJerk)
			if hits := asked - refused - missed; float64(hits) < 0.95*float64(asked) {
				t.Errorf("%d of %d hands arrived within 2 cm", hits, asked)
			}
			if most > recordedPersonJerk {
				t.Errorf("%s has a jerk of %.0f m/s³", where, most)
			}
		})
	}
}

// A hundred places that feet can be put at, on the ground, on steps and over things, while people stand and
// walk: the foot is there in the time that was asked for, without a jerk, and what is not possible is refused.
func TestStepInTime(t *testing.T) {
	for name, speed := range map[string]float32{"standing": 0, "walking": 1.3} {
		t.Run(name, func(t *testing.T) {
			const n = 25
			s := reachers(t, speed).scene(t, n, 2)
			all := s.run(600, numbers(n)...)
			people := s.people
			steps := generic.NewMap1[ecs.Step](&s.ecs)
			for _, e := range all {
				steps.Add(e)
			}
			rng := rand.New(rand.NewPCG(7, 7))
			plain := reachers(t, speed).scene(t, n, 1) // who take no steps
			others := plain.run(600, numbers(n)...)
			jerks, plainJerks, own := make([]jerk, n), make([]jerk, n), 0.0
			asked, refused, missed, most, off, where := 0, 0, 0, 0.0, 0.0, ""
			tick := 600
			step := func() {
				s.play(all, numbers(n), tick, tick+1, nil)
				tick++
				plain.play(others, numbers(n), tick-1, tick, nil)
				for i, e := range all {
					plainJerks[i].add(plain.bones(others[i]), func(v float64) { own = max(own, v) })
					j := -1
					jerks[i].add(s.bones(e), func(v float64) {
						if j++; v > most {
							most, where = v, people.Skel.Names[j]
						}
					})
				}
			}
			for round := range 2 {
				for range 15 {
					step()
				}
				due := make([]float32, n) // s; 0: refused
				side := make([]animsys.Side, n)
				for i, e := range all {
					root := people.Root(e)
					side[i] = animsys.Side(rng.IntN(2))
					out := float32(1 - 2*int(side[i]))
					seconds := 0.7 + 0.5*rng.Float32()
					// In front, beside and behind, up to a stool's height, of where the person will be.
					at := m3.V(out*(0.4*rng.Float32()-0.02), 0.45*max(rng.Float32()-0.3, 0), 0.8*rng.Float32()-0.2)
					high := at.Y
					at = root.Apply(at).Add(root.Rot.Forward().Scale(speed * seconds))
					at.Y = people.Ground.Ground.Height(at.X, at.Z) + high
					if asked++; round == 1 {
						asked--
					}
					if err := people.CanStep(e, side[i], at, seconds); err != nil {
						refused++
						t.Logf("refused: %v", err)
						continue
					}
					due[i] = seconds
					foot := ecs.Foot{Target: at, Weight: 1, Seconds: seconds, Lift: 0.1}
					if side[i] == animsys.Left {
						steps.Get(e).Left = foot
					} else {
						steps.Get(e).Right = foot
					}
				}
				for k := range 150 {
					step()
					if round == 1 && k >= 10 && k-10 < n && due[k-10] > 0 { // told otherwise on its way, or later
						due[k-10] = -1
						*steps.Get(all[k-10]) = ecs.Step{}
					}
					for _, ev := range people.Events() {
						if ev.Kind != animsys.FootThere {
							continue
						}
						i := slices.Index(all, ev.Entity)
						target := steps.Get(ev.Entity).Left.Target
						if side[i] == animsys.Right {
							target = steps.Get(ev.Entity).Right.Target
						}
						d := float64(ev.Pos.Sub(m3.V(0, people.Ground.Sole, 0)).Dist(target))
						if off = max(off, d); d > 0.02 {
							missed++
						}
						if late := float64(k+1)/animsys.TickRate - float64(due[i]); int(ev.Leg) != int(side[i]) || math.Abs(late) > 1.01/animsys.TickRate {
							t.Errorf("foot %d arrives %.3f s late", ev.Leg, late)
						}
						due[i] = -1
						*steps.Get(ev.Entity) = ecs.Step{}
					}
				}
				for i := range due {
					if due[i] > 0 {
						t.Errorf("person %d has not said that the foot is there", i)
					}
				}
			}
			t.Logf("%d of %d refused, %d more than 2 cm off, at most %.1f cm; jerk of %s %.2f times the recordings' 99.9th percentile, without steps %.2f", refused, asked, missed, 100*off, where, most/recordedPersonJerk, own/recordedPersonJerk)
			if hits := asked - refused - missed; float64(hits) < 0.95*float64(asked-refused) {
				t.Errorf("%d of %d feet arrived within 2 cm", hits, asked)
			}
			if most > max(recordedPersonJerk, 1.05*own) { // people who walk on hills have more in their toes
				t.Errorf("%s has a jerk of %.0f m/s³", where, most)
			}
		})
	}
}

// What a hand cannot do is refused.
func TestCanReach(t *testing.T) {
	s := reachers(t, 0).scene(t, 1, 1)
	e := s.run(120, 0)[0]
	root := s.people.Root(e)
	nan := float32(math.NaN())
	for _, c := range []struct {
		at      m3.Vec3 // seen from the person
		seconds float32
		want    string
	}{
		{m3.V(0.2, 1.2, 0.4), 0.8, ""}, {m3.V(0.2, 1.2, 4), 0.8, "too far"}, {m3.V(0.2, 1.3, -0.6), 0.8, "behind the back"},
		{m3.V(0.3, 1.6, 0.3), 0.1, "too fast"}, {m3.V(nan, 1, 0), 1, "not finite"}, {m3.V(0.2, 1.2, 0.4), 0, "cannot arrive in 0 s"}, {m3.V(0.2, 1.2, 0.4), nan, "cannot arrive"},
	} {
		if err := s.people.CanReach(e, animsys.Left, root.Apply(c.at), c.seconds); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v in %g s: %v, want %q", c.at, c.seconds, err, c.want)
		}
	}
	if err := s.people.CanReach(e, 2, root.Pos, 1); err == nil {
		t.Error("a third hand was accepted")
	}
}

// A person walks, sits down on a bench, stays, and gets up when it is told to: at the place, in the time,
// without a jerk; what cannot be is refused.
func TestTakePose(t *testing.T) {
	net := must.Get(humankeypose.Open())(t)
	m := must.Get(must.Get(keypose.NewModel(net))(t).NewInbetweener(keypose.InbetweenerOptions{}))(t)
	defer m.Close()
	for name, speed := range map[string]float32{"standing": 0, "walking": 1.2} {
		t.Run(name, func(t *testing.T) {
			s := reachers(t, speed).scene(t, 2, 1)
			all := s.run(300, 0, 1)
			people, e := s.people, all[0]
			var sit animsys.PoseTarget
			seat := people.Root(e).Apply(m3.V(0.2, 0, 0.9))
			seat.Y = people.Ground.Ground.Height(seat.X, seat.Z)
			heading := people.Root(e).Rot.Yaw() + 0.8
			sit.At(seated(people.Skel), 0, seat, heading)
			sit.Seconds = 1.5
			clip := must.Get(people.TakePose(e, m, sit))(t)
			var jerks jerk
			most, there := 0.0, -1
			for k := range 240 {
				if k == 150 {
					must.Do(t, people.Stop(e, 0, 0.4))
				}
				s.play(all, []int{0, 1}, 300+k, 301+k, nil)
				v, _ := jerks.add(s.bones(e), nil)
				if k > 3 {
					most = max(most, v)
				}
				for _, ev := range people.Events() {
					if ev.Kind == animsys.ClipMarker && ev.Clip == clip {
						there = k
					}
				}
				if k < 110 || k >= 150 {
					continue
				}
				hips := s.bones(e)[0]
				if d := hips.Pos.Dist(sit.Pos[0]); d > 0.03 {
					t.Errorf("tick %d: the hips are %.3f m from the seat: %v, want %v", k, d, hips.Pos, sit.Pos[0])
				}
				if a := hips.Rot.Angle(sit.Rot[0]); a > 0.1 {
					t.Errorf("tick %d: the hips are turned by %.2f rad", k, a)
				}
			}
			if there < 86 || there > 94 {
				t.Errorf("the pose is said to be reached in tick %d", there)
			}
			t.Logf("jerk %.2f times the recordings' 99.9th percentile", most/recordedPersonJerk)
			if most > 2*recordedPersonJerk {
				t.Errorf("a joint has a jerk of %.0f m/s³", most)
			}
			for want, bad := range map[string]animsys.PoseTarget{
				"too far":             {Pos: append([]m3.Vec3{{X: 900}}, sit.Pos[1:]...), Rot: sit.Rot, Seconds: 1},
				"too far for 1.0 s":   {Pos: append([]m3.Vec3{sit.Pos[0].Add(m3.V(0, 50, 0))}, sit.Pos[1:]...), Rot: sit.Rot, Seconds: 1},
				"in 0 s":              {Pos: sit.Pos, Rot: sit.Rot},
				"1 translations":      {Pos: sit.Pos[:1], Rot: sit.Rot, Seconds: 1},
				"want finite numbers": {Pos: append([]m3.Vec3{{X: float32(math.NaN())}}, sit.Pos[1:]...), Rot: sit.Rot, Seconds: 1},
				"want unit":           {Pos: sit.Pos, Rot: make([]m3.Quat, len(sit.Rot)), Seconds: 1},
			} {
				if _, err := people.TakePose(e, m, bad); err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "want ")) {
					t.Errorf("%v, want %s", err, want)
				}
			}
			if _, err := people.TakePose(e, nil, sit); err == nil {
				t.Error("no in-betweener was accepted")
			}
		})
	}
}

// seated is a frame of a person who sits, with the hips 0.6 m above the seat's foot.
func seated(sk *skel.Skeleton) *skel.Clip {
	c := skel.NewClip(sk, 30, 1)
	pos, rot := c.Frame(0)
	pos[0] = m3.V(0, 0.6, 0)
	for _, side := range []string{"Left", "Right"} {
		out := float32(1)
		if side == "Right" {
			out = -1
		}
		rot[sk.Index(side+"UpLeg")] = m3.AxisAngle(m3.V(1, 0, 0), -1.45)
		rot[sk.Index(side+"Leg")] = m3.AxisAngle(m3.V(1, 0, 0), 1.45)
		rot[sk.Index(side+"Arm")] = m3.AxisAngle(m3.V(0, 0, 1), -1.2*out)
	}
	return c
}
