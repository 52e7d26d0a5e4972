package terrain_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/terrain"
)

var _ ik.Floors = (*terrain.Mesh)(nil)

// quad returns the triangles of a rectangle with corners at (x0, z0) and (x1, z1), whose height is that of f.
func quad(vertices []m3.Vec3, indices []int32, x0, z0, x1, z1 float32, f func(x, z float32) float32) ([]m3.Vec3, []int32) {
	n := int32(len(vertices))
	for _, p := range [][2]float32{{x0, z0}, {x1, z0}, {x1, z1}, {x0, z1}} {
		vertices = append(vertices, m3.V(p[0], f(p[0], p[1]), p[1]))
	}
	return vertices, append(indices, n, n+2, n+1, n, n+3, n+2)
}

// A mesh of planes has the heights and normals of the planes, wherever it is asked.
func TestMeshOfPlanes(t *testing.T) {
	plane := func(x, z float32) float32 { return 2 + 0.25*x - 0.5*z }
	var v []m3.Vec3
	var i []int32
	for x := range 20 {
		for z := range 20 {
			v, i = quad(v, i, float32(x)-10, float32(z)-10, float32(x)-9, float32(z)-9, plane)
		}
	}
	m, err := terrain.NewMesh(v, i)
	if err != nil {
		t.Fatal(err)
	}
	want := m3.V(-0.25, 1, 0.5).Normalize(m3.Up)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10000 {
		x, z := 20*rng.Float32()-10, 20*rng.Float32()-10
		if rng.IntN(10) == 0 { // on the edges
			x, z = float32(math.Round(float64(x))), float32(math.Round(float64(z)))
		}
		if h := m.Height(x, z); !(m3.Abs(h-plane(x, z)) < 1e-5) {
			t.Fatalf("the height at (%g, %g) is %g, want %g", x, z, h, plane(x, z))
		}
		if n := m.Normal(x, z); n.Dist(want) > 1e-5 {
			t.Fatalf("the normal at (%g, %g) is %v, want %v", x, z, n, want)
		}
	}
	if h := m.Height(11, 0); !math.IsNaN(float64(h)) {
		t.Errorf("beside the mesh the height is %g", h)
	}
}

// An agent stands on the floor that it can step on.
func TestMeshFloors(t *testing.T) {
	var v []m3.Vec3
	var i []int32
	for _, h := range []float32{3, 0, 0.4} {
		v, i = quad(v, i, -1, -1, 1, 1, func(x, z float32) float32 { return h })
	}
	m, err := terrain.NewMesh(v, i)
	if err != nil {
		t.Fatal(err)
	}
	for y, want := range map[float32]float32{-5: 0, -0.2: 0, 0: 0.4, 1: 0.4, 2.4: 0.4, 2.6: 3, 9: 3} {
		if h := m.HeightFrom(0.1, 0.2, y); h != want {
			t.Errorf("from height %g it stands at %g, want %g", y, h, want)
		}
	}
}

func TestMeshErrors(t *testing.T) {
	flat := []m3.Vec3{m3.V(0, 0, 0), m3.V(0, 0, 1), m3.V(1, 0, 0)}
	for want, c := range map[string]struct {
		v []m3.Vec3
		i []int32
	}{
		"a mesh of 0 indices":    {flat, nil},
		"a mesh of 2 indices":    {flat, []int32{0, 1}},
		"index 2 of a mesh is 3": {flat, []int32{0, 1, 3}},
		"index 1 of a mesh is -": {flat, []int32{0, -1, 2}},
		"vertex 1":               {[]m3.Vec3{{}, m3.V(float32(math.NaN()), 0, 0), {}}, []int32{0, 1, 2}},
		"none of the mesh's 1":   {flat, []int32{0, 2, 1}}, // seen from below
	} {
		if _, err := terrain.NewMesh(c.v, c.i); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}
