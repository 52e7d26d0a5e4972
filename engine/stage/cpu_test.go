package stage

import (
	"math"
	"testing"

	"mannequin/engine/m3"
)

// The rings of the ground fit: together they cover one square exactly once,
// face up, and neighbours share their border's edges.
func TestGroundHasNoGaps(t *testing.T) {
	height := func(x, z float32) float32 { return 0.4*m3.Sin(0.9*x) + 0.3*m3.Cos(1.3*z) + 0.05*x }
	for _, focus := range []m3.Vec3{{}, {X: 0.3, Z: -7.9}, {X: -123.4, Z: 55.55}} {
		g := newGround()
		g.height = height
		g.move(focus)
		pos := func(i uint32) m3.Vec3 {
			v := g.vertices[i*groundVertex:]
			return m3.V(v[0], v[1], v[2])
		}
		var area float64
		type edge [4]float32
		edges := map[edge]int{}
		heights := map[[2]float32]float32{}
		for i := 0; i < len(g.index); i += 3 {
			a, b, c := pos(g.index[i]), pos(g.index[i+1]), pos(g.index[i+2])
			up := b.Sub(a).Cross(c.Sub(a)).Y / 2
			if up <= 0 {
				t.Fatalf("triangle %v %v %v faces down", a, b, c)
			}
			area += float64(up)
			for _, p := range []m3.Vec3{a, b, c} {
				k := [2]float32{p.X, p.Z}
				if y, ok := heights[k]; ok && y != p.Y {
					t.Fatalf("two heights at %v: %g and %g", k, y, p.Y)
				}
				heights[k] = p.Y
			}
			for _, e := range [][2]m3.Vec3{{a, b}, {b, c}, {c, a}} {
				edges[edge{e[0].X, e[0].Z, e[1].X, e[1].Z}]++
			}
		}
		side := float64(groundCells) * groundCell * math.Pow(2, groundLevels-1)
		if math.Abs(area/(side*side)-1) > 1e-6 {
			t.Errorf("focus %v: the ground covers %g m², want %g", focus, area, side*side)
		}
		// Each edge has its opposite or lies on the outside: other edges leave cracks.
		open := 0
		for e, n := range edges {
			if n != 1 {
				t.Fatalf("%d edges from (%g, %g) to (%g, %g)", n, e[0], e[1], e[2], e[3])
			}
			if edges[edge{e[2], e[3], e[0], e[1]}] == 0 {
				open++
			}
		}
		if want := 4 * groundCells; open != want {
			t.Errorf("focus %v: %d open edges, want %d", focus, open, want)
		}
	}
}

func TestGroundHeightsAndNormals(t *testing.T) {
	g := newGround()
	g.height = func(x, z float32) float32 { return 0.5*x - 0.25*z }
	g.move(m3.V(3, 0, 4))
	want := m3.V(-0.5, 1, 0.25).Normalize(m3.Up)
	for i := 0; i < len(g.vertices); i += groundVertex {
		v := g.vertices[i : i+groundVertex]
		if m3.Abs(v[1]-(0.5*v[0]-0.25*v[2])) > 1e-4 {
			t.Fatalf("height %g at (%g, %g)", v[1], v[0], v[2])
		}
		if m3.V(v[3], v[4], v[5]).Dist(want) > 1e-3 {
			t.Fatalf("normal (%g, %g, %g), want %v", v[3], v[4], v[5], want)
		}
	}
}

func TestCameraStaysOutOfTheGround(t *testing.T) {
	c := newCamera()
	c.Pitch = minPitch
	hill := func(x, z float32) float32 { return 3 - 0.5*z }
	c.Track(m3.V(0, 3.4, 0), 0, 0.1, hill)
	for range 100 {
		c.Orbit(0.2, -0.1)
		c.Track(m3.V(0, 3.4, 0), 0, 0.1, hill)
		if e := c.Eye(); e.Y < hill(e.X, e.Z)+0.1 {
			t.Fatalf("the eye %v is in the ground", e)
		}
	}
	// Behind a character that faces +X, after it turned.
	c = newCamera()
	for range 600 {
		c.Track(m3.Vec3{}, math.Pi/2, 1.0/60, nil)
	}
	if e := c.Eye(); e.X > -2 || m3.Abs(e.Z) > 0.05 {
		t.Errorf("the eye %v is not behind", e)
	}
	nan := float32(math.NaN())
	c.Track(m3.V(nan, 0, 0), nan, 1, nil)
	if !c.Eye().Finite() {
		t.Error("NaN reached the eye")
	}
}

// unproject undoes the projection of a direction.
func TestUnproject(t *testing.T) {
	var l lens
	eye := m3.V(1, 2, 3)
	l.lookAt(eye, m3.V(-2, 1, -4))
	l.perspective(0.8, 1.6)
	clip, back := l.clip(), l.unproject()
	for _, d := range []m3.Vec3{{X: -3, Y: -1, Z: -7}, {X: -2, Y: 0, Z: -7}, {X: -4, Y: -1.5, Z: -6}} {
		p := eye.Add(d)
		w := clip[3]*p.X + clip[7]*p.Y + clip[11]*p.Z + clip[15]
		x, y := (clip[0]*p.X+clip[4]*p.Y+clip[8]*p.Z+clip[12])/w, (clip[1]*p.X+clip[5]*p.Y+clip[9]*p.Z+clip[13])/w
		q := m3.V(back[0]*x+back[4]*y+back[12], back[1]*x+back[5]*y+back[13], back[2]*x+back[6]*y+back[14])
		if q.Normalize(m3.Up).Dist(d.Normalize(m3.Up)) > 1e-4 {
			t.Errorf("%v came back as %v", d, q)
		}
	}
}

// The grain continues at its borders, is 128 in the mean, so that its coarser
// pictures end in an even grey, and its slopes are those of its noise.
func TestGrain(t *testing.T) {
	const n = grainSize
	pix := grain()
	var sum [4]float64
	var steps, jumps float64 // from a texel to the next; the same across the border
	for y := range n {
		for x := range n {
			p, q := pix[4*(y*n+x):], pix[4*(y*n+(x+1)%n):]
			for c := range sum {
				sum[c] += float64(p[c])
			}
			d := math.Abs(float64(p[0]) - float64(q[0]))
			steps += d / (n * n)
			if x == n-1 {
				jumps += d / n
			}
			if x == 0 {
				continue
			}
			left, right, slope := int(pix[4*(y*n+x-1)]), int(q[0]), int(p[2])
			if min(left, right, slope) > 0 && max(left, right, slope) < 255 && (slope > 130+right-left || slope < 126+right-left) {
				t.Fatalf("texel (%d, %d): slope %d, want %d", x, y, slope, 128+right-left)
			}
		}
	}
	for c := range sum {
		if mean := sum[c] / (n * n); math.Abs(mean-128) > 1.5 {
			t.Errorf("channel %d is %.1f in the mean", c, mean)
		}
	}
	if jumps > 1.5*steps || steps < 4 {
		t.Errorf("neighbours differ by %.1f, across the border by %.1f", steps, jumps)
	}
}
