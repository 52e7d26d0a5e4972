package body

import "slices"

// atlas groups the vertices of a fine mesh by place. A chart is a piece of the surface with connected
// texture coordinates. A place on a texture's seam, or between two materials, belongs to several charts.
type atlas struct {
	fine  *Mesh
	place []int32   // of each fine vertex
	at    [][]int32 // fine vertices at each place, one of each chart, at most mostCharts
	chart []int32   // of each fine vertex
	part  []int32   // of each chart, the first part that uses it
}

// mostCharts bounds the work where very many charts meet at a place.
const mostCharts = 16

func newAtlas(fine *Mesh, place []int32, places int) *atlas {
	a := &atlas{fine: fine, place: place, at: make([][]int32, places), chart: make([]int32, len(fine.Pos)), part: make([]int32, len(fine.Pos))}
	for v := range a.chart {
		a.chart[v], a.part[v] = int32(v), -1
	}
	root := func(v int32) int32 {
		for a.chart[v] != v {
			a.chart[v] = a.chart[a.chart[v]]
			v = a.chart[v]
		}
		return v
	}
	type spot struct {
		place int32
		part  int
		uv    [2]float32
	}
	same := map[spot]int32{}
	for k, p := range fine.Parts {
		for _, v := range fine.Index[p.Start : p.Start+p.Count] {
			at := spot{place: place[v], part: k}
			if fine.UV != nil {
				at.uv = fine.UV[v]
			}
			if u, ok := same[at]; ok {
				a.chart[root(int32(v))] = root(u)
			} else {
				same[at] = int32(v)
			}
		}
	}
	for i := 0; i < len(fine.Index); i += 3 {
		r := root(int32(fine.Index[i]))
		for _, v := range fine.Index[i+1 : i+3] {
			a.chart[root(int32(v))] = r
		}
	}
	for v := range a.chart {
		a.chart[v] = root(int32(v))
		if at := &a.at[place[v]]; len(*at) < mostCharts && a.of(a.chart[v], int32(v)) < 0 {
			*at = append(*at, int32(v))
		}
	}
	for k, p := range fine.Parts {
		for _, v := range fine.Index[p.Start : p.Start+p.Count] {
			if c := a.chart[v]; a.part[c] < 0 {
				a.part[c] = int32(k)
			}
		}
	}
	return a
}

// of returns the vertex of a chart at the place of vertex v, or −1.
func (a *atlas) of(chart, v int32) int32 {
	for _, u := range a.at[a.place[v]] {
		if a.chart[u] == chart {
			return u
		}
	}
	return -1
}

// choose returns the fine vertices whose texture coordinates the corners of a coarse triangle take,
// and its part. Corners at the places of v should be of one chart. Where no chart has all three, a
// corner takes the coordinates of another: such a triangle has streaks, which nobody sees far away.
func (a *atlas) choose(v [3]int32) (from [3]int32, part int32) {
	best, most := a.chart[v[0]], 0
	for _, u := range v {
		for _, w := range a.at[a.place[u]] {
			n := 0
			for _, x := range v {
				if a.of(a.chart[w], x) >= 0 {
					n++
				}
			}
			if n > most {
				best, most = a.chart[w], n
			}
		}
	}
	some := int32(-1)
	for k, u := range v {
		if from[k] = a.of(best, u); from[k] >= 0 {
			some = from[k]
		}
	}
	for k := range from {
		if from[k] < 0 {
			from[k] = some
		}
	}
	return from, a.part[best]
}

// paint returns a coarse mesh with the parts and texture coordinates of the fine one. source is the
// fine vertex that each of its vertices stands for.
func (a *atlas) paint(m *Mesh, source []int32) Mesh {
	type corner struct{ coarse, fine int32 }
	known := map[corner]uint32{}
	index := make([][]uint32, len(a.fine.Parts))
	var out Mesh
	for i := 0; i < len(m.Index); i += 3 {
		t := m.Index[i : i+3]
		from, part := a.choose([3]int32{source[t[0]], source[t[1]], source[t[2]]})
		for k, v := range t {
			c := corner{int32(v), from[k]}
			n, ok := known[c]
			if !ok {
				n = uint32(len(out.Pos))
				known[c] = n
				out.Pos, out.Normal = append(out.Pos, m.Pos[v]), append(out.Normal, m.Normal[v])
				out.Joints, out.Weights = append(out.Joints, m.Joints[v]), append(out.Weights, m.Weights[v])
				out.Coat = append(out.Coat, a.fine.Coat[from[k]])
				if a.fine.UV != nil {
					out.UV = append(out.UV, a.fine.UV[from[k]])
				}
			}
			index[part] = append(index[part], n)
		}
	}
	for k, some := range index {
		out.Parts = append(out.Parts, Part{a.fine.Parts[k].Material, len(out.Index), len(some)})
		out.Index = append(out.Index, some...)
	}
	out.Parts = slices.DeleteFunc(out.Parts, func(p Part) bool { return p.Count == 0 })
	return out
}
