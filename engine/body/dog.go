package body

import (
	"strings"

	"mannequin/engine/m3"
)

// frame is a joint's orientation in the standing pose: the directions of its local +X and +Z in
// character space (+X left, +Y up, +Z ahead).
type frame struct {
	joint string
	x, z  m3.Vec3
}

// dogFrames put a dog on its feet: at rest each bone points along +X. Right limbs mirror the left.
var dogFrames = []frame{
	{"Hips", m3.V(0, -0.05, -1), m3.V(1, 0, 0)},
	{"Spine", m3.V(0, -0.15, 1), m3.V(1, 0, 0)},
	{"Spine1", m3.V(0, 0.07, 1), m3.V(1, 0, 0)},
	{"Neck", m3.V(0, 0.45, 0.9), m3.V(1, 0, 0)},
	{"Head", m3.V(0, 0, 1), m3.V(0, 1, 0)},
	{"LeftShoulder", m3.V(0.54, -0.57, 0.56), m3.V(-0.63, -0.75, -0.12)},
	{"LeftArm", m3.V(0.05, -0.75, -0.62), m3.V(0.95, -0.1, 0.2)},
	{"LeftForeArm", m3.V(-0.1, -0.94, 0.3), m3.V(0.95, -0.05, 0.2)},
	{"LeftHand", m3.V(-0.04, -0.88, 0.42), m3.V(0.95, 0, 0.2)},
	{"LeftUpLeg", m3.V(0.12, -0.76, 0.6), m3.V(0.98, 0.1, -0.1)},
	{"LeftLeg", m3.V(-0.08, -0.76, -0.62), m3.V(0.98, -0.08, -0.08)},
	{"LeftFoot", m3.V(0, -0.08, -1), m3.V(1, 0, 0)},
	{"Tail", m3.V(0, -0.62, -0.75), m3.V(1, 0, 0)},
	{"Tail1", m3.V(0, -0.5, -0.75), m3.V(1, 0, 0)},
}

func standingFrame(joint string) (m3.Quat, bool) {
	name, right := joint, strings.HasPrefix(joint, "Right")
	if right {
		name = "Left" + strings.TrimPrefix(joint, "Right")
	}
	for _, f := range dogFrames {
		if f.joint != name {
			continue
		}
		x, z := f.x, f.z
		if right {
			// A mirrored frame is left-handed: one axis turns round. The shoulders' +Z points
			// inward on both sides, other limbs' to the left.
			x.X, z.X = -x.X, -z.X
			if !strings.HasSuffix(joint, "Shoulder") {
				z = z.Neg()
			}
		}
		x = x.Normalize(m3.V(0, 0, 1))
		z = z.Sub(x.Scale(z.Dot(x))).Normalize(m3.Up)
		return m3.FromAxes(x, z.Cross(x), z), true
	}
	return m3.Ident, false
}

// standing returns rig's joints standing with the paws on the ground; false without a dog's joints.
func standing(rig *Rig) ([]m3.Xform, bool) {
	for _, f := range dogFrames {
		mirror := strings.Replace(f.joint, "Left", "Right", 1)
		if rig.index(f.joint) < 0 || rig.index(mirror) < 0 {
			return nil, false
		}
	}
	for _, n := range []string{"HeadSite", "LeftHandSite", "RightHandSite", "LeftFootSite", "RightFootSite", "Tail1Site"} {
		if rig.index(n) < 0 {
			return nil, false
		}
	}
	bind := make([]m3.Xform, len(rig.Names))
	// A rest pose with the paws well under the hips already stands.
	rest := restPose(rig)
	hips, paw := rest[rig.index("Hips")].Pos, rest[rig.index("LeftHandSite")].Pos
	if hips.Y-paw.Y > 0.5*hips.Dist(paw) {
		bind = rest
	} else {
		for i, p := range rig.Parents {
			q, ok := standingFrame(rig.Names[i])
			if p < 0 {
				bind[i] = m3.Xform{Rot: q}
				continue
			}
			bind[i] = m3.Xform{Pos: bind[p].Apply(rig.Offsets[i]), Rot: q}
			if !ok {
				bind[i].Rot = bind[p].Rot
			}
		}
	}
	toGround(bind, 0.015)
	return bind, true
}

func newDog(rig *Rig) (*plan, bool) {
	bind, ok := standing(rig)
	if !ok {
		return nil, false
	}
	d := &dog{rig: rig, bind: bind}
	d.u = d.at("Hips").Dist(d.at("Neck")) / 0.41
	if !(d.u > 1e-3) {
		return nil, false
	}
	d.torso()
	d.head()
	for _, side := range []string{"Left", "Right"} {
		d.foreleg(side)
		d.hindleg(side)
	}
	d.tail()
	coat := piece{shape: d.shape, cell: 0.0095 * d.u, triangles: dogLevels, coat: d.coat, detail: d.detail()}
	return &plan{bind: bind, pieces: []piece{coat}, parts: d.parts, seen: 2}, true
}

// dog collects the blobs of a dog. Lengths are metres of a dog whose back, from hips to neck,
// measures 41 cm; u scales them to the rig.
type dog struct {
	rig   *Rig
	bind  []m3.Xform
	u     float32
	shape shape
	parts []part
}

// at returns joint's position in the standing pose, plus an optional offset in character axes.
func (d *dog) at(joint string, off ...m3.Vec3) m3.Vec3 {
	p := d.bind[d.rig.index(joint)].Pos
	for _, o := range off {
		p = p.Add(o.Scale(d.u))
	}
	return p
}

// add appends a blob on joint from a to b; squash is its width across the body.
func (d *dog) add(joint string, a, b m3.Vec3, ra, rb, squash, blend float32) {
	d.shape = append(d.shape, blob{joint: d.rig.index(joint), a: a, b: b, ra: ra * d.u, rb: rb * d.u,
		flat: m3.V(1, 0, 0), squash: squash, blend: blend * d.u})
}

// detail favours small triangles in the face and above the paws, where the coat changes.
func (d *dog) detail() func(p m3.Vec3) float32 {
	face := d.at("Head", m3.V(0, 0, 0.06))
	return func(p m3.Vec3) float32 {
		return 1 + 4*m3.Clamp((0.16-p.Dist(face)/d.u)/0.05, 0, 1) + 3*m3.Clamp((0.16-p.Y/d.u)/0.05, 0, 1)
	}
}

func (d *dog) torso() {
	mid := d.at("Spine1")
	hips, neck := d.at("Hips"), d.at("Neck")
	v := m3.V
	// Rump, loin with the belly tucked up, deep narrow chest, breast, withers.
	d.add("Hips", hips.Add(v(0, -0.056, 0.015).Scale(d.u)), hips.Add(v(0, -0.045, -0.045).Scale(d.u)), 0.080, 0.062, 0.88, 0.03)
	d.add("Spine", hips.Add(v(0, -0.052, 0.03).Scale(d.u)), mid.Add(v(0, -0.046, 0).Scale(d.u)), 0.080, 0.094, 0.84, 0.05)
	d.add("Spine1", mid.Add(v(0, -0.062, 0.02).Scale(d.u)), neck.Add(v(0, -0.082, -0.06).Scale(d.u)), 0.102, 0.118, 0.80, 0.05)
	d.add("Spine1", neck.Add(v(0, -0.035, -0.09).Scale(d.u)), neck.Add(v(0, -0.005, -0.03).Scale(d.u)), 0.075, 0.07, 0.8, 0.05)
	d.add("Spine1", neck.Add(v(0, -0.09, -0.03).Scale(d.u)), neck.Add(v(0, -0.07, 0.015).Scale(d.u)), 0.088, 0.07, 0.85, 0.05)
	// Neck: thick at the shoulders, with a mane below.
	head := d.at("Head")
	d.add("Neck", neck.Add(v(0, -0.035, -0.015).Scale(d.u)), head.Add(v(0, -0.03, -0.015).Scale(d.u)), 0.086, 0.060, 0.88, 0.05)
}

func (d *dog) head() {
	h := d.at("Head")
	at := func(x, y, z float32) m3.Vec3 { return h.Add(m3.V(x, y, z).Scale(d.u)) }
	// The muzzle ends at the nose, at any length of the rig's head bone.
	reach := d.at("HeadSite").Dist(h) / d.u / 0.17
	nose := func(z float32) float32 { return z * m3.Clamp(reach, 0.6, 1.6) }
	d.add("Head", at(0, 0.006, 0.013), at(0, 0.004, 0.05), 0.069, 0.058, 0.98, 0.04)
	d.add("Head", at(0, -0.022, 0.06), at(0, -0.034, nose(0.15)), 0.043, 0.027, 0.92, 0.03) // muzzle
	d.add("Head", at(0, -0.048, 0.04), at(0, -0.052, nose(0.13)), 0.026, 0.016, 1, 0.02)    // jaw
	d.add("Head", at(0, -0.019, nose(0.168)), at(0, -0.021, nose(0.172)), 0.0135, 0.012, 1.25, 0.006)
	for _, s := range []float32{1, -1} {
		// Ears: thin flaps that stand up at the base and fold over.
		flat := m3.V(0.80*s, 0.25, 0.55).Normalize(m3.Up)
		flap := func(a, b m3.Vec3, ra, rb, blend float32) {
			d.shape = append(d.shape, blob{joint: d.rig.index("Head"), a: a, b: b, ra: ra * d.u, rb: rb * d.u,
				flat: flat, squash: 0.42, blend: blend * d.u})
		}
		flap(at(0.040*s, 0.046, -0.010), at(0.063*s, 0.046, -0.010), 0.022, 0.023, 0.014)
		flap(at(0.063*s, 0.046, -0.010), at(0.080*s, 0.004, 0.004), 0.023, 0.027, 0.008)
		flap(at(0.080*s, 0.004, 0.004), at(0.083*s, -0.040, 0.014), 0.027, 0.012, 0.006)
		// Cheek, brow, and the flews of the upper lip.
		d.add("Head", at(0.030*s, -0.026, 0.026), at(0.022*s, -0.034, 0.070), 0.036, 0.022, 1, 0.03)
		d.add("Head", at(0.020*s, 0.040, 0.066), at(0.030*s, 0.037, 0.058), 0.012, 0.013, 1, 0.014)
		d.add("Head", at(0.014*s, -0.036, nose(0.10)), at(0.012*s, -0.038, nose(0.145)), 0.020, 0.016, 0.9, 0.012)
		piece := func(centre, radii m3.Vec3) {
			d.parts = append(d.parts, part{joint: d.rig.index("Head"), centre: centre, radii: radii.Scale(d.u), coat: [4]float32{0, 1}})
		}
		piece(at(0.0365*s, 0.0195, 0.0870), m3.V(0.0108, 0.0118, 0.0105))      // eye
		piece(at(0.0265*s, -0.0490, nose(0.108)), m3.V(0.0052, 0.0024, 0.036)) // mouth
	}
}

func (d *dog) foreleg(name string) {
	_, s, _ := side(name)
	in := func(x, y, z float32) m3.Vec3 { return m3.V(s*x, y, z) }
	sh, arm, elbow := name+"Shoulder", name+"Arm", name+"ForeArm"
	wrist, tip := name+"Hand", name+"HandSite"
	d.add(sh, d.at(sh, in(0.012, 0.02, -0.035)), d.at(arm, in(-0.008, 0, -0.02)), 0.066, 0.062, 0.7, 0.035)
	d.add(arm, d.at(arm, in(-0.008, 0.01, -0.018)), d.at(elbow, in(0, 0.01, 0.0)), 0.058, 0.039, 0.78, 0.03)
	d.add(elbow, d.at(elbow, in(0, 0.005, 0.002)), d.at(wrist), 0.0375, 0.0235, 0.92, 0.02)
	d.add(wrist, d.at(wrist), d.at(tip, in(0, 0.012, -0.008)), 0.0245, 0.0235, 1, 0.015)
	d.paw(wrist, d.at(tip), s)
}

func (d *dog) hindleg(name string) {
	_, s, _ := side(name)
	in := func(x, y, z float32) m3.Vec3 { return m3.V(s*x, y, z) }
	thigh, knee, hock, tip := name+"UpLeg", name+"Leg", name+"Foot", name+"FootSite"
	d.add(thigh, d.at(thigh, in(0.006, 0.015, -0.022)), d.at(knee, in(-0.004, 0.012, -0.022)), 0.090, 0.052, 0.62, 0.035)
	d.add(knee, d.at(knee, in(0, 0.008, -0.012)), d.at(hock, in(0, 0.004, 0.004)), 0.045, 0.0225, 0.80, 0.02)
	d.add(hock, d.at(hock, in(0, 0, 0.002)), d.at(tip, in(0, 0.014, -0.004)), 0.0245, 0.0225, 1, 0.015)
	d.paw(hock, d.at(tip), s)
}

// paw puts a soft pad with toes around the tip, its sole on the ground.
func (d *dog) paw(joint string, tip m3.Vec3, s float32) {
	ground := tip.Y - 0.015
	at := func(x, y, z float32) m3.Vec3 {
		return m3.V(tip.X+s*x*d.u, ground+y*d.u, tip.Z+z*d.u)
	}
	d.add(joint, at(0, 0.024, -0.012), at(0, 0.021, 0.014), 0.026, 0.023, 1.12, 0.014)
	for _, x := range []float32{-0.0145, 0.0145} {
		d.add(joint, at(x, 0.0165, 0.018), at(1.15*x, 0.0145, 0.036), 0.0165, 0.0145, 1, 0.008)
	}
}

func (d *dog) tail() {
	a, b, c := d.at("Tail"), d.at("Tail1"), d.at("Tail1Site")
	d.add("Tail", a.Add(m3.V(0, -0.008, 0.03).Scale(d.u)), b, 0.034, 0.027, 1, 0.025)
	// Longer than its bones, and bent up a little.
	tip := c.Add(c.Sub(b).Scale(0.45)).Add(m3.V(0, 0.035, -0.01).Scale(d.u))
	d.add("Tail1", b, c, 0.028, 0.020, 1, 0.012)
	d.add("Tail1", c, tip, 0.020, 0.009, 1, 0.012)
}
