package anatomy

import (
	"math"
	"slices"
	"strings"

	"mannequin/engine/m3"
)

// common returns the lowest joint that both a and b are below or at, −1 for none.
func (f *finder) common(a, b int) int {
	for ; a >= 0 && b >= 0; a = f.parent[a] {
		if a == b || f.below(a, b) {
			return a
		}
	}
	return -1
}

// pairLone pairs limbs of opposite sides that hang on different joints.
func (f *finder) pairLone() {
	var rest []*limb
	taken := make([]bool, len(f.lone))
	for i, a := range f.lone {
		if taken[i] {
			continue
		}
		for k := i + 1; k < len(f.lone) && !taken[i]; k++ {
			b := f.lone[k]
			if c := f.limbClass(a.top); taken[k] || a.side == b.side || c == noClass || c != f.limbClass(b.top) || f.regionOf(a.top) != f.regionOf(b.top) {
				continue
			}
			if a.side == Right {
				a, b = b, a
			}
			taken[i], taken[k] = true, true
			f.addPair(&pair{attach: f.common(f.parent[a.top], f.parent[b.top]), a: a, b: b, byName: true})
		}
		if !taken[i] {
			rest = append(rest, a)
		}
	}
	f.lone = rest
}

// attachFeet gives legs that end above their foot the joint that carries it: many rigs hang feet on
// the root, as targets of inverse kinematics. Names tell, or else the place.
func (f *finder) attachFeet() {
	f.pairLone()
	type fit struct {
		leg, foot *pair
		cost      float32
	}
	var fits []fit
	for _, p := range f.pairs {
		c := f.limbClass(p.a.top)
		if c == armClass || c == wingClass || c == otherClass || f.hasPart(p.a.path, foot, toe) || len(p.a.path) < 2 {
			continue
		}
		for _, s := range append(slices.Clone(f.stubs), f.shortPairs()...) {
			named, region := f.footOf(s)
			if s == p || s.attach >= 0 && s.attach != p.attach && !f.below(s.attach, p.a.top) {
				continue
			}
			named = named && c == legClass
			cost := float32(0)
			for _, l := range [][2]*limb{{p.a, s.a}, {p.b, s.b}} {
				path := l[0].path
				for len(path) > 2 && f.s.EndSite[path[len(path)-1]] {
					path = path[:len(path)-1]
				}
				end, last := path[len(path)-1], f.at[path[len(path)-1]].Dist(f.at[path[len(path)-2]])
				d := f.at[end].Dist(f.at[l[1].top])
				switch {
				case named:
				case f.circles(l[1].top, path) || f.ends(l[0].path, path, l[1].top):
					d *= 0.25
				case len(s.a.path) > 1 && !slices.Contains(f.stubs, s), d < 0.3*last, d > 2.8*last, d > 2.1*f.length(path):
					cost = 1e9
				}
				cost += d
			}
			if region != p.region && region != "" && p.region != "" {
				continue
			}
			if region == p.region && named {
				cost *= 0.25
			}
			if cost < 1e9 {
				fits = append(fits, fit{p, s, cost})
			}
		}
	}
	slices.SortStableFunc(fits, func(a, b fit) int {
		switch {
		case a.cost < b.cost:
			return -1
		case a.cost > b.cost:
			return 1
		}
		return 0
	})
	used := map[*pair]bool{}
	for _, x := range fits {
		if used[x.leg] || used[x.foot] {
			continue
		}
		used[x.leg], used[x.foot] = true, true
		for _, l := range [][2]*limb{{x.leg.a, x.foot.a}, {x.leg.b, x.foot.b}} {
			l[0].foot = l[1].top
			for m := len(l[0].path); m > 2 && f.s.EndSite[l[0].path[m-1]]; m-- {
				l[0].path = l[0].path[:m-1] // the foot comes instead of the shin's end
			}
			l[0].path = append(l[0].path, l[1].path...)
		}
	}
	isFoot := func(s *pair) bool { return used[s] && s.a.foot < 0 }
	f.stubs, f.pairs = slices.DeleteFunc(f.stubs, isFoot), slices.DeleteFunc(f.pairs, isFoot)
	// A hand or a foot that is the whole limb.
	for _, s := range f.stubs {
		if f.hasPart(s.a.path[:1], hand) {
			f.pairs = append(f.pairs, s)
		}
	}
}

// shortPairs returns the pairs without names that may be feet apart from their legs.
func (f *finder) shortPairs() (out []*pair) {
	for _, p := range f.pairs {
		if len(p.a.path) <= 3 && f.length(p.a.path) < 0.15*f.size && !slices.ContainsFunc(p.a.path, func(j int) bool { return f.read[j].part != unknown }) {
			out = append(out, p)
		}
	}
	return out
}

// ends reports whether a leg's shin ends where a foot is: path is the leg without the ends of its bones.
func (f *finder) ends(leg, path []int, foot int) bool {
	if len(leg) == len(path) {
		return false
	}
	end := leg[len(path)]
	return f.at[end].Dist(f.at[foot]) < 0.1*f.at[end].Dist(f.at[path[len(path)-1]])
}

// circles reports whether a foot keeps its distance to the end of a leg in the motion rather than to the joint above:
// the leg reaches for the foot.
func (f *finder) circles(foot int, path []int) bool {
	change := func(j int) float32 { // deviation, as a share of the mean
		var n, sum, squares float32
		for _, at := range f.poses {
			if len(at) == f.n {
				d := at[foot].Dist(at[j]) / max(f.size, 1e-9)
				n, sum, squares = n+1, sum+d, squares+d*d
			}
		}
		if n < 3 || !(sum > 0) {
			return 0
		}
		return m3.Sqrt(max(squares/n-sum*sum/(n*n), 0)) * n / sum
	}
	above := change(path[len(path)-2])
	return above > 0.02 && change(path[len(path)-1]) < 0.6*above
}

// footOf reports whether names call a stub a foot, or the target of a leg or a foot, and of which region.
func (f *finder) footOf(s *pair) (named bool, region string) {
	for _, j := range s.a.path {
		r := f.read[j]
		if r.part == unknown {
			tokens := tokenise(plain(f.s.Names[j]))
			if !slices.Contains(tokens, "ik") || slices.Contains(tokens, "pole") {
				continue
			}
			r = read(slices.DeleteFunc(tokens, func(t string) bool { return t == "ik" || t == "target" }))
		}
		if r.part.ofLeg() {
			return true, r.region
		}
	}
	return false, ""
}

func (f *finder) hasPart(path []int, parts ...part) bool {
	return slices.ContainsFunc(path, func(j int) bool { return slices.Contains(parts, f.read[j].part) })
}

// classify reads the classes of limbs from names.
func (f *finder) classify() {
	for _, p := range f.pairs {
		if p.class = f.limbClass(p.a.top); p.class == noClass {
			p.class = f.limbClass(p.b.top)
		}
		p.byName = p.byName && p.class != noClass
		if p.class == noClass && f.bare(p) {
			p.class = otherClass // controls
		}
	}
}

// bare reports whether a pair moves no part of the mesh.
func (f *finder) bare(p *pair) bool {
	if f.moves == nil {
		return false
	}
	for _, l := range []*limb{p.a, p.b} {
		if slices.ContainsFunc(l.path, func(j int) bool { return f.moves[j].Any }) {
			return false
		}
	}
	return true
}

// assign finds hip, knee, ankle and tip of a limb, or shoulder, elbow, wrist and first finger.
func (f *finder) assign(l *limb, leg bool) {
	h, k, a, t := f.namedArm(l.path)
	if c := f.limbClass(l.top); c == legClass || c != armClass && leg {
		h, k, a, t = f.namedLeg(l.path)
	}
	if h >= 0 && k < 0 && a >= 0 && a-h < 2 {
		h, k, a, t = -1, -1, -1, -1 // names leave no joint for the knee
	}
	l.named = h >= 0 && k >= 0 && a >= 0
	if !l.named {
		h, k, a = f.shaped(l, leg, h, k, a)
	}
	if a >= 0 && !leg {
		if j := f.finger(l.path[a]); j >= 0 {
			if t = slices.Index(l.path, j); t < 0 {
				l.path, t = append(l.path[:a+1:a+1], f.pathTo(l.path[a], j)...), -1
				t = len(l.path) - 1
			}
		}
	}
	if a >= 0 && t < 0 && a+1 < len(l.path) && !leg && f.s.EndSite[l.path[a+1]] {
		t = -1 // a hand without fingers
	} else if a >= 0 && t < 0 && a+1 < len(l.path) && f.at[l.path[a+1]].Dist(f.at[l.path[a]]) > 1e-4*f.size {
		t = a + 1
	}
	l.role = [4]int{h, k, a, t}
}

// finger returns the first joint below a wrist that names call a finger, the index finger if there is
// one; −1 for none.
func (f *finder) finger(wrist int) int {
	for _, p := range []part{fingerIndex, fingerAny} {
		best := -1
		for j := range f.n {
			if f.read[j].part != p || f.dead[j] || f.s.EndSite[j] || !f.below(wrist, j) || f.fingerAbove(wrist, j, p) {
				continue
			}
			if best < 0 || f.s.Names[j] < f.s.Names[best] {
				best = j
			}
		}
		if best >= 0 {
			return best
		}
	}
	return -1
}

// fingerAbove reports whether a joint between wrist and j is of the same part, or of the
// thumb.
func (f *finder) fingerAbove(wrist, j int, p part) bool {
	for k := f.parent[j]; k >= 0 && k != wrist; k = f.parent[k] {
		if f.read[k].part == p || slices.Contains(tokenise(f.s.Names[k]), "thumb") || strings.HasSuffix(f.s.Names[k], "thumb") {
			return true
		}
	}
	return false
}

// firstNamed returns the index into path, not before from, of the first joint whose name says the first of parts that
// is there, or -1. End Sites count as feet, toes and hands only.
func (f *finder) firstNamed(path []int, from int, parts ...part) int {
	for _, p := range parts {
		for i := from; i < len(path); i++ {
			if f.read[path[i]].part == p && (!f.s.EndSite[path[i]] || p == foot || p == toe || p == hand) {
				return i
			}
		}
	}
	return -1
}

// namedLeg returns the indices into path that names give a leg's hip, knee, ankle and toe.
func (f *finder) namedLeg(path []int) (h, k, a, t int) {
	first := func(from int, parts ...part) int { return f.firstNamed(path, from, parts...) }
	h, k, a, t = -1, -1, -1, -1
	bones := 0
	for _, j := range path {
		if p := f.read[j].part; p == legUpper || p == legLower || p == legAny {
			bones++
		}
	}
	upper, lower := first(0, legUpper), first(0, legLower)
	if any := first(0, legAny); bones >= 3 && any >= 0 && (upper < 0 && lower < 0 || any < upper) && !f.flat(path) {
		return -1, -1, -1, -1 // Leg, UpLeg, LowLeg: which of them is the thigh?
	}
	switch {
	case upper >= 0:
		h = upper
	case lower >= 0:
		h = first(0, hipPart, hipsPart, legAny, shoulder)
	default:
		h = first(0, hipPart, hipsPart, legAny)
	}
	if h < 0 {
		if a = first(0, foot); a >= 0 {
			t = first(a+1, toe)
		}
		return h, k, a, t
	}
	if k = first(h+1, legLower, legAny); k < 0 {
		return h, k, first(h+1, foot), -1
	}
	if a = first(k+1, foot, hand); a < 0 {
		if a = first(k+1, legAny); a < 0 {
			return h, k, a, t
		}
	}
	if t = first(a+1, toe, foot, fingerIndex, fingerAny); t < 0 {
		// A foot without a toe ends at its End Site.
		for i := a + 1; i < len(path); i++ {
			if f.s.EndSite[path[i]] && f.at[path[i]].Dist(f.at[path[a]]) > 0 {
				return h, k, a, i
			}
		}
	}
	// Ankle, foot, toe: if the toe is the end of the toes, they begin at the foot.
	if b := first(a+1, foot); t == len(path)-1 && b > a && b < t && f.at[path[b]].Dist(f.at[path[a]]) > 0.3*f.at[path[t]].Dist(f.at[path[a]]) {
		t = b
	}
	return h, k, a, t
}

func (f *finder) namedArm(path []int) (h, k, a, t int) {
	first := func(from int, parts ...part) int { return f.firstNamed(path, from, parts...) }
	h = first(0, armUpper)
	if h < 0 || first(h+1, shoulder) >= 0 {
		if h = first(0, shoulder); h < 0 {
			h = first(0, armUpper)
		}
	}
	k, a, t = -1, -1, -1
	if h < 0 {
		if a = first(0, hand); a < 0 {
			a = max(first(0, fingerIndex, fingerAny), 0) - 1 // the name of the hand is unknown: it is the parent of the fingers
		}
		return h, k, a, t
	}
	if f.manyArms(path) {
		return -1, -1, first(0, hand), t // arm 1 to 4: which of them is the collar?
	}
	if k = first(h+1, armLower); k < 0 {
		if k = first(h+1, armUpper); k < 0 || first(k+1, armUpper) < 0 && first(k+1, hand) < 0 {
			k = -1
			return h, k, first(h+1, hand), t
		}
	}
	if a = first(k+1, hand); a < 0 {
		if a = first(k+1, armUpper); a < 0 {
			return h, k, a, t
		}
	}
	t = first(a+1, fingerIndex, fingerAny)
	return h, k, a, t
}

// manyArms reports whether names call four joints of a limb arms, and none of them collar, shoulder or forearm.
func (f *finder) manyArms(path []int) bool {
	arms := 0
	for _, j := range path {
		switch f.read[j].part {
		case armUpper:
			arms++
		case armLower, collar, shoulder:
			return false
		}
	}
	return arms >= 4 && !f.flat(path)
}

// flat reports whether a limb has no shape to go by.
func (f *finder) flat(path []int) bool { return f.length(path) < 1e-3*f.size }

// belowGirdle returns the index of the first joint of a leg whose bone is neither short nor leads to the
// side.
func (f *finder) belowGirdle(path []int) int {
	for i := 0; i+2 < len(path); i++ {
		d := f.at[path[i+1]].Sub(f.at[path[i]])
		next := f.at[path[i+2]].Dist(f.at[path[i+1]])
		if aside := m3.Abs(d.Dot(f.normal)) > 0.7*d.Len(); d.Len() > 0.35*next && !(aside && d.Len() < 0.95*next) {
			return i
		}
	}
	return -1
}

// bend returns how far joint j lies from the line between two others of its limb, in lengths of that line, in the pose in
// which it lies farthest. Joints that bend in the motion are no twist bones, even if all are in line at rest.
func (f *finder) bend(from, j, to int) float32 {
	off := func(at []m3.Vec3) float32 {
		d := at[from].Dist(at[to])
		if !(d > 0) {
			return 0
		}
		return at[j].Dist(at[j].OnSegment(at[from], at[to])) / d
	}
	most := off(f.at)
	for _, at := range f.poses {
		if len(at) == f.n {
			most = max(most, off(at))
		}
	}
	return most
}

// aside returns how far the bone between two joints leads to the side, by its length.
func (f *finder) aside(a, b int) float32 {
	d := f.at[b].Sub(f.at[a])
	return m3.Abs(d.Dot(f.normal)) / max(d.Len(), 1e-9)
}

// firstMoving returns the index of the first joint of a limb whose bone turns much on the trunk in the motion, −1 if there
// is no motion to tell. Bones of girdles turn little.
func (f *finder) firstMoving(path []int) int {
	attach := f.parent[path[0]]
	if attach < 0 || len(f.poses) < 3 || len(path) < 4 {
		return -1
	}
	// The joints that hang where the limb does keep their places in the frame of the trunk there.
	fixed := append([]int{attach}, f.kids[attach]...)
	if len(fixed) < 3 {
		return -1
	}
	moved := make([]float32, min(len(path)-1, 4))
	for i := range moved {
		for _, k := range fixed {
			lo, hi := float32(math.MaxFloat32), float32(0)
			for _, at := range f.poses {
				if len(at) == f.n {
					d := at[path[i+1]].Dist(at[k])
					lo, hi = min(lo, d), max(hi, d)
				}
			}
			moved[i] = max(moved[i], hi-lo)
		}
		moved[i] /= max(f.at[path[i+1]].Dist(f.at[path[i]]), 0.02*f.size)
	}
	for i := range moved[:len(moved)-1] {
		if moved[i] > 0.35*moved[i+1] {
			return i
		}
	}
	return -1
}

// fingers returns the number of joints below joint i of a limb, without the ends of bones, and without twist bones, which
// lie on the bone to the limb's next joint.
func (f *finder) fingers(path []int, i int) (n int) {
	for _, k := range f.kids[path[i]] {
		on := false
		if i+1 < len(path) && k != path[i+1] && len(f.kids[k]) == 0 {
			a, b := f.at[path[i]], f.at[path[i+1]]
			on = f.at[k].Dist(f.at[k].OnSegment(a, b)) < 0.05*a.Dist(b)
		}
		if !f.s.EndSite[k] && !on {
			n++
		}
	}
	return n
}

// shaped returns the indices into path of hip, knee and ankle (shoulder, elbow, wrist) by the shape:
// the two longest bones in line, of about the same length. Those known already are not −1.
func (f *finder) shaped(l *limb, leg bool, h0, k0, a0 int) (h, k, a int) {
	path := l.path
	m := min(len(path), mostBones)
	for m > 1 && m > 3 && f.s.EndSite[path[m-1]] {
		m--
	}
	switch {
	case m == 1 && (h0 >= 0 || k0 >= 0 || a0 >= 0):
		return h0, k0, a0
	case m == 1:
		return 0, -1, -1
	case m == 2 && a0 >= 0:
		return h0, k0, a0
	case m == 2:
		return 0, 1, -1
	}
	if !leg && a0 < 0 {
		// A joint with three or more fingers is a hand, if the bones above it are as long as an arm's.
		for i := 2; i < m; i++ {
			if f.fingers(path, i) >= 3 {
				if i > 2 || f.at[path[1]].Dist(f.at[path[0]]) > 0.3*f.at[path[2]].Dist(f.at[path[1]]) {
					a0 = i
				}
				break
			}
		}
	}
	total := f.length(path[:m])
	if total <= 0 {
		return h0, k0, a0
	}
	h, k, a = h0, k0, a0
	first, bonus := -1, float32(0.13) // joint of a leg that is no girdle
	if f.regionOf(l.top) == "back" {
		bonus = 0.25 // a fore leg's shoulder blade moves, and a hind leg's hip does not
	}
	if leg || f.limbClass(l.top) == legClass {
		first = f.belowGirdle(path[:m])
	}
	moves := f.firstMoving(path[:m])
	most := float32(-10)
	for x := 0; x < m-2; x++ {
		for y := x + 1; y < m-1; y++ {
			for z := y + 1; z < m; z++ {
				if h0 >= 0 && x != h0 || k0 >= 0 && y != k0 || a0 >= 0 && z != a0 || z == m-1 && m > 3 && a0 < 0 && leg && path[z] != l.foot {
					continue
				}
				upper, lower := f.at[path[x]].Dist(f.at[path[y]]), f.at[path[y]].Dist(f.at[path[z]])
				if upper <= 0 || lower <= 0 {
					continue
				}
				s := (upper + lower) / total * m3.Sqrt(min(upper, lower)/max(upper, lower))
				if x == first {
					s += bonus
				}
				if x < moves {
					s -= 0.5
				}
				if x == 0 && !leg && f.aside(path[0], path[1]) > 0.95 && f.aside(path[1], path[2]) < 0.5 {
					s -= 0.3 // a collar, above an arm that leads elsewhere
				}
				if p := f.read[path[x]].part; p == collar || p == shoulder {
					s -= 0.3
				}
				if !leg && lower > 1.25*upper {
					s -= 0.1 // rather a collar above an arm than an upper arm above a longer forearm
				}
				if z == m-1 && z > y+1 && a0 < 0 && !leg {
					s -= 0.1 // rather a hand before its end than a twist bone before the hand
				}
				for i := x + 1; i < z; i++ {
					if i == y {
						continue
					}
					from, to := path[x], path[y]
					if i > y {
						from, to = path[y], path[z]
					}
					s -= 0.05 + m3.Clamp(3*f.bend(from, path[i], to), 0, 0.5)
				}
				if s > most+1e-5 {
					h, k, a, most = x, y, z, s
				}
			}
		}
	}
	return h, k, a
}

// shapeLegs finds the hip, knee and ankle of each leg again by the shape of the leg, where joint names do not give them and
// the trunk is level. On such bodies the thigh and shin need not be the longest bones. The hock of a hind leg points
// backward; the ankle of a foreleg is close to the ground. shapeLegs reports whether a role changed.
func (f *finder) shapeLegs() (changed bool) {
	if len(f.legs) > 2 || f.mirror < 0.5 {
		return false
	}
	for i, p := range f.legs {
		if p.class != noClass {
			continue
		}
		hind := i == len(f.legs)-1
		for _, l := range []*limb{p.a, p.b} {
			z := f.fetlock(l)
			if hind {
				z = f.hock(l)
			}
			if z < 0 {
				continue
			}
			old := l.role
			h, k, a := z-2, z-1, z
			if !f.jointed(l.path, z) {
				h, k, a = f.shaped(l, true, -1, -1, z)
			}
			if h < 0 || k < 0 {
				continue
			}
			l.role = [4]int{h, k, a, -1}
			if a+1 < len(l.path) {
				l.role[3] = a + 1
			}
			changed = changed || l.role != old
		}
		f.even(p)
	}
	return changed
}

// jointed reports whether the two bones above joint z of a limb are thigh and shin: of lengths that go together, and no
// parts of one bone.
func (f *finder) jointed(path []int, z int) bool {
	a, b := f.at[path[z-2]].Dist(f.at[path[z-1]]), f.at[path[z-1]].Dist(f.at[path[z]])
	return min(a, b) > 0.35*max(a, b) && (z < 3 || f.bend(path[z-3], path[z-2], path[z-1]) > 0.05)
}

// share returns how high joint j of a limb is over the ground, by the highest joint of the limb.
func (f *finder) share(l *limb, j int) float32 {
	hi := f.at[l.path[0]].Dot(f.up)
	for _, k := range l.path {
		hi = max(hi, f.at[k].Dot(f.up))
	}
	return (f.at[j].Dot(f.up) - f.ground) / max(hi-f.ground, 1e-9)
}

// hock returns the index of the joint in the middle of a hind leg that juts out behind, with two bones above it, −1 for none.
func (f *finder) hock(l *limb) int {
	path := l.path
	first := 0
	if len(path) > 2 { // a bone to the side, or a short one, is of the girdle
		d := f.at[path[1]].Sub(f.at[path[0]])
		if m3.Abs(d.Dot(f.normal)) > 0.9*d.Len() || d.Len() < 0.35*f.at[path[2]].Dist(f.at[path[1]]) {
			first = 1
		}
	}
	best, most := -1, float32(0.05)
	for z := first + 2; z+1 < len(path) && z < mostBones; z++ {
		if s := f.share(l, path[z]); s < 0.15 || s > 0.56 {
			continue
		}
		a, b := f.at[path[z-1]], f.at[path[z+1]]
		if out := f.at[path[z]].OnSegment(a, b).Sub(f.at[path[z]]).Dot(f.ahead) / max(a.Dist(b), 1e-9); out > most {
			best, most = z, out
		}
	}
	return best
}

// fetlock returns the index of the joint of a fore leg that is above its foot, with two bones above it, −1 for none.
func (f *finder) fetlock(l *limb) int {
	for z := 2; z+1 < len(l.path) && z < mostBones; z++ {
		if s := f.share(l, l.path[z]); s < 0.25 {
			return z
		}
	}
	return -1
}
