package api

import (
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/terrain"
)

// ground is the ground of a world, which may be replaced between ticks.
type ground struct {
	ik.Ground
	floors ik.Floors // nil if all places have one height
}

func (g *ground) set(to ik.Ground) {
	g.Ground = to
	g.floors, _ = to.(ik.Floors)
}

// HeightFrom returns the height of the floor on which an agent stands.
func (g *ground) HeightFrom(x, z, y float32) float32 {
	if g.floors == nil {
		return g.Height(x, z)
	}
	return g.floors.HeightFrom(x, z, y)
}

// NormalFrom returns its upward unit normal.
func (g *ground) NormalFrom(x, z, y float32) m3.Vec3 {
	if g.floors == nil {
		return g.Normal(x, z)
	}
	return g.floors.NormalFrom(x, z, y)
}

// GroundFunc returns a point of the ground at a place, of which only the height counts, and a normal, both in the host's
// space.
type GroundFunc func(at m3.Vec3) (point, normal m3.Vec3)

// asked is ground that the host knows.
type asked struct {
	axes *axes
	ask  GroundFunc
}

// Height returns the height of the highest ground.
func (g *asked) Height(x, z float32) float32 { return g.HeightFrom(x, z, terrain.MaxHeight) }

// Normal returns its upward unit normal.
func (g *asked) Normal(x, z float32) m3.Vec3 { return g.NormalFrom(x, z, terrain.MaxHeight) }

// HeightFrom returns the height of the floor on which an agent stands.
func (g *asked) HeightFrom(x, z, y float32) float32 {
	point, _ := g.ask(g.axes.point(m3.V(x, y, z)))
	return g.axes.fromPoint(point).Y
}

// NormalFrom returns its upward unit normal.
func (g *asked) NormalFrom(x, z, y float32) m3.Vec3 {
	_, normal := g.ask(g.axes.point(m3.V(x, y, z)))
	return g.axes.fromDir(normal).Normalize(m3.Up)
}

// SetGroundLevel makes the ground level.
func SetGroundLevel(id ID, height float32) error {
	return inWorld(id, func(w *World) error {
		own, err := w.axes.height("the height of the ground", height)
		if err == nil {
			w.ground.set(ik.Level(own))
		}
		return err
	})
}

// SetGroundFunc asks a function for the ground.
func SetGroundFunc(id ID, f GroundFunc) error {
	if f == nil {
		return Errorf(Null, "ground is null")
	}
	return inWorld(id, func(w *World) error {
		w.ground.set(&asked{&w.axes, f})
		return nil
	})
}

// SetGroundMesh makes triangles the ground: three indices of vertices each.
func SetGroundMesh(id ID, vertices []m3.Vec3, triangles []int32) error {
	return inWorld(id, func(w *World) error {
		own, indices := make([]m3.Vec3, len(vertices)), append([]int32(nil), triangles...)
		for i, v := range vertices {
			own[i] = w.axes.fromPoint(v)
		}
		if w.axes.turn < 0 { // a mirrored triangle faces the other way
			for i := 0; i+2 < len(indices); i += 3 {
				indices[i+1], indices[i+2] = indices[i+2], indices[i+1]
			}
		}
		mesh, err := terrain.NewMesh(own, indices)
		if err != nil {
			return coded(Argument, err)
		}
		w.ground.set(mesh)
		return nil
	})
}
