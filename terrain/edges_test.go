package terrain

import (
	"math"
	"math/rand/v2"
	"testing"

	"mannequin/engine/m3"
)

// cliff is ground that rises steeply from X 0 to 2, and falls off by 2 m at X −5.
type cliff struct{}

func (cliff) Height(x, z float32) float32 {
	switch {
	case x < -5:
		return -2
	case x > 0:
		return 2 * min(x, 2)
	}
	return 0
}

// walk takes n steps by by.
func walk(e *Edges, p, by m3.Vec3, n int) m3.Vec3 {
	for range n {
		p = e.Slide(p, p.Add(by), 0.3)
	}
	return p
}

func TestEdges(t *testing.T) {
	e := &Edges{Ground: cliff{}, Rise: 0.35, Drop: 0.6}
	at := m3.V(-2, 0, 0)
	for _, c := range []struct {
		by             m3.Vec3
		x0, x1, z0, z1 float32 // where 300 steps lead
	}{
		{m3.V(0.02, 0, 0), -0.31, 0.1, -0.01, 0.01},     // to the foot of the slope
		{m3.V(0.02, 0, 0.02), -0.31, 0.1, 5.5, 6.01},    // along it
		{m3.V(-0.02, 0, 0), -5, -4.65, -0.01, 0.01},     // to the edge
		{m3.V(-0.02, 0, -0.02), -5, -4.65, -6.01, -5.5}, // along it
		{m3.V(0, 0, 0.02), -2.01, -1.99, 5.99, 6.01},    // on level ground
	} {
		if p := walk(e, at, c.by, 300); p.X < c.x0 || p.X > c.x1 || p.Z < c.z0 || p.Z > c.z1 {
			t.Errorf("300 steps by %v lead to %v, want X %g to %g and Z %g to %g", c.by, p, c.x0, c.x1, c.z0, c.z1)
		}
	}
	free := &Edges{Ground: cliff{}}
	if p := walk(free, at, m3.V(0.02, 0, 0), 300); p.Dist(m3.V(4, 0, 0)) > 1e-3 {
		t.Errorf("without limits 300 steps lead to %v", p)
	}
	if p := walk(&Edges{Ground: cliff{}, Rise: 0.7}, at, m3.V(0.02, 0, 0), 300); p.X < 3.9 {
		t.Errorf("a rise of 0.7 m in 0.3 m stops who may go up by it: %v", p)
	}
	// Stairs of 17 cm are no walls, a ledge of 40 cm is one.
	stairs := &Edges{Ground: bridge(t), Rise: 0.35, Drop: 0.6}
	if p := walk(stairs, m3.V(10, 0, -1), m3.V(0, 0, 0.02), 110); p.Z < 1.1 {
		t.Errorf("stairs stop at %v", p)
	}
}

// In one step, however long, nobody gets over an edge.
func TestEdgesHold(t *testing.T) {
	e := &Edges{Ground: cliff{}, Rise: 0.35, Drop: 0.6}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		from := m3.V(-4.6+4.2*r.Float32(), 0, r.Float32())
		to := from.Add(m3.V(8*r.Float32()-4, 0, 8*r.Float32()-4))
		if p := e.Slide(from, to, 0.3); p.X < -5.01 || p.X > 0.2 {
			t.Fatalf("from %v toward %v leads to %v", from, to, p)
		}
	}
	for _, x := range []float32{float32(math.NaN()), 1e30} {
		e.Slide(m3.V(x, x, x), m3.V(0, 0, x), x)
	}
}

// A jump passes over a gap onto ground that is as high as where it began, and is stopped by higher ground. From the bottom of the gap,
// the same ground is a wall.
func TestEdgesInTheAir(t *testing.T) {
	ground := &Decks{}
	for _, d := range [][]Deck{
		{{At: m3.V(0, 1, 0), Width: 4, Depth: 4, Thick: 1}, {At: m3.V(0, 1, 5), Width: 4, Depth: 4, Thick: 1}},
		{{At: m3.V(0, 1, 0), Width: 4, Depth: 4, Thick: 1}, {At: m3.V(0, 2, 5), Width: 4, Depth: 4, Thick: 2}},
	} {
		if err := ground.Set(d...); err != nil {
			t.Fatal(err)
		}
		e := &Edges{Ground: ground, Rise: 0.35, Drop: 0.6}
		for _, floor := range []float32{1, 0} {
			p := walk(e, m3.V(0, floor, 2.3), m3.V(0, 0, 0.05), 30)
			if over, want := p.Z > 3.5, floor == 1 && d[1].At.Y == 1; over != want {
				t.Errorf("from a height of %g m to ground at %g m: %v", floor, d[1].At.Y, p)
			}
		}
	}
}
