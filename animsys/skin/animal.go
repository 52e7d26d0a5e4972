package skin

import (
	"fmt"
	"slices"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// Animal returns the character for the motion of another animal, whose joints, names and proportions may be others,
// and that motion on the skeleton between the two, which has a joint for each of the character's that plays a part.
// Character.Bones.Clip and Character.InFile take it.
//
// Both bodies stand on as many legs. Feet go to the places of the motion's, by the height of the legs. Spine, neck,
// tail, wings and trunk turn as those of the motion do since rest, at the same share of their length, whatever the
// number of their joints. as says which joints of the motion play which parts where names and shape do not; it
// may be nil. opt.Size is not used: the file is taken at its word.
func (s *Skin) Animal(m *Motion, as map[string]string, opt CharacterOptions) (*Character, *skel.Clip, error) {
	if m == nil || m.Clip == nil || m.Clip.Skel == nil {
		return nil, nil, fmt.Errorf("%s: the motion is missing", s.Name)
	}
	clip := m.AtRest()
	a := &animal{own: s.Roles(opt.Map), its: anatomy.OfClip(clip, as), clip: clip}
	a.ownTurn = rightAngles(bodyAxes(a.own).Conj())
	if err := a.own.NotAlike(a.its); err != nil {
		return nil, nil, fmt.Errorf("%s: %w (docs/rigs.md)%s", s.Name, err, s.hint())
	}
	if err := a.stand(len(m.Rest) == 0); err != nil {
		return nil, nil, fmt.Errorf("%s: %w: map the joints (docs/rigs.md)", s.Name, err)
	}
	if err := a.pair(s); err != nil {
		return nil, nil, fmt.Errorf("%s: %w: map the joints (docs/rigs.md)", s.Name, err)
	}
	sk, pose := a.skeleton()
	f := &fit{skin: s, sk: sk, made: make([]bool, sk.Len()), turn: a.ownTurn, scale: 1}
	for _, r := range a.roles {
		f.from = append(f.from, r.own)
	}
	for i, l := range a.own.Legs {
		if y := f.turn.Rotate(s.joints[lowestOf(l)].pos).Y; i == 0 || y < f.low {
			f.low = y
		}
	}
	own, rest := f.own(1)
	c, err := f.character(1, retarget.Options{Source: sk, Roles: a.legs, Pose: pose, Skel: own, Rest: rest, From: f.from})
	if err != nil {
		return nil, nil, err
	}
	return c, a.motion(sk), nil
}

// animal is two bodies of one kind. The skeleton between them has the joints roles, parents before children.
type animal struct {
	own, its *anatomy.Body
	clip     *skel.Clip // the motion; joints have the world's axes at rest

	turn    m3.Quat    // of the motion's space: up +Y, ahead +Z
	ownTurn m3.Quat    // of the file's
	model   []m3.Xform // the motion's joints where it stands, turned, on the ground
	low     float32    // by how much the motion's feet stand higher than those of model, with the ground's height
	roles   []role
	legs    ik.Roles
	taken   map[int]bool // own joints
}

// role is a joint of the skeleton between the bodies.
type role struct {
	name   string
	parent int
	own    int     // joint that plays it, or −1
	a, b   int     // joints of the motion between which it turns
	share  float32 // of b's turn
	back   m3.Quat // from its mean turn
	place  int     // joint of the motion at whose place it is, −1: at a fixed place below its parent
	at     m3.Vec3 // where the motion stands
}

// bodyAxes returns the axes of a body: left, up and ahead.
func bodyAxes(b *anatomy.Body) m3.Quat {
	left := b.Up.Cross(b.Ahead).Normalize(m3.V(1, 0, 0))
	return m3.FromAxes(left, b.Up, left.Cross(b.Up))
}

// lowestOf returns the joint of a leg that is on the ground.
func lowestOf(l anatomy.Limb) int {
	if l.Tip >= 0 {
		return l.Tip
	}
	return max(l.Lower, l.Middle, 0)
}

// stand finds how the motion's body stands. If its file tells nothing of where it stands at rest, its feet tell where
// the ground is.
func (a *animal) stand(measure bool) error {
	for _, b := range []*anatomy.Body{a.own, a.its} {
		for _, l := range b.Legs {
			if l.Upper < 0 || l.Middle < 0 || l.Lower < 0 {
				of := "its"
				if b == a.its {
					of = "the motion's"
				}
				return fmt.Errorf("no joint was found for knee or foot of a leg, in %s joints", of)
			}
		}
		if b.Hips < 0 {
			return fmt.Errorf("no hips were found")
		}
	}
	sk := a.clip.Skel
	if a.model = sk.Rest(); a.its.Pose > 0 {
		a.clip.Model(a.model, a.its.Pose-1)
	}
	a.turn = rightAngles(bodyAxes(a.its).Conj())
	turn := m3.Xform{Rot: a.turn}
	ground := float32(0)
	for j := range a.model {
		a.model[j] = turn.Mul(a.model[j])
	}
	var feet []int
	for i, l := range a.its.Legs {
		feet = append(feet, lowestOf(l))
		if y := a.model[feet[i]].Pos.Y; i == 0 || y < ground {
			ground = y
		}
	}
	for j := range a.model {
		a.model[j].Pos.Y -= ground
	}
	if a.low = ground; !measure {
		return nil
	}
	high, frame := make([][]float32, len(feet)), make([]m3.Xform, sk.Len())
	for f := range a.clip.Frames {
		a.clip.Model(frame, f)
		for i, j := range feet {
			high[i] = append(high[i], a.turn.Rotate(frame[j].Pos).Y)
		}
	}
	var over []float32
	for i, j := range feet {
		slices.Sort(high[i])
		over = append(over, high[i][len(high[i])/10]-a.model[j].Pos.Y)
	}
	slices.Sort(over)
	a.low = over[len(over)/2]
	return nil
}

// pair lists the roles that both bodies have.
func (a *animal) pair(s *Skin) error {
	a.taken = map[int]bool{}
	at := make([]m3.Vec3, len(s.joints))
	for k, j := range s.joints {
		at[k] = j.pos
	}
	own, its := a.own, a.its
	hips := a.add(role{name: "Hips", parent: -1, own: own.Hips, a: its.Hips, b: its.Hips, place: its.Hips})
	spine := a.chain("Spine", hips, at, own.Spine, its.Spine, its.Hips, true)
	chest, carries := hips, its.Hips
	if n := len(spine); n > 0 {
		chest = spine[n-1]
	}
	if n := len(its.Spine); n > 0 {
		carries = its.Spine[n-1]
	}
	neck, itsNeck := slices.Clone(own.Neck), slices.Clone(its.Neck)
	heads := own.Head >= 0 && its.Head >= 0
	if heads {
		neck, itsNeck = append(neck, own.Head), append(itsNeck, its.Head)
	}
	top := chest
	if up := a.chain("Neck", chest, at, neck, itsNeck, carries, heads); len(up) > 0 {
		if top = up[len(up)-1]; heads {
			a.roles[top].name = "Head" // retarget knows it by its name
		}
	}
	for i := range min(len(own.Tails), len(its.Tails)) {
		tail := a.chain(fmt.Sprintf("Tail%d_", i), hips, at, own.Tails[i], its.Tails[i], -1, false)
		a.carry(tail, at, its.Tails[i])
	}
	for i := range min(len(own.Trunks), len(its.Trunks)) {
		a.chain(fmt.Sprintf("Trunk%d_", i), top, at, own.Trunks[i], its.Trunks[i], -1, false)
	}
	for _, limbs := range [][2][]anatomy.Limb{{own.Wings, its.Wings}, {own.Arms, its.Arms}} {
		for i := range min(len(limbs[0]), len(limbs[1])) {
			a.chain(fmt.Sprintf("Limb%d_%d_", len(a.roles), i), chest, at, limbs[0][i].Chain, limbs[1][i].Chain, -1, false)
		}
	}
	a.legs.Spine, a.legs.Neck = append([]int{hips}, spine...), top
	for i := range own.Legs {
		up := hips
		if own.Kind == anatomy.FourLegs && i < 2 {
			up = chest
		}
		if err := a.leg(up, at, own.Legs[i], its.Legs[i], fmt.Sprintf("Leg%d_", i)); err != nil {
			return err
		}
	}
	return nil
}

// add adds a joint and returns its number, or −1 if its own joint plays another already.
func (a *animal) add(r role) int {
	if r.own >= 0 {
		if a.taken[r.own] {
			return -1
		}
		a.taken[r.own] = true
	}
	if r.place >= 0 {
		r.at = a.model[r.place].Pos
	} else if r.at == (m3.Vec3{}) && r.parent >= 0 {
		r.at = a.roles[r.parent].at.Add(m3.V(0, 0, 0.1*a.its.Size)) // anywhere: only its turns count
	}
	r.back = m3.Ident
	a.roles = append(a.roles, r)
	return len(a.roles) - 1
}

// carry lets a tail sway about how the character carries it, if the motion's points elsewhere at rest or if it would
// come under the ground.
func (a *animal) carry(tail []int, at []m3.Vec3, its []int) {
	if len(tail) == 0 {
		return
	}
	place := func(j int) m3.Vec3 { return a.ownTurn.Rotate(at[j]) }
	ground := place(lowestOf(a.own.Legs[0])).Y
	for _, l := range a.own.Legs {
		ground = min(ground, place(lowestOf(l)).Y)
	}
	hips, frame := a.roles[0], make([]m3.Xform, len(a.model))
	points := place(a.roles[tail[len(tail)-1]].own).Sub(place(hips.own)).Normalize(m3.Up)
	with := a.model[its[len(its)-1]].Pos.Sub(a.model[hips.a].Pos).Normalize(m3.Up)
	aside, mean := points.Dot(with) < 0.85, make([]m3.Quat, len(tail))
	for f := range a.clip.Frames {
		a.clip.Model(frame, f)
		end, since := place(a.roles[tail[0]].own), m3.Ident
		for i, j := range tail {
			r := &a.roles[j]
			if i > 0 {
				end = end.Add(since.Rotate(place(r.own).Sub(place(a.roles[tail[i-1]].own))))
				aside = aside || end.Y < ground
			}
			since = a.since(frame, r)
			q := a.since(frame, &hips).Conj().Mul(since)
			if q.Dot(mean[i]) < 0 {
				q = q.Neg()
			}
			m := &mean[i]
			*m = m3.Quat{X: m.X + q.X, Y: m.Y + q.Y, Z: m.Z + q.Z, W: m.W + q.W}
		}
	}
	for i, j := range tail {
		if aside {
			a.roles[j].back = mean[i].Normalize().Conj()
		}
	}
}

// since returns how a joint turns in a frame of the motion, since rest.
func (a *animal) since(frame []m3.Xform, r *role) m3.Quat {
	of := func(j int) m3.Quat { return a.turn.Mul(frame[j].Rot).Mul(a.model[j].Rot.Conj()) }
	q := of(r.a)
	if r.b != r.a {
		q = q.Slerp(of(r.b), r.share)
	}
	return q.Mul(r.back).Normalize()
}

// places returns where the motion's joints are where it stands.
func (a *animal) places() []m3.Vec3 {
	out := make([]m3.Vec3, len(a.model))
	for j, x := range a.model {
		out[j] = x.Pos
	}
	return out
}

// chain adds joints for a chain of the character, which turn as the motion's chain does at the same share of its
// length. before is the motion's joint that carries the chain, −1 for none; if exact, the last joints are alike.
func (a *animal) chain(name string, parent int, at []m3.Vec3, own, its []int, before int, exact bool) (added []int) {
	if len(own) == 0 || len(its) == 0 && before < 0 {
		return nil
	}
	places := a.places()
	knots, shares := its, along(places, its, exact && len(its) > 0)
	if before >= 0 {
		knots, shares = append([]int{before}, its...), append([]float32{0}, shares...)
	}
	for i, u := range along(at, own, exact) {
		k := 0
		for k+1 < len(knots) && shares[k+1] <= u {
			k++
		}
		r := role{name: fmt.Sprint(name, i), parent: parent, own: own[i], a: knots[k], b: knots[k], place: -1}
		if k+1 < len(knots) && u > shares[k] {
			r.b, r.share = knots[k+1], (u-shares[k])/(shares[k+1]-shares[k])
		}
		if j := a.add(r); j >= 0 {
			parent, added = j, append(added, j)
		}
	}
	return added
}

// along returns where the bones of a chain have their middles, as shares of its length. The last joint's bone is
// as long as the one before; if exact, it has none and is at 1.
func along(at []m3.Vec3, chain []int, exact bool) []float32 {
	n := len(chain)
	bones, sum := make([]float32, n), float32(0)
	for i := range bones {
		switch {
		case i+1 < n:
			bones[i] = max(at[chain[i]].Dist(at[chain[i+1]]), 1e-9)
		case exact:
		case n > 1:
			bones[i] = bones[i-1]
		default:
			bones[i] = 1
		}
		sum += bones[i]
	}
	out, start := make([]float32, n), float32(0)
	for i, l := range bones {
		out[i] = (start + l/2) / max(sum, 1e-9)
		start += l
	}
	if exact && n > 0 {
		out[n-1] = 1
	}
	return out
}

// leg adds the joints of a leg: a girdle if both have one, hip, knee, foot and tip.
func (a *animal) leg(up int, at []m3.Vec3, own, its anatomy.Limb, name string) error {
	if own.Girdle >= 0 && its.Girdle >= 0 {
		if j := a.add(role{name: name + "girdle", parent: up, own: own.Girdle, a: its.Girdle, b: its.Girdle, place: its.Girdle}); j >= 0 {
			up = j
		}
	}
	own, its = footed(own, at), footed(its, a.places())
	var leg ik.Leg
	for i, part := range []struct {
		name     string
		own, its int
	}{{"hip", own.Upper, its.Upper}, {"knee", own.Middle, its.Middle}, {"foot", own.Lower, its.Lower}, {"tip", own.Tip, its.Tip}} {
		r := role{name: name + part.name, parent: up, own: part.own, a: part.its, b: part.its, place: part.its}
		if i == 3 && part.its < 0 { // a short foot
			foot := a.roles[up]
			r.a, r.b = foot.a, foot.a
			r.at = foot.at.Add(m3.V(0, 0, 0.3*foot.at.Dist(a.roles[leg[1]].at)))
		}
		if up = a.add(r); up < 0 {
			return fmt.Errorf("joint %d plays two parts", part.own)
		}
		leg = append(leg, up)
	}
	a.legs.Legs = append(a.legs.Legs, leg)
	return nil
}

// footed returns a leg without the end of its shin if its foot is there: the foot is a joint apart.
func footed(l anatomy.Limb, at []m3.Vec3) anatomy.Limb {
	if l.Tip >= 0 && at[l.Lower].Dist(at[l.Tip]) < 0.05*at[l.Middle].Dist(at[l.Lower]) {
		l.Lower, l.Tip = l.Tip, -1
	}
	return l
}

// skeleton returns the skeleton between the bodies, and how it stands.
func (a *animal) skeleton() (*skel.Skeleton, []m3.Xform) {
	n := len(a.roles)
	sk, pose := &skel.Skeleton{Offsets: make([]m3.Vec3, n), EndSite: make([]bool, n)}, make([]m3.Xform, n)
	for j, r := range a.roles {
		sk.Names, sk.Parents = append(sk.Names, r.name), append(sk.Parents, int16(r.parent))
		pose[j] = m3.Xform{Pos: r.at, Rot: m3.Ident}
	}
	sk.ModelToLocal(sk.Offsets, make([]m3.Quat, n), pose)
	return sk, pose
}

// motion returns the motion on the skeleton.
func (a *animal) motion(sk *skel.Skeleton) *skel.Clip {
	out := skel.NewClip(sk, a.clip.FPS, a.clip.Frames)
	frame, model := make([]m3.Xform, a.clip.Skel.Len()), make([]m3.Xform, sk.Len())
	turn := m3.Xform{Pos: m3.V(0, -a.low, 0), Rot: a.turn}
	for f := range out.Frames {
		a.clip.Model(frame, f)
		for j := range a.roles {
			r, x := &a.roles[j], &model[j]
			x.Rot = a.since(frame, r)
			switch {
			case r.place >= 0:
				x.Pos = turn.Apply(frame[r.place].Pos)
			case r.parent >= 0:
				x.Pos = model[r.parent].Apply(r.at.Sub(a.roles[r.parent].at))
			}
		}
		for _, leg := range a.legs.Legs { // joints between foot and tip may bend: the foot points to its tip, which stands
			foot, tip := leg[len(leg)-2], leg[len(leg)-1]
			x := &model[foot]
			reach := a.roles[tip].at.Sub(a.roles[foot].at)
			to := x.Rot.Rotate(reach).Normalize(m3.Up)
			x.Rot = m3.Between(to, model[tip].Pos.Sub(x.Pos).Normalize(to)).Mul(x.Rot).Normalize()
			x.Pos = model[tip].Pos.Sub(x.Rot.Rotate(reach))
		}
		pos, rot := out.Frame(f)
		sk.ModelToLocal(pos, rot, model)
	}
	return out
}
