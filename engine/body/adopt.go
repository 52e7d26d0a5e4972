package body

import (
	"fmt"

	"mannequin/engine/m3"
)

// adoptedLevels are the triangles of the coarser levels of a body that was not grown here.
var adoptedLevels = []int{2000, 700}

// Adopt makes a body from a mesh in the pose bind, with coarser levels of detail. The mesh need not
// be closed. Zero normals are computed from the triangles. Coarser levels keep parts and texture
// coordinates. It fails if slices differ in length, an index or joint is out of range, parts do not
// follow each other to the end, or a number is not finite.
func Adopt(bind []m3.Xform, fine Mesh, cover Cover) (*Body, error) {
	if err := fine.check(len(bind)); err != nil {
		return nil, err
	}
	lo, hi := bounds(fine.Pos)
	d := hi.Sub(lo)
	b := &Body{Bind: bind, Cover: cover, Size: max(d.X, d.Y, d.Z)}
	place, first, index := fine.weld()
	fine.fillNormals(place, len(first))
	b.Levels = append(b.Levels, fine)

	pos := make([]m3.Vec3, len(first))
	for i, v := range first {
		pos[i] = fine.Pos[v]
	}
	var charts *atlas
	if len(fine.Parts) > 0 {
		charts = newAtlas(&fine, place, len(first))
	}
	source := first // vertices of the fine mesh, per vertex of pos
	for _, target := range adoptedLevels {
		if len(index)/3 <= target {
			b.Levels = append(b.Levels, b.Levels[len(b.Levels)-1])
			continue
		}
		var from []int32
		pos, index, from = decimate(pos, index, target, nil)
		m := Mesh{Pos: pos, Index: index, Normal: make([]m3.Vec3, len(pos))}
		same := make([]int32, len(pos))
		for i, f := range from {
			v := source[f]
			same[i] = int32(i)
			m.Joints, m.Weights, m.Coat = append(m.Joints, fine.Joints[v]), append(m.Weights, fine.Weights[v]), append(m.Coat, fine.Coat[v])
			from[i] = v
		}
		source = from
		m.fillNormals(same, len(pos))
		if len(fine.Parts) > 0 {
			m = charts.paint(&m, source)
		}
		b.Levels = append(b.Levels, m)
	}
	return b, nil
}

// check returns an error for the first rule of Adopt that m breaks.
func (m *Mesh) check(joints int) error {
	n := len(m.Pos)
	if joints == 0 || joints > MaxJoints {
		return fmt.Errorf("body: %d joints: want 1 to %d", joints, MaxJoints)
	}
	if n == 0 || len(m.Normal) != n || len(m.Joints) != n || len(m.Weights) != n || len(m.Coat) != n {
		return fmt.Errorf("body: mesh of %d positions, %d normals, %d joints, %d weights, %d coats: want equal counts",
			n, len(m.Normal), len(m.Joints), len(m.Weights), len(m.Coat))
	}
	if len(m.Index) == 0 || len(m.Index)%3 != 0 {
		return fmt.Errorf("body: mesh of %d indices: want three per triangle", len(m.Index))
	}
	for i, v := range m.Index {
		if int(v) >= n {
			return fmt.Errorf("body: index %d is vertex %d, there are %d", i, v, n)
		}
	}
	if m.UV != nil && len(m.UV) != n {
		return fmt.Errorf("body: mesh of %d positions and %d texture coordinates: want equal counts", n, len(m.UV))
	}
	for v, uv := range m.UV {
		if !m3.Finite(uv[0]) || !m3.Finite(uv[1]) {
			return fmt.Errorf("body: the texture coordinates of vertex %d are not finite", v)
		}
	}
	end := 0
	for i, p := range m.Parts {
		if p.Start != end || p.Count < 0 || p.Count%3 != 0 || p.Count > len(m.Index)-end || p.Material < 0 {
			return fmt.Errorf("body: part %d has material %d and %d indices from %d: want whole triangles from %d on", i, p.Material, p.Count, p.Start, end)
		}
		end += p.Count
	}
	if len(m.Parts) > 0 && end != len(m.Index) {
		return fmt.Errorf("body: %d of %d indices are in no part", len(m.Index)-end, len(m.Index))
	}
	for v := range n {
		if !m.Pos[v].Finite() || !m.Normal[v].Finite() {
			return fmt.Errorf("body: vertex %d is not finite", v)
		}
		for k, w := range m.Weights[v] {
			if !(w >= 0 && w <= 1.001) || int(m.Joints[v][k]) >= joints {
				return fmt.Errorf("body: vertex %d has weight %g of joint %d, there are %d joints", v, w, m.Joints[v][k], joints)
			}
			if !m3.Finite(m.Coat[v][k]) {
				return fmt.Errorf("body: the coat of vertex %d is not finite", v)
			}
		}
	}
	return nil
}

// weld merges vertices at equal positions. place is the merged index of each vertex, first the
// first vertex at each place, and index the triangles by places, without degenerate ones.
func (m *Mesh) weld() (place, first []int32, index []uint32) {
	at := make(map[m3.Vec3]int32, len(m.Pos))
	place = make([]int32, len(m.Pos))
	for v, p := range m.Pos {
		p = p.Add(m3.Vec3{}) // −0 becomes 0
		k, ok := at[p]
		if !ok {
			k = int32(len(first))
			at[p] = k
			first = append(first, int32(v))
		}
		place[v] = k
	}
	for i := 0; i < len(m.Index); i += 3 {
		a, b, c := place[m.Index[i]], place[m.Index[i+1]], place[m.Index[i+2]]
		if a != b && b != c && c != a {
			index = append(index, uint32(a), uint32(b), uint32(c))
		}
	}
	return place, first, index
}

// fillNormals sets zero normals to the area-weighted mean of the triangles at the same place.
func (m *Mesh) fillNormals(place []int32, places int) {
	sum := make([]m3.Vec3, places)
	for i := 0; i < len(m.Index); i += 3 {
		a, b, c := m.Index[i], m.Index[i+1], m.Index[i+2]
		area := m.Pos[b].Sub(m.Pos[a]).Cross(m.Pos[c].Sub(m.Pos[a]))
		for _, v := range [3]uint32{a, b, c} {
			sum[place[v]] = sum[place[v]].Add(area)
		}
	}
	for v := range m.Normal {
		if m.Normal[v] == (m3.Vec3{}) {
			m.Normal[v] = sum[place[v]].Normalize(m3.Up)
		}
	}
}
