package ik_test

import (
	"testing"

	"mannequin/engine/m3"
)

// A jump carries a body over a gap at the height from which it jumped. One that ends above the gap falls on, as fast as it came
// down, and one that walks falls at the edge.
func TestJumpOverGap(t *testing.T) {
	const high, speed, g, dt = 3, 2.5, 9.81, 1.0 / 60
	for _, c := range []struct {
		name       string
		gap, rises float32 // m; m/s
		falls      bool
	}{{"a jump", 0.7, 2, false}, {"a jump that is too short", 2.5, 2, true}, {"a walk", 0.7, 0, true}} {
		s, q := batch(t, heights(func(_, z float32) float32 {
			if z > 1 && z < 1+c.gap {
				return 0
			}
			return high
		}), 1)
		q.DT = dt
		lowest, last := float32(high), float32(0)
		var begins float32 // first speed of the fall, m/s
		for tick := range 120 {
			z := speed * dt * float32(tick)
			at := m3.V(0, 0, z)
			place(s, q, 0, at, 0)
			if air := (z - 0.6) / speed; air > 0 { // it pushes off before the gap
				q.Pos[0].Y += max(c.rises*air-g/2*air*air, 0)
			}
			q.Run(0, 1)
			checkBones(t, q, s, 0)
			floor := q.Body[0].Floor()
			if v := (floor - last) / dt; tick > 0 && floor < high && floor > 0 {
				if begins == 0 {
					begins = v
				}
			}
			lowest, last = min(lowest, floor), floor
		}
		if fell := lowest < high; fell != c.falls {
			t.Errorf("%s: it falls %t, down to %.2f m", c.name, fell, lowest)
		}
		if c.falls && c.rises > 0 && (begins > -0.5 || lowest != 0) {
			t.Errorf("%s: it falls at %.2f m/s at first, down to %.2f m", c.name, begins, lowest)
		}
	}
}

// A lying body has low hips and its feet on the ground, and falls where the ground ends. So does a body whose feet stay up for longer than a jump.
func TestLyingBodiesFall(t *testing.T) {
	for _, c := range []struct {
		name        string
		lower, lift float32 // m: of the hips, of the feet
	}{{"lying", 0.36, 0}, {"feet up", 0, 0.3}} {
		bottom := float32(3)
		s, q := batch(t, heights(func(_, _ float32) float32 { return bottom }), 1)
		q.DT = 1.0 / 60
		for tick := range 240 {
			if tick == 30 {
				bottom = 0
			}
			place(s, q, 0, m3.Vec3{}, 0)
			q.Pos[0].Y += c.lift
			if c.lower > 0 { // on its side: legs beside the body
				q.Rot[0] = m3.AxisAngle(m3.V(0, 0, 1), 1.5)
				q.Pos[0].Y -= c.lower
			}
			q.Run(0, 1)
		}
		if floor := q.Body[0].Floor(); floor != 0 {
			t.Errorf("%s: it stays at %.2f m", c.name, floor)
		}
	}
}

// platform is high ground from z on, as a floor.
type platform struct{ z, high float32 }

func (p platform) Height(_, z float32) float32        { return p.HeightFrom(0, z, 0) }
func (p platform) Normal(float32, float32) m3.Vec3    { return m3.Up }
func (p platform) NormalFrom(_, _, _ float32) m3.Vec3 { return m3.Up }
func (p platform) HeightFrom(_, z, _ float32) float32 {
	if z > p.z {
		return p.high
	}
	return 0
}

// A body whose trunk leans into the side of a high platform stays beside it, with its feet. It steps onto a low one.
func TestBesidePlatform(t *testing.T) {
	for _, high := range []float32{0.3, 1.2} {
		s, q := batch(t, platform{z: 1, high: high}, 1)
		want := float32(0)
		if high < 1 {
			want = high
		}
		for tick := range 120 {
			place(s, q, 0, m3.V(0, 0, 1.2*float32(tick)/120), 0)
			q.Run(0, 1)
			for i, l := range q.Rig.Roles.Legs {
				if tip := q.Model[l[len(l)-1]].Pos; tip.Y > want+0.25 {
					t.Fatalf("beside a platform of %.1f m tip %d is %.2f m high", high, i, tip.Y)
				}
			}
		}
		if got := q.Body[0].Floor(); got != want {
			t.Errorf("beside a platform of %.1f m the floor is %.2f m high, want %.1f", high, got, want)
		}
	}
}
