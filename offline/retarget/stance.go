package retarget

import (
	"strings"

	"gonum.org/v1/gonum/mat"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/mocap"
)

// Where the frames of a source's joints come from: Report.Frames.
const (
	framesRest    = "rest pose"
	framesProfile = "profile"
	framesMotion  = "motion"
)

// maxLook is the most frames that are examined.
const maxLook = 600

// look calls f with the transforms of up to maxLook frames, spread over the clip.
func (w *work) look(f func(model []m3.Xform, frame int)) {
	model := make([]m3.Xform, w.clip.Skel.Len())
	for i, step := 0, max(1, w.clip.Frames/maxLook); i < w.clip.Frames; i += step {
		w.model(model, i)
		f(model, i)
	}
}

// findFrames finds how the source's joints are turned when it stands as the target does at rest. The
// rest pose says so if it shows a person whose knees and elbows bend as they do in the motion. Files of
// many tools have no such pose, since all bones lie along one axis of their joints. Then the mean pose
// of the motion takes its place. Axes of the profile come before both.
func (w *work) findFrames() string {
	hinges := w.findHinges()
	switch {
	case len(w.axes) > 0:
		return framesProfile
	case w.restStands() && !w.contradicts(hinges):
		return framesRest
	}
	if !w.meanPose() {
		return framesRest
	}
	for j, h := range hinges {
		hinges[j] = w.frames[w.from[j]].Rotate(h)
	}
	w.hinges = hinges
	w.findBones()
	w.alignAll()
	return framesMotion
}

// spot returns the position of the source's joint for the target's joint name.
func (b *binding) spot(name string, at func(source int) m3.Vec3) (m3.Vec3, bool) {
	j := b.target.Index(name)
	if j < 0 || b.from[j] < 0 {
		return m3.Vec3{}, false
	}
	return at(b.from[j]), true
}

// way returns the direction from one joint of the target to another in the source, zero if it lacks one.
func (b *binding) way(from, to string, at func(source int) m3.Vec3) m3.Vec3 {
	p, ok := b.spot(from, at)
	q, ok2 := b.spot(to, at)
	if !ok || !ok2 {
		return m3.Vec3{}
	}
	return q.Sub(p).Normalize(m3.Vec3{})
}

// body returns the body's left and up: across hips and shoulders, and from the hips to the highest joint
// of the trunk. Left is at a right angle to up. It returns false if they are on one line.
func (b *binding) body(at func(source int) m3.Vec3) (left, up m3.Vec3, ok bool) {
	l, _ := b.spot("LeftUpLeg", at)
	r, _ := b.spot("RightUpLeg", at)
	for _, name := range []string{"Neck1", "Head", "Neck", "Spine1", "Spine", "LowerBack"} {
		if p, ok := b.spot(name, at); ok {
			up = p.Sub(l.Lerp(r, 0.5)).Normalize(m3.Vec3{})
			break
		}
	}
	across := l.Sub(r).Normalize(m3.Vec3{}).Add(b.way("RightArm", "LeftArm", at))
	left = across.Sub(up.Scale(across.Dot(up)))
	if !(left.Len() > 0.2) || up == (m3.Vec3{}) {
		return left, up, false
	}
	return left.Normalize(m3.Vec3{}), up, true
}

// restStands reports whether the source's joints, at rest, are where those of a person are that stands
// with its arms anywhere between up and down.
func (b *binding) restStands() bool {
	at := func(j int) m3.Vec3 { return b.at[j] }
	left, up, ok := b.body(at)
	if !ok {
		return false
	}
	// Each row is a bone and the directions in which it must point by at least a cosine.
	type bone struct {
		from, to string
		way      m3.Vec3
		least    float32
	}
	bones := []bone{{"Hips", "Spine", up, 0.5}, {"Spine", "Spine1", up, 0.5}, {"Spine1", "Neck1", up, 0.5}, {"Neck1", "Head", up, 0.3}}
	for side, out := range map[string]m3.Vec3{"Left": left, "Right": left.Neg()} {
		bones = append(bones, bone{side + "UpLeg", side + "Leg", up.Neg(), 0.5}, bone{side + "Leg", side + "Foot", up.Neg(), 0.5},
			bone{side + "Foot", side + "ToeBase", up.Neg(), -0.6}, bone{side + "Shoulder", side + "Arm", out, 0.3},
			bone{side + "Arm", side + "ForeArm", out, -0.35},
			bone{side + "ForeArm", side + "Hand", b.way(side+"Arm", side+"ForeArm", at), 0.3})
	}
	for _, k := range bones {
		if way := b.way(k.from, k.to, at); way != (m3.Vec3{}) && way.Dot(k.way) < k.least {
			return false
		}
	}
	return true
}

// hinge is a joint that bends about one axis, and its axis in the target's rest pose.
func hinge(name string) (side, limb string, axis m3.Vec3) {
	if s, ok := strings.CutPrefix(name, "Left"); ok {
		side, limb = "Left", s
	} else if s, ok := strings.CutPrefix(name, "Right"); ok {
		side, limb = "Right", s
	}
	switch limb {
	case "UpLeg", "Leg":
		return side, limb, m3.V(1, 0, 0)
	case "Arm", "ForeArm":
		return side, limb, m3.V(0, 1, 0)
	}
	return "", "", m3.Vec3{}
}

// findHinges returns, for bones beside knees and elbows, the mean axis about which these bend, in the
// source joint's frame. An axis is shorter if the limb bends less, or about changing axes.
func (w *work) findHinges() map[int]m3.Vec3 {
	sum := map[int]m3.Vec3{}
	looks := float32(0)
	w.look(func(model []m3.Xform, _ int) {
		looks++
		at := func(j int) m3.Vec3 { return model[j].Pos }
		for j, name := range w.target.Names {
			side, limb, _ := hinge(name)
			if limb == "" || w.from[j] < 0 {
				continue
			}
			var axis m3.Vec3
			if strings.HasSuffix(limb, "Leg") {
				axis = w.way(side+"UpLeg", side+"Leg", at).Cross(w.way(side+"Leg", side+"Foot", at))
			} else if axis = w.way(side+"ForeArm", side+"Hand", at).Cross(w.way(side+"Arm", side+"ForeArm", at)); side == "Right" {
				axis = axis.Neg()
			}
			sum[j] = sum[j].Add(model[w.from[j]].Rot.Conj().Rotate(axis))
		}
	})
	for j := range sum {
		sum[j] = sum[j].Scale(1 / max(looks, 1))
	}
	return sum
}

const (
	// A mean axis shorter than unsure says nothing. One longer than sure is right: the limb bends by
	// 17° about it on average.
	unsure, sure = 0.12, 0.3
	// against is the least cosine between an axis and that of the rest pose that contradicts it not.
	against = 0.25
)

// pose sets the source's pose to its rest pose with the local rotations rot, and aligns the joints by it.
func (b *binding) pose(rot []m3.Quat) {
	b.frames = make([]m3.Quat, len(rot))
	for j, p := range b.source.Parents {
		b.frames[j], b.at[j] = rot[j].Normalize(), b.rest[j]
		if p >= 0 {
			b.frames[j] = b.frames[p].Mul(b.frames[j])
			b.at[j] = b.at[p].Add(b.frames[p].Rotate(b.rest[j]))
		}
	}
	b.findBones()
	b.alignAll()
}

// contradicts reports whether the motion's hinges are not those of the rest pose's joints.
func (b *binding) contradicts(hinges map[int]m3.Vec3) bool {
	n := 0
	for j, h := range hinges {
		_, _, axis := hinge(b.target.Names[j])
		if h.Len() > sure && b.align[j].Rotate(axis).Dot(h.Normalize(m3.Vec3{})) < against {
			n++
		}
	}
	return n >= 2
}

// meanPose sets the source's pose to the mean of the motion, seen from the body: the mean rotation of
// each joint, and the positions that follow. It returns false without a frame that shows where the
// body's left and up are.
func (w *work) meanPose() bool {
	n := w.source.Len()
	sum := make([]*mat.SymDense, n) // of products of the quaternions: their signs do not matter
	for j := range sum {
		sum[j] = mat.NewSymDense(4, nil)
	}
	place, looks := make([]m3.Vec3, n), float32(0)
	hips := w.from[w.target.Index("Hips")]
	w.look(func(model []m3.Xform, f int) {
		left, up, ok := w.body(func(j int) m3.Vec3 { return model[j].Pos })
		if !ok {
			return
		}
		looks++
		body := m3.FromAxes(left, up, left.Cross(up)).Conj()
		pos, _ := w.clip.Frame(f)
		for j, p := range w.source.Parents {
			q := body.Mul(model[j].Rot)
			v := [4]float64{float64(q.X), float64(q.Y), float64(q.Z), float64(q.W)}
			for r := range 4 {
				for c := r; c < 4; c++ {
					sum[j].SetSym(r, c, sum[j].At(r, c)+v[r]*v[c])
				}
			}
			switch {
			case p < 0:
				place[j] = place[j].Add(body.Rotate(model[j].Pos.Sub(model[hips].Pos)))
			case !w.collapsed[int(p)]:
				place[j] = place[j].Add(pos[j])
			}
		}
	})
	if looks == 0 {
		return false
	}
	w.frames = make([]m3.Quat, n)
	for j, p := range w.source.Parents {
		var ok bool
		if w.frames[j], ok = lastVector(sum[j], 0); !ok {
			return false
		}
		w.at[j] = place[j].Scale(1 / looks)
		if p >= 0 {
			w.at[j] = w.at[p].Add(w.frames[p].Rotate(w.at[j]))
		}
	}
	return true
}

// lastVector returns the eigenvector of the largest eigenvalue of k as a rotation. It returns false if
// another eigenvalue is within gap of it.
func lastVector(k *mat.SymDense, gap float64) (m3.Quat, bool) {
	var eig mat.EigenSym
	if !eig.Factorize(k, true) {
		return m3.Ident, false
	}
	if v := eig.Values(nil); v[3]-v[2] < gap {
		return m3.Ident, false
	}
	var e mat.Dense
	eig.VectorsTo(&e)
	return m3.Quat{X: float32(e.At(0, 3)), Y: float32(e.At(1, 3)), Z: float32(e.At(2, 3)), W: float32(e.At(3, 3))}.Normalize(), true
}

// frame returns the rotation of a joint of the source in the pose that b.at shows.
func (b *binding) frame(source int) m3.Quat {
	if b.frames == nil {
		return m3.Ident
	}
	return b.frames[source]
}

// turnBone turns the alignment of joint j about its bone, which points to at, to the axis about which
// the limb bends. The less it bends, the less is turned.
func (b *binding) turnBone(j int, at m3.Vec3) {
	h, ok := b.hinges[j]
	share := m3.Clamp((h.Len()-unsure)/(sure-unsure), 0, 1)
	if !ok || share == 0 {
		return
	}
	_, _, axis := hinge(b.target.Names[j])
	is := b.align[j].Rotate(axis)
	flat := func(v m3.Vec3) m3.Vec3 { return v.Sub(at.Scale(v.Dot(at))).Normalize(m3.Vec3{}) }
	is, h = flat(is), flat(h)
	angle := m3.Atan2(at.Dot(is.Cross(h)), is.Dot(h))
	b.align[j] = m3.AxisAngle(at, share*angle).Mul(b.align[j])
}

// findUp returns the world axis along which the person of the source stands, "y" or "z": from the feet
// to the hips in most frames, and if it lies or tumbles in these, at rest. A recording of somebody who
// lies on a floor of height 0 is told from one with z up by that floor. Other axes are up if the person stands along them
// in both, or on such a floor.
func (w *work) findUp() string {
	var sum m3.Vec3
	looks, leg := float32(0), 1/max(w.size(), 1e-9)
	low := map[string]float32{} // of the joints along each axis
	w.look(func(model []m3.Xform, _ int) {
		sum, looks = sum.Add(w.fromFeet(func(j int) m3.Vec3 { return model[j].Pos })), looks+1
		for _, up := range mocap.Ups {
			axis, _, _ := mocap.UpAxis(up)
			for j := range w.target.Names {
				if s := w.from[j]; s >= 0 {
					if h, is := low[up]; !is || model[s].Pos.Dot(axis) < h {
						low[up] = model[s].Pos.Dot(axis)
					}
				}
			}
		}
	})
	const most = mostUp
	rest := w.restUp()
	floor := func(up string) bool { return m3.Abs(low[up]) < 0.1*leg }
	switch mean := sum.Scale(1 / max(looks, 1)); {
	case mean.Y > most:
		return "y"
	case mean.Z > most && rest.Y > most: // rest pose and motion differ
		if floor("z") && !floor("y") {
			return "z"
		}
	case mean.Z > most:
		if floor("z") || !floor("y") {
			return "z"
		}
	case rest.Z > most:
		return "z"
	default:
		for _, name := range mocap.Ups {
			axis, _, _ := mocap.UpAxis(name)
			if mean.Dot(axis) > most && (rest.Dot(axis) > most || floor(name) && !floor("y")) {
				return name
			}
		}
	}
	return "y"
}

// mostUp is the cosine from which a direction is that of an axis.
const mostUp = 0.7

// fromFeet returns the direction from the feet to the hips.
func (b *binding) fromFeet(at func(source int) m3.Vec3) m3.Vec3 {
	l, _ := b.spot("LeftFoot", at)
	r, _ := b.spot("RightFoot", at)
	h, _ := b.spot("Hips", at)
	return h.Sub(l.Lerp(r, 0.5)).Normalize(m3.Vec3{})
}

// restUp returns the direction from the feet to the hips at rest, zero if nobody stands there.
func (b *binding) restUp() m3.Vec3 {
	if !b.restStands() {
		return m3.Vec3{}
	}
	return b.fromFeet(func(j int) m3.Vec3 { return b.at[j] })
}

// findAhead returns the axis of the source that is nearest to where the person faces in the first frame: x, -x
// and so on. It is empty if the frame does not show it.
func (w *work) findAhead() string {
	model := make([]m3.Xform, w.clip.Skel.Len())
	w.model(model, 0)
	left, up, ok := w.body(func(j int) m3.Vec3 { return model[j].Pos })
	if !ok {
		return ""
	}
	v := left.Cross(up)
	if w.mirror {
		v.X = -v.X
	}
	best, most := "", float32(0)
	for i, along := range [3]float32{v.X, v.Y, v.Z} {
		if name := "xyz"[i : i+1]; name != strings.TrimPrefix(w.up, "-") && m3.Abs(along) > most {
			if best, most = name, m3.Abs(along); along < 0 {
				best = "-" + name
			}
		}
	}
	return best
}

// isMirrored reports whether the source is the mirror image of a person: its toes point, and its knees
// bend, to where its back is by its left and right. Files whose axes are left-handed are.
func (w *work) isMirrored() bool {
	var toes, knees, looks float32
	w.look(func(model []m3.Xform, _ int) {
		at := func(j int) m3.Vec3 { return model[j].Pos }
		left, up, ok := w.body(at)
		if !ok {
			return
		}
		ahead := left.Cross(up)
		looks++
		for _, side := range []string{"Left", "Right"} {
			toes += w.way(side+"Foot", side+"ToeBase", at).Dot(ahead) / 2
			thigh, shin := w.way(side+"UpLeg", side+"Leg", at), w.way(side+"Leg", side+"Foot", at)
			knees += thigh.Cross(shin).Dot(left) / 2 // the sine of the bend
		}
	})
	looks = max(looks, 1)
	toes, knees = toes/looks, knees/looks
	// Of a person both are positive, and together above 0.5. A foot without a toe counts as 0.
	return toes <= 0.1 && knees < 0.1 && toes+knees < -0.15
}

// mirrored returns the mirror image of c: x points the other way.
func mirrored(c *skel.Clip) *skel.Clip {
	s := *c.Skel
	flip := func(v []m3.Vec3) []m3.Vec3 {
		out := make([]m3.Vec3, len(v))
		for i, p := range v {
			out[i] = m3.V(-p.X, p.Y, p.Z)
		}
		return out
	}
	s.Offsets = flip(s.Offsets)
	out := &skel.Clip{Skel: &s, FPS: c.FPS, Frames: c.Frames, Pos: flip(c.Pos)}
	out.Rot = mirroredAll(c.Rot)
	return out
}

func mirroredAll(rot []m3.Quat) []m3.Quat {
	if rot == nil {
		return nil
	}
	out := make([]m3.Quat, len(rot))
	for i, q := range rot {
		out[i] = m3.Quat{X: q.X, Y: -q.Y, Z: -q.Z, W: q.W}
	}
	return out
}

func mirroredRest(rest []m3.Xform) []m3.Xform {
	out := append([]m3.Xform(nil), rest...)
	for i, x := range out {
		out[i] = m3.Xform{Pos: m3.V(-x.Pos.X, x.Pos.Y, x.Pos.Z), Rot: m3.Quat{X: x.Rot.X, Y: -x.Rot.Y, Z: -x.Rot.Z, W: x.Rot.W}}
	}
	return out
}
