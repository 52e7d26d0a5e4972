package control

import (
	"math"
	"testing"

	"mannequin/engine/m3"
)

// Some of those who meet glance at each other, ahead of them and not for long, and each looks at once
// where it is going to turn.
func TestLook(t *testing.T) {
	const pairs = 40
	var a Avoidance
	kind := Walker{Radius: 0.36, Delay: 0.5, Lag: 0.3, MaxTurn: 1, Slowest: 0.4, Pivots: true}
	all := make([]Walker, 2*pairs)
	for i := range all {
		all[i] = kind
	}
	glanced, since := make([]bool, len(all)), make([]int, len(all))
	root := func(i, tick int) m3.Xform {
		z, yaw := float32(tick)*1.3/60-6, float32(0)
		if i%2 == 1 {
			z, yaw = -z, math.Pi
		}
		return m3.Xform{Pos: m3.V(float32(20*(i/2))+1.2*float32(i%2), 0, z), Rot: m3.YawQuat(yaw)}
	}
	for tick := range 500 {
		a.Begin()
		for i := range all {
			a.Add(&all[i], root(i, tick))
		}
		a.AddObstacle(m3.V(0, 0, -50), 1)
		a.Sort()
		for i := range all {
			at := root(i, tick)
			a.Steer(i, at.Rot.Forward(), 1.3)
			other, ahead := a.Look(i)
			if math.Abs(float64(ahead.Len())-1) > 1e-4 {
				t.Fatalf("tick %d: agent %d looks along %v", tick, i, ahead)
			}
			if other < 0 {
				since[i] = tick
				continue
			}
			glanced[i] = true
			if to := root(other, tick).Pos.Sub(at.Pos); other != i^1 || to.Dot(at.Rot.Forward()) < 0 || to.Len() > 3.6 {
				t.Fatalf("tick %d: agent %d glances at %d, %v away", tick, i, other, to)
			}
			if tick-since[i] > glanceLeast+glanceMore {
				t.Fatalf("agent %d glances for %d ticks", i, tick-since[i])
			}
		}
		if other, ahead := a.Look(len(all)); other >= 0 || ahead != (m3.Vec3{}) {
			t.Fatalf("an obstacle looks at %d, %v", other, ahead)
		}
	}
	n := 0
	for _, g := range glanced {
		if g {
			n++
		}
	}
	if n < len(all)/2 || n == len(all) {
		t.Errorf("%d of %d glance at whom they meet", n, len(all))
	}

	a, w := Avoidance{}, kind
	left := m3.V(1, 0, 0) // of who faces +Z
	for range 2 * think {
		a.Begin()
		a.Add(&w, m3.Xform{Rot: m3.YawQuat(0)})
		a.Sort()
		a.Steer(0, left, 1)
	}
	if _, ahead := a.Look(0); ahead.Dot(left) < 0.99 {
		t.Errorf("who is to go to the left looks along %v", ahead)
	}
	if n := testing.AllocsPerRun(10, func() { a.Look(0) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
