package retarget

import (
	"strings"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// maxLook is the most frames that are examined, leastLook the fewest that are enough.
const maxLook, leastLook = 600, 20

// findAxes estimates from a motion which of the axes of each joint's frame point to the character's
// left and up in a T-pose. It uses positions: hips and shoulders have a left, knees and elbows bend
// about an axis, feet point ahead. In a joint's own frame these directions are nearly the same in
// all frames. The result is rounded to whole axes; joints without a clear result are left out.
func (b *binding) findAxes(c *skel.Clip, world m3.Quat) map[string]string {
	sum := make([]struct{ left, up m3.Vec3 }, b.target.Len())
	w := &work{binding: b, clip: c, world: world}
	model := make([]m3.Xform, c.Skel.Len())
	step, looks := max(1, c.Frames/maxLook), float32(0)
	for f := 0; f < c.Frames; f += step {
		w.model(model, f)
		looks++
		for j, name := range b.target.Names {
			if b.from[j] < 0 || b.target.EndSite[j] {
				continue
			}
			left, up := b.pose(model, name)
			inv := model[b.from[j]].Rot.Conj()
			sum[j].left, sum[j].up = sum[j].left.Add(inv.Rotate(left)), sum[j].up.Add(inv.Rotate(up))
		}
	}
	out := map[string]string{}
	for j, name := range b.target.Names {
		left, up := sum[j].left.Scale(1/max(looks, 1)), sum[j].up.Scale(1/max(looks, 1))
		if text, ok := snap(left, up); ok {
			out[name] = text
		}
	}
	return out
}

// standsOnZ reports whether the character of clip c stands along its z axis.
func (b *binding) standsOnZ(c *skel.Clip) bool {
	w := &work{binding: b, clip: c, world: m3.Ident}
	model := make([]m3.Xform, c.Skel.Len())
	var sum m3.Vec3
	step, looks := max(1, c.Frames/maxLook), float32(0)
	for f := 0; f < c.Frames; f += step {
		w.model(model, f)
		foot := model[b.from[b.target.Index("LeftFoot")]].Pos.Lerp(model[b.from[b.target.Index("RightFoot")]].Pos, 0.5)
		sum, looks = sum.Add(model[b.from[b.target.Index("Hips")]].Pos.Sub(foot).Normalize(m3.Vec3{})), looks+1
	}
	return sum.Z > 0.7*looks && looks > 0
}

// pose returns the T-pose's left and up for a target joint in the current pose, from positions, in
// world space. Less certain directions are shorter, unknown ones zero.
func (b *binding) pose(model []m3.Xform, name string) (left, up m3.Vec3) {
	at := func(name string) (m3.Vec3, bool) {
		j := b.target.Index(name)
		if j < 0 || b.from[j] < 0 {
			return m3.Vec3{}, false
		}
		return model[b.from[j]].Pos, true
	}
	way := func(a, b string) m3.Vec3 {
		p, ok := at(a)
		q, ok2 := at(b)
		if !ok || !ok2 {
			return m3.Vec3{}
		}
		return q.Sub(p).Normalize(m3.Vec3{})
	}
	first := func(names ...string) string {
		for _, n := range names {
			if _, ok := at(n); ok {
				return n
			}
		}
		return ""
	}
	hips, chest := way("RightUpLeg", "LeftUpLeg"), way("RightArm", "LeftArm")
	neck := first("Neck1", "Head", "Neck")
	trunkUp := way("Hips", neck)
	side, sign, limb := "Left", float32(1), name
	if s, ok := strings.CutPrefix(name, "Right"); ok {
		side, sign, limb = "Right", -1, s
	} else if s, ok := strings.CutPrefix(name, "Left"); ok {
		limb = s
	}
	switch limb {
	case "Hips":
		return hips, way("Hips", first("Spine", "Spine1", neck))
	case "LowerBack", "Spine":
		return hips.Add(chest).Scale(0.5), trunkUp
	case "Spine1", "Neck", "Neck1", "Head":
		return chest, way(first("Spine1", "Spine", "Hips"), neck)
	case "UpLeg", "Leg", "Foot", "ToeBase":
		thigh, shin := way(side+"UpLeg", side+"Leg"), way(side+"Leg", side+"Foot")
		foot := way(side+"Foot", side+"ToeBase")
		left = thigh.Cross(shin) // the knee's axis
		switch limb {
		case "UpLeg":
			return left, thigh.Neg()
		case "Leg":
			return left, shin.Neg()
		case "ToeBase":
			// Toes lie flat when the foot does.
			if foot = foot.Flat(); foot.Len() < 0.7 {
				return left, m3.Vec3{}
			}
		}
		return left, foot.Cross(left)
	case "Shoulder":
		return way(side+"Shoulder", side+"Arm").Scale(sign), trunkUp
	case "Arm", "ForeArm", "Hand":
		upper, fore := way(side+"Arm", side+"ForeArm"), way(side+"ForeArm", side+"Hand")
		up = upper.Cross(fore).Scale(-sign) // the elbow's axis
		if limb == "Arm" {
			return upper.Scale(sign), up
		}
		return fore.Scale(sign), up
	}
	return left, up
}

// sure is the length that a mean direction needs. It is shorter for joints that hardly bend
// and for directions that vary in the joint's frame.
const sure = 0.12

// snap rounds two directions that are nearly at right angles to axes.
func snap(left, up m3.Vec3) (string, bool) {
	if !(left.Len() > sure && up.Len() > sure) {
		return "", false
	}
	l, u := left.Normalize(m3.Vec3{}), up
	u = u.Sub(l.Scale(u.Dot(l))).Normalize(m3.Vec3{})
	names := [6]string{"x", "y", "z", "-x", "-y", "-z"}
	axis := func(i int) m3.Vec3 {
		v := [3]m3.Vec3{{X: 1}, {Y: 1}, {Z: 1}}[i%3]
		if i >= 3 {
			v = v.Neg()
		}
		return v
	}
	best, text := float32(0), ""
	for i := range 6 {
		for k := range 6 {
			if d := min(l.Dot(axis(i)), u.Dot(axis(k))); i%3 != k%3 && d > best {
				best, text = d, names[i]+" "+names[k]
			}
		}
	}
	return text, best > 0.75 // 41°
}
