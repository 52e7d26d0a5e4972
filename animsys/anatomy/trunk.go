package anatomy

import (
	"slices"

	"mannequin/engine/m3"
)

// axes are the directions that may be up.
var axes = []m3.Vec3{{Y: 1}, {Z: 1}, {Y: -1}, {Z: -1}, {X: 1}, {X: -1}}

// findUp finds up: legs lead down. Without names, the direction in which pairs of limbs stand on the
// ground and carry the rest.
func (f *finder) findUp() {
	f.up = m3.Up
	var down m3.Vec3
	var length float32
	legs := 0 // pairs
	for _, p := range f.pairs {
		if p.class == legClass {
			legs++
			for _, l := range []*limb{p.a, p.b} {
				down = down.Add(f.at[l.path[len(l.path)-1]].Sub(f.at[l.path[0]]))
				length += f.length(l.path)
			}
			f.upBy = ByNames
		}
	}
	best := float32(-1)
	head := m3.Vec3{} // the direction of a head, of a body that may sit
	if j := slices.IndexFunc(f.read, func(r reading) bool { return r.part == headPart && r.side == "" }); j >= 0 && legs == 1 {
		for _, p := range f.pairs {
			if p.class == legClass {
				head = f.at[j].Sub(f.mean(p.a.path[0], p.b.path[0])).Normalize(m3.Vec3{})
			}
		}
	}
	for i, up := range axes {
		if m3.Abs(up.Dot(f.normal)) > 0.5 {
			continue
		}
		var s float32
		if f.upBy == ByNames {
			s = -down.Dot(up)/max(length, 1e-9) + 0.3*min(f.stands(up), max(4, 2*float32(legs))) + 0.8*head.Dot(up)
			if i == 0 {
				s += 0.15
				if down.Len() < 0.4*length && legs < 3 {
					s += 0.5 // legs spread to all sides
				}
			}
		} else {
			s = f.stands(up) + [...]float32{0.2, 0.1, 0, 0, 0, 0}[i]
		}
		if s > best+1e-4 {
			best, f.up = s, up
		}
	}
	if f.upBy != ByNames && best > 0.2 {
		f.upBy = ByTree
	}
	f.up = f.up.Sub(f.normal.Scale(f.up.Dot(f.normal))).Normalize(m3.Up)
}

func (f *finder) heights(up m3.Vec3) (lo, hi float32) {
	first := true
	for j := range f.n {
		if f.dead[j] {
			continue
		}
		h := f.at[j].Dot(up)
		if first {
			lo, hi, first = h, h, false
		}
		lo, hi = min(lo, h), max(hi, h)
	}
	return lo, hi
}

// low returns the lowest and the highest height of a pair's joints.
func (f *finder) span(p *pair, up m3.Vec3) (lo, hi float32) {
	lo, hi = 1e30, -1e30
	for _, l := range []*limb{p.a, p.b} {
		for _, j := range l.path {
			lo, hi = min(lo, f.at[j].Dot(up)), max(hi, f.at[j].Dot(up))
		}
	}
	return lo, hi
}

// standing reports whether a pair stands on the ground.
func (f *finder) standing(p *pair, up m3.Vec3, ground, top float32) bool {
	lo, hi := f.span(p, up)
	return lo-ground < 0.12*(top-ground) && hi-lo > 0.12*min(f.length(p.a.path), f.length(p.b.path)) && hi-lo > 0.15*(top-ground)
}

// stands returns how well limbs carry the body if up is up.
func (f *finder) stands(up m3.Vec3) float32 {
	ground, top := f.heights(up)
	var sum float32
	for _, p := range f.pairs {
		if !f.ofTrunk(p.attach) || p.class != noClass && p.class != legClass || !f.standing(p, up, ground, top) {
			continue
		}
		// Straight down from the joint that it hangs on.
		for _, l := range []*limb{p.a, p.b} {
			if n := f.length(l.path); n > 0 {
				hi := f.at[l.path[0]].Dot(up)
				for _, j := range l.path {
					hi = max(hi, f.at[j].Dot(up))
				}
				sum += max(0, hi-f.at[l.path[len(l.path)-1]].Dot(up)) / n
			}
		}
	}
	return m3.Clamp(sum, 0, 8)
}

// tops returns the middle of a pair's hips or shoulders.
func (f *finder) tops(p *pair) m3.Vec3 {
	top := func(l *limb) int {
		if h := l.role[0]; h >= 0 {
			return l.path[h]
		}
		return l.path[0]
	}
	return f.mean(top(p.a), top(p.b))
}

// chooseLegs decides which pairs of limbs are legs. The others may be arms or wings.
func (f *finder) chooseLegs() {
	lo, top := f.heights(f.up)
	f.ground = top
	for _, p := range f.pairs {
		l, _ := f.span(p, f.up)
		f.ground = min(f.ground, l)
	}
	if len(f.pairs) == 0 {
		f.ground = lo
	}
	for _, p := range f.pairs {
		f.assign(p.a, true)
		f.assign(p.b, true)
		f.even(p)
		p.grounds = f.standing(p, f.up, f.ground, top) || p.class == noClass && f.standsInMotion(p)
	}
	others := func(p *pair) bool {
		return slices.ContainsFunc(f.pairs, func(q *pair) bool { return q != p && q.class == legClass && q.grounds })
	}
	for _, p := range f.pairs {
		l, _ := f.span(p, f.up)
		if up := (l - f.ground) / (top - f.ground); p.class == legClass && others(p) && (p.region == "front" && up > 0.2 || p.region == "" && up > 0.4) {
			p.class = armClass // of a dinosaur
		}
		if p.class == legClass || p.class == noClass && p.grounds && f.ofTrunk(p.attach) {
			f.legs = append(f.legs, p)
		}
	}
	for _, p := range f.pairs {
		if slices.Contains(f.legs, p) || p.class == otherClass || !f.ofTrunk(p.attach) {
			continue
		}
		if p.class == armClass && p.grounds && len(f.legs) > 0 && (f.mirror > 0.6 || f.pose > 0) && !f.hanging() {
			// Fore legs with the names of arms.
			d := f.tops(p).Sub(f.tops(f.legs[0])).Normalize(f.up)
			if d.Dot(f.up) < 0.64 {
				for _, q := range f.legs {
					if q.region == "" {
						q.region = "back"
					}
				}
				p.region = "front"
				f.legs = append(f.legs, p)
				continue
			}
		}
		switch {
		case p.class == wingClass || p.class == noClass && (len(f.legs) == 1 && f.beats(p) || len(f.legs) > 1 && f.length(p.a.path) > 0.15*f.size):
			f.wings = append(f.wings, p)
		case p.class == armClass || p.class == noClass && max(f.length(p.a.path), f.length(p.b.path)) > 0.15*f.size:
			f.arms = append(f.arms, p)
			f.assign(p.a, false)
			f.assign(p.b, false)
			f.even(p)
		}
	}
}

// standsInMotion reports whether a pair that hangs in the air at rest stands on the ground in most poses of the motion.
func (f *finder) standsInMotion(p *pair) bool {
	low, high := f.span(p, f.up)
	if _, top := f.heights(f.up); f.pose > 0 || len(f.poses) < 3 || low-f.ground > 0.45*(top-f.ground) || high-low < 0.5*f.length(p.a.path) {
		return false
	}
	at, stands := f.at, 0
	defer func() { f.at = at }()
	for _, pose := range f.poses {
		if len(pose) != f.n {
			continue
		}
		f.at = pose
		_, top := f.heights(f.up)
		ground := top
		for _, q := range f.pairs {
			lo, _ := f.span(q, f.up)
			ground = min(ground, lo)
		}
		if f.standing(p, f.up, ground, top) {
			stands++
		}
	}
	return 3*stands > 2*len(f.poses)
}

// beats reports whether a pair without names is wings: longer than the legs, on a level trunk.
func (f *finder) beats(p *pair) bool {
	if len(f.legs) == 0 || f.length(p.a.path) < 1.2*f.length(f.legs[0].a.path) {
		return false
	}
	d := f.mean(p.a.top, p.b.top).Sub(f.mean(f.legs[0].a.top, f.legs[0].b.top))
	d = d.Sub(f.normal.Scale(d.Dot(f.normal)))
	return d.Normalize(f.up).Dot(f.up) < 0.7
}

// even gives the two limbs of a pair the same roles where names or shape gave them to one only.
func (f *finder) even(p *pair) {
	a, b := p.a, p.b
	if len(a.path) != len(b.path) || a.named && b.named {
		return
	}
	if b.named {
		a, b = b, a
	}
	b.role = a.role
}

// ofTrunk reports whether joint j carries limbs of the trunk: it is no part of a limb itself.
func (f *finder) ofTrunk(j int) bool { return j < 0 || !f.inner[j] }

// sum of votes on which of two directions is ahead.
type votes struct{ sides, names, shape float32 }

// findAhead finds ahead, and so left and right.
func (f *finder) findAhead() {
	axis := f.normal.Cross(f.up).Normalize(m3.V(0, 0, 1)) // ahead if normal is left
	var left m3.Vec3
	for _, p := range f.pairs {
		if p.a.side == Left && p.b.side == Right {
			left = left.Add(f.mean(p.a.path...).Sub(f.mean(p.b.path...)))
		}
	}
	var v votes
	if d := left.Dot(f.normal); m3.Abs(d) > 0.01*f.size {
		v.sides = 3.2 * m3.Clamp(d/f.size*20, -1, 1)
	}
	vote := func(x, full, weight float32) float32 { return weight * m3.Clamp(x/full, -1, 1) }
	var toes, knees, elbows float32
	for _, p := range f.legs {
		for _, l := range []*limb{p.a, p.b} {
			n := f.length(l.path)
			if n <= 0 {
				continue
			}
			if m := len(l.path); m > 2 {
				d := f.at[l.path[m-1]].Sub(f.at[l.path[m-2]])
				if f.at[l.path[m-2]].Dot(f.up)-f.ground < 0.35*n && l.path[m-1] != l.foot {
					toes += d.Dot(axis) / n / float32(2*len(f.legs))
				}
			}
		}
	}
	v.shape += vote(toes, 0.04, 3) + vote(f.feet(axis), 0.06, 4)
	bend := func(l *limb) float32 {
		if l.role[0] < 0 || l.role[1] < 0 || l.role[2] < 0 {
			return 0
		}
		a, b, c := f.at[l.path[l.role[0]]], f.at[l.path[l.role[1]]], f.at[l.path[l.role[2]]]
		n := a.Dist(b) + b.Dist(c)
		if n <= 0 {
			return 0
		}
		return b.Sub(b.OnSegment(a, c)).Dot(axis) / n
	}
	for _, p := range f.arms {
		elbows += bend(p.a) + bend(p.b)
	}
	v.shape -= vote(elbows, 0.05, 0.7)
	hind, fore := f.outer(axis)
	if len(f.legs) == 1 {
		knees = bend(hind.a) + bend(hind.b)
		v.shape += vote(knees, 0.06, 1)
	}
	f.votePlaces(&v, axis, hind, fore)
	// A pose that is not symmetric shows little.
	v.shape *= m3.Clamp((f.mirror-0.4)/0.3, 0.01, 1)
	if v.sides*(v.names+v.shape) < 0 && (f.hanging() || f.mirror < 0.6) {
		v.names, v.shape = 0, 0
	}
	total := v.sides + v.names + v.shape
	f.aheadBy = ByNames
	if m3.Abs(v.shape) > m3.Abs(v.sides+v.names) {
		f.aheadBy = ByTree
	}
	if m3.Abs(total) < 0.3 {
		f.doubt("the forward direction is uncertain: left and right may be swapped")
	}
	if f.ahead = axis; total < 0 {
		f.ahead = axis.Neg()
	}
	if v.sides*total < 0 && m3.Abs(v.sides) > 1 {
		f.doubt("names call left what lies on the right of a body that faces ahead: it is mirrored, or its names are; sides go by where the joints lie")
	}
	lateral := f.up.Cross(f.ahead)
	for _, list := range [][]*pair{f.legs, f.arms, f.wings} {
		for _, p := range list {
			d := f.mean(p.a.path...).Sub(f.mean(p.b.path...)).Dot(lateral)
			named := p.a.side == Left && p.b.side == Right
			if d < 0 && (!named || v.sides*total < 0) {
				p.a, p.b = p.b, p.a
			}
		}
		slices.SortStableFunc(list, func(p, q *pair) int {
			switch d := f.tops(p).Sub(f.tops(q)).Dot(f.ahead); {
			case d > 0:
				return -1
			case d < 0:
				return 1
			}
			return 0
		})
	}
	f.orderByRegion()
}

// feet returns how far the mesh of the feet reaches ahead of the ankles rather than behind, in lengths
// of legs.
func (f *finder) feet(axis m3.Vec3) (sum float32) {
	if f.mesh == nil {
		return 0
	}
	for _, p := range f.legs {
		for _, l := range []*limb{p.a, p.b} {
			n := f.length(l.path)
			from := l.role[2]
			if from < 0 {
				from = len(l.path) - 1
			}
			// The lowest joints of the leg, from the ankle on; of a leg without a foot, the shin.
			var box Box
			for i := from; i < len(l.path); i++ {
				if m := f.mesh[l.path[i]]; m.Any {
					box.Add(m.Lo)
					box.Add(m.Hi)
				}
			}
			if m := f.mesh[l.path[max(from-1, 0)]]; !box.Any && m.Any {
				box = m
			}
			if box.Any && n > 0 {
				sum += box.Lo.Lerp(box.Hi, 0.5).Sub(f.at[l.path[from]]).Dot(axis) / n / float32(2*len(f.legs))
			}
		}
	}
	return sum
}

// orderByRegion sorts legs whose names tell front from back.
func (f *finder) orderByRegion() {
	rank := map[string]int{"front": 0, "midfront": 1, "frontmid": 1, "mid": 2, "midback": 3, "backmid": 3, "back": 4}
	for _, p := range f.legs {
		if _, ok := rank[p.region]; !ok {
			return
		}
	}
	slices.SortStableFunc(f.legs, func(p, q *pair) int { return rank[p.region] - rank[q.region] })
}

// outer returns the pairs of legs at the two ends along axis: of two legs both are the same.
func (f *finder) outer(axis m3.Vec3) (hind, fore *pair) {
	for _, p := range f.legs {
		if hind == nil || f.tops(p).Dot(axis) < f.tops(hind).Dot(axis) {
			hind = p
		}
		if fore == nil || f.tops(p).Dot(axis) > f.tops(fore).Dot(axis) {
			fore = p
		}
	}
	return hind, fore
}

// votePlaces votes by where head, tail, face, fore and hind legs are.
func (f *finder) votePlaces(v *votes, axis m3.Vec3, hind, fore *pair) {
	vote := func(x, full, weight float32) float32 { return weight * m3.Clamp(x/full, -1, 1) }
	size := max(f.size, 1e-9)
	head, tail := false, false // once each
	var legs m3.Vec3
	for _, p := range f.legs {
		legs = legs.Add(f.tops(p).Scale(1 / float32(len(f.legs))))
	}
	if len(f.legs) == 0 {
		legs = f.mean(f.roots...)
	}
	// Of a body on four legs or more the head is ahead; of one on two it may be anywhere above.
	weight, full := float32(2), float32(0.25)
	if len(f.legs) > 1 {
		weight, full = 4, 0.1
	}
	for j, r := range f.read {
		switch {
		case f.inner[j] || f.dead[j]:
		case r.part == headPart && !head:
			head = true
			v.names += vote(f.at[j].Sub(legs).Dot(axis)/size, full, weight)
		case r.part == tailPart && !tail:
			tail = true
			v.names -= vote(f.at[j].Sub(legs).Dot(axis)/size, full, weight/2)
		}
	}
	for j, name := range f.s.Names {
		if isFace(name) && f.parent[j] >= 0 {
			v.names += vote(f.at[j].Sub(f.at[f.parent[j]]).Dot(axis)/size, 0.03, 1)
		}
	}
	for _, p := range f.legs {
		w := map[string]float32{"front": 1.5, "back": -1.5}[p.region]
		if p.class == armClass {
			w = 1.5
		}
		v.names += vote(w*f.tops(p).Sub(legs).Dot(axis)/size, 0.1, 3)
	}
	if len(f.legs) == 1 {
		for _, p := range append(slices.Clone(f.arms), f.wings...) {
			v.shape += vote(f.tops(p).Sub(legs).Dot(axis)/size, 0.1, 2)
		}
	}
	if len(f.legs) < 2 || hind == nil || fore == nil {
		return
	}
	// The end of the trunk that carries a head: it rises, and has pairs of its own.
	for j := range f.n {
		if f.dead[j] || f.inner[j] || len(f.kids[j]) > 0 && !f.onlyPairs(j) {
			continue
		}
		d := f.at[j].Sub(legs)
		side := vote(d.Dot(axis)/size, 0.2, 1)
		v.shape += side * m3.Clamp(3*d.Dot(f.up)/size, -0.5, 1)
		if len(f.kids[j]) > 0 {
			v.shape += side
		}
	}
	// Shoulder blades move on the trunk, and tails hang behind: the root is nearer to the hips.
	if hind.attach >= 0 && fore.attach >= 0 && hind.attach != fore.attach {
		switch {
		case f.below(hind.attach, fore.attach):
			v.shape += 1.5
		case f.below(fore.attach, hind.attach):
			v.shape -= 1.5
		}
	}
}

// onlyPairs reports whether all children of j are limbs.
func (f *finder) onlyPairs(j int) bool {
	for _, k := range f.kids[j] {
		if !f.inner[k] {
			return false
		}
	}
	return true
}
