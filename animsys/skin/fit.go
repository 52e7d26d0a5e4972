package skin

import (
	"fmt"
	"strings"

	"mannequin/animsys/skel"
	"mannequin/engine/body"
	"mannequin/engine/m3"
)

// Fit puts the mesh on a person's or a dog's skeleton. Joints of the file play those
// of the skeleton by name; as, from the skeleton's to the file's, says what names do
// not, and may be nil. What is done to the mesh:
//
//  1. It is turned by whole right angles so that it stands and faces as we do, and
//     scaled so that its legs are as long as the skeleton's.
//  2. The skeleton is put in the mesh's pose: each bone of a limb points as the file
//     has it, T-pose or A-pose; trunk and head stay as upright, and feet as flat, as
//     they stand in the file.
//  3. Every joint is carried to its place on the skeleton, and between two joints the
//     mesh is stretched along. Soles go to the ground.
//
// So the body's Bind is a pose of the skeleton itself. Joints that play nobody follow
// the nearest one above them that does.
func (s *Skin) Fit(sk *skel.Skeleton, as map[string]string) (*body.Body, *Report, error) {
	from, err := s.match(sk, as)
	if err != nil {
		return nil, nil, err
	}
	ours, err := body.New(&body.Rig{Names: sk.Names, Parents: sk.Parents, Offsets: sk.Offsets}) // it knows how to stand
	if err != nil {
		return nil, nil, err
	}
	return s.fit(sk, ours, from)
}

// fit is Fit with the body that the skeleton has without the skin, and the joint of
// the file that plays each of its joints.
func (s *Skin) fit(sk *skel.Skeleton, ours *body.Body, from []int) (*body.Body, *Report, error) {
	f := &fit{skin: s, sk: sk, ours: ours, upright: !OnFours(sk), from: from}
	if err := f.stand(); err != nil {
		return nil, nil, err
	}
	f.leaveFingers()
	f.findBones()
	f.pose()
	f.stretch()
	b, err := body.Adopt(f.bind, *f.wear(), body.Paint)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return b, f.report(), nil
}

// fit is a mesh on its way to a skeleton. Slices have one entry per joint of the
// skeleton.
type fit struct {
	skin    *Skin
	sk      *skel.Skeleton
	ours    *body.Body // as it stands without the skin
	upright bool

	from   []int     // the joint of the file that plays it, −1 for none
	turn   m3.Quat   // of the file's world
	scale  float32   // from the file's length to metres
	low    float32   // the mesh's lowest point, turned and scaled
	place  []m3.Vec3 // where the file has the joint, turned and scaled; of those that are played
	bones  [][]int   // the next played joints below it that are elsewhere
	align  []m3.Quat // from our standing pose to the mesh's
	bind   []m3.Xform
	linear []affine // what becomes of the mesh around the joint, without translation
}

// at returns where the file has a joint of the skeleton that is played.
func (f *fit) at(name string) m3.Vec3 { return f.place[f.sk.Index(name)] }

// pivots reports whether joint j of the skeleton turns where its parent is.
func (f *fit) pivots(j int) bool { return f.sk.Parents[j] >= 0 && f.sk.Offsets[j].Len() < 1e-4 }

// stand turns and scales the file's joints.
func (f *fit) stand() error {
	n := f.sk.Len()
	f.place = make([]m3.Vec3, n)
	for j, k := range f.from {
		if k >= 0 {
			f.place[j] = f.skin.joints[k].pos
		}
	}
	// Whoever turns where the parent is has the parent's place in the file too.
	for j, p := range f.sk.Parents {
		if f.from[j] >= 0 && f.pivots(j) && f.from[p] >= 0 {
			f.place[j] = f.place[p]
		}
	}
	bind := func(name string) m3.Vec3 { return f.ours.Bind[f.sk.Index(name)].Pos }
	theirs, ok := standing(f.at)
	if !ok {
		return fmt.Errorf("%s: its hips and feet lie in one line: in the file's pose the character has to stand", f.skin.Name)
	}
	mine, _ := standing(bind)
	f.turn = rightAngles(mine.Mul(theirs.Conj()))
	legs := func(at func(string) m3.Vec3) (sum float32) {
		for _, side := range []string{"Left", "Right"} {
			sum += at(side+"UpLeg").Dist(at(side+"Leg")) + at(side+"Leg").Dist(at(side+"Foot"))
		}
		return sum
	}
	l := legs(f.at)
	if f.scale = legs(bind) / l; !(l > 1e-6) || !m3.Finite(f.scale) {
		return fmt.Errorf("%s: its legs are %g long: they tell the scale", f.skin.Name, l)
	}
	for j := range f.place {
		f.place[j] = f.turn.Rotate(f.place[j]).Scale(f.scale)
	}
	for v, p := range f.skin.mesh.pos {
		if y := f.turn.Rotate(p).Scale(f.scale).Y; v == 0 || y < f.low {
			f.low = y
		}
	}
	return nil
}

// leaveFingers has a person's fingers follow the hand where the file has their first
// joint elsewhere in it: a hand is not stretched to other knuckles.
func (f *fit) leaveFingers() {
	for j, name := range f.sk.Names {
		if !f.upright || !strings.HasSuffix(name, "HandIndex1") || f.from[j] < 0 {
			continue
		}
		p := int(f.sk.Parents[j])
		for p >= 0 && f.from[p] < 0 {
			p = int(f.sk.Parents[p])
		}
		if p < 0 {
			continue
		}
		ours, theirs := f.ours.Bind[j].Pos.Dist(f.ours.Bind[p].Pos), f.place[j].Dist(f.place[p])
		if ours > 0.75*theirs && theirs > 0.75*ours {
			continue
		}
		for k := j; k < f.sk.Len(); k++ {
			if k == j || int(f.sk.Parents[k]) == j {
				f.from[k] = -1
			}
		}
	}
}

// standing returns how somebody stands whose joints are at: its axes are left, up and
// ahead.
func standing(at func(string) m3.Vec3) (m3.Quat, bool) {
	left := at("LeftUpLeg").Sub(at("RightUpLeg")).Normalize(m3.Vec3{})
	up := at("LeftUpLeg").Lerp(at("RightUpLeg"), 0.5).Sub(at("LeftFoot").Lerp(at("RightFoot"), 0.5)).Normalize(m3.Vec3{})
	up = up.Sub(left.Scale(left.Dot(up)))
	if up.Len() < 0.2 || left == (m3.Vec3{}) {
		return m3.Ident, false
	}
	up = up.Normalize(m3.Up)
	return m3.FromAxes(left, up, left.Cross(up)), true
}

// rightAngles returns the rotation by right angles that is nearest to q.
func rightAngles(q m3.Quat) m3.Quat {
	axes := []m3.Vec3{{X: 1}, {Y: 1}, {Z: 1}, {X: -1}, {Y: -1}, {Z: -1}}
	best := m3.Ident
	for _, x := range axes {
		for _, y := range axes {
			if r := m3.FromAxes(x, y, x.Cross(y)); x.Dot(y) == 0 && r.Angle(q) < best.Angle(q)-1e-3 {
				best = r
			}
		}
	}
	return best
}

// findBones lists for each played joint the next played ones below it that are
// elsewhere, on both sides.
func (f *fit) findBones() {
	n := f.sk.Len()
	f.bones = make([][]int, n)
	apart := func(j, k int) bool {
		return f.ours.Bind[j].Pos.Dist(f.ours.Bind[k].Pos) > 1e-3 && f.place[j].Dist(f.place[k]) > 1e-3
	}
	for k := range n {
		if f.from[k] < 0 {
			continue
		}
		for j := int(f.sk.Parents[k]); j >= 0; j = int(f.sk.Parents[j]) {
			if f.from[j] < 0 || !apart(j, k) {
				continue
			}
			f.bones[j] = append(f.bones[j], k)
			// Joints in one place all lead there.
			for p := int(f.sk.Parents[j]); p >= 0 && f.from[p] >= 0 && !apart(p, j); p = int(f.sk.Parents[p]) {
				f.bones[p] = append(f.bones[p], k)
			}
			break
		}
	}
}
