package body

import (
	"math"

	"mannequin/engine/m3"
)

// tube is a small separate piece around a path, rigid on one joint: a finger, a lip.
type tube struct {
	joint  int
	path   []m3.Vec3
	radii  []float32 // m, per point of the path
	levels int       // levels that have it
	coat   [4]float32
}

// tubeSides are the sides of tubes in the levels of detail.
var tubeSides = [levels]int{6, 4, 3}

// add appends the tube's triangles to m: rings around the path, closed at both ends by a point. The
// coarsest level has rings at the ends only.
func (q *tube) add(m *Mesh, level int) {
	sides := tubeSides[level]
	var rings []int
	for i := range q.path {
		if level < levels-1 || i == 0 || i == len(q.path)-1 {
			rings = append(rings, i)
		}
	}
	base, last := uint32(len(m.Pos)), len(q.path)-1
	vertex := func(p, n m3.Vec3) {
		m.Pos, m.Normal, m.Coat = append(m.Pos, p), append(m.Normal, n.Normalize(m3.Up)), append(m.Coat, q.coat)
		m.Joints, m.Weights = append(m.Joints, [4]uint8{uint8(q.joint)}), append(m.Weights, [4]float32{1})
	}
	first := q.path[0].Sub(q.path[1]).Normalize(m3.Up)
	vertex(q.path[0].Add(first.Scale(0.7*q.radii[0])), first)
	across := first.Cross(m3.V(0.31, 0.23, 0.92)).Normalize(m3.Up)
	for _, i := range rings {
		along := q.path[min(i+1, last)].Sub(q.path[max(i-1, 0)]).Normalize(m3.Up)
		across = across.Sub(along.Scale(across.Dot(along))).Normalize(m3.Up)
		up := along.Cross(across)
		for k := range sides {
			a := 2 * math.Pi * float32(k) / float32(sides)
			n := across.Scale(m3.Cos(a)).Add(up.Scale(m3.Sin(a)))
			p := q.path[i].Add(n.Scale(q.radii[i]))
			switch i { // the ends are round
			case 0:
				n = n.Add(first.Scale(0.6))
			case last:
				n = n.Add(along.Scale(0.6))
			}
			vertex(p, n)
		}
	}
	end := q.path[last].Sub(q.path[last-1]).Normalize(m3.Up)
	vertex(q.path[last].Add(end.Scale(0.7*q.radii[last])), end)
	at := func(ring, k int) uint32 { return base + 1 + uint32(ring*sides+k%sides) }
	tip := base + 1 + uint32(len(rings)*sides)
	for k := range sides {
		m.Index = append(m.Index, base, at(0, k+1), at(0, k))
		for r := range len(rings) - 1 {
			a, b, c, d := at(r, k), at(r, k+1), at(r+1, k), at(r+1, k+1)
			m.Index = append(m.Index, a, b, c, b, d, c)
		}
		m.Index = append(m.Index, at(len(rings)-1, k), at(len(rings)-1, k+1), tip)
	}
}

// part is a small separate ellipsoid, rigid on one joint.
type part struct {
	joint  int
	centre m3.Vec3
	radii  m3.Vec3 // along the character's axes, m
	coat   [4]float32
}

func (m *Mesh) addParts(parts []part, rings, sides int) {
	for i := range parts {
		parts[i].add(m, rings, sides)
	}
}

// add appends the part's triangles to m, from pole to pole in rings and sides.
func (q *part) add(m *Mesh, rings, sides int) {
	base := uint32(len(m.Pos))
	vertex := func(lat, lon int) {
		th, ph := math.Pi*float32(lat)/float32(rings), 2*math.Pi*float32(lon)/float32(sides)
		d := m3.V(m3.Sin(th)*m3.Sin(ph), m3.Cos(th), m3.Sin(th)*m3.Cos(ph))
		m.Pos = append(m.Pos, q.centre.Add(m3.V(d.X*q.radii.X, d.Y*q.radii.Y, d.Z*q.radii.Z)))
		m.Normal = append(m.Normal, m3.V(d.X/q.radii.X, d.Y/q.radii.Y, d.Z/q.radii.Z).Normalize(m3.Up))
		m.Joints = append(m.Joints, [4]uint8{uint8(q.joint)})
		m.Weights = append(m.Weights, [4]float32{1})
		m.Coat = append(m.Coat, q.coat)
	}
	vertex(0, 0)
	for lat := 1; lat < rings; lat++ {
		for lon := range sides {
			vertex(lat, lon)
		}
	}
	vertex(rings, 0)
	at := func(lat, lon int) uint32 { return base + 1 + uint32((lat-1)*sides+lon%sides) }
	last := base + 1 + uint32((rings-1)*sides)
	for lon := range sides {
		m.Index = append(m.Index, base, at(1, lon), at(1, lon+1))
		for lat := 1; lat < rings-1; lat++ {
			a, b, c, d := at(lat, lon), at(lat, lon+1), at(lat+1, lon), at(lat+1, lon+1)
			m.Index = append(m.Index, a, c, b, b, c, d)
		}
		m.Index = append(m.Index, at(rings-1, lon), last, at(rings-1, lon+1))
	}
}
