package terrain

import "mannequin/engine/m3"

// Edges makes ground on which nobody can stand into walls: slopes that are too steep, steps that are too
// high, edges that are too deep. It is a generator.Walls, for animsys.Options. The zero Edges stops nobody.
type Edges struct {
	// Ground is what agents stand on. If it has floors, and so a method HeightFrom, that is asked.
	Ground interface{ Height(x, z float32) float32 }
	Rise   float32 // most that an agent goes up in 0.3 m, m: 0.3 is a slope of 45° and a step of 30 cm; 0 is no limit
	Drop   float32 // most that it goes down in 0.3 m; 0 is no limit
	// Walls are what else is in the way, for instance control.Obstacles; nil is nothing.
	Walls interface {
		Slide(from, to m3.Vec3, radius float32) m3.Vec3
	}
}

const (
	edgeAhead = 0.3 // way over which heights are compared, m
	edgeStep  = 0.1 // length of the steps in which a way is walked, m
)

// airborne is the height above the ground from which a body jumps or falls, m.
const airborne = 0.3

// Slide returns where a circle comes to that is at from and moves toward to: it stops at walls and
// edges, and slides along them. Heights of from and to are those of the floor. A jumping or falling agent
// is above the ground: it passes over what it could step up to from there. Drop also stops an agent that would
// jump off an edge.
func (e *Edges) Slide(from, to m3.Vec3, radius float32) m3.Vec3 {
	if e.Walls != nil {
		to = e.Walls.Slide(from, to, radius)
	}
	way := to.Sub(from).Flat()
	length := way.Len()
	if e.Ground == nil || !(length > 0) || !m3.Finite(length) {
		return to
	}
	const mostSteps = 64
	steps := 1 + int(min(length/edgeStep, mostSteps-1))
	p, floor, air := from, from.Y, from.Y > e.height(from, from.Y)+airborne
	for range steps {
		p, floor = e.step(p, way.Scale(1/float32(steps)), floor, air)
	}
	return m3.V(p.X, to.Y, p.Z)
}

// step returns where a step by by from p leads, whose ground is at height floor, and the height of the
// ground there. In the air the floor stays as high.
func (e *Edges) step(p, by m3.Vec3, floor float32, air bool) (m3.Vec3, float32) {
	here := floor
	if !air {
		here = e.height(p, floor)
	}
	for range 2 { // the way along one edge may lead over another
		ahead := by.Normalize(m3.Vec3{}).Scale(edgeAhead / 2)
		up := e.uphill(p.Add(by).Add(ahead), here)
		climb := by.Dot(up)
		if climb < 0 {
			up = up.Neg()
		}
		change := e.height(p.Add(by).Add(up.Scale(edgeAhead)), here) - here
		if !(climb > 0 && e.Rise > 0 && change > e.Rise || climb < 0 && e.Drop > 0 && !air && -change > e.Drop || change-change != 0) {
			if p = p.Add(by); air {
				return p, here
			}
			return p, e.height(p, here)
		}
		by = by.Sub(up.Scale(by.Dot(up)))
	}
	return p, here
}

// uphill returns the direction in which the ground at p rises, a unit vector, or zero on level ground.
func (e *Edges) uphill(p m3.Vec3, y float32) m3.Vec3 {
	const r = edgeAhead / 2
	return m3.V(e.height(p.Add(m3.V(r, 0, 0)), y)-e.height(p.Sub(m3.V(r, 0, 0)), y), 0,
		e.height(p.Add(m3.V(0, 0, r)), y)-e.height(p.Sub(m3.V(0, 0, r)), y)).Normalize(m3.Vec3{})
}

// height returns the height of the ground at p for an agent that stands at height y near there.
func (e *Edges) height(p m3.Vec3, y float32) float32 {
	if f, ok := e.Ground.(interface{ HeightFrom(x, z, y float32) float32 }); ok {
		return f.HeightFrom(p.X, p.Z, y)
	}
	return e.Ground.Height(p.X, p.Z)
}
