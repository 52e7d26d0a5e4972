package anatomy

import (
	"maps"
	"slices"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Find finds the roles of a skeleton's joints. Names decide where they tell; elsewhere the tree, the
// lengths of bones, the symmetry and the ground do:
//
//  1. Children of a joint that mirror each other are the tops of limbs. What has no partner is trunk.
//  2. Limbs that stand on the ground are legs. The direction of their bones gives up.
//  3. Toes, knees and elbows, names of sides, tail and head give ahead, and so left.
//  4. Hips, spine, neck, head and tails follow from where limbs meet.
//
// The result depends on neither the order of joints nor the unit. Find never fails: what was not
// found is −1 or empty, and of an invalid skeleton that is everything.
func Find(r Rig) *Body {
	s := r.Skel
	b := &Body{Hips: -1, Head: -1, Up: m3.Up, Ahead: m3.V(0, 0, 1), as: map[string]int{}}
	if s == nil || !tree(s) || len(r.At) != s.Len() {
		return b
	}
	n := s.Len()
	b.names = s.Names
	named := readNames(s.Names)
	for _, ours := range slices.Sorted(maps.Keys(r.As)) {
		j := Joint(s.Names, r.As[ours])
		if j < 0 {
			continue
		}
		b.as[ours] = j
		if w := uniformReading(ours); w.part != unknown {
			named[j] = w
		}
	}
	best, most := (*finder)(nil), float32(0)
	poses := append([][]m3.Vec3{r.At}, r.Poses...)
	for i, at := range poses {
		if len(at) != n || slices.ContainsFunc(at, func(p m3.Vec3) bool { return !p.Finite() }) {
			continue
		}
		f := newFinder(r, at, named, b.as)
		f.pose, f.poses = i, poses[1:]
		if i == 0 {
			f.mesh = f.moves
		}
		f.find()
		// A rest pose that stands is better than a frame that stands a little better.
		score := f.score
		if i == 0 {
			score += 0.1
		}
		if best == nil || score > most {
			best, most = f, score
		}
		if i == 0 && (f.score > 0.75 || len(f.legs) > 1 && (f.score > 0.5 && f.upBy == ByNames || f.score > 0.65)) {
			break
		}
	}
	if best != nil {
		best.result(b)
	}
	return b
}

// tree reports whether a skeleton has joints, and parents before children.
func tree(s *skel.Skeleton) bool {
	n := s.Len()
	if n == 0 || n > skel.MaxJoints || len(s.Parents) != n || len(s.EndSite) != n {
		return false
	}
	for j, p := range s.Parents {
		if p < -1 || int(p) >= j {
			return false
		}
	}
	return true
}

// Guess returns which joints of a body's skeleton play which parts, by the names of the uniform
// skeleton: Find(…).Uniform(). at has the joints' places at rest, in one space.
func Guess(s *skel.Skeleton, at []m3.Vec3) map[string]int {
	return Find(Rig{Skel: s, At: at}).Uniform()
}

// OfClip finds the roles in a motion: by its skeleton at rest, and by some frames where that shows
// nothing: Body.Pose is then the frame's number plus one. as is Rig.As.
func OfClip(c *skel.Clip, as map[string]string) *Body {
	if c == nil || c.Skel == nil || c.Skel.Validate() != nil {
		return Find(Rig{})
	}
	n := c.Skel.Len()
	rest := make([]m3.Vec3, n)
	for j, p := range c.Skel.Parents {
		if rest[j] = c.Skel.Offsets[j]; p >= 0 {
			rest[j] = rest[j].Add(rest[p])
		}
	}
	const most = 6
	var poses [][]m3.Vec3
	model := make([]m3.Xform, n)
	frames := min(c.Frames, len(c.Pos)/n, len(c.Rot)/n)
	for i := range min(most, frames) {
		c.Model(model, i*frames/min(most, frames))
		at := make([]m3.Vec3, n)
		for j := range at {
			at[j] = model[j].Pos
		}
		poses = append(poses, at)
	}
	b := Find(Rig{Skel: c.Skel, At: rest, Poses: poses, Still: Still(c), As: as})
	if b.Pose > 0 {
		b.Pose = 1 + (b.Pose-1)*frames/len(poses)
	}
	return b
}

// uniformReading returns the part that a joint of the uniform skeleton plays.
func uniformReading(name string) reading {
	r := read(tokenise(name))
	switch {
	case name == "LowerBack" || name == "Spine" || name == "Spine1":
		return reading{part: spinePart}
	case r.part == shoulder:
		r.part = collar // whatever names call the upper arm
	}
	return r
}

// finder finds roles in one pose. Slices have one entry per joint of the skeleton.
type finder struct {
	s      *skel.Skeleton
	n      int
	at     []m3.Vec3
	read   []reading
	as     map[string]int
	parent []int
	groups []int       // the joint that each is a group of, or itself
	kids   [][]int     // child joints that are not dead, in an order that does not depend on the joints' indices
	roots  []int       // live joints without a parent
	dead   []bool      // joints that move nothing of the body, with all below them
	reach  []float32   // longest way down
	mass   []float32   // length of all bones below
	count  []int       // live joints below and itself
	empty  []string    // words of helpers that say nothing here
	paths  [][]int     // mainPath of each joint, nil if it was not asked for
	size   float32     // of the live joints' box
	mesh   []Box       // in this pose; nil: unknown
	moves  []Box       // the same at rest
	pose   int         // as Body.Pose
	poses  [][]m3.Vec3 // of the motion, some; nil: unknown

	normal m3.Vec3 // of the plane of symmetry
	offset float32
	mirror float32 // share of joints with a mirror image

	pairs []*pair
	lone  []*limb // without a partner
	inner []bool  // joints of limbs
	stubs []*pair // pairs without length: feet that hang elsewhere, targets

	up, ahead m3.Vec3
	upBy      Evidence
	aheadBy   Evidence
	ground    float32 // height
	legs      []*pair // from the front to the back
	arms      []*pair
	wings     []*pair
	hips      int
	hipsBy    Evidence
	chest     int
	spine     []int
	neck      []int
	head      int
	tails     [][]int
	trunks    [][]int
	level     bool // the trunk lies level
	score     float32
	doubts    []string
}

// pair is two limbs that mirror each other.
type pair struct {
	attach  int // the joint that they hang on, −1 for none
	a, b    *limb
	class   class
	byName  bool
	region  string
	grounds bool
}

// limb is a chain of joints.
type limb struct {
	top   int
	side  Side   // by names
	path  []int  // from the top to the end
	foot  int    // joint of path that hangs elsewhere, −1 for none
	role  [4]int // indices into path of hip, knee, ankle, tip; −1 for none
	named bool   // all but the tip by names
}

type class int

const (
	noClass class = iota
	legClass
	armClass
	wingClass
	otherClass // ears, fins, fingers
)

func newFinder(r Rig, at []m3.Vec3, named []reading, as map[string]int) *finder {
	s, n := r.Skel, r.Skel.Len()
	f := &finder{s: s, n: n, at: at, read: slices.Clone(named), as: as, hips: -1, chest: -1, head: -1, parent: make([]int, n), groups: make([]int, n), kids: make([][]int, n),
		dead: make([]bool, n), reach: make([]float32, n), mass: make([]float32, n), count: make([]int, n), inner: make([]bool, n), paths: make([][]int, n)}
	for j, p := range s.Parents {
		f.parent[j], f.groups[j] = int(p), j
	}
	f.empty = commonHelpers(s.Names)
	helper := make([]bool, n)
	for j, name := range s.Names {
		helper[j] = isHelper(name, f.empty) && !slices.Contains(mapped(as), j)
	}
	for j := range f.dead {
		f.dead[j] = helper[j]
	}
	for j := n - 1; j >= 0; j-- {
		if p := f.parent[j]; p >= 0 && !f.dead[j] {
			f.dead[p] = false
		}
	}
	first := true
	var lo, hi m3.Vec3
	for j := range n {
		if f.dead[j] {
			continue
		}
		if first {
			lo, hi, first = at[j], at[j], false
		}
		lo = m3.V(min(lo.X, at[j].X), min(lo.Y, at[j].Y), min(lo.Z, at[j].Z))
		hi = m3.V(max(hi.X, at[j].X), max(hi.Y, at[j].Y), max(hi.Z, at[j].Z))
	}
	f.size = hi.Sub(lo).Len()
	if len(r.Mesh) == n {
		f.moves = r.Mesh
	}
	still := r.Still
	if len(still) != n {
		still = nil
	}
	f.fold(still)
	for j := n - 1; j >= 0; j-- {
		if f.dead[j] {
			continue
		}
		f.count[j]++
		if p := f.parent[j]; p >= 0 {
			l := at[j].Dist(at[p])
			f.reach[p] = max(f.reach[p], f.reach[j]+l)
			f.mass[p] += f.mass[j] + l
			f.count[p] += f.count[j]
		}
	}
	// Of joints that are called the same and stand in one place, such as a group above a joint, the last one moves what hangs
	// on them. A joint with more than that one below it is no group.
	only := make([]int, n)
	for j, p := range f.parent {
		if p >= 0 && !f.dead[j] {
			only[p]++
		}
	}
	for j, p := range f.parent {
		if p >= 0 && !f.dead[j] && only[p] == 1 && f.read[j] == f.read[p] && at[j].Dist(at[p]) < 1e-5*f.size && !slices.Contains(mapped(as), p) {
			f.read[p] = reading{}
		}
	}
	for j, p := range f.parent {
		switch {
		case f.dead[j]:
		case p < 0:
			f.roots = append(f.roots, j)
		default:
			f.kids[p] = append(f.kids[p], j)
		}
	}
	f.order(f.roots)
	for _, k := range f.kids {
		f.order(k)
	}
	return f
}

func mapped(as map[string]int) []int {
	var out []int
	for _, j := range as {
		out = append(out, j)
	}
	return out
}

// order sorts siblings by what does not depend on the order of joints.
func (f *finder) order(joints []int) {
	slices.SortStableFunc(joints, func(a, b int) int {
		switch {
		case f.mass[a] > f.mass[b]:
			return -1
		case f.mass[a] < f.mass[b]:
			return 1
		}
		return f.count[b] - f.count[a]
	})
}

func (f *finder) find() {
	f.findPlane()
	f.findLimbs()
	f.attachFeet()
	f.classify()
	f.findUp()
	f.chooseLegs()
	f.findAhead()
	if len(f.legs) > 1 {
		f.shapeLegs()
	}
	f.findTrunk()
	if len(f.legs) == 1 && f.level && f.shapeLegs() {
		f.spine, f.neck, f.tails, f.trunks = nil, nil, nil, nil
		f.findTrunk()
	}
	f.rate()
}

// below reports whether j is below a.
func (f *finder) below(a, j int) bool {
	if a < 0 || j < 0 {
		return false
	}
	for j = f.parent[j]; j >= 0; j = f.parent[j] {
		if j == a {
			return true
		}
	}
	return false
}

func (f *finder) doubt(text string) {
	if !slices.Contains(f.doubts, text) {
		f.doubts = append(f.doubts, text)
	}
}

// mean returns the middle of joints' places.
func (f *finder) mean(joints ...int) m3.Vec3 {
	var sum m3.Vec3
	for _, j := range joints {
		sum = sum.Add(f.at[j])
	}
	return sum.Scale(1 / float32(max(len(joints), 1)))
}

// rate says how well the body stands in this pose, 0 to about 1.
func (f *finder) rate() {
	f.score = 0.4 * f.mirror
	if len(f.legs) == 0 {
		return
	}
	var drop, length float32
	for _, p := range f.legs {
		if len(f.legs) > 2 && p.grounds { // legs of a spider lead aside, and hardly down
			drop, length = drop+1, length+1
			continue
		}
		for _, l := range []*limb{p.a, p.b} {
			drop += f.at[l.path[0]].Sub(f.at[l.path[len(l.path)-1]]).Dot(f.up)
			length += f.at[l.path[0]].Dist(f.at[l.path[len(l.path)-1]])
		}
	}
	if length > 0 {
		f.score += 0.6 * m3.Clamp(drop/length, 0, 1)
	}
	if f.hanging() || f.inLine() {
		f.score *= 0.3
	}
}

// inLine reports whether all bones lead the same way, as in files that have each bone along its own axis at rest: a pose
// that shows nothing.
func (f *finder) inLine() bool {
	var sum m3.Vec3
	var length float32
	for j, p := range f.parent {
		if p >= 0 && !f.dead[j] {
			d := f.at[j].Sub(f.at[p])
			sum, length = sum.Add(d), length+d.Len()
		}
	}
	return sum.Len() > 0.85*length
}

// hanging reports whether the trunk leads down like the legs: a pose in which all bones are in line,
// and which shows nothing.
func (f *finder) hanging() bool {
	if len(f.legs) == 0 {
		return false
	}
	legs := f.tops(f.legs[len(f.legs)-1])
	var to m3.Vec3
	switch head := slices.IndexFunc(f.read, func(r reading) bool { return r.part == headPart && r.side == "" }); {
	case f.head >= 0:
		to = f.at[f.head]
	case head >= 0:
		to = f.at[head]
	default:
		return false
	}
	d := to.Sub(legs)
	return d.Dot(f.up) < -0.5*d.Len()
}

func (f *finder) length(path []int) (sum float32) {
	for i := 1; i < len(path); i++ {
		sum += f.at[path[i]].Dist(f.at[path[i-1]])
	}
	return sum
}
