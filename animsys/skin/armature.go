package skin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/qmuntal/gltf"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/affine"
	"mannequin/internal/boundedfile"
)

// skinsOfScene returns the skins that meshes of the scene have, in the order of the tree, and checks their
// joints.
func (r *reader) skinsOfScene() (skins []int, err error) {
	inScene := make([]bool, len(r.doc.Nodes))
	for _, n := range r.order {
		inScene[n] = true
	}
	seen := make([]bool, len(r.doc.Skins))
	joint, total := make([]bool, len(r.doc.Nodes)), 0
	for _, n := range r.order {
		node := r.doc.Nodes[n]
		if node.Skin == nil || node.Mesh == nil {
			continue
		}
		k := *node.Skin
		if k < 0 || k >= len(r.doc.Skins) {
			return nil, r.errorf(fmt.Sprintf("nodes[%d].skin", n), "there is no skins[%d]: there are %d", k, len(r.doc.Skins))
		}
		if seen[k] {
			continue
		}
		seen[k] = true
		skins = append(skins, k)
		where, list := fmt.Sprintf("skins[%d].joints", k), r.doc.Skins[k].Joints
		if n := len(list); n == 0 || n > MaxJoints {
			return nil, r.errorf(where, "%d of them, want 1 to %d", n, MaxJoints)
		}
		for i, n := range list {
			if n < 0 || n >= len(r.doc.Nodes) || !inScene[n] {
				return nil, r.errorf(fmt.Sprintf("%s[%d]", where, i), "the scene has no nodes[%d]", n)
			}
			if !joint[n] {
				joint[n] = true
				total++
			}
		}
		if total > MaxJoints {
			return nil, r.errorf(where, "with these there are %d joints, at most %d are read", total, MaxJoints)
		}
	}
	return skins, nil
}

// inverseBinds returns the inverse bind matrices of skins[k], or nil if it has none: then they are the
// identity.
func (f *file) inverseBinds(k int) ([]affine.Transform, error) {
	sk, where := f.doc.Skins[k], fmt.Sprintf("skins[%d].inverseBindMatrices", k)
	if sk.InverseBindMatrices == nil {
		return nil, nil
	}
	e, err := f.accessor(where, *sk.InverseBindMatrices, MaxJoints, gltf.AccessorMat4)
	if err != nil {
		return nil, err
	}
	if e.kind != gltf.ComponentFloat || e.count < len(sk.Joints) {
		return nil, f.errorf(where, "%d matrices of %v for %d joints: want one of FLOAT each", e.count, e.kind, len(sk.Joints))
	}
	out := make([]affine.Transform, len(sk.Joints))
	for i := range out {
		for c := range 4 {
			for row := range 3 {
				out[i][4*row+c] = e.at(i, 4*c+row)
			}
		}
		if !out[i].Finite() {
			return nil, f.errorf(where, "matrix %d is not finite", i)
		}
	}
	return out, nil
}

// group is the skins of one character.
type group struct {
	name     string
	skins    []int
	top      int // its first joint in the order of the tree
	joints   int
	vertices int
}

// characters groups skins by characters: those that share joints, or whose joints are below those of the
// other. Skins are parts of one character, too, if the node above one's first joint is also above the
// other's, unless they have the same joints twice, or each is a whole body.
func (r *reader) characters(skins []int) []group {
	up := make([]int, len(r.doc.Skins)) // union of skins
	for k := range up {
		up[k] = k
	}
	root := func(k int) int {
		for up[k] != k {
			up[k] = up[up[k]]
			k = up[k]
		}
		return k
	}
	owner, first := slices.Repeat([]int{-1}, len(r.doc.Nodes)), map[int]int{}
	for _, k := range skins {
		for _, n := range r.doc.Skins[k].Joints {
			if o := owner[n]; o >= 0 {
				up[root(k)] = root(o)
			} else {
				owner[n] = k
			}
		}
	}
	above := slices.Repeat([]int{-1}, len(r.doc.Nodes)) // the skin of the nearest joint at or above a node
	for _, n := range r.order {
		if p := r.parent[n]; p >= 0 {
			above[n] = above[p]
		}
		if o := owner[n]; o >= 0 {
			if a := above[n]; a >= 0 {
				up[root(o)] = root(a)
			}
			above[n] = o
		}
	}
	for _, n := range slices.Backward(r.order) {
		if o := owner[n]; o >= 0 {
			first[root(o)] = n
		}
	}
	names, members := map[int]map[string]bool{}, map[int][]int{} // per group, of its joints
	for _, n := range r.order {
		if o := owner[n]; o >= 0 {
			g := root(o)
			if names[g] == nil {
				names[g] = map[string]bool{}
			}
			names[g][unnumbered(r.doc.Nodes[n].Name)] = true
			members[g] = append(members[g], n)
		}
	}
	within := r.subtrees()
	bodies := map[int]bool{}
	whole := func(g int) bool {
		is, ok := bodies[g]
		if !ok {
			is = r.wholeBody(members[g])
			bodies[g] = is
		}
		return is
	}
	var heads []int // groups so far
	for _, k := range skins {
		g := root(k)
		if slices.Contains(heads, g) {
			continue
		}
		i := slices.IndexFunc(heads, func(h int) bool {
			a, b := r.parent[first[h]], r.parent[first[g]]
			return (a == b || within(a, b) || within(b, a)) && !alike(names[h], names[g]) && !(whole(h) && whole(g))
		})
		if i < 0 {
			heads = append(heads, g)
			continue
		}
		up[g] = heads[i]
		for n := range names[g] {
			names[heads[i]][n] = true
		}
	}
	groups, number := []group{}, map[int]int{}
	for _, k := range skins {
		g := root(k)
		i, ok := number[g]
		if !ok {
			i = len(groups)
			number[g] = i
			groups = append(groups, group{top: first[g]})
		}
		groups[i].skins = append(groups[i].skins, k)
	}
	sizes := map[int]int{} // of meshes: many nodes may have the same
	for _, n := range r.order {
		if o := owner[n]; o >= 0 {
			groups[number[root(o)]].joints++
		}
		node := r.doc.Nodes[n]
		if node.Mesh == nil || node.Skin == nil {
			continue
		}
		size, ok := sizes[*node.Mesh]
		if !ok {
			size = r.meshSize(*node.Mesh)
			sizes[*node.Mesh] = size
		}
		groups[number[root(*node.Skin)]].vertices += size
	}
	r.nameGroups(groups)
	return groups
}

// wholeBody reports whether nodes, parents first, are the joints of a body that has hips, a head and legs, and no part of
// one, such as its clothes.
func (r *reader) wholeBody(nodes []int) bool {
	sk, number := &skel.Skeleton{}, map[int]int16{}
	at := make([]m3.Vec3, len(nodes))
	for j, n := range nodes {
		p := r.parent[n]
		for p >= 0 {
			if _, ok := number[p]; ok {
				break
			}
			p = r.parent[p]
		}
		parent := int16(-1)
		if p >= 0 {
			parent = number[p]
		}
		number[n] = int16(j)
		w := &r.world[n]
		at[j] = m3.V(float32(w[3]), float32(w[7]), float32(w[11]))
		sk.Names, sk.Parents = append(sk.Names, r.doc.Nodes[n].Name), append(sk.Parents, parent)
		sk.Offsets, sk.EndSite = append(sk.Offsets, m3.Vec3{}), append(sk.EndSite, false)
	}
	b := anatomy.Find(anatomy.Rig{Skel: sk, At: at})
	return b.Hips >= 0 && b.Head >= 0 && len(b.Legs) >= 2
}

// subtrees returns a function that reports whether node n is below node a.
func (t *tree) subtrees() func(n, a int) bool {
	at, end := make([]int, len(t.parent)), make([]int, len(t.parent)) // in the order, which is depth-first
	for i, n := range t.order {
		at[n], end[n] = i, i
	}
	for _, n := range slices.Backward(t.order) {
		if p := t.parent[n]; p >= 0 {
			end[p] = max(end[p], end[n])
		}
	}
	return func(n, a int) bool { return n >= 0 && a >= 0 && at[n] > at[a] && at[n] <= end[a] }
}

// alike reports whether at least half of the names of one group, of three or more, are also in the other.
func alike(a, b map[string]bool) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	both := 0
	for n := range a {
		if b[n] {
			both++
		}
	}
	return len(a) >= 3 && 2*both >= len(a)
}

// unnumbered returns a name without the number that programs add to a name that they already have.
func unnumbered(name string) string {
	return strings.TrimRight(strings.TrimRight(name, "0123456789"), "._ ")
}

// meshSize returns how many vertices a mesh says to have.
func (r *reader) meshSize(m int) (sum int) {
	if m < 0 || m >= len(r.doc.Meshes) {
		return 0
	}
	for _, p := range r.doc.Meshes[m].Primitives {
		if p == nil {
			continue
		}
		if a, ok := p.Attributes[gltf.POSITION]; ok && a >= 0 && a < len(r.doc.Accessors) {
			sum += max(0, min(r.doc.Accessors[a].Count, MaxVertices))
		}
	}
	return sum
}

// nameGroups names characters by the node above their joints, by their skin, or by their first joint.
func (r *reader) nameGroups(groups []group) {
	for i := range groups {
		g := &groups[i]
		p := r.parent[g.top]
		shared := slices.ContainsFunc(groups, func(o group) bool { return o.top != g.top && r.parent[o.top] == p })
		if p >= 0 && !shared {
			g.name = r.doc.Nodes[p].Name
		}
		g.name = boundedfile.Printable(cmp.Or(g.name, r.doc.Skins[g.skins[0]].Name, r.doc.Nodes[g.top].Name, fmt.Sprintf("skin%d", g.skins[0])))
	}
	taken := map[string]bool{}
	for i := range groups {
		groups[i].name = unused(taken, groups[i].name)
	}
}

// choose returns the skins of the character called name, or of the one with the most vertices if name is
// empty, and notes that there are others.
func (r *reader) choose(skins []int, name string) ([]int, error) {
	groups := r.characters(skins)
	if len(groups) == 0 {
		return nil, nil
	}
	best, names := 0, make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.name
		if g.vertices > groups[best].vertices {
			best = i
		}
	}
	if name != "" {
		if best = slices.Index(names, name); best < 0 {
			return nil, r.errorf("skins", "no character is called %.60q: there is %s", name, joinNames(names))
		}
	}
	for i, g := range groups {
		if i != best {
			r.skin.others = append(r.skin.others, g.name)
			r.skin.note("another character, %.60q, with %d joints and %d vertices, is left out: %.60q is read", g.name, g.joints, g.vertices, names[best])
			for _, k := range g.skins {
				for _, n := range r.doc.Skins[k].Joints {
					r.leftOut[n] = true
				}
			}
		}
	}
	return groups[best].skins, nil
}

// unused returns name, with a number if it is taken, and takes it.
func unused(taken map[string]bool, name string) string {
	out := name
	for i := 2; taken[out]; i++ {
		out = fmt.Sprintf("%s_%d", name, i)
	}
	taken[out] = true
	return out
}
