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
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	"mannequin/models"
	humankeypose "mannequin/models/human-keypose"
	"mannequin/models/person"

	arche "github.com/mlange-42/arche/ecs"
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

// limb is what people are told to move to places in a time.
type limb struct {
	kind animsys.EventKind
	bend func(joint int) bool // what may move otherwise than without it

	// place returns a place for a person, who moves by way in a tick, and the time.
	place func(s *actors, e arche.Entity, side animsys.Side, way m3.Vec3, rng *rand.Rand) (at m3.Vec3, seconds float32)
	can   func(s *actors, e arche.Entity, side animsys.Side, at m3.Vec3, seconds float32) error
	set   func(e arche.Entity, side animsys.Side, at m3.Vec3, seconds float32)
	free  func(e arche.Entity)
	under m3.Vec3 // from the joint to what is at the place
}

// moved is how people have moved their limbs.
type moved struct {
	asked, refused, missed int
	off, jerk, plain       float64 // the greatest distance from a place of those that are said to be there, m, and jerk, m/s³; plain: of people who are told nothing
	joint                  string  // with that jerk
}

// inTime runs 25 people, each of whom moves a limb to two places, one after the other, and lets go after each arrival.
// A third round, which is not measured, lets go before the limb arrives.
func inTime(t *testing.T, speed float32, seed uint64, use func(s *actors) limb) (r moved) {
	const n = 25
	s, plain := reachers(t, speed).scene(t, n, 2), reachers(t, speed).scene(t, n, 1)
	all, others := s.run(600, numbers(n)...), plain.run(600, numbers(n)...)
	people, l := s.people, use(s)
	rng := rand.New(rand.NewPCG(seed, 7))
	jerks, plainJerks := make([]jerk, n), make([]jerk, n)
	tick := 600
	step := func() {
		s.play(all, numbers(n), tick, tick+1, nil)
		plain.play(others, numbers(n), tick, tick+1, nil)
		tick++
		for i, e := range all {
			bones, without := s.bones(e), plain.bones(others[i])
			j, k := -1, -1
			jerks[i].add(bones, func(v float64) {
				if j++; l.bend(j) && v > r.jerk {
					r.jerk, r.joint = v, people.Skel.Names[j]
				}
			})
			plainJerks[i].add(without, func(v float64) {
				if k++; l.bend(k) {
					r.plain = max(r.plain, v)
				}
			})
			for j := range bones {
				if !l.bend(j) && bones[j] != without[j] {
					t.Fatalf("the bits of %s have changed", people.Skel.Names[j])
				}
			}
		}
	}
	const rounds = 2
	for round := range rounds + 1 {
		before := make([]m3.Vec3, n)
		for i, e := range all {
			before[i] = s.bones(e)[0].Pos
		}
		const wait = 15
		for range wait {
			step()
		}
		due, side, target := make([]float32, n), make([]animsys.Side, n), make([]m3.Vec3, n) // s; 0: refused
		for i, e := range all {
			side[i] = animsys.Side(rng.IntN(2))
			at, seconds := l.place(s, e, side[i], s.bones(e)[0].Pos.Sub(before[i]).Flat().Scale(1./wait), rng)
			err := l.can(s, e, side[i], at, seconds)
			if round < rounds {
				r.asked++
			}
			if err != nil {
				if round < rounds {
					r.refused++
					t.Logf("refused: %v", err)
				}
				continue
			}
			due[i], target[i] = seconds, at
			l.set(e, side[i], at, seconds)
		}
		for k := range 150 {
			step()
			for _, ev := range people.Events() {
				if ev.Kind != l.kind && ev.Kind != animsys.HandMissed {
					continue
				}
				i := slices.Index(all, ev.Entity)
				if ev.Kind == animsys.HandMissed {
					if round < rounds {
						r.missed++
						t.Logf("missed: %s", ev.Reason)
					}
					if ev.Reason == "" || int(ev.Leg) != int(side[i]) {
						t.Errorf("a hand has missed: %+v", ev)
					}
					due[i] = -1
					l.free(ev.Entity)
					continue
				}
				d := float64(ev.Pos.Add(l.under).Dist(target[i]))
				if d > 0.02 {
					t.Errorf("limb %d is said to be there, and is off by %.1f cm", ev.Leg, 100*d)
				}
				if round < rounds {
					r.off = max(r.off, d)
				}
				if late := float64(k+1)/animsys.TickRate - float64(due[i]); int(ev.Leg) != int(side[i]) || math.Abs(late) > 1.01/animsys.TickRate {
					t.Errorf("limb %d arrives %.3f s late", ev.Leg, late)
				}
				due[i] = -1
				l.free(ev.Entity)
			}
			if i := k - 10; round == rounds && i >= 0 && i < n && due[i] > 0 {
				due[i] = -1
				l.free(all[i])
			}
		}
		for i := range due {
			if due[i] > 0 {
				t.Errorf("person %d has not said that it is there", i)
			}
		}
	}
	t.Logf("%d of %d refused, %d said to have missed, all others off by at most %.1f cm; jerk of %s %.2f times the recordings' 99.9th percentile, without it %.2f",
		r.refused, r.asked, r.missed, 100*r.off, r.joint, r.jerk/recordedPersonJerk, r.plain/recordedPersonJerk)
	return r
}

// Places that arms can reach, while people walk and stand: the hand is there in the time that was asked for,
// without a jerk, and what is not possible is refused with a reason. Legs keep their bits.
func TestReachInTime(t *testing.T) {
	race.Single(t)
	asked, hits := 0, 0
	for name, speed := range map[string]float32{"standing": 0, "walking": 1.3} {
		reaches := func(t *testing.T, seed uint64) moved {
			r := inTime(t, speed, seed, func(s *actors) limb {
				reach := generic.NewMap1[ecs.Reach](&s.ecs)
				for row := range s.people.Agents() {
					reach.Add(s.people.Entity(row))
				}
				upper := must.Get(layer.UpperBody(s.people.Skel))(t).Weights()
				return limb{kind: animsys.HandThere, bend: func(j int) bool { return upper[j] > 0 },
					place: func(s *actors, e arche.Entity, side animsys.Side, way m3.Vec3, rng *rand.Rand) (m3.Vec3, float32) {
						m, out := s.bones(e), float32(1-2*int(side))
						joint := func(name string) m3.Vec3 {
							return m[s.people.Skel.Index([]string{"Left", "Right"}[side]+name)].Pos
						}
						shoulder := joint("Arm")
						length := shoulder.Dist(joint("ForeArm")) + joint("ForeArm").Dist(joint("HandIndex1"))
						seconds := 0.7 + 0.3*rng.Float32()
						// In front and to the hand's side, up to the stretched arm, of where the person will be.
						yaw, pitch := out*(1.1*rng.Float32()-0.3), 1.6*rng.Float32()-0.9
						ahead := m3.V(m3.Sin(yaw)*m3.Cos(pitch), m3.Sin(pitch), m3.Cos(yaw)*m3.Cos(pitch))
						ahead = m3.YawQuat(s.people.Root(e).Rot.Yaw()).Rotate(ahead)
						return shoulder.Add(way.Scale(60 * seconds)).Add(ahead.Scale(length * (0.4 + 0.5*rng.Float32()))), seconds
					},
					can: func(s *actors, e arche.Entity, side animsys.Side, at m3.Vec3, seconds float32) error {
						return s.people.CanReach(e, side, at, seconds)
					},
					set: func(e arche.Entity, side animsys.Side, at m3.Vec3, seconds float32) {
						hand := ecs.Hand{Target: at, Weight: 1, Seconds: seconds}
						if side == animsys.Left {
							reach.Get(e).Left = hand
						} else {
							reach.Get(e).Right = hand
						}
					},
					free: func(e arche.Entity) { *reach.Get(e) = ecs.Reach{} },
				}
			})
			asked, hits = asked+r.asked, hits+r.asked-r.refused-r.missed
			return r
		}
		t.Run(name, func(t *testing.T) {
			if r := reaches(t, 7); r.jerk > recordedPersonJerk {
				t.Errorf("%s has a jerk of %.0f m/s³", r.joint, r.jerk)
			}
		})
		t.Run(name+" and other places", func(t *testing.T) {
			for _, seed := range []uint64{2, 3} {
				reaches(t, seed)
			}
		})
	}
	if t.Logf("%d of %d hands arrived within 2 cm", hits, asked); float64(hits) < 0.95*float64(asked) {
		t.Errorf("only %d of %d", hits, asked)
	}
}

// Places that feet can be put at, on the ground, on steps and over things, while people stand and walk: the foot
// is there in the time that was asked for, without a jerk, and what is not possible is refused.
func TestStepInTime(t *testing.T) {
	race.Single(t)
	for name, speed := range map[string]float32{"standing": 0, "walking": 1.3} {
		t.Run(name, func(t *testing.T) {
			r := inTime(t, speed, 7, func(s *actors) limb {
				steps := generic.NewMap1[ecs.Step](&s.ecs)
				for row := range s.people.Agents() {
					steps.Add(s.people.Entity(row))
				}
				return limb{kind: animsys.FootThere, bend: func(int) bool { return true }, under: m3.V(0, -s.people.Ground.Sole, 0),
					place: func(s *actors, e arche.Entity, side animsys.Side, way m3.Vec3, rng *rand.Rand) (m3.Vec3, float32) {
						root, out := s.people.Root(e), float32(1-2*int(side))
						seconds := 0.7 + 0.5*rng.Float32()
						// In front, beside and behind, up to a stool's height, of where the person will be.
						at := m3.V(out*(0.4*rng.Float32()-0.02), 0.45*max(rng.Float32()-0.3, 0), 0.8*rng.Float32()-0.2)
						high := at.Y
						at = root.Apply(at).Add(way.Scale(60 * seconds))
						at.Y = s.people.Ground.Ground.Height(at.X, at.Z) + high
						return at, seconds
					},
					can: func(s *actors, e arche.Entity, side animsys.Side, at m3.Vec3, seconds float32) error {
						return s.people.CanStep(e, side, at, seconds)
					},
					set: func(e arche.Entity, side animsys.Side, at m3.Vec3, seconds float32) {
						foot := ecs.Foot{Target: at, Weight: 1, Seconds: seconds, Lift: 0.1}
						if side == animsys.Left {
							steps.Get(e).Left = foot
						} else {
							steps.Get(e).Right = foot
						}
					},
					free: func(e arche.Entity) { *steps.Get(e) = ecs.Step{} },
				}
			})
			if hits := r.asked - r.refused - r.missed; float64(hits) < 0.95*float64(r.asked-r.refused) || r.refused > r.asked/2 {
				t.Errorf("%d of %d feet arrived within 2 cm, %d were refused", hits, r.asked, r.refused)
			}
			if r.jerk > max(recordedPersonJerk, 1.05*r.plain) { // people who walk on hills have more in their toes
				t.Errorf("%s has a jerk of %.0f m/s³", r.joint, r.jerk)
			}
		})
	}
}

// Knees bend forward in low reaches and high steps, also of people who have stood for long, whose legs the network
// stretches too far.
func TestKneesBendForward(t *testing.T) {
	race.Single(t)
	model := must.Get(models.OpenAs("human-strnn", strnn.NewModel))(t)
	for _, wait := range []int{60, 300, 900} {
		w := arche.NewWorld()
		stream := must.Get(model.NewStream(strnn.StreamOptions{Capacity: 6, Seed: 3, Workers: 1}))(t)
		people := must.Get(animsys.NewCrowd(&w, stream, animsys.Options{Ground: ik.Level(0), Workers: 1}))(t)
		defer people.Close()
		schedule := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
		reach, steps := generic.NewMap1[ecs.Reach](&w), generic.NewMap1[ecs.Step](&w)
		var all []arche.Entity
		for i := range 6 {
			all = append(all, must.Get(people.Spawn(m3.V(3*float32(i), 0, 0), 0.3*float32(i)))(t))
		}
		least, aside := float32(1), float32(0) // m
		run := func(ticks int) {
			for range ticks {
				must.Do(t, schedule.Step())
				for row := range all {
					m := people.BonesAt(row)
					joint := func(name string) m3.Vec3 { return m[people.Skel.Index(name)].Pos }
					ahead := joint("LeftUpLeg").Sub(joint("RightUpLeg")).Cross(m3.Up).Normalize(m3.Vec3{})
					for _, side := range []string{"Left", "Right"} {
						hip, knee, ankle := joint(side+"UpLeg"), joint(side+"Leg"), joint(side+"Foot")
						way := ankle.Sub(hip)
						out := knee.Sub(hip).Sub(way.Scale(knee.Sub(hip).Dot(way) / way.Dot(way))) // from the line to the knee
						least = min(least, out.Dot(ahead))
						aside = max(aside, m3.Abs(out.Sub(ahead.Scale(out.Dot(ahead))).Flat().Len()))
					}
				}
			}
		}
		run(wait)
		least, aside = 1, 0
		for i, e := range all {
			root := people.Root(e)
			reach.Add(e)
			steps.Add(e)
			if low := float32(0.15); i%2 == 0 {
				*reach.Get(e) = ecs.Reach{Left: ecs.Hand{Target: root.Apply(m3.V(0.1, low, 0.4)), Weight: 1, Seconds: 1.2},
					Right: ecs.Hand{Target: root.Apply(m3.V(-0.1, low, 0.4)), Weight: 1, Seconds: 1.2}}
			} else {
				steps.Get(e).Left = ecs.Foot{Target: root.Apply(m3.V(0.12, 0.25, 0.4)), Weight: 1, Seconds: 0.9, Lift: 0.05}
			}
		}
		run(120)
		t.Logf("after %d ticks: knees at least %.1f cm in front of the line from hip to ankle, at most %.1f cm beside it", wait, 100*least, 100*aside)
		if least < -0.02 || aside > 0.2 {
			t.Errorf("after %d ticks: a knee is %.1f cm in front of its leg, and %.1f cm beside it", wait, 100*least, 100*aside)
		}
	}
}

// What a hand cannot do is refused.
func TestCanReach(t *testing.T) {
	race.Single(t)
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
	race.Single(t)
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

// A seat that stands at a wall is reached by a target that ignores walls, and only by that.
func TestTakePoseAtWall(t *testing.T) {
	m := must.Get(must.Get(keypose.NewModel(must.Get(humankeypose.Open())(t)))(t).NewInbetweener(keypose.InbetweenerOptions{}))(t)
	defer m.Close()
	for _, ignore := range []bool{false, true} {
		walls := &control.Obstacles{}
		s := reachers(t, 0).scene(t, 1, 1, func(o *animsys.Options) { o.Walls = walls })
		all := s.run(300, 0)
		root := s.people.Root(all[0])
		seat := root.Apply(m3.V(0, 0, 0.9))
		along, wall := root.Rot.Rotate(m3.V(3, 0, 0)), root.Apply(m3.V(0, 0, 1.15))
		must.Do(t, walls.Set(control.Wall(wall.Sub(along), wall.Add(along), 0.02)))
		seat.Y = s.people.Ground.Ground.Height(seat.X, seat.Z)
		sit := animsys.PoseTarget{Seconds: 1.5, IgnoreWalls: ignore}
		sit.At(seated(s.people.Skel), 0, seat, root.Rot.Yaw()+math.Pi)
		must.Get(s.people.TakePose(all[0], m, sit))(t)
		s.play(all, []int{0}, 300, 420, nil)
		off := s.bones(all[0])[0].Pos.Dist(sit.Pos[0])
		if ignore && off > 0.03 || !ignore && off < 0.05 {
			t.Errorf("walls ignored: %v: the hips are %.3f m from the seat", ignore, off)
		}
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
