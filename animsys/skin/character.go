package skin

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// Character is a character of a file with its own bones.
type Character struct {
	Bones  *retarget.Character // puts a crowd's motion on its bones: for animsys.Options.Characters
	Body   *body.Body          // its mesh on these bones, for drawing
	Report *Report

	turn m3.Quat // from the file's space
	size float32 // metres per unit of the file
	low  float32 // the ground's height in the file, turned and in metres
}

// CharacterOptions say how a file's character plays a skeleton. The zero value is right where names tell.
type CharacterOptions struct {
	Map map[string]string // joints of the skeleton → joints of the file, by name or as #12
	// Size is the length of its legs over that of the skeleton's. 0 takes the file at its word, in metres.
	Size float32
}

// Character makes a character for motion of a person's or a dog's skeleton. It keeps its own joints, their names
// and their bones' lengths. Joints are matched by their roles, see Roles. Its rest is the pose of the file, turned by right angles
// so that it faces +Z and stands on the ground.
func (s *Skin) Character(sk *skel.Skeleton, opt CharacterOptions) (*Character, error) {
	if !(opt.Size >= 0) || !m3.Finite(opt.Size) {
		return nil, fmt.Errorf("%s: the size %g: want 0 or more", s.Name, opt.Size)
	}
	from, err := s.match(sk, opt.Map)
	if err != nil {
		return nil, err
	}
	stands, err := body.Stand(&body.Rig{Names: sk.Names, Parents: sk.Parents, Offsets: sk.Offsets})
	if err != nil {
		return nil, err
	}
	f := &fit{skin: s, sk: sk, stands: stands, upright: !OnFours(sk), from: from}
	if err := f.orient(); err != nil {
		return nil, err
	}
	f.findBones()
	f.pose()
	scale := float32(1)
	if opt.Size > 0 {
		scale = f.scale * opt.Size
	}
	own, rest := f.own(scale)
	sole := ik.DefaultHuman().Sole + ik.TipHeight
	switch {
	case f.isOurs(own, f.scale/scale):
		sole = 0
		for j := range f.bind {
			x := rest[from[j]]
			f.bind[j] = m3.Xform{Pos: x.Pos.Scale(f.scale / scale), Rot: x.Rot}
		}
	case f.upright:
		f.straighten()
	default:
		f.bind, sole = stands, ik.DefaultDog().Sole+ik.TipHeight // animals stand as each does
	}
	roles, err := ik.HumanRoles(sk.Names)
	if !f.upright {
		roles, err = ik.DogRoles(sk.Names)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	o := retarget.Options{Source: sk, Roles: roles, Pose: f.bind, Sole: sole, Shins: f.thickness(scale, "LeftLeg", "LeftFoot"), Skel: own, Rest: rest, From: from}
	if f.upright && sole > 0 {
		o.Flesh, o.Forearms = f.flesh(scale), f.thickness(scale, "LeftForeArm", "LeftHand")
	}
	return f.character(scale, o)
}

// flesh returns the tubes around the trunk.
func (f *fit) flesh(scale float32) (out []retarget.Tube) {
	add := func(leg bool, from, to string, more ...string) {
		a, b := f.sk.Index(from), f.sk.Index(to)
		if a < 0 || b < 0 || f.from[a] < 0 || f.from[b] < 0 || f.from[a] == f.from[b] {
			return
		}
		if r := f.thickness(scale, from, to, more...); r > 0 {
			out = append(out, retarget.Tube{From: f.from[a], To: f.from[b], Radius: r, Leg: leg})
		}
	}
	chest := "Spine1"
	if j := f.sk.Index(chest); j >= 0 && f.from[j] < 0 {
		chest = "Spine"
	}
	add(false, "Hips", chest, "LowerBack", "Spine")
	add(false, chest, "Head", "Neck")
	if f.handsHangLow() {
		add(true, "LeftLeg", "LeftFoot")
		add(true, "RightLeg", "RightFoot")
	}
	return out
}

// handsHangLow reports whether hanging hands are not far over the knees, as those of a toy with short legs, which shins come up to in a run.
func (f *fit) handsHangLow() bool {
	var at [5]m3.Vec3
	for i, name := range [...]string{"LeftArm", "LeftForeArm", "LeftHand", "LeftUpLeg", "LeftLeg"} {
		j := f.sk.Index(name)
		if j < 0 || f.from[j] < 0 {
			return false
		}
		at[i] = f.place[j]
	}
	const low = 0.3 // over the knees, by the length of legs; people have 0.4
	return at[0].Y-at[0].Dist(at[1])-at[1].Dist(at[2])-at[4].Y < low*at[3].Y
}

// thickness returns the radius of a bone's flesh, in metres for a scale: the median distance from the bone of the vertices
// that follow its joint, or one of more. Of a bone on the left both sides count. 0 if there are none.
func (f *fit) thickness(scale float32, from, to string, more ...string) float32 {
	sides := []string{""}
	if part, ok := strings.CutPrefix(from, "Left"); ok {
		from, to, sides = part, strings.TrimPrefix(to, "Left"), []string{"Left", "Right"}
	}
	var off []float32
	for _, side := range sides {
		a, b := f.sk.Index(side+from), f.sk.Index(side+to)
		if a < 0 || b < 0 {
			continue
		}
		of := []int{f.from[a]}
		for _, name := range more {
			if j := f.sk.Index(name); j >= 0 {
				of = append(of, f.from[j])
			}
		}
		for v, all := range f.skin.mesh.influences {
			if slices.ContainsFunc(all, func(q influence) bool { return slices.Contains(of, int(q.joint)) && q.weight > 0.5 }) {
				p := f.turn.Rotate(f.skin.mesh.pos[v]).Scale(f.scale)
				off = append(off, p.Dist(p.OnSegment(f.place[a], f.place[b])))
			}
		}
	}
	if len(off) == 0 {
		return 0
	}
	slices.Sort(off)
	return off[len(off)/2] / f.scale * scale
}

// character makes the character with these bones.
func (f *fit) character(scale float32, bones retarget.Options) (*Character, error) {
	c, err := retarget.New(bones)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.skin.Name, err)
	}
	b, err := f.ownBody(bones.Rest, scale)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.skin.Name, err)
	}
	r := f.report()
	r.Scale = scale
	return &Character{c, b, r, f.turn, scale, f.low / f.scale * scale}, nil
}

// bearing is how far the joints of people lean forward when they stand straight, in degrees: the mean of what the
// shipped generators make, of trunks standing and walking, and of feet that stand.
var bearing = map[string]float32{
	"Hips": -4, "LowerBack": 10, "Spine": 8, "Spine1": -8, "LeftShoulder": -8, "RightShoulder": -8, "Neck": -8, "Neck1": 12, "Head": 12,
	"LeftFoot": 2, "RightFoot": 2, "LeftToeBase": 2, "RightToeBase": 2,
}

// straighten gives the trunk of the pose its bearing: the file's character stands straight.
func (f *fit) straighten() {
	for j, p := range f.sk.Parents {
		if lean, ok := bearing[f.sk.Names[j]]; ok {
			turn := m3.Ident
			if f.bones[j] != nil && strings.Contains(f.sk.Names[j], "Foot") {
				turn = m3.YawQuat(f.align[j].Yaw()) // toes point as in the file
			}
			f.bind[j].Rot = turn.Mul(m3.AxisAngle(m3.V(1, 0, 0), lean*math.Pi/180))
		}
		if p >= 0 {
			f.bind[j].Pos = f.bind[p].Apply(f.sk.Offsets[j])
		}
	}
	// Its toes are on the ground, however its knees are bent.
	by := float32(0)
	for _, toe := range []string{"LeftToeBase", "RightToeBase"} {
		if j := f.sk.Index(toe); j >= 0 {
			by += (f.stands[j].Pos.Y - f.bind[j].Pos.Y) / 2
		}
	}
	for j := range f.bind {
		f.bind[j].Pos.Y += by
	}
}

// isOurs reports whether the file's own skeleton is ours, joint by joint, as Write writes it. scale is ours over its.
func (f *fit) isOurs(own *skel.Skeleton, scale float32) bool {
	if own.Len() != f.sk.Len() {
		return false
	}
	for j, k := range f.from {
		if k < 0 {
			return false
		}
		if p := f.sk.Parents[j]; p >= 0 && (int(own.Parents[k]) != f.from[p] || own.Offsets[k].Scale(scale).Dist(f.sk.Offsets[j]) > 1e-3) {
			return false
		}
	}
	return true
}

// own returns the file's own skeleton, turned, scaled and on the ground, and the joints at rest.
func (f *fit) own(scale float32) (*skel.Skeleton, []m3.Xform) {
	sk, rest := &skel.Skeleton{}, []m3.Xform{}
	for i, name := range f.skin.clipNames() {
		j := f.skin.joints[i]
		sk.Names, sk.Parents = append(sk.Names, name), append(sk.Parents, int16(j.parent))
		sk.Offsets, sk.EndSite = append(sk.Offsets, m3.Vec3{}), append(sk.EndSite, false)
		rest = append(rest, m3.Xform{Pos: f.stand(j.pos, scale), Rot: f.turn.Mul(j.rot).Normalize()})
	}
	// Feet and hands that the file lacks are joints that move no vertex.
	for j, made := range f.made {
		if !made {
			continue
		}
		k := f.from[f.sk.Index(ends[f.sk.Names[j]])]
		at := f.place[j].Scale(scale / f.scale)
		at.Y -= f.low / f.scale * scale
		f.from[j] = len(rest)
		f.ends = append(f.ends, sk.Names[k]+"_end")
		sk.Names, sk.Parents = append(sk.Names, sk.Names[k]+"_end"), append(sk.Parents, int16(k))
		sk.Offsets, sk.EndSite = append(sk.Offsets, m3.Vec3{}), append(sk.EndSite, false)
		rest = append(rest, m3.Xform{Pos: at, Rot: rest[k].Rot})
	}
	sk.ModelToLocal(sk.Offsets, make([]m3.Quat, len(rest)), rest)
	return sk, rest
}

// stand returns a place of the file, turned, scaled and on the ground.
func (f *fit) stand(p m3.Vec3, scale float32) m3.Vec3 {
	p = f.turn.Rotate(p).Scale(scale)
	p.Y -= f.low / f.scale * scale
	return p
}

// ownBody returns the file's mesh on its own joints.
func (f *fit) ownBody(rest []m3.Xform, scale float32) (*body.Body, error) {
	s := f.skin
	if len(rest) > body.MaxJoints {
		return nil, fmt.Errorf("it has %d joints, at most %d are drawn", len(rest), body.MaxJoints)
	}
	mesh := body.Mesh{Index: s.mesh.index, Parts: s.mesh.parts, UV: s.mesh.uv}
	for v, p := range s.mesh.pos {
		var joints [4]uint8
		var weights [4]float32
		for i, q := range strongest(slices.Clone(s.mesh.influences[v])) {
			joints[i], weights[i] = uint8(q.joint), q.weight
		}
		c := s.mesh.colour[v]
		mesh.Pos, mesh.Normal = append(mesh.Pos, f.stand(p, scale)), append(mesh.Normal, f.turn.Rotate(s.mesh.normal[v]))
		mesh.Joints, mesh.Weights = append(mesh.Joints, joints), append(mesh.Weights, weights)
		mesh.Coat = append(mesh.Coat, [4]float32{c[0], c[1], c[2]})
	}
	b, err := body.Adopt(rest, mesh, body.Paint)
	if err != nil {
		return nil, err
	}
	b.Materials = s.materials
	return b, nil
}
