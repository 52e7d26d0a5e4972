package animsys_test

import (
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
)

// A person whose path leads into a wall turns along it, goes around its end, and comes back to the path, with hands and
// feet out of the wall. A person who walks straight at a wall stops in front of it.
func TestCurvesAlongWalls(t *testing.T) {
	race.Single(t)
	const speed, seconds = 1.2, 22
	for _, w := range []struct {
		name   string
		wall   control.Obstacle
		points []m3.Vec3
		least  float64 // s that the path takes at that speed; 0: its end is behind the wall
	}{
		{"a pillar", control.Pillar(m3.V(0.1, 0, 0), 0.5), []m3.Vec3{m3.V(0, 0, -4), m3.V(0, 0, 4)}, 8 / speed},
		{"30°", control.Wall(m3.V(-2, 0, 0), m3.V(3, 0, 0), 0.2), []m3.Vec3{m3.V(-6, 0, -4), m3.V(8, 0, 4)}, 16.1 / speed},
		{"60°", control.Wall(m3.V(-2, 0, 0), m3.V(2, 0, 0), 0.2), []m3.Vec3{m3.V(-2, 0, -4), m3.V(3, 0, 4)}, 9.4 / speed},
		{"90°", control.Wall(m3.V(-9, 0, 0), m3.V(9, 0, 0), 0.2), []m3.Vec3{m3.V(0, 0, -4), m3.V(0, 0, 4)}, 0},
	} {
		t.Run(w.name, func(t *testing.T) {
			walls := &control.Obstacles{}
			must.Do(t, walls.Set(w.wall))
			s := newStreet(t, 1, 1, manifold.StreamOptions{}, func(o *animsys.Options) { o.Walls = walls })
			path := must.Get(control.NewPath(w.points, false))(t)
			at, ahead := path.At(0)
			end, _ := path.At(path.Length())
			e := must.Get(animsys.SpawnWith(s.people, at, m3.YawOf(ahead), manifold.Curve{Path: path, Speed: speed}))(t)
			legs := s.people.Ground.Rig.Roles.Legs
			var feet []m3.Xform
			var k jerk
			var inside, most, arrived float64
			for tick := range seconds * animsys.TickRate {
				s.step(1)
				bones := s.people.Bones(e)
				feet = feet[:0]
				for _, l := range legs {
					feet = append(feet, bones[l[len(l)-1]])
				}
				if v, _ := k.add(feet, nil); tick > animsys.TickRate {
					most = max(most, v/recordedJerk)
				}
				for _, b := range bones {
					p := b.Pos.Flat()
					inside = max(inside, float64(p.Dist(walls.Slide(p, p, 0.001))))
				}
				if arrived == 0 && s.people.Root(e).Pos.Flat().Dist(end) < 0.3 {
					arrived = float64(tick) / animsys.TickRate
				}
			}
			t.Logf("joints %.1f cm inside, jerk of feet %.2f times the recordings' 99.9th percentile; at the end after %.1f s of %.1f", 100*inside, most, arrived, w.least)
			if inside > 0.03 || most > 1 || arrived > w.least+5 || (arrived == 0) != (w.least == 0) {
				t.Error("want at most 3 cm, 1, and 5 s more than the path takes")
			}
		})
	}
}

// A person along a wall goes on with the same bits after a restore.
func TestCurvesAlongWallsRestored(t *testing.T) {
	race.Single(t)
	walls := &control.Obstacles{}
	must.Do(t, walls.Set(control.Wall(m3.V(-2, 0, 0), m3.V(2, 0, 0), 0.2)))
	s := newStreet(t, 1, 1, manifold.StreamOptions{}, func(o *animsys.Options) { o.Walls = walls })
	path := must.Get(control.NewPath([]m3.Vec3{m3.V(-2, 0, -4), m3.V(3, 0, 4)}, false))(t)
	must.Get(animsys.SpawnWith(s.people, m3.V(-2, 0, -4), 0, manifold.Curve{Path: path, Speed: 1.2}))(t)
	s.step(100)
	for range 12 { // with windows that are being made, and without
		s.step(37)
		save := must.Get(s.people.Save(nil))(t)
		s.step(200)
		want := s.people.Hash()
		must.Do(t, s.people.Restore(save))
		s.step(200)
		if got := s.people.Hash(); got != want {
			t.Fatalf("hash %x after a restore, %x without", got, want)
		}
		must.Do(t, s.people.Restore(save))
	}
}

// Around a person a pillar closes, such as a door: it leaves the pillar at a walk, and not in one tick.
func TestCurvesLeaveWalls(t *testing.T) {
	walls := &control.Obstacles{}
	s := newStreet(t, 1, 1, manifold.StreamOptions{}, func(o *animsys.Options) { o.Walls = walls })
	path := must.Get(control.NewPath([]m3.Vec3{m3.V(0, 0, -4), m3.V(0, 0, 6)}, false))(t)
	e := must.Get(animsys.SpawnWith(s.people, m3.V(0, 0, -4), 0, manifold.Curve{Path: path, Speed: 1.2}))(t)
	s.step(3 * animsys.TickRate)
	at := s.people.Root(e).Pos.Flat()
	must.Do(t, walls.Set(control.Pillar(at.Add(m3.V(0.1, 0, 0.3)), 1.2)))
	fastest := float32(0)
	for range 6 * animsys.TickRate {
		was := s.people.Root(e).Pos
		s.step(1)
		fastest = max(fastest, s.people.Root(e).Pos.Dist(was)*animsys.TickRate)
	}
	root := s.people.Root(e).Pos.Flat()
	if in := walls.Slide(root, root, 0.35).Dist(root); in > 0.02 || fastest > 4 {
		t.Errorf("it goes at up to %.2f m/s, and is %.2f m inside at the end", fastest, in)
	} else {
		t.Logf("at up to %.2f m/s", fastest)
	}
}

// A wall that a person would have slid along later is forgotten when the person is sent elsewhere before it.
func TestCurvesForgetWalls(t *testing.T) {
	race.Single(t)
	track := func(z float32) (out []m3.Vec3) {
		walls := &control.Obstacles{}
		must.Do(t, walls.Set(control.Wall(m3.V(-9, 0, z), m3.V(2, 0, z+2.5), 0.2)))
		s := newStreet(t, 1, 1, manifold.StreamOptions{}, func(o *animsys.Options) { o.Walls = walls })
		ahead := must.Get(control.NewPath([]m3.Vec3{m3.V(0, 0, 0), m3.V(0, 0, 20)}, false))(t)
		back := must.Get(control.NewPath([]m3.Vec3{m3.V(0.8, 0, 1), m3.V(0.8, 0, -20)}, false))(t)
		e := must.Get(animsys.SpawnWith(s.people, m3.Vec3{}, 0, manifold.Curve{Path: ahead, Speed: 1.2}))(t)
		s.step(130)
		*s.curves.Get(e) = manifold.Curve{Path: back, Speed: 1.2}
		for range 180 {
			s.step(1)
			out = append(out, s.people.Root(e).Pos)
		}
		return out
	}
	far := track(300)
	for i, p := range track(3) {
		if d := p.Dist(far[i]); d > 0.05 {
			t.Fatalf("%d ticks after it was sent back it is %.2f m from where it would be without a wall", i+1, d)
		}
	}
}
