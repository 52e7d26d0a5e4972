package anatomy

import (
	"slices"

	"mannequin/engine/m3"
)

// pathTo returns the joints from a, exclusive, to b: down from a, or from the joint that both are
// below.
func (f *finder) pathTo(a, b int) []int {
	top := f.common(a, b)
	var out []int
	for j := b; j >= 0 && j != top && j != a; j = f.parent[j] {
		out = append(out, j)
	}
	slices.Reverse(out)
	return out
}

// findTrunk finds hips, spine, neck, head and tails.
func (f *finder) findTrunk() {
	axis := f.ahead
	hind, fore := f.outer(axis)
	if n := len(f.legs); n > 1 && f.legs[0].region != "" {
		fore, hind = f.legs[0], f.legs[n-1] // by names
	}
	if len(f.legs) == 1 {
		fore = nil
		if len(f.arms) > 0 {
			fore = f.arms[0]
			for _, p := range f.arms {
				if f.length(p.a.path) > f.length(fore.a.path) {
					fore = p
				}
			}
		} else if len(f.wings) > 0 {
			fore = f.wings[0]
		}
	}
	f.findHead(fore)
	f.findHips(hind, fore)
	f.findChest(hind, fore)
	f.head = f.headOver(f.chest)
	if f.chest >= 0 && f.chest != f.hips && f.hips >= 0 {
		f.spine = f.pathTo(f.hips, f.chest)
	}
	from := f.chest
	if from < 0 {
		from = f.hips
	}
	if f.head >= 0 && from >= 0 {
		path := f.pathTo(from, f.head)
		if len(path) > 0 {
			f.neck = path[:len(path)-1]
		}
		if f.chest < 0 && len(f.neck) > 0 {
			// Without arms the spine ends where names say neck, or below the head.
			i := slices.IndexFunc(f.neck, func(j int) bool { return f.read[j].part == neckPart })
			if i < 0 {
				i = max(len(f.neck)-1, 0)
			}
			f.spine, f.neck = f.neck[:i], f.neck[i:]
		}
	}
	f.findLevel(fore)
	f.findTails()
	f.findTrunks()
}

// findHead sets a first guess of the head: what names say, or the end of the trunk that is farthest
// up, or ahead.
func (f *finder) findHead(fore *pair) {
	if j, ok := f.as["Head"]; ok {
		f.head = j
		return
	}
	best := -1
	for j, r := range f.read {
		if r.part != headPart || r.side != "" || f.dead[j] || f.s.EndSite[j] || f.inner[j] {
			continue
		}
		// The first of several, as Head above Head2, and head rather than headtracker.
		if plain := best >= 0 && f.plainly(best, "head"); plain != (best >= 0 && f.plainly(j, "head")) {
			if !plain {
				best = j
			}
			continue
		}
		if best < 0 || f.below(j, best) || !f.below(best, j) && f.count[j] > f.count[best] {
			best = j
		}
	}
	f.head = best
}

// plainly reports whether a joint's name is word and nothing else.
func (f *finder) plainly(j int, word string) bool {
	t := tokenise(plain(f.s.Names[j]))
	return len(t) > 0 && t[len(t)-1] == word
}

// headOver returns the head: the one that names tell, or the last joint over the chest.
func (f *finder) headOver(chest int) int {
	if f.head >= 0 {
		return f.head
	}
	from := -1
	switch {
	case chest >= 0:
		from = chest
	case f.hips >= 0:
		from = f.hips
	}
	if from < 0 || len(f.legs) == 0 {
		return -1
	}
	j := f.farthest(from, chest, true)
	if j < 0 {
		j = f.farthest(from, chest, false)
	}
	switch {
	case j < 0 || f.read[j].part != unknown:
		return j
	case f.mesh != nil:
		return f.skull(from, j)
	case len(f.kids[j]) > 0:
		return j
	}
	// The joint at the top of a head: its bone is longer than the neck's.
	if p := f.parent[j]; p >= 0 && p != from && f.parent[p] >= 0 && f.parent[p] != from &&
		f.at[j].Sub(f.at[p]).Normalize(f.up).Dot(f.up) > 0.8 && f.at[j].Dist(f.at[p]) > 1.3*f.at[p].Dist(f.at[f.parent[p]]) {
		return p
	}
	return j
}

// skull returns the joint near the end of the trunk that moves the largest part of the mesh: a head has jaws, ears and
// the ends of bones below it.
func (f *finder) skull(from, end int) int {
	within := func(j int) bool { return j >= 0 && j != from && f.below(from, j) }
	for !f.mesh[end].Any && within(f.parent[end]) { // the end of a bone
		end = f.parent[end]
	}
	whole := f.length(append([]int{from}, f.pathTo(from, end)...))
	best, most, way := end, float32(-1), float32(0)
	for j := end; within(j) && way <= 0.5*whole; j = f.parent[j] {
		if b := f.mesh[j]; b.Any && (j == end || len(f.kids[j]) > 1) && b.Hi.Dist(b.Lo) > most {
			best, most = j, b.Hi.Dist(b.Lo)
		}
		if p := f.parent[j]; p >= 0 {
			way += f.at[j].Dist(f.at[p])
		}
	}
	return best
}

// farthest returns the end of the trunk that is farthest up and ahead, of those below from.
func (f *finder) farthest(from, chest int, below bool) int {
	best, most := -1, float32(-1e30)
	for j := range f.n {
		if f.dead[j] || f.inner[j] || f.read[j].part == tailPart || len(f.kids[j]) > 0 && !f.onlyPairs(j) {
			continue
		}
		if j == from || f.below(from, j) != below || f.below(j, from) {
			continue
		}
		if f.hips >= 0 && f.hips != from && f.below(from, f.hips) && (j == f.hips || f.below(f.hips, j)) {
			continue // the chest is above the hips in the tree
		}
		k := j
		if f.s.EndSite[k] && f.parent[k] >= 0 && f.parent[k] != from {
			k = f.parent[k]
		}
		d := f.at[j].Sub(f.at[from])
		s := d.Dot(f.up) + 0.6*d.Dot(f.ahead)
		if f.read[k].part == neckPart {
			s += f.size
		}
		if d.Dot(f.ahead) < -0.6*max(d.Dot(f.up), 0) && d.Len() > 0.1*f.size && chest < 0 {
			continue // a tail
		}
		if s > most {
			best, most = k, s
		}
	}
	return best
}

// findHips finds the joint that carries the hind legs: the one on which they hang, or, if that is a
// control far from them such as a root on the floor, the nearest joint of the trunk.
func (f *finder) findHips(hind, fore *pair) {
	if j, ok := f.as["Hips"]; ok {
		f.hips, f.hipsBy = j, ByMap
		return
	}
	if hind == nil {
		for j, r := range f.read {
			if r.part == hipsPart && r.side == "" && !f.dead[j] && !f.inner[j] {
				f.hips, f.hipsBy = j, ByNames
				return
			}
		}
		if len(f.roots) > 0 {
			f.hips, f.hipsBy = f.roots[0], ByTree
		}
		return
	}
	f.hips, f.hipsBy = hind.attach, hind.found()
	mid := f.tops(hind)
	leg := max(f.legLength(hind.a), f.legLength(hind.b))
	if f.hips >= 0 && (f.at[f.hips].Dist(mid) <= 0.4*leg || f.together(hind)) {
		return
	}
	// On the way to the head or the fore limbs, if there is one.
	var way []int
	goal := f.head
	if goal < 0 && fore != nil {
		goal = fore.attach
	}
	if goal >= 0 && goal != f.hips {
		way = f.pathTo(f.hips, goal)
		if len(way) > 1 && way[len(way)-1] == f.head {
			way = way[:len(way)-1]
		}
	}
	if len(way) == 0 {
		for j := range f.n {
			if !f.dead[j] && !f.inner[j] && !f.s.EndSite[j] {
				way = append(way, j)
			}
		}
	}
	best, near := f.hips, float32(1e30)
	if best >= 0 {
		near = 0.6 * f.at[best].Dist(mid)
		if mid.Sub(f.at[best]).Dot(f.up) > 0.5*leg {
			near = 0.95 * f.at[best].Dist(mid) // a root on the floor
		}
	}
	for _, j := range f.branches(hind, way) {
		if d := f.at[j].Dist(mid); d < 1.3*near {
			best, near = j, min(d, near)
		}
	}
	for _, j := range way {
		if d := f.at[j].Dist(mid); d < near-1e-4*f.size {
			best, near = j, d
		}
	}
	f.hips = best
}

// together reports whether both legs are in the same place: then places tell nothing.
func (f *finder) together(p *pair) bool {
	for i := range min(len(p.a.path), len(p.b.path), 2) {
		if f.at[p.a.path[i]].Dist(f.at[p.b.path[i]]) > 1e-3*f.size {
			return false
		}
	}
	return true
}

// legLength returns the length of a leg from the hip to the ankle, or to its end.
func (f *finder) legLength(l *limb) float32 {
	to := len(l.path)
	if l.role[2] >= 0 {
		to = l.role[2] + 1
	}
	return f.length(l.path[max(l.role[0], 0):to])
}

// branches returns the joints of the trunk that hang where the legs do and that names call hips.
func (f *finder) branches(hind *pair, way []int) (out []int) {
	for j, r := range f.read {
		if r.part == hipsPart && r.side == "" && !f.dead[j] && !f.inner[j] && !slices.Contains(way, j) && (hind.attach < 0 || f.below(hind.attach, j)) {
			out = append(out, j)
		}
	}
	return out
}

func (p *pair) found() Evidence {
	if p.byName && p.a.named && p.b.named {
		return ByNames
	}
	return ByTree
}

// findChest finds the joint that carries the arms, fore legs or wings.
func (f *finder) findChest(hind, fore *pair) {
	if fore == nil || fore == hind {
		return
	}
	if f.chest = fore.attach; f.chest >= 0 && f.chest != f.hips && (hind == nil || f.chest != hind.attach) && f.ofTrunk(f.chest) {
		return
	}
	mid := f.tops(fore)
	f.chest = -1
	near := float32(1e30)
	var way []int
	if f.hips >= 0 && f.head >= 0 {
		way = f.pathTo(f.hips, f.head)
	}
	for _, j := range way {
		if j == f.head || f.read[j].part == neckPart {
			continue
		}
		if d := f.at[j].Dist(mid); d < near {
			f.chest, near = j, d
		}
	}
}

// findLevel finds out whether the trunk is level, as a bird's is, or upright, as a person's is.
func (f *finder) findLevel(fore *pair) {
	if f.hips < 0 {
		return
	}
	from := f.at[f.hips]
	if len(f.legs) > 0 {
		from = f.tops(f.legs[len(f.legs)-1])
	}
	var to m3.Vec3
	switch {
	case fore != nil && len(f.legs) == 1:
		to = f.tops(fore)
	case f.chest >= 0:
		to = f.at[f.chest]
	case f.head >= 0:
		to = f.at[f.head]
	default:
		return
	}
	d := to.Sub(from)
	d = d.Sub(f.normal.Scale(d.Dot(f.normal)))
	f.level = d.Len() > 0.02*f.size && d.Normalize(f.up).Dot(f.up) < 0.64
	// A head far ahead of the hips, and hardly above.
	if f.head >= 0 && !f.level {
		h := f.at[f.head].Sub(from)
		f.level = h.Normalize(f.up).Dot(f.up) < 0.5
	}
}

// findTails finds the chains that names call tails, or that hang behind the hips.
func (f *finder) findTails() {
	inTail := make([]bool, f.n)
	add := func(j int) {
		var tail []int
		for _, k := range f.mainPath(j) {
			if !f.s.EndSite[k] {
				tail, inTail[k] = append(tail, k), true
			}
		}
		if len(tail) > 0 {
			f.tails = append(f.tails, tail)
		}
	}
	for j, r := range f.read {
		if r.part == tailPart && !f.dead[j] && !f.s.EndSite[j] && !inTail[j] && j != f.hips {
			if p := f.parent[j]; p >= 0 && inTail[p] {
				inTail[j] = true
				continue
			}
			add(j)
		}
	}
	if len(f.tails) > 0 || f.hips < 0 || len(f.legs) == 0 {
		return
	}
	trunk := append(append(append([]int{f.hips, f.head}, f.spine...), f.neck...), f.chest)
	for _, t := range []int{f.hips, f.legs[len(f.legs)-1].attach, f.parent[f.hips]} {
		if t < 0 || t != f.hips && !f.below(t, f.hips) {
			continue
		}
		for _, k := range f.kids[t] {
			known := f.read[k].part != unknown && f.read[k].part != spinePart
			if known || f.inner[k] || slices.Contains(trunk, k) || f.below(k, f.head) || f.below(k, f.hips) {
				continue
			}
			path := f.mainPath(k)
			d := f.at[path[len(path)-1]].Sub(f.at[f.hips])
			if f.length(path)+f.at[k].Dist(f.at[f.hips]) > 0.12*f.size && d.Dot(f.ahead) < -0.04*f.size && len(path) > 1 {
				add(k)
			}
		}
		if len(f.tails) > 0 {
			return
		}
	}
}

// findTrunks finds an elephant's trunk: a chain of three joints or more that hangs from the head.
func (f *finder) findTrunks() {
	if f.head < 0 {
		return
	}
	for _, k := range f.kids[f.head] {
		path := f.mainPath(k)
		if f.inner[k] || len(path) < 3 {
			continue
		}
		d := f.at[path[len(path)-1]].Sub(f.at[f.head])
		named := f.hasPart(path, nose)
		if named || d.Dot(f.up) < 0 && f.length(path) > 0.2*f.size && d.Dot(f.ahead) > -0.2*d.Len() {
			f.trunks = append(f.trunks, path)
		}
	}
}
