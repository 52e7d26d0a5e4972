package anatomy

import (
	"slices"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Guess returns which joints of a body's skeleton play which parts, by the names of
// offline/retarget's uniform skeleton (Hips, LeftUpLeg, Head, …) and, where there is a tail, Tail
// and Tail1. Limbs follow from the words and sides in the joints' names, the trunk from the tree:
// hips where the legs meet, the chest where the arms do. at has the joints' places at rest, in one
// space. What is not found is not in the result.
func Guess(s *skel.Skeleton, at []m3.Vec3) map[string]int {
	g := &guess{s: s, read: readNames(s.Names), at: at, joints: map[string]int{}}
	for _, side := range []string{"Left", "Right"} {
		g.leg(side)
		g.arm(side)
	}
	g.trunk()
	g.tail()
	return g.joints
}

// guess is the result of Guess in the making.
type guess struct {
	s      *skel.Skeleton
	read   []reading
	at     []m3.Vec3
	joints map[string]int // of the uniform skeleton → of s
}

// first returns the first joint of a side that is one of the parts, in the order of the parts and
// then of the tree, below the joint under (−1: anywhere).
func (g *guess) first(side string, under int, parts ...part) int {
	for _, p := range parts {
		for j, r := range g.read {
			if r.part == p && r.side == side && !g.s.EndSite[j] && (under < 0 || g.below(under, j)) {
				return j
			}
		}
	}
	return -1
}

func (g *guess) below(a, j int) bool {
	for j = int(g.s.Parents[j]); j >= 0; j = int(g.s.Parents[j]) {
		if j == a {
			return true
		}
	}
	return false
}

func (g *guess) set(name string, j int) {
	if j >= 0 {
		g.joints[name] = j
	}
}

func (g *guess) leg(side string) {
	upper := []part{legUpper, hipPart, hipsPart}
	if g.first(side, -1, legUpper) < 0 && g.first(side, -1, legLower) >= 0 {
		upper = []part{hipPart, hipsPart, legAny}
	}
	hip := g.first(side, -1, upper...)
	if hip < 0 {
		return
	}
	g.set(side+"UpLeg", hip)
	knee := g.first(side, hip, legLower, legAny)
	if knee < 0 {
		return
	}
	g.set(side+"Leg", knee)
	ankle := g.first(side, knee, foot)
	if ankle < 0 {
		return
	}
	g.set(side+"Foot", ankle)
	tip := g.first(side, ankle, toe)
	if tip < 0 {
		tip = g.tip(ankle)
	}
	g.set(side+"ToeBase", tip)
}

// tip returns j's End Site if it has some length: a foot without a toe ends there.
func (g *guess) tip(j int) int {
	if e := g.s.EndSiteOf(j); e >= 0 && g.s.Offsets[e].Len() > 0 {
		return e
	}
	return -1
}

func (g *guess) arm(side string) {
	upper := g.first(side, -1, armUpper)
	if upper < 0 || g.first(side, upper, shoulder) >= 0 {
		upper = g.first(side, -1, shoulder, armUpper)
	}
	if upper < 0 {
		return
	}
	g.set(side+"Arm", upper)
	for _, p := range []part{collar, shoulder} {
		if j := g.first(side, -1, p); j >= 0 && j != upper && g.below(j, upper) {
			g.set(side+"Shoulder", j)
			break
		}
	}
	elbow := g.first(side, upper, armLower)
	if elbow < 0 {
		return
	}
	g.set(side+"ForeArm", elbow)
	wrist := -1
	for j := elbow + 1; j < g.s.Len() && wrist < 0; j++ {
		if g.read[j] == (reading{hand, side}) && !g.s.EndSite[j] && g.below(elbow, j) {
			wrist = j
		}
	}
	if wrist < 0 {
		return
	}
	g.set(side+"Hand", wrist)
	g.set(side+"HandIndex1", g.first(side, wrist, fingerIndex, fingerAny))
}

// trunk finds hips, spine, neck and head: the legs meet at the hips, the arms at the chest.
func (g *guess) trunk() {
	hips := g.meet("UpLeg", "UpLeg")
	if hips < 0 {
		return
	}
	g.set("Hips", hips)
	chest := g.meet("Shoulder", "Arm")
	if chest < 0 || chest == hips {
		return
	}
	root := hips
	for root >= 0 && root != chest && !g.below(root, chest) {
		root = int(g.s.Parents[root])
	}
	var spine []int // below root, down to the chest
	for j := chest; j >= 0 && j != root; j = int(g.s.Parents[j]) {
		spine = append(spine, j)
	}
	slices.Reverse(spine)
	if len(spine) == 0 {
		return
	}
	g.set("Spine1", chest)
	low := spine[:len(spine)-1]
	near := func(a, b int) bool { return g.at[a].Dist(g.at[b]) < 1e-3*g.at[chest].Dist(g.at[hips]) }
	if len(low) > 0 && near(low[0], hips) {
		g.set("LowerBack", low[0])
		low = low[1:]
	}
	if len(low) > 0 {
		// Ours is half-way up.
		half := func(j int) float32 { return m3.Abs(g.at[j].Dist(g.at[chest]) - g.at[j].Dist(g.at[hips])) }
		mid := low[0]
		for _, j := range low {
			if half(j) <= 1.01*half(mid) {
				mid = j
			}
		}
		g.set("Spine", mid)
		if _, ok := g.joints["LowerBack"]; !ok && mid != low[0] {
			g.set("LowerBack", low[0])
		}
	}
	g.head(chest, near)
}

func (g *guess) head(chest int, near func(a, b int) bool) {
	head := g.first("", chest, headPart)
	if head < 0 {
		// The deepest joint above the chest without a side.
		most := 0
		for j := range g.read {
			if g.read[j].side != "" || g.s.EndSite[j] || !g.below(chest, j) {
				continue
			}
			if d := g.depth(j); d > most && (g.read[j].part == neckPart || g.read[j].part == spinePart) {
				head, most = j, d
			}
		}
	}
	if head < 0 {
		return
	}
	g.set("Head", head)
	var neck []int
	for j := int(g.s.Parents[head]); j >= 0 && j != chest; j = int(g.s.Parents[j]) {
		neck = append(neck, j)
	}
	slices.Reverse(neck)
	if len(neck) > 0 && near(neck[0], chest) {
		g.set("Neck", neck[0])
		neck = neck[1:]
	}
	if len(neck) > 0 {
		g.set("Neck1", neck[0])
	}
}

func (g *guess) tail() {
	var tail []int
	for j, r := range g.read {
		if r.part == tailPart && !g.s.EndSite[j] && (len(tail) == 0 || g.below(tail[len(tail)-1], j)) {
			tail = append(tail, j)
		}
	}
	if len(tail) > 0 {
		g.set("Tail", tail[0])
	}
	if len(tail) > 1 {
		g.set("Tail1", tail[len(tail)/2])
	}
}

func (g *guess) depth(j int) (d int) {
	for ; j >= 0; j = int(g.s.Parents[j]) {
		d++
	}
	return d
}

// meet returns the lowest joint that both sides descend from: those called upper, or else instead.
func (g *guess) meet(upper, instead string) int {
	var ends [2]int
	for i, side := range []string{"Left", "Right"} {
		j, ok := g.joints[side+upper]
		if !ok {
			if j, ok = g.joints[side+instead]; !ok {
				return -1
			}
		}
		ends[i] = j
	}
	for j := int(g.s.Parents[ends[0]]); j >= 0; j = int(g.s.Parents[j]) {
		if g.below(j, ends[1]) {
			return j
		}
	}
	return -1
}
