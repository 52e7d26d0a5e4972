package control

import (
	"math"
	"testing"

	"mannequin/engine/m3"

	"pgregory.net/rapid"
)

// late is an agent that obeys late and slowly, as its Walker says.
type late struct {
	Walker
	at          m3.Xform
	goal        m3.Vec3
	asked       [][2]float32 // turns and speeds, by tick
	turn, speed float32
}

// obey moves p by a tick in which it is asked for a turn and a speed.
func (p *late) obey(tick int, turn, speed float32) {
	p.asked = append(p.asked, [2]float32{turn, speed})
	heard := p.asked[max(tick-int(60*p.Delay), 0)]
	p.turn = m3.Lerp(p.turn, heard[0], 1/(60*p.Lag))
	p.speed = m3.Lerp(p.speed, heard[1], 1/(60*p.Lag))
	p.at.Rot = m3.YawQuat(p.at.Rot.Yaw() + p.turn/60)
	p.at.Pos = p.at.Pos.Add(p.at.Rot.Forward().Scale(p.speed / 60))
}

// walk runs n agents that cross a circle, and returns the least distance between two of them, and the
// time until all are across, s.
func walk(t *testing.T, n int, kind Walker, avoids bool) (least, seconds float32) {
	all := make([]late, n)
	for i := range all {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		p := m3.V(5*float32(sin), 0, 5*float32(cos))
		all[i] = late{Walker: kind, at: m3.Xform{Pos: p, Rot: m3.YawQuat(m3.YawOf(p.Neg()))}, goal: p.Neg()}
	}
	var a Avoidance
	least = 99
	for tick := range 3600 {
		a.Begin()
		for i := range all {
			a.Add(&all[i].Walker, all[i].at)
		}
		a.AddObstacle(m3.V(0.3, 0, 30), 1)
		a.Sort()
		left := 0
		for i := range all {
			p := &all[i]
			to, speed := p.goal.Sub(p.at.Pos), float32(1.3)
			if to.Len() < 1 {
				speed = 0
			} else {
				left++
			}
			turn, v := a.Steer(i, to.Normalize(m3.Up), speed)
			if !avoids {
				turn, v = 0, speed
			}
			p.obey(tick, turn, v)
			for _, q := range all[:i] {
				least = min(least, p.at.Pos.Dist(q.at.Pos))
			}
		}
		if left == 0 {
			return least, float32(tick) / 60
		}
	}
	return least, 60
}

// Agents that obey at once or late cross a circle through its middle without touching, and are not much
// later than alone.
func TestAvoidance(t *testing.T) {
	for name, kind := range map[string]Walker{
		"prompt": {Radius: 0.36, Delay: 0.1, Lag: 0.2, MaxTurn: 1, Slowest: 0.3, Pivots: true},
		"late":   {Radius: 0.36, Delay: 0.6, Lag: 0.4, MaxTurn: 1, Slowest: 0.4, Pivots: true},
	} {
		for _, n := range []int{2, 3, 8} {
			least, seconds := walk(t, n, kind, true)
			if least < 0.45 || seconds > 30 {
				t.Errorf("%d %s agents come within %.2f m of each other and take %.1f s", n, name, least, seconds)
			}
		}
		if least, _ := walk(t, 8, kind, false); least > 0.1 {
			t.Errorf("without avoidance %s agents come within %.2f m: the test shows nothing", name, least)
		}
	}
}

// An agent goes around a wall in its way before it touches it, and through a gap.
func TestAvoidanceOfWalls(t *testing.T) {
	walls := &Obstacles{}
	if err := walls.Set(Wall(m3.V(-1.5, 0, 4), m3.V(2, 0, 4), 0.2), Wall(m3.V(-30, 0, 9), m3.V(-0.8, 0, 9), 0.2), Wall(m3.V(0.8, 0, 9), m3.V(30, 0, 9), 0.2)); err != nil {
		t.Fatal(err)
	}
	cross := func(avoids bool) (least, far float32) {
		a := Avoidance{}
		if avoids {
			a.Walls = walls
		}
		p := late{Walker: Walker{Radius: 0.36, Delay: 0.4, Lag: 0.3, MaxTurn: 1, Slowest: 0.3, Pivots: true}, at: m3.Xform{Rot: m3.Ident}}
		least = 99
		for tick := range 1800 {
			a.Begin()
			i := a.Add(&p.Walker, p.at)
			a.Sort()
			to := m3.V(0, 0, 14).Sub(p.at.Pos)
			if to.Len() < 1 {
				break
			}
			turn, v := a.Steer(i, to.Normalize(m3.Up), 1.3)
			p.obey(tick, turn, v)
			least = min(least, walls.clearance(p.at.Pos, 0))
		}
		return least, p.at.Pos.Z
	}
	if least, far := cross(true); least < 0.3 || far < 12.5 {
		t.Errorf("comes within %.2f m of a wall, and to Z %.1f", least, far)
	}
	if least, _ := cross(false); least > 0 {
		t.Error("without walls nothing is in the way: the test shows nothing")
	}
}

// An agent with MaxTurn 0 changes only its speed. An agent that rests, or has no neighbours, gets what
// it asks for.
func TestAvoidanceSteers(t *testing.T) {
	north, root := m3.V(0, 0, 1), func(x, z float32) m3.Xform { return m3.Xform{Pos: m3.V(x, 0, z), Rot: m3.Ident} }
	steer := func(w Walker, speed, x, z float32) (turn, v float32) {
		var a Avoidance
		var other Walker
		other.Radius = 0.4
		for range 2 * think {
			a.Begin()
			i := a.Add(&w, root(0, 0))
			a.Add(&other, root(x, z))
			a.Sort()
			turn, v = a.Steer(i, north, speed)
		}
		return turn, v
	}
	free := Walker{Radius: 0.4, MaxTurn: 1, Lag: 0.2}
	for name, c := range map[string]struct {
		w           Walker
		speed, x, z float32
		ok          func(turn, v float32) bool
	}{
		"alone":       {free, 1, 0, 40, func(turn, v float32) bool { return turn == 0 && v == 1 }},
		"rests":       {free, 0, 0, 1, func(turn, v float32) bool { return turn == 0 && v == 0 }},
		"in the way":  {free, 1, 0.1, 2, func(turn, v float32) bool { return turn < -0.1 }},
		"other side":  {free, 1, -0.1, 2, func(turn, v float32) bool { return turn > 0.1 }},
		"on a path":   {Walker{Radius: 0.4, Lag: 0.2}, 1, 0, 1, func(turn, v float32) bool { return turn == 0 && v < 1 }},
		"not numbers": {free, float32(math.NaN()), 0, 1, func(turn, v float32) bool { return turn == 0 && v == 0 }},
	} {
		if turn, v := steer(c.w, c.speed, c.x, c.z); !c.ok(turn, v) {
			t.Errorf("%s: turns by %g, goes at %g", name, turn, v)
		}
	}
}

// The grid against a search of all: each place within reach is found once.
func TestGrid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		coord := rapid.OneOf(rapid.Float32Range(-40, 400), rapid.SampledFrom([]float32{-1e30, 1e9, float32(math.NaN())}))
		all := make([]placed, rapid.IntRange(0, 60).Draw(rt, "n"))
		for i := range all {
			all[i].now.at = flat{coord.Draw(rt, "x"), coord.Draw(rt, "z")}
		}
		var g grid
		for range 2 { // the second time it is in use already
			g.fill(all)
		}
		for i := range all {
			found := make([]int, len(all))
			for k := range 9 {
				for _, r := range g.cell(all[i].now.at, k) {
					found[r]++
				}
			}
			for r := range all {
				d := all[r].now.at.sub(all[i].now.at)
				if found[r] > 1 || found[r] == 0 && d.dot(d) < seen*seen {
					rt.Fatalf("from %v the one at %v is found %d times", all[i].now.at, all[r].now.at, found[r])
				}
			}
		}
	})
}

func BenchmarkAvoidance(b *testing.B) {
	const n = 100
	var a Avoidance
	walkers := make([]Walker, n)
	for i := range walkers {
		walkers[i] = Walker{Radius: 0.36, Delay: 0.5, Lag: 0.3, MaxTurn: 1, Slowest: 0.4, Pivots: true}
	}
	b.ReportAllocs()
	for b.Loop() {
		a.Begin()
		for i := range walkers {
			w := walkers[i].at
			if a.tick < 2 {
				s, c := math.Sincos(2.4 * float64(i))
				r := 1.5 * math.Sqrt(float64(i))
				w = flat{float32(r * s), float32(r * c)}
			}
			a.Add(&walkers[i], m3.Xform{Pos: m3.V(w.x, 0, w.z), Rot: m3.YawQuat(float32(i))})
		}
		a.Sort()
		for i := range walkers {
			a.Steer(i, m3.V(m3.Sin(float32(3*i)), 0, m3.Cos(float32(3*i))), 1.3)
		}
	}
}
