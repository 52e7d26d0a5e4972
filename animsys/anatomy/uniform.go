package anatomy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mannequin/engine/m3"
)

// result writes what was found into b.
func (f *finder) result(b *Body) {
	b.parent = f.parent
	b.at, b.Pose = f.at, f.pose
	b.stands = f.score > 0.55 || f.score > 0.4 && len(f.tails) > 0
	b.Hips, b.Spine, b.Neck, b.Head = f.hips, f.spine, f.neck, f.head
	b.Up, b.Ahead, b.Tails, b.Trunks = f.up, f.ahead, f.tails, f.trunks
	lo, hi := f.heights(f.up)
	b.Size = hi - min(lo, f.ground)
	b.Trunk, b.Turned = f.hipsBy, f.aheadBy
	if f.hips < 0 {
		b.Trunk = NotFound
	}
	for _, p := range f.legs {
		b.Legs = append(b.Legs, f.limbs(p)...)
	}
	for _, p := range f.arms {
		b.Arms = append(b.Arms, f.limbs(p)...)
	}
	for _, p := range f.wings {
		b.Wings = append(b.Wings, f.limbs(p)...)
	}
	for _, l := range f.lone {
		if c := f.limbClass(l.top); c == legClass || c == armClass {
			f.assign(l, c == legClass)
			m := f.limbs(&pair{a: l, b: l, class: c, byName: true})[l.side-1]
			b.lone, b.loneLeg = append(b.lone, m), append(b.loneLeg, c == legClass)
		}
	}
	switch n := len(f.legs); {
	case n == 0:
		b.Kind = Legless
	case n == 1 && (f.level || len(f.wings) > 0 && len(f.arms) == 0):
		b.Kind = Bird
	case n == 1:
		b.Kind = TwoLegs
	case n == 2:
		b.Kind = FourLegs
	case n == 3:
		b.Kind = SixLegs
	case n == 4:
		b.Kind = EightLegs
	default:
		b.Kind = ManyLegs
	}
	b.Doubts = f.doubts
	for _, l := range b.Legs {
		if l.Lower < 0 {
			b.Doubts = append(b.Doubts, fmt.Sprintf("the leg of %s ends at the shin: no joint carries its foot", NameOf(b.names, l.Upper)))
			break
		}
	}
}

func (f *finder) limbs(p *pair) []Limb {
	var out []Limb
	for i, l := range []*limb{p.a, p.b} {
		at := func(r int) int {
			if r < 0 || r >= len(l.path) {
				return -1
			}
			return l.path[r]
		}
		m := Limb{Side: Side(i + 1), Girdle: -1, Upper: at(l.role[0]), Middle: at(l.role[1]), Lower: at(l.role[2]), Tip: at(l.role[3]),
			Chain: l.path, Foot: l.foot, Found: ByTree, Grounds: p.grounds}
		if p.byName && (l.named || l.role[1] < 0 && p.class != noClass) {
			m.Found = ByNames
		}
		if h := l.role[0]; h > 0 {
			m.Girdle = l.path[h-1]
			for _, part := range []part{collar, shoulder} {
				if k := slices.IndexFunc(l.path[:h], func(j int) bool { return f.read[j].part == part }); k >= 0 {
					m.Girdle = l.path[k]
					break
				}
			}
			if f.read[m.Girdle].part == unknown && isHelper(f.s.Names[m.Girdle], f.empty) {
				m.Girdle = -1
			}
		}
		out = append(out, m)
	}
	return out
}

// Uniform returns the roles by the names of the uniform skeleton: Hips, LeftUpLeg, Head, … and
// where there is a tail, Tail and Tail1. Of a body on four legs, arms are the fore legs. What the
// user's map says comes first.
func (b *Body) Uniform() map[string]int {
	out := map[string]int{}
	set := func(name string, j int) {
		if j >= 0 {
			out[name] = j
		}
	}
	arms, legs := b.Arms, b.Legs
	if n := len(legs); n > 2 {
		arms, legs = legs[:2], legs[n-2:]
	} else if len(arms) > 2 {
		arms = longest(arms, b.at)
	}
	for i, l := range b.lone {
		if b.loneLeg[i] {
			legs = append(slices.Clone(legs), l)
		} else {
			arms = append(slices.Clone(arms), l)
		}
	}
	for _, l := range legs {
		s := l.Side.String()
		set(s+"UpLeg", l.Upper)
		set(s+"Leg", l.Middle)
		set(s+"Foot", l.Lower)
		set(s+"ToeBase", l.Tip)
	}
	for _, l := range arms {
		s := l.Side.String()
		set(s+"Shoulder", l.Girdle)
		set(s+"Arm", l.Upper)
		set(s+"ForeArm", l.Middle)
		set(s+"Hand", l.Lower)
		set(s+"HandIndex1", l.Tip)
	}
	if b.Kind != Legless || b.Trunk != ByTree {
		set("Hips", b.Hips)
	}
	b.setSpine(set)
	set("Head", b.Head)
	neck := b.Neck
	if n := len(b.Spine); n > 0 && len(neck) > 0 && b.near(neck[0], b.Spine[n-1]) {
		set("Neck", neck[0])
		neck = neck[1:]
	}
	if len(neck) > 0 {
		set("Neck1", neck[0])
	}
	if len(b.Tails) > 0 {
		t := b.Tails[0]
		set("Tail", t[0])
		if len(t) > 1 {
			set("Tail1", t[len(t)/2])
		}
	}
	for name, j := range out { // a joint that the map gives to another
		for other, k := range b.as {
			if k == j && other != name {
				delete(out, name)
			}
		}
	}
	b.dropDisordered(out)
	maps.Copy(out, b.as)
	return out
}

// chains are joints of the uniform skeleton from the hips and the chest outwards, without sides.
var chains = [][]string{
	{"Hips", "LowerBack", "Spine", "Spine1", "Neck", "Neck1", "Head"},
	{"UpLeg", "Leg", "Foot", "ToeBase"},
	{"Shoulder", "Arm", "ForeArm", "Hand", "HandIndex1"},
}

// dropDisordered deletes guesses that the map contradicts: joints above or below the wrong side of one that it gives.
func (b *Body) dropDisordered(guess map[string]int) {
	for _, side := range []string{"", "Left", "Right"} {
		for c, chain := range chains {
			if (side == "") != (c == 0) {
				continue
			}
			for i, name := range chain {
				j, ok := guess[side+name]
				if _, given := b.as[side+name]; !ok || given {
					continue
				}
				for k, other := range chain {
					m, given := b.as[side+other]
					if given && (k > i && b.under(m, j) || k < i && b.under(j, m)) {
						delete(guess, side+name)
					}
				}
			}
		}
	}
}

// under reports whether joint j is below joint a in the tree.
func (b *Body) under(a, j int) bool {
	if j < 0 || j >= len(b.parent) {
		return false
	}
	for j = b.parent[j]; j >= 0; j = b.parent[j] {
		if j == a {
			return true
		}
	}
	return false
}

// longest returns the pair of arms with the longest chain.
func longest(arms []Limb, at []m3.Vec3) []Limb {
	best, most := 0, float32(-1)
	for i := 0; i+1 < len(arms); i += 2 {
		var sum float32
		for k := 1; k < len(arms[i].Chain); k++ {
			sum += at[arms[i].Chain[k]].Dist(at[arms[i].Chain[k-1]])
		}
		if sum > most {
			best, most = i, sum
		}
	}
	return arms[best : best+2]
}

// near reports whether two joints are at the same place.
func (b *Body) near(i, k int) bool {
	if b.Hips < 0 || len(b.Spine) == 0 || len(b.at) == 0 {
		return false
	}
	return b.at[i].Dist(b.at[k]) < 1e-3*b.at[b.Spine[len(b.Spine)-1]].Dist(b.at[b.Hips])
}

// setSpine spreads the spine over LowerBack, Spine and Spine1: the chest is Spine1, the joint half-way
// up is Spine, and LowerBack is at the hips or the lowest one. A body on four legs has no Spine if its chest
// is half-way to its fore legs.
func (b *Body) setSpine(set func(string, int)) {
	n := len(b.Spine)
	if n == 0 || b.Hips < 0 || len(b.at) == 0 {
		return
	}
	chest, low := b.Spine[n-1], b.Spine[:n-1]
	set("Spine1", chest)
	back := len(low) > 0 && b.near(low[0], b.Hips)
	if back {
		set("LowerBack", low[0])
		low = low[1:]
	}
	if len(low) == 0 {
		return
	}
	// Fore legs may hang far ahead of the joint that carries them.
	end := b.at[chest]
	if b.Kind == FourLegs && b.Legs[0].Upper >= 0 && b.Legs[1].Upper >= 0 {
		end = b.at[b.Legs[0].Upper].Lerp(b.at[b.Legs[1].Upper], 0.5)
	}
	half := func(j int) float32 { return m3.Abs(b.at[j].Dist(end) - b.at[j].Dist(b.at[b.Hips])) }
	mid := low[0]
	for _, j := range low {
		if half(j) <= 1.01*half(mid) {
			mid = j
		}
	}
	if b.Kind == FourLegs && half(chest) < half(mid) {
		mid = chest // it is Spine1
	}
	if mid != chest {
		set("Spine", mid)
	}
	if !back && mid != low[0] {
		set("LowerBack", low[0])
	}
}

// Column is the width of the name at the start of a line of Describe.
const Column = 10

// Describe returns the roles as lines of text, one per role: a name, in Column bytes, and what it is.
func (b *Body) Describe() []string {
	name := func(j int) string {
		if j < 0 {
			return "–"
		}
		return NameOf(b.names, j)
	}
	list := func(chain []int) string {
		var out []string
		for _, j := range chain {
			out = append(out, name(j))
		}
		return strings.Join(out, " → ")
	}
	var out []string
	row := func(role, format string, args ...any) {
		out = append(out, fmt.Sprintf("%-*s", Column, role)+fmt.Sprintf(format, args...))
	}
	row("body", "%v; up %s, ahead %s; %.4g high", b.Kind, direction(b.Up), direction(b.Ahead), b.Size)
	if b.Hips >= 0 {
		row("hips", "%s", name(b.Hips))
	}
	for _, c := range []struct {
		role  string
		chain []int
	}{{"spine", b.Spine}, {"neck", b.Neck}} {
		if len(c.chain) > 0 {
			row(c.role, "%s", list(c.chain))
		}
	}
	if b.Head >= 0 {
		row("head", "%s", name(b.Head))
	}
	for _, c := range []struct {
		role  string
		limbs []Limb
	}{{"leg", b.Legs}, {"arm", b.Arms}, {"wing", b.Wings}} {
		for _, l := range c.limbs {
			main := list([]int{l.Upper, l.Middle, l.Lower, l.Tip})
			if l.Girdle >= 0 {
				main = name(l.Girdle) + " → " + main
			}
			row(c.role+" "+[...]string{"?", "l", "r"}[max(l.Side, 0)%3], "%s (by %v)", main, l.Found)
		}
	}
	for _, t := range b.Tails {
		row("tail", "%s", list(t))
	}
	for _, t := range b.Trunks {
		row("trunk", "%s", list(t))
	}
	for _, d := range b.Doubts {
		row("doubt", "%s", d)
	}
	return out
}

// direction names an axis, or gives numbers.
func direction(v m3.Vec3) string {
	for _, a := range []struct {
		v    m3.Vec3
		name string
	}{{m3.V(1, 0, 0), "x"}, {m3.V(0, 1, 0), "y"}, {m3.V(0, 0, 1), "z"}} {
		switch d := v.Dot(a.v); {
		case d > 0.99:
			return "+" + a.name
		case d < -0.99:
			return "-" + a.name
		}
	}
	return fmt.Sprintf("(%.2f %.2f %.2f)", v.X, v.Y, v.Z)
}

// AsNamed returns joints with left and right as names call them: those of most pairs, where they say a side. In a
// file with left-handed axes that is the other one than where they lie.
func AsNamed(names []string, joints map[string]int) map[string]int {
	said, agree := readNames(names), 0
	for joint, j := range joints {
		for _, s := range []string{"Left", "Right"} {
			if is := said[j].side; strings.HasPrefix(joint, s) && is != "" {
				if is == s {
					agree++
				} else {
					agree--
				}
			}
		}
	}
	if agree >= 0 {
		return joints
	}
	return OtherSides(joints)
}

// OtherSides returns joints, by the names of the uniform skeleton, with left and right exchanged.
func OtherSides(joints map[string]int) map[string]int {
	out := map[string]int{}
	for joint, j := range joints {
		if bare, ok := strings.CutPrefix(joint, "Left"); ok {
			joint = "Right" + bare
		} else if bare, ok := strings.CutPrefix(joint, "Right"); ok {
			joint = "Left" + bare
		}
		out[joint] = j
	}
	return out
}
