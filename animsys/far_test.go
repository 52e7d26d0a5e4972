package animsys_test

import (
	"math"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/layer"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// footage is what a game reads of two agents in a run, tick by tick.
type footage struct {
	own     []m3.Xform // poses in the agents' own spaces
	camera  []m3.Vec3  // joints in the space of a camera beside the agents, m
	world   []m3.Vec3  // joints in world space, without the camera's place, m
	lengths []float32  // of bones in world space, m
	feet    []m3.Vec3  // moves of locked feet in a tick, for the camera, m
	way     float32    // of the first agent's root, m
}

// film runs two agents d metres from the origin. It spawns them at most 20,480 m away, and shifts the
// origin after the first tick for the rest.
func film(t *testing.T, k kind, d float32, ticks int) (f footage) {
	a, home := k.scene(t, 2, 2, level), m3.V(d, 0, 0)
	a.home = m3.V(min(d, 20480), 0, 0)
	people, agents := a.people, numbers(2)
	n, legs := people.Skel.Len(), people.Ground.Rig.Roles.Legs
	_, now := people.Published()
	var bones []m3.Xform
	tips, held := make([]m3.Vec3, 2*len(legs)), make([]bool, 2*len(legs)) // before the tick
	for _, i := range agents {
		must.Get(a.start(i))(t)
	}
	must.Do(t, people.Play(people.Entity(0), quarterTurn(t, people.Skel), layer.PlayOptions{Loop: true, RootMotion: true, Start: 1}))
	start := people.Roots[0].Pos
	for tick := range ticks {
		if tick == 60 {
			must.Do(t, people.Stop(people.Entity(0), 0, 0))
		}
		if tick == 1 && a.home != home {
			must.Do(t, animsys.ShiftOrigin(&a.ecs, a.home.Sub(home)))
			start, a.home = start.Add(home.Sub(a.home)), home
		}
		for i := range agents {
			a.control(people.Entity(i), i, tick)
			a.shift(people.Entity(i), a.home)
		}
		a.step(1)
		f.own = append(f.own, now[:2*n]...)
		bones = people.InterpolateFrom(bones, 1, a.home)
		for row := range agents {
			world := people.BonesAt(row)
			for j, x := range bones[row*n : (row+1)*n] {
				f.camera, f.world = append(f.camera, x.Pos), append(f.world, world[j].Pos.Sub(a.home))
				if p := people.Skel.Parents[j]; p >= 0 {
					f.lengths = append(f.lengths, world[j].Pos.Dist(world[p].Pos))
				}
			}
			for l, leg := range legs {
				i, tip := row*len(legs)+l, bones[row*n+int(leg[len(leg)-1])].Pos
				locked := people.Ground.Feet[i].Locked()
				if locked && held[i] {
					f.feet = append(f.feet, tip.Sub(tips[i]))
				}
				tips[i], held[i] = tip, locked
			}
		}
	}
	f.way = people.Roots[0].Pos.Dist(start)
	return f
}

// longest returns the length of the longest vector.
func longest(all []m3.Vec3) (l float32) {
	for _, v := range all {
		l = max(l, v.Len())
	}
	return l
}

// apart returns the largest difference between the places of a and b, and between their moves in a
// tick. A tick has n places.
func apart(a, b []m3.Vec3, n int) (place, move float32) {
	for i := range a {
		place = max(place, a[i].Dist(b[i]))
		if i >= n {
			move = max(move, a[i].Sub(a[i-n]).Dist(b[i].Sub(b[i-n])))
		}
	}
	return place, move
}

// Far from the origin agents move as at it. Beyond the first kilometre, they have the same bits in
// their own spaces, also for 600 ticks after a shift, and a camera beside them sees no difference.
// In world space places are rounded to what float32 resolves there, and nothing more.
func TestFar(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		origin := film(t, k, 0, 601)
		t.Logf("%20s  %9s  %9s  %9s  %9s  %9s  %9s  %7s", "from the origin", "own bits", "camera", "its feet", "world", "jitter", "bones", "way")
		for _, d := range []float32{0, 1000, 10240, 20480, 40960} {
			ticks := 150
			if d == 0 || d == 40960 {
				ticks = 601
			}
			far := film(t, k, d, ticks)
			n, bits, bone := len(far.own)/ticks, 0, float32(0)
			for i, x := range far.own {
				if x != origin.own[i] {
					bits++
				}
			}
			for i, l := range far.lengths {
				bone = max(bone, m3.Abs(l-origin.lengths[i]))
			}
			camera, _ := apart(far.camera, origin.camera, n)
			world, jitter := apart(far.world, far.camera, n)
			feet := longest(far.feet)
			t.Logf("%17.2f km  %9d  %6.3f mm  %6.3f mm  %6.3f mm  %6.3f mm  %6.3f mm  %5.2f m", d/1000, bits, 1e3*camera, 1e3*feet, 1e3*world, 1e3*jitter, 1e3*bone, far.way)

			step := math.Nextafter32(d+16, d+32) - (d + 16) // of float32
			if d != 1000 && (bits > 0 || camera > 1e-5) {
				t.Errorf("at %g m: %d joints have other bits, a camera sees %g m", d, bits, camera)
			}
			if world > step+1e-5 || jitter > 2*step+1e-5 || bone > 2*step+1e-5 {
				t.Errorf("at %g m: places in world space are off by %g m, moves by %g m, bones by %g m, with steps of %g m", d, world, jitter, bone, step)
			}
			if limit := longest(origin.feet); feet > limit+1e-4 {
				t.Errorf("at %g m: locked feet move by %g m in a tick, at the origin by %g m", d, feet, limit)
			}
			if ticks == 601 && m3.Abs(far.way-origin.way) > 0.01 {
				t.Errorf("at %g m: an agent goes %g m, at the origin %g m", d, far.way, origin.way)
			}
		}
	})
}
