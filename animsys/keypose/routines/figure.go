package routines

import (
	"fmt"
	"math/rand/v2"

	"mannequin/animsys/keypose"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// figure poses the skeleton of people who stand on both feet.
type figure struct {
	layout *keypose.Layout
	rig    *ik.Rig
	side   float32 // 1 if the main hand is the left one, −1 if it is the right one
	toes   [2]m3.Vec3
	toward [2]float32 // directions of the feet, rad
	height float32    // of the hips at rest, m

	hips, chest int
	bends, nods []int // joints that share the rotation of the spine, and of the head
	arms        [2]limb
}

// limb has the joints of an arm.
type limb struct{ shoulder, upper, lower, hand, fingers int }

// sole is the height of the toe joint of a standing foot, m.
const sole = 0.031

func (f *figure) init(l *keypose.Layout, r *rand.Rand) error {
	rig, err := ik.NewHumanRig(l.Skel.Names, l.Skel.Parents)
	if err != nil {
		return fmt.Errorf("routines: %w", err)
	}
	*f = figure{layout: l, rig: rig}
	var missing []string
	find := func(name string) int {
		j := l.Skel.Index(name)
		if j < 0 {
			missing = append(missing, name)
		}
		return j
	}
	f.hips, f.chest = find("Hips"), find("Spine1")
	f.bends = []int{find("LowerBack"), find("Spine"), f.chest}
	f.nods = []int{find("Neck1"), find("Head")}
	for i, side := range []string{"Left", "Right"} {
		f.arms[i] = limb{find(side + "Shoulder"), find(side + "Arm"), find(side + "ForeArm"), find(side + "Hand"), find(side + "HandIndex1")}
	}
	if len(missing) > 0 {
		return fmt.Errorf("routines: the skeleton has no joint called %q", missing)
	}
	if f.side = -1; r.Float32() < 0.3 {
		f.side = 1
	}
	stride := between(r, -0.05, 0.05)
	for i, leg := range rig.Roles.Legs {
		out := float32(1 - 2*i)
		f.toward[i] = out * between(r, 0.08, 0.3)
		ankle := m3.V(out*between(r, 0.1, 0.14), 0, 0.03+out*stride)
		toe := m3.YawQuat(f.toward[i]).Rotate(l.Skel.Offsets[leg[3]])
		f.toes[i] = ankle.Add(toe).Flat().Add(m3.V(0, sole, 0))
		// The hips are a little lower than the shorter reach of the two legs allows.
		up, thigh, shin := l.Skel.Offsets[leg[0]], l.Skel.Offsets[leg[1]].Len(), l.Skel.Offsets[leg[2]].Len()
		way := ankle.Sub(up.Flat()).Len()
		reach := 0.997 * (thigh + shin)
		h := sole - toe.Y + m3.Sqrt(reach*reach-way*way) - up.Y
		if i == 0 || h < f.height {
			f.height = h
		}
	}
	return nil
}

// turned returns a part's rotation: forward, to the main side, leaning to it.
func (f *figure) turned(v m3.Vec3, share float32) m3.Quat {
	return m3.YawQuat(f.side * v.Y * share).Mul(m3.AxisAngle(m3.V(0, 0, 1), -f.side*v.Z*share)).Mul(m3.AxisAngle(m3.V(1, 0, 0), v.X*share))
}

// pose returns the key of a posture.
func (f *figure) pose(p posture) keypose.Key {
	sk := f.layout.Skel
	pos, rot := append([]m3.Vec3(nil), sk.Offsets...), make([]m3.Quat, sk.Len())
	for j := range rot {
		rot[j] = m3.Ident
	}
	pos[f.hips] = m3.V(f.side*p[sway].X, f.height+p[sway].Y, p[sway].Z)
	rot[f.hips] = f.turned(p[pelvis], 1)
	for _, j := range f.bends {
		rot[j] = f.turned(p[spine], 1/float32(len(f.bends)))
	}
	for _, j := range f.nods {
		rot[j] = f.turned(p[head], 1/float32(len(f.nods)))
	}
	model := make([]m3.Xform, sk.Len())
	for i := range f.arms {
		main := 0
		if (f.side > 0) != (i == 0) {
			main = 1
		}
		curl := [2]float32{p[fingers].X, p[fingers].Y}[main]
		sk.LocalToModel(model, pos, rot)
		f.arm(i, rot, model, p[hand+part(main)], p[elbow+part(main)], p[wrist+part(main)], curl)
	}
	for i := range f.rig.Roles.Legs {
		f.leg(i, pos, rot, model, p[heels].X)
	}
	return keypose.Key{Pos: pos, Rot: rot}
}

// arm poses arm i, 0 is the left one. The elbow is on the wanted side of the plane in which the arm
// bends, and the palm faces across it, as at rest.
func (f *figure) arm(i int, rot []m3.Quat, model []m3.Xform, hand, elbow, wrist m3.Vec3, curl float32) {
	sk, a := f.layout.Skel, f.arms[i]
	out := float32(1 - 2*i)
	chest := model[f.chest]
	aside := func(v m3.Vec3) m3.Vec3 { return m3.V(out*v.X, v.Y, v.Z) }
	to := chest.Apply(aside(hand))
	// The shoulder follows an arm that is raised, and a little one that reaches ahead.
	lift := chest.Rot.Conj().Rotate(to.Sub(model[a.upper].Pos)).Scale(1 / sk.Offsets[a.lower].Len())
	rot[a.shoulder] = m3.AxisAngle(m3.V(0, 0, 1), out*0.16*max(lift.Y, 0)).Mul(m3.YawQuat(-out * 0.08 * max(lift.Z, 0)))
	parent := chest.Rot.Mul(rot[a.shoulder])
	from := chest.Apply(sk.Offsets[a.shoulder]).Add(parent.Rotate(sk.Offsets[a.upper]))

	upper, lower := sk.Offsets[a.lower].Len(), sk.Offsets[a.hand].Len()
	way := to.Sub(from)
	d := way.Normalize(m3.V(0, -1, 0))
	length := m3.Clamp(way.Len(), 0.4*(upper+lower), 0.992*(upper+lower))
	pole := chest.Rot.Rotate(aside(elbow))
	pole = pole.Sub(d.Scale(pole.Dot(d))).Normalize(m3.V(0, 0, -1))
	cos := m3.Clamp((upper*upper+length*length-lower*lower)/(2*upper*length), -1, 1)
	bone := d.Scale(cos).Add(pole.Scale(m3.Sqrt(1 - cos*cos)))
	next := d.Scale(length).Sub(bone.Scale(upper)).Normalize(d)
	across := pole.Cross(d)

	// A T-pose's arm lies along ±x and bends ahead; its palm faces down.
	frame := func(along m3.Vec3) m3.Quat {
		x, y := along.Scale(out), across.Scale(-out)
		return m3.FromAxes(x, y, x.Cross(y))
	}
	up, low := frame(bone), frame(next)
	twist := m3.AxisAngle(m3.V(1, 0, 0), wrist.X/2)
	low = low.Mul(twist)
	rot[a.upper] = parent.Conj().Mul(up)
	rot[a.lower] = up.Conj().Mul(low)
	rot[a.hand] = twist.Mul(m3.YawQuat(-out * wrist.Z)).Mul(m3.AxisAngle(m3.V(0, 0, 1), out*wrist.Y))
	rot[a.fingers] = m3.AxisAngle(m3.V(0, 0, 1), -out*curl)
}

// leg places leg i on its toes, with the heel raised by an angle in radians and the knee over the
// toes.
func (f *figure) leg(i int, pos []m3.Vec3, rot []m3.Quat, model []m3.Xform, heel float32) {
	sk, leg := f.layout.Skel, f.rig.Roles.Legs[i]
	heading := m3.YawQuat(f.toward[i])
	foot := heading.Mul(m3.AxisAngle(m3.V(1, 0, 0), heel))
	thigh, shin := heading.Mul(m3.AxisAngle(m3.V(1, 0, 0), -0.05)), heading.Mul(m3.AxisAngle(m3.V(1, 0, 0), 0.05))
	rot[leg[0]] = rot[f.hips].Conj().Mul(thigh)
	rot[leg[1]] = thigh.Conj().Mul(shin)
	rot[leg[2]] = shin.Conj().Mul(foot)
	rot[leg[3]] = m3.AxisAngle(m3.V(1, 0, 0), -heel)
	sk.LocalToModel(model, pos, rot)
	var plane ik.Foot
	f.rig.Reach(model, i, f.toes[i].Sub(foot.Rotate(sk.Offsets[leg[3]])), &plane)
	for _, j := range leg[:3] {
		rot[j] = model[sk.Parents[j]].Rot.Conj().Mul(model[j].Rot).Normalize()
	}
}
