package body

import (
	"math"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// sheet is a square of n × n cells, 1 m wide, with a hole in the middle. Each triangle has its own
// vertices, as at a texture's borders. The left half belongs to joint 0, the rest to joint 1; the
// coat is the position.
func sheet(n int) Mesh {
	var m Mesh
	corner := func(x, y int) {
		p := m3.V(float32(x)/float32(n), 0.02*m3.Sin(float32(x)/3), float32(y)/float32(n))
		joint := uint8(0)
		if 2*x > n {
			joint = 1
		}
		m.Pos, m.Normal, m.Joints = append(m.Pos, p), append(m.Normal, m3.Vec3{}), append(m.Joints, [4]uint8{joint})
		m.Weights, m.Coat = append(m.Weights, [4]float32{1}), append(m.Coat, [4]float32{p.X, p.Z})
		m.Index = append(m.Index, uint32(len(m.Index)))
	}
	for y := range n {
		for x := range n {
			if 3*x > n && 3*x < 2*n-3 && 3*y > n && 3*y < 2*n-3 {
				continue
			}
			for _, c := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 0}, {0, 1}, {1, 1}} {
				corner(x+c[0], y+c[1])
			}
		}
	}
	return m
}

// An open mesh keeps its borders, and each vertex its coat and joints.
func TestAdoptSheet(t *testing.T) {
	bind := []m3.Xform{m3.Identity, m3.Identity}
	fine := sheet(60)
	b := must.Get(Adopt(bind, fine, Paint))(t)
	if len(b.Levels) != 3 || b.Levels[0].Triangles() != len(fine.Index)/3 || m3.Abs(b.Size-1) > 1e-5 || b.Cover != Paint {
		t.Fatalf("%d levels, the first of %d triangles; size %g", len(b.Levels), b.Levels[0].Triangles(), b.Size)
	}
	area := func(m *Mesh) (sum float64) {
		for i := 0; i < len(m.Index); i += 3 {
			a, b, c := m.Pos[m.Index[i]], m.Pos[m.Index[i+1]], m.Pos[m.Index[i+2]]
			sum += float64(b.Sub(a).Cross(c.Sub(a)).Y) / 2
		}
		return sum
	}
	want := area(&b.Levels[0])
	for k := range b.Levels {
		m := &b.Levels[k]
		if k > 0 && (m.Triangles() > adoptedLevels[k-1] || m.Triangles() < adoptedLevels[k-1]*9/10) {
			t.Errorf("level %d has %d triangles, want %d", k, m.Triangles(), adoptedLevels[k-1])
		}
		if got := area(m); math.Abs(got-want) > 0.002*want {
			t.Errorf("level %d covers %g m², the first %g", k, got, want)
		}
		for v, p := range m.Pos {
			if d := math.Hypot(float64(m.Coat[v][0]-p.X), float64(m.Coat[v][1]-p.Z)); d > 0.06 {
				t.Fatalf("level %d: the coat of vertex %d is from %g m away", k, v, d)
			}
			if m.Joints[v][0] != 0 && p.X < 0.44 || m.Joints[v][0] != 1 && p.X > 0.56 {
				t.Fatalf("level %d: vertex %d at %v is moved by joint %d", k, v, p, m.Joints[v][0])
			}
			if m.Normal[v].Y < 0.9 || m3.Abs(m.Normal[v].Len()-1) > 1e-4 {
				t.Fatalf("level %d: normal %d is %v", k, v, m.Normal[v])
			}
		}
	}
	// The middle of the hole is a hole at every level: no triangle has it inside.
	for k := range b.Levels {
		m := &b.Levels[k]
		for i := 0; i < len(m.Index); i += 3 {
			inside := true
			for e := range 3 {
				p, q := m.Pos[m.Index[i+e]], m.Pos[m.Index[i+(e+1)%3]]
				inside = inside && q.Sub(p).Cross(m3.V(0.5, 0, 0.5).Sub(p)).Y > 0
			}
			if inside {
				t.Errorf("level %d: triangle %d covers the hole", k, i/3)
			}
		}
	}
}

func TestAdoptErrors(t *testing.T) {
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		edit func(m *Mesh)
		want string
	}{
		"lengths":      {func(m *Mesh) { m.Coat = m.Coat[1:] }, "want equal counts"},
		"no triangles": {func(m *Mesh) { m.Index = nil }, "0 indices"},
		"part":         {func(m *Mesh) { m.Index = m.Index[1:] }, "want three per triangle"},
		"index":        {func(m *Mesh) { m.Index[4] = 1 << 31 }, "index 4 is vertex 2147483648"},
		"joint":        {func(m *Mesh) { m.Joints[3][0] = 2 }, "vertex 3 has weight 1 of joint 2"},
		"weight":       {func(m *Mesh) { m.Weights[3][1] = nan }, "vertex 3 has weight NaN"},
		"position":     {func(m *Mesh) { m.Pos[2].Y = nan }, "vertex 2 is not finite"},
		"coat":         {func(m *Mesh) { m.Coat[2][3] = nan }, "coat of vertex 2"},
	} {
		m := sheet(40)
		c.edit(&m)
		if _, err := Adopt([]m3.Xform{m3.Identity, m3.Identity}, m, Paint); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// A mesh without any area is drawn as it is.
func TestAdoptFlat(t *testing.T) {
	m := sheet(40)
	clear(m.Pos)
	b, err := Adopt([]m3.Xform{m3.Identity, m3.Identity}, m, Paint)
	if err != nil || len(b.Levels) != 3 || !b.Levels[2].Normal[0].Finite() {
		t.Errorf("%v, %+v", err, b)
	}
}

// Colours are what the coat's channels say.
func TestCoverColour(t *testing.T) {
	tint := [3]float32{0.8, 0.1, 0.1}
	for name, c := range map[string]struct {
		cover Cover
		coat  [4]float32
		ok    func(c [3]float32) bool
	}{
		"paint":    {Paint, [4]float32{0.1, 0.2, 0.3, 1}, func(c [3]float32) bool { return c == [3]float32{0.1, 0.2, 0.3} }},
		"shirt":    {Clothes, [4]float32{}, func(c [3]float32) bool { return c == tint }},
		"trousers": {Clothes, [4]float32{1: 1}, func(c [3]float32) bool { return c[2] > c[0] && c[2] < 0.2 }},
		"skin":     {Clothes, [4]float32{0: 1}, func(c [3]float32) bool { return c[0] > c[1] && c[1] > c[2] && c[0] < 0.7 }},
		"eyes":     {Clothes, [4]float32{0: 1, 2: 2}, func(c [3]float32) bool { return c[0] < 0.6 && c[0] > 0.3 }},
		"fur":      {Fur, [4]float32{}, func(c [3]float32) bool { return c == tint }},
		"belly":    {Fur, [4]float32{0: 1}, func(c [3]float32) bool { return min(c[0], c[1], c[2]) > 0.4 }},
		"nose":     {Fur, [4]float32{1: 1}, func(c [3]float32) bool { return max(c[0], c[1], c[2]) < 0.05 }},
	} {
		if got := c.cover.Colour(c.coat, tint); !c.ok(got) {
			t.Errorf("%s is %v", name, got)
		}
	}
}
