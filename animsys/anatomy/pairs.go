package anatomy

import (
	"slices"

	"mannequin/engine/m3"
)

// mainPath returns the joints from top down to the end of its limb: at a fork the child that names
// call the next part, or else the longest one. The caller must not change it.
func (f *finder) mainPath(top int) []int {
	if f.paths[top] != nil {
		return f.paths[top]
	}
	path := []int{top}
	for j := top; len(f.kids[j]) > 0; {
		next, most := -1, float32(-1)
		for _, k := range f.kids[j] {
			score := f.reach[k] + f.at[k].Dist(f.at[j])
			switch p := f.read[k].part; {
			case p == legLower || p == legUpper || p == foot || p == toe || p == armLower || p == armUpper || p == hand:
				score += 10 * f.size
			case p == legAny || p == shoulder || p == fingerIndex:
				score += 5 * f.size
			case p == fingerAny:
				score += 2 * f.size
			}
			if score > most {
				next, most = k, score
			}
		}
		path, j = append(path, next), next
	}
	f.paths[top] = slices.Clip(path)
	return f.paths[top]
}

// alike compares the shapes of two subtrees, 0 to 1: lengths of their first bones, of all of them.
func (f *finder) alike(a, b int) float32 {
	ratio := func(x, y float32) float32 {
		if x+y < 2e-3*f.size {
			return 1
		}
		return min(x, y) / max(x, y)
	}
	p, q := f.mainPath(a), f.mainPath(b)
	same := ratio(f.length(p), f.length(q))
	steps, sum := 0, float32(0)
	for i := 1; i < max(len(p), len(q)) && i < 4; i++ {
		if i < len(p) && i < len(q) {
			sum += ratio(f.at[p[i]].Dist(f.at[p[i-1]]), f.at[q[i]].Dist(f.at[q[i-1]]))
		}
		steps++
	}
	if steps == 0 {
		return same
	}
	return 0.5*same + 0.5*sum/float32(steps)
}

// sideOf returns the side that names give the limb at top: its own, unless most below have the other.
func (f *finder) sideOf(top int) Side {
	if s := f.sides(top); s != NoSide {
		return s
	}
	return NoSide
}

func (f *finder) sides(top int) Side {
	var left, right, none int
	stack := []int{top}
	for len(stack) > 0 {
		j := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], f.kids[j]...)
		switch f.read[j].side {
		case "Left":
			left++
		case "Right":
			right++
		default:
			if !f.s.EndSite[j] {
				none++
			}
		}
	}
	own := f.read[top].side
	total := left + right
	switch {
	case total == 0 || own == "" && f.read[top].part != unknown && !f.read[top].part.ofLimb() && none > 0:
		return NoSide // the trunk, with limbs
	case own == "" && 10*max(left, right) < 9*total:
		return NoSide
	case 2*left > total:
		return Left
	case 2*right > total:
		return Right
	}
	return map[string]Side{"Left": Left, "Right": Right}[own]
}

// key is what two joints of a pair have in common in their names.
func (f *finder) key(j int) reading {
	r := f.read[j]
	r.side = ""
	return r
}

// plane is a candidate of the plane of symmetry.
type plane struct {
	normal m3.Vec3
	offset float32
}

func (p plane) mirror(v m3.Vec3) m3.Vec3 {
	return v.Sub(p.normal.Scale(2 * (v.Dot(p.normal) - p.offset)))
}

// findPlane finds the plane of symmetry: sides in names give it, or else pairs of siblings of equal
// shape. The one with the most mirrored joints is taken.
func (f *finder) findPlane() {
	var live []int
	for j := range f.n {
		if !f.dead[j] {
			live = append(live, j)
		}
	}
	if len(live) == 0 {
		return
	}
	var tries []plane
	add := func(d, mid m3.Vec3) {
		if d.Len() > 0.01*f.size && len(tries) < 60 {
			n := d.Normalize(m3.V(1, 0, 0))
			axis := snapTo(n)
			tries = append(tries, plane{axis, mid.Dot(axis)}, plane{n, mid.Dot(n)})
		}
	}
	var l, r []int
	for _, j := range live {
		switch f.read[j].side {
		case "Left":
			l = append(l, j)
		case "Right":
			r = append(r, j)
		}
	}
	named := len(l) >= 3 && len(r) >= 3
	if named {
		d := f.mean(l...).Sub(f.mean(r...))
		add(d, f.mean(l...).Lerp(f.mean(r...), 0.5))
	}
	forks := append([]int{-1}, live...)
	slices.SortStableFunc(forks[1:], func(a, b int) int {
		switch {
		case f.mass[a] > f.mass[b]:
			return -1
		case f.mass[a] < f.mass[b]:
			return 1
		}
		return 0
	})
	forks = slices.DeleteFunc(forks, func(t int) bool { return len(f.children(t)) < 2 })
	for _, t := range forks[:min(len(forks), mostForks)] {
		kids := f.children(t)
		for i, a := range kids[:min(len(kids), 16)] {
			for _, b := range kids[i+1 : min(len(kids), 16)] {
				if f.alike(a, b) < 0.8 {
					continue
				}
				p, q := f.mainPath(a), f.mainPath(b)
				d := f.at[p[0]].Add(f.mean(p...)).Sub(f.at[q[0]]).Sub(f.mean(q...))
				add(d, f.at[p[0]].Add(f.mean(p...)).Add(f.at[q[0]]).Add(f.mean(q...)).Scale(0.25))
			}
		}
	}
	if len(tries) == 0 {
		// Nothing mirrors: a snake, a fish.
		f.normal, f.offset = m3.V(1, 0, 0), f.mean(live...).X
		return
	}
	most := float32(-1)
	for i, p := range tries {
		s := f.mirrored(p, live)
		if named && i < 2 {
			s += 0.5
		}
		if i%2 == 0 {
			s += 0.25 // a step at rest is no reason to turn the body
		}
		if s > most+1e-4 {
			most, f.normal, f.offset = s, p.normal, p.offset
		}
	}
	f.mirror = f.mirrored(plane{f.normal, f.offset}, live)
}

// children returns the live children of j, or the roots for −1.
func (f *finder) children(j int) []int {
	if j < 0 {
		return f.roots
	}
	return f.kids[j]
}

// snapTo returns the axis next to n: models mostly stand along the axes.
func snapTo(n m3.Vec3) m3.Vec3 {
	best := n
	most := float32(0.8)
	for _, a := range axes {
		if d := n.Dot(a); d > most {
			best, most = a, d
		}
	}
	return best
}

// mirrored returns the share of joints that have a mirror image, or lie in the plane.
func (f *finder) mirrored(p plane, live []int) float32 {
	if len(live) > 300 {
		live = live[:300]
	}
	near := 0.04 * f.size
	var sum, all float32
	for _, j := range live {
		w := float32(1)
		d := m3.Abs(f.at[j].Dot(p.normal) - p.offset)
		all++
		if d < near {
			w = 0.5
		}
		if d < near/2 {
			sum += w
			continue
		}
		m := p.mirror(f.at[j])
		best := near
		for _, k := range live {
			if k != j && f.count[k] > f.count[j]/2 && f.count[k] < 2*f.count[j]+2 {
				best = min(best, m.Dist(f.at[k]))
			}
		}
		sum += w * (1 - best/near)
	}
	return sum / all
}

// Limits on trees that are no bodies, so that time grows with their size alone.
const (
	mostForks = 100 // from which planes of symmetry are tried
	mostKids  = 64  // of a joint, that may be pairs; of limbs without a partner
	mostBones = 24  // of a limb, that may be its hip, knee and ankle
	mostPairs = 64
)

// findLimbs walks the trunk from the roots, and takes off limbs: children that mirror each other.
func (f *finder) findLimbs() {
	queue := []int{-1}
	for len(queue) > 0 {
		t := queue[0]
		queue = queue[1:]
		queue = append(queue, f.takeLimbs(t)...)
	}
}

// takeLimbs takes the pairs off the children of t, and returns the others.
func (f *finder) takeLimbs(t int) (trunk []int) {
	all := f.children(t)
	kids := all[:min(len(all), mostKids)] // the largest ones
	taken := map[int]bool{}
	side := map[int]Side{}
	for _, k := range kids {
		side[k] = f.sideOf(k)
	}
	take := func(a, b int, byName bool) {
		taken[a], taken[b] = true, true
		if f.at[a].Dist(f.at[b]) < 1e-6*f.size && f.mean(f.mainPath(a)...).Sub(f.mean(f.mainPath(b)...)).Dot(f.normal) < 0 ||
			f.at[a].Sub(f.at[b]).Dot(f.normal) < 0 && side[a] == NoSide {
			a, b = b, a
		}
		f.split(t, a, b, side[a], side[b], byName)
	}
	for _, exact := range []bool{true, false} {
		for i, a := range kids {
			if taken[a] || side[a] == NoSide {
				continue
			}
			best, most := -1, float32(-1)
			for k, b := range kids {
				if k == i || taken[b] || side[b] == NoSide || side[b] == side[a] || exact && f.key(a) != f.key(b) {
					continue
				}
				if !exact && f.alike(a, b) < 0.5 && f.limbClass(a) != f.limbClass(b) {
					continue
				}
				if s := f.match(a, b); s > most {
					best, most = b, s
				}
			}
			if best >= 0 {
				if side[a] == Right {
					take(best, a, true)
				} else {
					take(a, best, true)
				}
			}
		}
	}
	// By shape and place.
	for {
		bestA, bestB, most := -1, -1, float32(0.55)
		for i, a := range kids {
			for _, b := range kids[i+1:] {
				if taken[a] || taken[b] || side[a] != NoSide && side[a] == side[b] || f.central(a) || f.central(b) {
					continue
				}
				if s, like := f.match(a, b), f.alike(a, b); s > most && (like > 0.6 || like > 0.35 && s > 0.5*like+0.45) {
					bestA, bestB, most = a, b, s
				}
			}
		}
		if bestA < 0 {
			break
		}
		take(bestA, bestB, false)
	}
	trunk = append(trunk, all[len(kids):]...)
	for _, k := range kids {
		switch {
		case taken[k]:
		case side[k] != NoSide && f.read[k].part != spinePart && f.read[k].part != headPart && f.read[k].part != neckPart:
			if len(f.lone) < mostKids {
				f.lone = append(f.lone, f.newLimb(k, side[k]))
			}
			f.enclose(k)
		default:
			trunk = append(trunk, k)
		}
	}
	return trunk
}

// split adds the pair of a and b, which hang on t. If both carry several limbs at once, as a joint
// called legs_l does, it adds a pair for each.
func (f *finder) split(t, a, b int, sa, sb Side, byName bool) {
	whole := func(top int) (out []int) {
		for _, k := range f.kids[top] {
			if f.count[k] >= 3 && f.reach[k] > 0.4*f.reach[top] && f.reach[top]-f.reach[k] < 0.4*f.reach[top] {
				out = append(out, k)
			}
		}
		return out
	}
	as, bs := whole(a), whole(b)
	if len(as) < 2 || len(as) != len(bs) {
		f.addPair(&pair{attach: t, a: f.newLimb(a, sa), b: f.newLimb(b, sb), byName: byName})
		return
	}
	f.enclose(a)
	f.enclose(b)
	taken := make([]bool, len(bs))
	for _, x := range as {
		best, most := -1, float32(-1)
		for i, y := range bs {
			if s := f.match(x, y); !taken[i] && s > most {
				best, most = i, s
			}
		}
		taken[best] = true
		f.addPair(&pair{attach: t, a: f.newLimb(x, sa), b: f.newLimb(bs[best], sb), byName: byName})
	}
}

// central reports whether names say that j is of the trunk.
func (f *finder) central(j int) bool {
	switch r := f.read[j]; r.part {
	case hipsPart, spinePart, neckPart, headPart, tailPart:
		return r.side == ""
	}
	return false
}

// match says how well two subtrees mirror each other, 0 to about 1.
func (f *finder) match(a, b int) float32 {
	p, q := f.mainPath(a), f.mainPath(b)
	pl := plane{f.normal, f.offset}
	var off float32
	steps := min(len(p), len(q), 4)
	for i := range steps {
		off += pl.mirror(f.at[p[i]]).Dist(f.at[q[i]]) / float32(steps)
	}
	if f.size > 0 {
		off /= f.size
	}
	apart := f.at[p[steps-1]].Sub(f.at[q[steps-1]]).Len()
	if steps == 1 {
		apart = f.at[a].Dist(f.at[b])
	}
	if f.size > 0 && apart < 0.005*f.size && f.at[a].Dist(f.at[b]) < 0.005*f.size {
		return 0.1 // twice the same
	}
	return 0.5*f.alike(a, b) + 0.5*max(0, 1-off/0.15)
}

func (f *finder) newLimb(top int, side Side) *limb {
	return &limb{top: top, side: side, path: slices.Clone(f.mainPath(top)), foot: -1, role: [4]int{-1, -1, -1, -1}}
}

// addPair keeps a pair as limbs, or as stubs if it has no length.
func (f *finder) addPair(p *pair) {
	f.enclose(p.a.top)
	f.enclose(p.b.top)
	p.region = f.regionOf(p.a.top)
	lone := f.hasPart(p.a.path[:1], foot, toe) && len(p.a.path) <= 4 // a foot without its leg
	if lone || f.length(p.a.path) < 0.06*f.size && f.length(p.b.path) < 0.06*f.size && len(p.a.path) <= 3 {
		if len(f.stubs) < mostPairs {
			f.stubs = append(f.stubs, p)
		}
		return
	}
	if len(f.pairs) < mostPairs {
		f.pairs = append(f.pairs, p)
	}
}

func (f *finder) enclose(top int) {
	f.inner[top] = true
	for _, k := range f.kids[top] {
		f.enclose(k)
	}
}

func (f *finder) regionOf(top int) string {
	for _, j := range f.mainPath(top) {
		if r := f.read[j].region; r != "" {
			return r
		}
	}
	return ""
}

// limbClass returns what names say of the limb at top.
func (f *finder) limbClass(top int) class {
	var leg, arm, wings, other int
	for i, j := range f.mainPath(top) {
		switch p := f.read[j].part; {
		case p.ofLeg() || p == hipPart || p == hipsPart && i == 0:
			leg++
		case p == hand && leg > 0: // a fore leg
		case p == collar || p == shoulder:
			// The shoulder of a fore or hind leg: what comes below decides.
			if i > 0 || len(f.kids[j]) == 0 {
				arm++
			}
		case p == armUpper || p == armLower || p == hand:
			arm++
		case p == fingerAny || p == fingerIndex:
			if i > 1 && leg == 0 {
				arm++ // the fingers have known names, and so this limb is an arm
			} else if arm == 0 {
				other++
			}
		case p == wing:
			wings++
		case p == ear || p == nose || p == fin || p == headPart || p == tailPart:
			if i < 2 { // not the end of a chain: mano_fin is the end of a hand
				other++
			}
		}
	}
	switch {
	case wings > 0:
		return wingClass
	case leg > 0 && leg >= arm:
		return legClass
	case arm > 0:
		return armClass
	case other > 0:
		return otherClass
	}
	return noClass
}
