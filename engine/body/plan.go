package body

import (
	"errors"
	"slices"
	"sync"

	"mannequin/engine/m3"
)

// plan is a body before it is a mesh.
type plan struct {
	bind   []m3.Xform
	cover  Cover
	pieces []piece
	parts  []part // small ellipsoids: eyes
	tubes  []tube // fingers, eyebrows, lips
	seen   int    // levels that have the parts; at least the finest does
	sides  []int8 // per joint: 1 if it moves only the left half (+X), −1 only the right; may be nil
}

// piece is one closed surface of a body. Pieces overlap: a neck ends inside a collar.
type piece struct {
	shape     shape
	cell      float32     // edge of the sampling lattice, m
	triangles [levels]int // per level
	coat      func(p, n m3.Vec3, bone int) [4]float32
	// detail returns the importance of a place when the mesh is decimated; may be nil.
	detail func(p m3.Vec3) float32
	// A halved piece is symmetric about the plane x = middle. The left half is made, and mirrored.
	halved bool
	middle float32
}

// build makes the plan's meshes, pieces in parallel.
func (p *plan) build(rig *Rig) (*Body, error) {
	b := &Body{Bind: p.bind, Cover: p.cover, Levels: make([]Mesh, levels)}
	flesh := p.flesh()
	meshes, errs := make([][levels]Mesh, len(p.pieces)), make([]error, len(p.pieces))
	var wg sync.WaitGroup
	for i := range p.pieces {
		wg.Go(func() { meshes[i], errs[i] = p.pieces[i].meshes(flesh, rig, p.sides) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var all []m3.Vec3
	for i := range meshes {
		all = append(all, meshes[i][0].Pos...)
		for k := range b.Levels {
			b.Levels[k].join(&meshes[i][k])
		}
	}
	lo, hi := bounds(all)
	d := hi.Sub(lo)
	b.Size = max(d.X, d.Y, d.Z)
	for k := range b.Levels {
		m := &b.Levels[k]
		for i := range p.tubes {
			if p.tubes[i].levels > k {
				p.tubes[i].add(m, k)
			}
		}
		switch { // parts are too small to see in the last level
		case k == 0:
			m.addParts(p.parts, 5, 8)
		case k < p.seen:
			m.addParts(p.parts, 3, 5)
		}
	}
	return b, nil
}

// meshes polygonises the piece and decimates it to each level in turn.
func (q *piece) meshes(flesh shape, rig *Rig, sides []int8) (out [levels]Mesh, err error) {
	pos, index, err := q.surface()
	if err != nil {
		return out, err
	}
	for k, triangles := range q.triangles {
		m := &out[k]
		if q.halved {
			pos, index, _ = decimate(pos, index, triangles/2, q.detail)
			m.Pos, m.Index = mirrored(pos, index, q.middle)
		} else {
			pos, index, _ = decimate(pos, index, triangles, q.detail)
			m.Pos, m.Index = slices.Clone(pos), slices.Clone(index)
		}
		q.finish(m, flesh, rig, sides)
	}
	return out, nil
}

// flesh returns all blobs that joints carry. Each piece is weighted by all of them, so that pieces
// that overlap move together.
func (p *plan) flesh() shape {
	var all shape
	for i := range p.pieces {
		for _, k := range p.pieces[i].shape {
			if !k.carve {
				all = append(all, k)
			}
		}
	}
	return all
}

// surface returns the polygonised piece, of a halved one the left half with the plane as border.
func (q *piece) surface() ([]m3.Vec3, []uint32, error) {
	if !q.halved {
		return q.shape.surface(q.cell)
	}
	// The plane lies in the middle of the second column of cells.
	pos, index, err := q.shape.surfaceFrom(q.middle-1.5*q.cell, q.cell)
	if err != nil {
		return nil, nil, err
	}
	var kept []uint32
	for i := 0; i+2 < len(index); i += 3 {
		t := index[i : i+3]
		if !slices.ContainsFunc(t, func(v uint32) bool { return pos[v].X < q.middle-0.5*q.cell }) {
			kept = append(kept, t...)
		}
	}
	for i := range pos {
		if m3.Abs(pos[i].X-q.middle) < 0.5*q.cell {
			pos[i].X = q.middle
		}
	}
	return pos, kept, nil
}

// mirrored returns an open mesh and its mirror image, joined at the border on the plane x = middle.
func mirrored(pos []m3.Vec3, index []uint32, middle float32) ([]m3.Vec3, []uint32) {
	met := make(map[[2]uint32]bool, len(index))
	for i := 0; i+2 < len(index); i += 3 {
		for k := range 3 {
			met[[2]uint32{index[i+k], index[i+(k+1)%3]}] = true
		}
	}
	border := make([]bool, len(pos))
	for e := range met {
		if !met[[2]uint32{e[1], e[0]}] {
			border[e[0]], border[e[1]] = true, true
		}
	}
	pos, index = slices.Clone(pos), slices.Clone(index)
	other := make([]uint32, len(pos))
	for v := range other {
		other[v] = uint32(v)
		if border[v] {
			pos[v].X = middle
			continue
		}
		other[v] = uint32(len(pos))
		pos = append(pos, m3.V(2*middle-pos[v].X, pos[v].Y, pos[v].Z))
	}
	for i, n := 0, len(index); i+2 < n; i += 3 {
		index = append(index, other[index[i]], other[index[i+2]], other[index[i+1]])
	}
	return pos, index
}

// finish projects the vertices onto the surface and sets normals, weights and coats.
func (q *piece) finish(m *Mesh, flesh shape, rig *Rig, sides []int8) {
	n := len(m.Pos)
	m.Normal = make([]m3.Vec3, n)
	var near shape
	for i, v := range m.Pos {
		near = q.shape.near(near[:0], v, q.shape.margin()+6*q.cell)
		m.Pos[i], m.Normal[i] = near.project(v, q.cell)
	}
	m.Joints, m.Weights = flesh.weights(m, rig, sides)
	m.Coat = make([][4]float32, n)
	for i, v := range m.Pos {
		m.Coat[i] = q.coat(v, m.Normal[i], int(m.Joints[i][0]))
	}
}

// join appends the vertices and triangles of o.
func (m *Mesh) join(o *Mesh) {
	base := uint32(len(m.Pos))
	m.Pos, m.Normal, m.Coat = append(m.Pos, o.Pos...), append(m.Normal, o.Normal...), append(m.Coat, o.Coat...)
	m.Joints, m.Weights = append(m.Joints, o.Joints...), append(m.Weights, o.Weights...)
	for _, i := range o.Index {
		m.Index = append(m.Index, base+i)
	}
}
