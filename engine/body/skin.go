package body

import (
	"math"
	"slices"

	"mannequin/engine/m3"
)

// weights distributes each vertex of m among the joints of nearby blobs, then smooths the weights
// along the surface, so that bends are soft and weights do not leak through the air between limbs.
// sides may be nil, or keeps joints of one side off the other; see plan.
func (s shape) weights(m *Mesh, rig *Rig, sides []int8) ([][4]uint8, [][4]float32) {
	n, joints := len(m.Pos), len(rig.Names)
	share := make([]float32, n*joints) // (vertices, joints)
	near := make([]float32, joints)
	for v, p := range m.Pos {
		for j := range near {
			near[j] = math.MaxFloat32
		}
		for i := range s {
			k := &s[i]
			near[k.joint] = min(near[k.joint], max(k.dist(p), 0)/(0.35*max(k.ra, k.rb)))
		}
		best := slices.Index(near, slices.Min(near))
		row := share[v*joints : (v+1)*joints]
		for j, d := range near {
			// Only relatives of the nearest joint may influence a vertex: paws are near each other.
			if d < near[best]+6 && related(rig.Parents, best, j) {
				row[j] = m3.Exp(near[best] - d)
			}
		}
		normalise(row)
	}
	flow(m, share, joints)
	if sides != nil {
		separate(m, share, sides)
	}

	ids := make([][4]uint8, n)
	w := make([][4]float32, n)
	for v := range n {
		ids[v], w[v] = top4(share[v*joints : (v+1)*joints])
	}
	return ids, w
}

// related reports whether one of a and b is at most two steps above the other in the tree.
func related(parents []int16, a, b int) bool {
	up := func(i, steps int) int {
		for ; steps > 0 && i >= 0; steps-- {
			i = int(parents[i])
		}
		return i
	}
	for s := range 3 {
		if up(a, s) == b || up(b, s) == a {
			return true
		}
	}
	return false
}

func normalise(row []float32) {
	var sum float32
	for _, x := range row {
		sum += x
	}
	for i := range row {
		row[i] /= sum
	}
}

// flow averages the rows of share with those of neighbouring vertices. Meshes with short edges get
// more rounds, so that all levels of detail are about equally soft.
func flow(m *Mesh, share []float32, joints int) {
	var length float32
	for i := 0; i+1 < len(m.Index); i += 3 {
		length += m.Pos[m.Index[i]].Dist(m.Pos[m.Index[i+1]])
	}
	length /= max(float32(len(m.Index)/3), 1)
	const soft = 0.03 // m
	rounds := min(int(soft*soft/(length*length)*2+0.5), 12)
	next := make([]float32, len(share))
	count := make([]float32, len(m.Pos))
	for range rounds {
		clear(next)
		clear(count)
		for i := 0; i+2 < len(m.Index); i += 3 {
			for k := range 3 {
				a, b := int(m.Index[i+k]), int(m.Index[i+(k+1)%3])
				count[a]++
				for j := range joints {
					next[a*joints+j] += share[b*joints+j]
				}
			}
		}
		for v := range m.Pos {
			for j := range joints {
				if count[v] > 0 {
					share[v*joints+j] = 0.5*share[v*joints+j] + 0.5*next[v*joints+j]/count[v]
				}
			}
		}
	}
}

// separate removes from each row of share the joints of the side opposite to the vertex.
func separate(m *Mesh, share []float32, sides []int8) {
	const seam = 0.008 // m: half the width of the strip over which a share fades
	joints := len(sides)
	kept := make([]float32, joints)
	for v, p := range m.Pos {
		row := share[v*joints : (v+1)*joints]
		var sum float32
		for j, side := range sides {
			kept[j] = row[j]
			if side != 0 {
				kept[j] *= m3.Clamp(0.5+float32(side)*p.X/(2*seam), 0, 1)
			}
			sum += kept[j]
		}
		if sum > 1e-3 { // crossing limbs keep their weights
			copy(row, kept)
			normalise(row)
		}
	}
}

// top4 returns the four largest entries of row, scaled to sum to 1.
func top4(row []float32) (ids [4]uint8, w [4]float32) {
	for j, x := range row {
		if x <= w[3] {
			continue
		}
		k := slices.IndexFunc(w[:], func(y float32) bool { return x > y })
		copy(w[k+1:], w[k:3])
		copy(ids[k+1:], ids[k:3])
		w[k], ids[k] = x, uint8(j)
	}
	sum := w[0] + w[1] + w[2] + w[3]
	for k := range w {
		w[k] /= sum
	}
	return ids, w
}
