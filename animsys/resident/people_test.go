package resident_test

import (
	"slices"
	"testing"
	"time"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/matching"
	"mannequin/animsys/resident"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/models/fox"
	"mannequin/models/hero"
)

// characters lists shipped characters that play by learned motion matching.
var characters = []struct {
	name string
	open func() (*matching.File, error)
}{{"hero", hero.Open}, {"fox", fox.Open}}

func openLearned(t *testing.T, l *matching.Learned, o resident.Options) *resident.Crowd {
	t.Helper()
	o.Timeout = time.Hour
	c := must.Get(resident.NewLearned(l, o))(t)
	t.Cleanup(func() { must.Do(t, c.Close()) })
	return c
}

// here returns a crowd that lives on the processor, with agents at places.
func here(t *testing.T, l *matching.Learned, o resident.Options, at ...feature.Place) *resident.Crowd {
	t.Helper()
	c := openLearned(t, l, o)
	c.Break()
	for _, p := range at {
		must.Get(c.Add(p))(t)
	}
	if c.Device() != "" {
		t.Fatal("it lives on ", c.Device())
	}
	return c
}

// wander is what a tour asks for in a tick: one thing after another, of all that goals can ask for without a path.
func wander(l *matching.Learned, tick int) control.Goal {
	g := control.Goal{Action: control.Move, Move: m3.V(0, 0, 1)}
	speeds := l.Speeds(4)
	g.Speed = speeds[tick/240%len(speeds)]
	asks := func(tag string) {
		if a, ok := l.Action(tag); ok {
			g.Action = a
		}
	}
	switch tick / 45 % 20 {
	case 1:
		g.Turn = 0.5
		asks("hit") // with the upper body
	case 2:
		g.Move = m3.V(0.7, 0, 0.7)
	case 3, 4, 15, 19:
		g = control.Goal{}
	case 5:
		g = control.Goal{Face: m3.V(0.1, 0, -1)}
	case 6:
		g.Face, g.Move = m3.V(1, 0, 0.2), m3.V(0, 0, 0.5)
	case 7, 8:
		g = control.Goal{Action: control.Sit}
	case 9:
		g.Action = control.Jump
	case 10:
		g.Move, g.Turn = m3.V(0, 0, 0.5), -1
	case 11:
		g.Move = m3.V(0, 0, -1)
	case 12:
		g = control.Goal{Turn: 1}
	case 13:
		asks("roll")
		asks("attack")
	case 14, 16:
		g = control.Goal{}
		asks("crouch")
	case 17:
		g = control.Goal{}
		asks("hit")
		asks("pose")
	}
	return g
}

// hurry is wander, but to and fro at the largest speed now and then, faster than a body may speed up and brake.
func hurry(l *matching.Learned, tick int) control.Goal {
	g := wander(l, tick)
	switch tick / 45 % 20 {
	case 0:
		g.Speed = l.FastestSpeed()
	case 18:
		g.Move, g.Speed = m3.V(0, 0, -1), l.FastestSpeed()
	}
	return g
}

// The places of numbers in a row that animsys/matching documents: those of one tick, and those that say what it plays.
const onlyTick, ofTick, accel, restarted, acting, resting, soon, upper = 34, 44, 8, 18, 25, 28, 33, 44

// plays are numbers of a row that say what it plays.
var plays = []int{restarted, 21, 22, 23, 24, acting, 26, resting, 29, 32, soon, upper, 45}

// samePlay reports whether two rows play the same.
func samePlay(a, b []float32) bool {
	return !slices.ContainsFunc(plays, func(k int) bool { return a[k] != b[k] })
}

// unsteady returns by how much the joints of a pose on the ground move if the pose moves by micrometres: the solver swings bones that begin to
// dip into the ground.
func unsteady(c *resident.Crowd, ground ik.Ground, agent int) (most float32) {
	pos, rot, solver := c.Flat(agent)
	was, is := make([]m3.Xform, len(pos)), make([]m3.Xform, len(pos))
	resident.Stand(solver, ground, was, pos, rot)
	for i := range 16 {
		p := slices.Clone(pos)
		p[0] = p[0].Add(m3.V(float32(i%4)-1.5, float32(i/4)-1.5, float32(i%3)-1).Scale(2e-6))
		resident.Stand(solver, ground, is, p, rot)
		for j := range is {
			most = max(most, is[j].Pos.Dist(was[j].Pos))
		}
	}
	return most
}

// TestLearnedShader: people and a fox over 600 ticks, each from the state that the processor has: all numbers of a row are as the processor has
// them, and joints are where ik.Legged puts the processor's.
func TestLearnedShader(t *testing.T) {
	for _, of := range characters {
		l := must.Get(of.open())(t).Learned
		for _, ground := range []struct {
			name string
			ik.Ground
		}{{"level", ik.Level(1.5)}, {"hills", hills()}} {
			if inBrowser && (of.name == "hero") != (ground.name == "hills") {
				continue
			}
			t.Run(of.name+" "+ground.name, func(t *testing.T) {
				const ticks = 600
				n := fewer(4, 2)
				o := resident.Options{Capacity: n, Ground: ground.Ground}
				c := openLearned(t, l, o)
				needGPU(t, c)
				var at []feature.Place
				for i := range n {
					at = append(at, feature.Place{Pos: m3.V(float32(4*i), 0, float32(-3*i)), Yaw: float32(i)})
					must.Get(c.Add(at[i]))(t)
				}
				cpu := here(t, l, o, at...)
				var root, apart, number, swing float32
				var seen [6]int // acts, idles, jumps of poses, other choices, acts of the upper body, accelerations at their bound
				var a, b []m3.Xform
				joints := l.Skel.Len()
				all := []int{0, 1, 2, 3}[:n]
				for tick := range ticks {
					for i := range n {
						g := hurry(l, tick+920/n*i)
						must.Do(t, c.SetGoal(i, g))
						must.Do(t, cpu.SetGoal(i, g))
					}
					must.Do(t, c.Step())
					must.Do(t, cpu.Step())
					a, b = must.Get(c.Bones(a, all...))(t), must.Get(cpu.Bones(b, all...))(t)
					states, wanted := slices.Clone(must.Get(c.AllPacked(n))(t)), must.Get(cpu.AllPacked(n))(t)
					for i := range n {
						size := c.StateLen()
						is, want := states[i*size:][:size], wanted[i*size:][:size]
						for k, on := range []bool{want[acting] >= 0, want[resting] >= 0, want[27] == 1, !samePlay(is, want), want[upper] >= 0, m3.Abs(m3.V(want[accel], 0, want[accel+1]).Len()-l.Tuning().Accel) < 1e-2} {
							if on {
								seen[k]++
							}
						}
						if samePlay(is, want) {
							x, y := c.Root(i), cpu.Root(i)
							root = max(root, x.At.Pos.Dist(y.At.Pos), m3.Abs(x.Hips-y.Hips), x.Velocity.Dist(y.Velocity)/generator.TickRate, x.At.Rot.Angle(y.At.Rot))
							for k := range want {
								if k < onlyTick || k >= ofTick {
									number = max(number, m3.Abs(is[k]-want[k]))
								}
							}
							var off float32
							for j := range joints {
								off = max(off, a[i*joints+j].Pos.Dist(b[i*joints+j].Pos))
							}
							if off > 1e-4 {
								own := unsteady(cpu, ground.Ground, i)
								swing = max(swing, own)
								off = max(off-2*own, 0)
							}
							apart = max(apart, off)
						}
						must.Do(t, c.Repack(i, want))
					}
				}
				t.Logf("joints at most %.4f mm off, or as far as micrometres move them, %.1f mm; roots %.4f mm; numbers of the state %.2g; of %d states %d act, %d idle, %d have jumped, %d act with the upper body, %d speed up or brake as hard as they may, and %d play something else",
					1000*apart, 1000*swing, 1000*root, number, n*ticks, seen[0], seen[1], seen[2], seen[4], seen[5], seen[3])
				if !(root < 1e-5 && apart < 1e-4 && number < 5e-4) || apart == 0 {
					t.Error("that is too far")
				}
				if seen[0] < 100 || seen[1] < 100 || seen[2] < 30 || seen[3] > 2 || of.name == "hero" && (seen[4] < 30 || seen[5] < n*ticks/100) {
					t.Error("too little happens, or too much differs")
				}
			})
		}
	}
}

// TestLearnedTour: on their own, people on the GPU and people on the processor go the same way for as long as searches find the same, and near
// each other for longer.
func TestLearnedTour(t *testing.T) {
	l := must.Get(hero.Open())(t).Learned
	n := fewer(4, 2)
	o := resident.Options{Capacity: 4, Ground: hills()}
	c := openLearned(t, l, o)
	needGPU(t, c)
	var at []feature.Place
	for i := range n {
		at = append(at, feature.Place{Pos: m3.V(float32(3*i), 0, float32(-2*i)), Yaw: float32(i)})
		must.Get(c.Add(at[i]))(t)
	}
	cpu := here(t, l, o, at...)
	var root, joint, later float32
	var parted [4]int
	way := float32(0)
	var a, b []m3.Xform
	for tick := range 600 {
		for i := range n {
			g := wander(l, tick+920/n*i)
			must.Do(t, c.SetGoal(i, g))
			must.Do(t, cpu.SetGoal(i, g))
		}
		must.Do(t, c.Step())
		must.Do(t, cpu.Step())
		states, wanted := slices.Clone(must.Get(c.AllPacked(n))(t)), must.Get(cpu.AllPacked(n))(t)
		for i := range n {
			size := c.StateLen()
			is, want := states[i*size:][:size], wanted[i*size:][:size]
			if parted[i] == 0 && !samePlay(is, want) {
				parted[i] = tick
			}
			d := c.Root(i).At.Pos.Dist(cpu.Root(i).At.Pos)
			way = max(way, c.Root(i).At.Pos.Dist(at[i].Pos))
			if later = max(later, d); parted[i] > 0 {
				continue
			}
			root = max(root, d)
			a, b = must.Get(c.Bones(a, i))(t), must.Get(cpu.Bones(b, i))(t)
			for j := range a {
				joint = max(joint, a[j].Pos.Dist(b[j].Pos))
			}
		}
	}
	t.Logf("roots at most %.2f mm and joints %.2f mm apart for as long as they play the same, which ends at ticks %v of 600 (0: never); roots %.0f mm at most, of ways of %.1f m", 1000*root, 1000*joint, parted, 1000*later, way)
	if root > 2e-3 || joint > 5e-3 || later > 1 || way < 5 || joint == 0 {
		t.Error("that is too far")
	}
	for _, tick := range parted {
		if tick > 0 && tick < 150 {
			t.Error("they part too soon")
		}
	}
}

// People on the processor have the bits of a stream.
func TestLearnedProcessor(t *testing.T) {
	l := must.Get(hero.Open())(t).Learned
	at := feature.Place{Pos: m3.V(2, 0, 1), Yaw: 2}
	c := here(t, l, resident.Options{Capacity: 3, Ground: hills()}, feature.Place{}, at)
	s := must.Get(l.NewStream(matching.StreamOptions{Capacity: 1}))(t)
	defer s.Close()
	must.Get(s.Add(at, nil))(t)
	p := &generator.Poses{Update: []bool{true}, Roots: make([]m3.Xform, 1), Pos: make([]m3.Vec3, l.Skel.Len()), Rot: make([]m3.Quat, l.Skel.Len()), Restarted: make([]bool, 1)}
	row := make([]float32, c.StateLen())
	for tick := range 300 {
		g := wander(l, tick)
		must.Do(t, c.SetGoal(1, g))
		must.Do(t, c.Step())
		s.Controls()[0] = g
		must.Do(t, s.Generate([]bool{false}))
		s.Sample(p, 0, 1)
		r := c.Root(1)
		if want := s.Root(0); r.At.Pos != want.Pos || r.Velocity != s.Velocity(0) {
			t.Fatal("tick ", tick, ": ", r, ", want ", want)
		}
		own := must.Get(c.Packed(1))(t)
		s.Pack(row, 0)
		if end := ofTick + 2*l.Columns() + l.Latent(); !slices.Equal(own[:onlyTick], row[:onlyTick]) || !slices.Equal(own[ofTick:end], row[ofTick:end]) {
			t.Fatal("tick ", tick, ": another state")
		}
	}
	if d := s.Root(0).Pos.Dist(at.Pos); d < 1 {
		t.Error("it has come ", d, " m far")
	}
}

// A person goes to the GPU and comes back, in the state in which it is.
func TestLearnedAdopt(t *testing.T) {
	l := must.Get(hero.Open())(t).Learned
	s := must.Get(l.NewStream(matching.StreamOptions{Capacity: 2}))(t)
	defer s.Close()
	c := openLearned(t, l, resident.Options{Capacity: 2, Ground: ik.Level(0)})
	must.Get(s.Add(feature.Place{Pos: m3.V(1, 0, 1)}, nil))(t)
	var st, again generator.State
	for tick := range 500 {
		s.Controls()[0] = wander(l, tick)
		must.Do(t, s.Generate([]bool{false, false}))
		if tick%50 != 49 {
			continue
		}
		st.Reset()
		s.Save(&st, 0)
		origin := m3.V(float32(tick), 0, 3)
		agent := must.Get(c.Adopt(&st, origin))(t)
		if g := c.Goal(agent); g != s.Controls()[0] {
			t.Fatal("its goal is ", g)
		}
		if d := c.Root(agent).At.Pos.Dist(s.Root(0).Pos.Add(origin)); d > 1e-4 {
			t.Fatal("it is ", d, " m off")
		}
		must.Do(t, c.Save(&again, agent))
		must.Do(t, c.Remove(agent))
		again.Rewind()
		row := must.Get(s.Restore(&again))(t)
		s.Shift(row, origin.Neg())
		was, is := slices.Clone(s.State(0)), s.State(row)
		if !slices.Equal(was, is) || s.Root(row).Pos.Dist(s.Root(0).Pos) > 1e-4 || s.Root(row).Yaw != s.Root(0).Yaw {
			t.Fatal("tick ", tick, ": it comes back as another")
		}
		s.Remove(row)
	}
}
