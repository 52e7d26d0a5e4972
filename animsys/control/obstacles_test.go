package control

import (
	"math"
	"math/rand/v2"
	"testing"

	"mannequin/engine/m3"
)

// randomObstacles returns a set of n obstacles within 20 m of the origin.
func randomObstacles(t *testing.T, r *rand.Rand, n int) *Obstacles {
	place := func() m3.Vec3 { return m3.V(40*r.Float32()-20, r.Float32(), 40*r.Float32()-20) }
	var all []Obstacle
	for i := range n {
		switch i % 3 {
		case 0:
			all = append(all, Pillar(place(), 2*r.Float32()))
		case 1:
			all = append(all, Box(place(), 7*r.Float32(), 3*r.Float32(), 8*r.Float32()))
		case 2:
			all = append(all, Wall(place(), place(), 0.3*r.Float32()))
		}
	}
	o := &Obstacles{}
	if err := o.Set(all...); err != nil {
		t.Fatal(err)
	}
	return o
}

// clearance returns the distance of a circle from the nearest obstacle, without the grid.
func (o *Obstacles) clearance(p m3.Vec3, radius float32) float32 {
	least := float32(math.Inf(1))
	for i := range o.shapes {
		d, _ := o.shapes[i].distance(flatOf(p))
		least = min(least, d-radius)
	}
	return least
}

// A circle outside of all obstacles stays outside, and reaches its goal if nothing is in the way.
func TestSlide(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var free, slid int
	for range 300 {
		o := randomObstacles(t, r, 12)
		for range 100 {
			radius := 0.1 + 0.5*r.Float32()
			from := m3.V(40*r.Float32()-20, 0.5, 40*r.Float32()-20)
			if o.clearance(from, radius) < 0 {
				continue
			}
			to := from.Add(m3.V(6*r.Float32()-3, 0, 6*r.Float32()-3))
			got := o.Slide(from, to, radius)
			if d := o.clearance(got, radius); d < -1e-3 {
				t.Fatalf("from %v to %v a circle of %g m comes to %v, %g m inside", from, to, radius, got, -d)
			}
			if got.Y != to.Y || got.Dist(from) > 1.5*to.Dist(from)+1e-3 {
				t.Fatalf("from %v to %v leads to %v", from, to, got)
			}
			blocked := false
			for k := range 101 {
				blocked = blocked || o.clearance(from.Lerp(to, float32(k)/100), radius) < 1e-3
			}
			if blocked {
				slid++
			} else if free++; got.Dist(to) > 1e-4 {
				t.Fatalf("from %v to %v nothing is in the way, but it leads to %v", from, to, got)
			}
		}
	}
	if free < 1000 || slid < 1000 {
		t.Errorf("%d free ways and %d blocked ones: too few to tell", free, slid)
	}
}

// Along a straight wall the part of the way along it is left; no step is too long to be stopped.
func TestSlideAlongWall(t *testing.T) {
	o := &Obstacles{}
	if err := o.Set(Wall(m3.V(-100, 0, 0), m3.V(100, 0, 0), 0.2)); err != nil {
		t.Fatal(err)
	}
	got := o.Slide(m3.V(0, 0, -1), m3.V(3, 0, 4), 0.4)
	if d := got.Dist(m3.V(3, 0, -0.5)); d > 1e-3 {
		t.Errorf("comes to %v, want (3, 0, -0.5)", got)
	}
	if got := o.Slide(m3.V(0, 0, -0.3), m3.V(0, 0, -0.3), 0.4); got.Dist(m3.V(0, 0, -0.5)) > 1e-3 {
		t.Errorf("who is inside by 20 cm comes to %v", got)
	}
}

// A wall of the first floor is not in the way on the ground floor.
func TestSlideOnFloors(t *testing.T) {
	wall := Wall(m3.V(-9, 0, 0), m3.V(9, 0, 0), 0.2)
	wall.Low, wall.High = 2, 5
	o := &Obstacles{}
	if err := o.Set(wall); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ y, z float32 }{{0, 1}, {2, -0.4}, {4.9, -0.4}, {5, 1}} {
		if got := o.Slide(m3.V(0, c.y, -1), m3.V(0, c.y, 1), 0.3); m3.Abs(got.Z-c.z) > 1e-3 {
			t.Errorf("at height %g comes to %v, want Z %g", c.y, got, c.z)
		}
	}
}

func TestObstaclesRefuse(t *testing.T) {
	o := &Obstacles{}
	if err := o.Set(Pillar(m3.V(1, 0, 0), 1)); err != nil {
		t.Fatal(err)
	}
	nan := float32(math.NaN())
	for _, bad := range []Obstacle{Pillar(m3.V(nan, 0, 0), 1), Pillar(m3.Vec3{}, -1), Box(m3.Vec3{}, nan, 1, 1), Box(m3.Vec3{}, 0, 1e9, 1)} {
		if o.Set(Pillar(m3.Vec3{}, 1), bad) == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	if got := o.Slide(m3.V(-1, 0, 0), m3.V(0.5, 0, 0), 0.1); got.X > -0.05 {
		t.Errorf("after an error the old obstacles do not hold: %v", got)
	}
	for _, x := range []float32{nan, float32(math.Inf(1)), 1e30} {
		o.Slide(m3.V(x, 0, x), m3.V(0, 0, x), x)
		o.Slide(m3.Vec3{}, m3.V(x, 0, 0), 0.1)
	}
}

func TestSlideAllocatesNothing(t *testing.T) {
	o := randomObstacles(t, rand.New(rand.NewPCG(3, 4)), 50)
	if n := testing.AllocsPerRun(100, func() { o.Slide(m3.V(1, 0, 1), m3.V(3, 0, 2), 0.4) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkSlide(b *testing.B) {
	o := &Obstacles{}
	r := rand.New(rand.NewPCG(5, 6))
	var all []Obstacle
	for range 1000 {
		all = append(all, Box(m3.V(200*r.Float32()-100, 0, 200*r.Float32()-100), 7*r.Float32(), 2, 3))
	}
	if err := o.Set(all...); err != nil {
		b.Fatal(err)
	}
	for i := range b.N {
		p := m3.V(float32(i%200)-100, 0, float32(i/200%200)-100)
		o.Slide(p, p.Add(m3.V(0.3, 0, 0.2)), 0.17)
	}
}
