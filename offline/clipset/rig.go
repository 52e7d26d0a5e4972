package clipset

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/offline/mocap"
)

// rig is how a file's joints become the set's.
type rig struct {
	skel  *skel.Skeleton
	roles ik.Roles
	body  *anatomy.Body
	names []string // joints of the first file
	from  []int    // (joints of skel) the same joint of the first file, −1 for an End Site that is made
	tips  []int    // (legs) the End Site that is made, or −1
	turn  m3.Quat  // from the files' axes
	unit  float32  // m
	notes []string

	own   *skel.Skeleton // the first file's, with its own axes
	rests []m3.Quat      // (joints of own) from their axes to the world's, at rest
}

// newRig finds the roles of the joints of a recording, and makes the skeleton of the set.
func newRig(b *mocap.Recording, opt Options) (*rig, error) {
	c := b.AtRest()
	sk := c.Skel
	n := sk.Len()
	rest := sk.Rest()
	in := anatomy.Rig{Skel: sk, At: places(rest), Still: anatomy.Still(c), As: opt.Map}
	model := make([]m3.Xform, n)
	for i := range 8 {
		c.Model(model, i*(c.Frames-1)/7)
		in.Poses = append(in.Poses, places(model))
	}
	body := anatomy.Find(in)
	if body.Hips < 0 || len(body.Legs) == 0 {
		return nil, fmt.Errorf("no legs were found (%s): name the joints with --skin-map", body.Kind)
	}
	g := &rig{body: body, turn: upright(body), names: sk.Names, tips: slices.Repeat([]int{-1}, len(body.Legs)), own: b.Clip.Skel, rests: restsOf(b)}
	if !(body.Size > 0) {
		return nil, errors.New("all joints are at one place")
	}
	g.unit = float32(opt.Unit)
	if g.unit == 0 {
		var known bool
		if g.unit, known = guessUnit(body); !known {
			g.notes = append(g.notes, fmt.Sprintf("the character is %.3g units of its files high: taken as %.2f m; --unit says how many metres a unit is", body.Size, body.Size*g.unit))
		}
	}
	if err := g.build(sk, rest); err != nil {
		return nil, err
	}
	return g, nil
}

func places(x []m3.Xform) []m3.Vec3 {
	out := make([]m3.Vec3, len(x))
	for i := range x {
		out[i] = x[i].Pos
	}
	return out
}

// upright returns the rotation by which up is +Y and ahead +Z.
func upright(b *anatomy.Body) m3.Quat {
	ahead := b.Ahead.Sub(b.Up.Scale(b.Ahead.Dot(b.Up))).Normalize(m3.V(0, 0, 1))
	return m3.LookRotation(ahead, b.Up).Conj()
}

// units are the metres of usual units of length: m, cm, dm, mm, inches, those of CMU's recordings, feet.
var units = []float32{1, 0.01, 0.1, 0.001, 0.0254, 0.056444, 0.3048}

// guessUnit returns the unit in which a body has a usual height, and whether there is one.
func guessUnit(b *anatomy.Body) (unit float32, known bool) {
	low, high, usual := float32(0.25), float32(3), float32(0.6)
	if b.Kind == anatomy.TwoLegs {
		low, high, usual = 0.9, 2.3, 1.75
	}
	for _, u := range units {
		if h := b.Size * u; h >= low && h <= high {
			return u, true
		}
	}
	return usual / b.Size, false
}

// build makes the skeleton: the hips and what hangs on them, in the tree or by its role.
func (g *rig) build(sk *skel.Skeleton, rest []m3.Xform) error {
	n, b := sk.Len(), g.body
	parent := make([]int, n)
	for j, p := range sk.Parents {
		parent[j] = int(p)
	}
	below := func(j, top int) bool {
		for k := 0; j >= 0 && k <= n; k++ {
			if j == top {
				return true
			}
			j = parent[j]
		}
		return false
	}
	parent[b.Hips] = -1
	var ends []endSite
	for i := range b.Legs {
		l := &b.Legs[i]
		if l.Upper < 0 || l.Middle < 0 {
			return fmt.Errorf("leg %d has no hip or no knee", i+1)
		}
		// Legs that hang on a root above the hips, and feet that are targets of inverse kinematics.
		for k, j := range l.Chain {
			up := b.Hips
			if k > 0 {
				up = l.Chain[k-1]
			}
			if !below(j, up) && j != up && !below(up, j) {
				parent[j] = up
			}
		}
		if l.Lower < 0 {
			return fmt.Errorf("the leg of %s ends at the shin: no joint carries its foot, which is needed to keep it on the ground", anatomy.NameOf(sk.Names, l.Upper))
		}
		if l.Tip < 0 {
			ends = append(ends, endSite{i, l.Lower})
		}
	}
	g.skel = &skel.Skeleton{}
	index := slices.Repeat([]int{-1}, n)
	var add func(j, p int)
	add = func(j, p int) {
		at := g.turn.Rotate(rest[j].Pos).Scale(g.unit)
		if p >= 0 {
			at = g.turn.Rotate(rest[j].Pos.Sub(rest[parent[j]].Pos)).Scale(g.unit)
		}
		index[j] = g.add(sk.Names[j], p, at, sk.EndSite[j])
		g.from = append(g.from, j)
		for k := range n {
			if parent[k] == j && k != j {
				add(k, index[j])
			}
		}
		if j == b.Head && g.bareHead(sk) {
			g.from = append(g.from, -1)
			g.add(sk.Names[j]+"_end", index[j], g.turn.Rotate(rest[j].Pos.Sub(rest[b.Hips].Pos)).Scale(0.5*g.unit), true)
		}
		for _, e := range ends {
			if e.joint == j {
				g.tips[e.leg] = g.foot(&b.Legs[e.leg], index[j], rest)
			}
		}
	}
	add(b.Hips, -1)
	return g.find(index)
}

// bareHead reports whether the trunk is a joint and a head with nothing below it, as an insect's may be.
func (g *rig) bareHead(sk *skel.Skeleton) bool {
	b := g.body
	return len(b.Spine) == 0 && len(b.Neck) == 0 && b.Head >= 0 && b.Head != b.Hips && !slices.Contains(sk.Parents, int16(b.Head))
}

// endSite is an End Site that a leg lacks.
type endSite struct{ leg, joint int }

func (g *rig) add(name string, parent int, offset m3.Vec3, end bool) int {
	s := g.skel
	s.Names, s.Parents = append(s.Names, name), append(s.Parents, int16(parent))
	s.Offsets, s.EndSite = append(s.Offsets, offset), append(s.EndSite, end)
	return s.Len() - 1
}

// foot adds the end of a foot without toes: on the ground below it, a little ahead. It returns its joint.
func (g *rig) foot(l *anatomy.Limb, parent int, rest []m3.Xform) int {
	ankle, knee := g.turn.Rotate(rest[l.Lower].Pos).Scale(g.unit), g.turn.Rotate(rest[l.Middle].Pos).Scale(g.unit)
	shin := ankle.Dist(knee)
	down := m3.Clamp(ankle.Y-g.low(rest), 0, 0.6*shin)
	g.from = append(g.from, -1)
	return g.add(g.skel.Names[parent]+"_end", parent, m3.V(0, -down, 0.3*shin), true)
}

// low returns the height of the lowest joint at rest, m.
func (g *rig) low(rest []m3.Xform) float32 {
	low := float32(math.Inf(1))
	for _, x := range rest {
		low = min(low, g.turn.Rotate(x.Pos).Y*g.unit)
	}
	return low
}

// find fills in the roles. index maps joints of the file to those of the skeleton.
func (g *rig) find(index []int) error {
	b, r := g.body, &g.roles
	r.Spine = []int{0}
	for _, j := range b.Spine {
		if k := index[j]; k > 0 {
			r.Spine = append(r.Spine, k)
		}
	}
	head := b.Neck
	if b.Head >= 0 {
		head = append(slices.Clone(head), b.Head)
	}
	switch {
	case len(head) > 0 && index[head[0]] > 0:
		r.Neck = index[head[0]]
	case len(r.Spine) > 2: // a trunk without a neck
		r.Neck, r.Spine = r.Spine[len(r.Spine)-1], r.Spine[:len(r.Spine)-1]
	default:
		r.Neck = g.firstBelow(0, r.Spine)
	}
	if len(r.Spine) < 2 {
		r.Spine = append(r.Spine, r.Neck)
		if r.Neck = g.firstBelow(r.Neck, nil); r.Neck < 0 {
			return errors.New("the trunk has a single joint: a spine of two at least is needed")
		}
	}
	for i := range b.Legs {
		leg, err := g.leg(i, index)
		if err != nil {
			return err
		}
		r.Legs = append(r.Legs, leg)
	}
	chain := func(joints []int) (out []int) {
		for _, j := range joints {
			if k := index[j]; k > 0 && (len(out) == 0 || g.under(k, out[len(out)-1])) {
				out = append(out, k)
			}
		}
		if len(out) < 2 {
			return nil
		}
		return out[:min(len(out), 9)]
	}
	if len(b.Tails) > 0 {
		r.Tail = chain(b.Tails[0])
	}
	if b.Kind == anatomy.FourLegs {
		r.Head = chain(head)
	}
	tree, err := ik.NewTree(g.skel.Parents)
	if err != nil {
		return err
	}
	_, err = ik.NewRig(tree, *r)
	return err
}

// leg returns the chain of a leg: its girdle, hip, knee, ankle and tip.
func (g *rig) leg(i int, index []int) (ik.Leg, error) {
	l := &g.body.Legs[i]
	for _, j := range [...]int{l.Upper, l.Middle, l.Lower} {
		if index[j] < 0 {
			return nil, fmt.Errorf("joint %s of a leg is not below the hips, %s: name them with --skin-map", anatomy.NameOf(g.names, j), anatomy.NameOf(g.names, g.body.Hips))
		}
	}
	var leg ik.Leg
	if l.Girdle >= 0 && index[l.Girdle] > 0 && !slices.Contains(g.roles.Spine, index[l.Girdle]) && g.under(index[l.Upper], index[l.Girdle]) {
		leg = append(leg, index[l.Girdle])
	}
	leg = append(leg, index[l.Upper], index[l.Middle], index[l.Lower])
	tip := g.tips[i]
	if l.Tip >= 0 {
		tip = index[l.Tip]
	}
	leg = append(leg, tip)
	for k := 1; k < len(leg); k++ {
		if leg[k] < 0 || !g.under(leg[k], leg[k-1]) {
			return nil, fmt.Errorf("the leg of %s is no chain of joints", g.skel.Names[index[l.Upper]])
		}
	}
	return leg, nil
}

// under reports whether a joint is below another.
func (g *rig) under(j, top int) bool {
	for j = int(g.skel.Parents[j]); j >= 0; j = int(g.skel.Parents[j]) {
		if j == top {
			return true
		}
	}
	return false
}

// firstBelow returns the first joint below top that is not among others, or −1.
func (g *rig) firstBelow(top int, others []int) int {
	for j := top + 1; j < g.skel.Len(); j++ {
		if g.under(j, top) && !slices.Contains(others, j) {
			return j
		}
	}
	return -1
}

// fits returns the name of a joint of the rig that a recording lacks, or "". Some formats have no End Sites.
func (g *rig) fits(b *mocap.Recording) string {
	for j, k := range g.joints(b.Clip.Skel) {
		if g.from[j] >= 0 && k < 0 && !g.skel.EndSite[j] {
			return anatomy.NameOf(g.names, g.from[j])
		}
	}
	return ""
}

// joints returns the joint of a file's skeleton that each of the rig's is, or −1: the same one if all names are the
// same, else that of its name.
func (g *rig) joints(sk *skel.Skeleton) []int {
	out, same := slices.Clone(g.from), slices.Equal(sk.Names, g.names)
	for j, k := range out {
		if k >= 0 && !same {
			if out[j] = -1; g.names[k] != "" {
				out[j] = sk.Index(g.names[k])
			}
		}
	}
	return out
}

// unitOf returns the metres of the unit of a file with the rig's joints: files of other formats may have another one.
func (g *rig) unitOf(sk *skel.Skeleton, at []int) float32 {
	var ours, theirs float32
	for j, k := range at {
		if p := g.skel.Parents[j]; p >= 0 && k >= 0 && at[p] >= 0 && int(sk.Parents[k]) == at[p] {
			ours, theirs = ours+g.skel.Offsets[j].Len(), theirs+sk.Offsets[k].Len()
		}
	}
	if unit := ours / theirs; m3.Finite(unit) && unit > 0 && m3.Abs(unit/g.unit-1) > 0.02 {
		return unit
	}
	return g.unit
}

// restsOf returns the rotations of a recording's joints at rest.
func restsOf(b *mocap.Recording) []m3.Quat {
	out := slices.Repeat([]m3.Quat{m3.Ident}, b.Clip.Skel.Len())
	for j, x := range b.Rest {
		out[j] = x.Rot
	}
	return out
}

// restsApart reports whether a recording rests in another pose than the first file, though its joints have the same axes: some
// exporters say that a skeleton rests as in the first frame of each file. sk is its skeleton at rest, at as joints returns them.
func (g *rig) restsApart(b *mocap.Recording, sk *skel.Skeleton, at []int, unit float32) bool {
	const near, apart = 0.05, 0.005 // shares of the bones' lengths
	var all, rest, own float32
	for j, k := range at {
		if p := g.skel.Parents[j]; p < 0 || k < 0 || at[p] < 0 || int(sk.Parents[k]) != at[p] || int(g.own.Parents[g.from[j]]) != g.from[p] {
			continue
		}
		all += g.skel.Offsets[j].Len()
		rest += g.turn.Rotate(sk.Offsets[k]).Scale(unit).Dist(g.skel.Offsets[j])
		own += b.Clip.Skel.Offsets[k].Scale(unit).Dist(g.own.Offsets[g.from[j]].Scale(g.unit))
	}
	return own < near*all && rest > own+apart*all
}

// clip puts a recording on the skeleton.
func (g *rig) clip(r source) Clip {
	src := r.recording.AtRest()
	sk, n := src.Skel, g.skel.Len()
	at := g.joints(sk)
	out := skel.NewClip(g.skel, src.FPS, src.Frames)
	model, turned := make([]m3.Xform, sk.Len()), make([]m3.Quat, n)
	back, unit := g.turn.Conj(), g.unitOf(sk, at)
	rested := slices.Repeat([]m3.Quat{m3.Ident}, n) // from the first file's pose at rest to that of this one
	if g.restsApart(r.recording, sk, at, unit) {
		for j, rests := 0, restsOf(r.recording); j < n; j++ {
			if at[j] >= 0 {
				rested[j] = rests[at[j]].Mul(g.rests[g.from[j]].Conj())
			}
		}
	}
	for f := range src.Frames {
		src.Model(model, f)
		pos, rot := out.Frame(f)
		for j, k := range at {
			p := int(g.skel.Parents[j])
			if k < 0 {
				turned[j] = turned[p]
				continue
			}
			turned[j] = g.turn.Mul(model[k].Rot).Mul(rested[j]).Mul(back).Normalize()
			if p < 0 {
				pos[j], rot[j] = g.turn.Rotate(model[k].Pos).Scale(unit), turned[j]
			} else {
				rot[j] = turned[p].Conj().Mul(turned[j]).Normalize()
			}
		}
	}
	return Clip{Name: r.name, File: r.path, Motion: out.Resampled(FPS)}
}
