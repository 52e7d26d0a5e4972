package skin

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
)

// standing returns a skeleton as a rig whose joints have no rotations at rest.
func standing(s *skel.Skeleton) *Rig {
	r := &Rig{Skel: s, Rest: make([]m3.Xform, s.Len())}
	s.LocalToModel(r.Rest, s.Offsets, slices.Repeat([]m3.Quat{m3.Ident}, s.Len()))
	return r
}

// A motion goes as it is onto the rig that it is of, in any unit and with the names that other programs
// make of its own.
func TestOntoRigSame(t *testing.T) {
	sk := person(t)
	rig := renamed(sk, func(n string) string { return "mixamorig:" + n })
	other := renamed(sk, func(n string) string {
		return map[bool]string{true: "mixamorig1", false: "rig|"}[n < "M"] + strings.ToUpper(n[:3]) + n[3:]
	})
	c := wave(sk, 30)
	c.Skel = other
	for _, scale := range []float32{1, 100, 0.37} {
		got, fit, err := OntoRig(standing(rig), c.Scaled(scale), nil)
		must.Do(t, err)
		if d := fit.Scale*float64(scale) - 1; d > 1e-5 || d < -1e-5 || fit.Resized != 0 || got.Skel.Names[3] != rig.Names[3] {
			t.Errorf("%+v, %v", fit, got.Skel.Names)
		}
		for k := range c.Pos {
			if got.Pos[k].Dist(c.Pos[k]) > 1e-5 || got.Rot[k] != c.Rot[k] {
				t.Fatalf("transform %d: %v, want %v", k, got.Pos[k], c.Pos[k])
			}
		}
	}
	if c.Skel.Names[3] != other.Names[3] {
		t.Error("the motion has changed")
	}
}

// On a rig with other proportions joints turn as in the motion, bones keep the rig's lengths, and the hips
// move in proportion to their height.
func TestOntoRigResized(t *testing.T) {
	sk := person(t)
	rig := *sk
	rig.Offsets = append([]m3.Vec3(nil), sk.Offsets...)
	sk.Offsets[0].Y, rig.Offsets[0].Y = 1, 0.8
	for j, name := range rig.Names {
		if strings.Contains(name, "Leg") || strings.Contains(name, "Foot") {
			rig.Offsets[j] = rig.Offsets[j].Scale(0.8)
		}
	}
	c := wave(sk, 30)
	knee := sk.Index("LeftLeg")
	for f := range c.Frames {
		c.Pos[f*sk.Len()] = m3.V(0.1*float32(f), 1, 0)
		c.Pos[f*sk.Len()+knee] = sk.Offsets[knee].Scale(1.1) // it stretches
	}
	got, fit, err := OntoRig(standing(&rig), c, nil)
	must.Do(t, err)
	if fit.Resized < 6 || fit.Scale > 1 || fit.Scale < 0.8 {
		t.Errorf("%+v", fit)
	}
	for j, name := range rig.Names {
		p, q := got.Pos[19*sk.Len()+j], got.Rot[19*sk.Len()+j]
		want := rig.Offsets[j]
		switch j {
		case 0:
			want = m3.V(1.9*0.8, 0.8, 0)
		case knee:
			want = want.Scale(1.1)
		}
		if p.Dist(want) > 1e-4 || q != c.Rot[19*sk.Len()+j] {
			t.Errorf("%s: %v, want %v", name, p, want)
		}
	}
}

// A rig whose bones are a little longer keeps them.
func TestOntoRigNearly(t *testing.T) {
	sk := person(t)
	rig := *sk
	rig.Offsets = slices.Clone(sk.Offsets)
	arm := rig.Index("LeftForeArm")
	rig.Offsets[arm] = rig.Offsets[arm].Scale(1.02)
	got, fit, err := OntoRig(standing(&rig), wave(sk, 30), nil)
	must.Do(t, err)
	if d := got.Pos[arm].Dist(rig.Offsets[arm]); d > 1e-5 || fit.Resized != 0 {
		t.Errorf("the arm is %g m off; %+v", d, fit)
	}
}

// A motion whose joints' frames are turned otherwise at rest comes onto the rig's from rest pose to rest pose.
func TestOntoRigTurned(t *testing.T) {
	sk := person(t)
	c := wave(sk, 30)
	n := sk.Len()
	rng := rand.New(rand.NewPCG(2, 3))
	turns, rest := make([]m3.Quat, n), make([]m3.Quat, n)
	own := renamed(sk, func(name string) string { return "mixamorig:" + name })
	own.Offsets = make([]m3.Vec3, n)
	in := skel.NewClip(own, c.FPS, c.Frames)
	for j, p := range sk.Parents {
		v := func() float32 { return float32(rng.NormFloat64()) }
		turns[j] = m3.Quat{X: v(), Y: v(), Z: v(), W: v()}.Normalize()
		up := m3.Ident
		if p >= 0 {
			up = turns[p].Conj()
		}
		rest[j], own.Offsets[j] = up.Mul(turns[j]), up.Rotate(sk.Offsets[j]).Scale(100)
		for k := j; k < len(c.Rot); k += n {
			in.Pos[k], in.Rot[k] = up.Rotate(c.Pos[k]).Scale(100), up.Mul(c.Rot[k]).Mul(turns[j])
		}
	}
	rig := standing(sk)
	got, fit, err := OntoRig(rig, in, rest)
	if err != nil || m3.Abs(float32(fit.Scale)-0.01) > 1e-5 || fit.Turned == 0 {
		t.Fatalf("%+v, %v", fit, err)
	}
	x, y := make([]m3.Xform, n), make([]m3.Xform, n)
	for f := range c.Frames {
		got.Model(x, f)
		c.Model(y, f)
		for j, name := range sk.Names {
			if d := x[j].Pos.Dist(y[j].Pos); d > 1e-4 {
				t.Fatalf("frame %d: %s is %.2f mm off", f, name, 1000*d)
			}
		}
	}
	straight := slices.Repeat([]m3.Quat{m3.Ident}, n)
	if _, _, err := OntoRig(rig, in, straight); !errors.Is(err, ErrOtherRig) || !strings.Contains(err.Error(), "bones point elsewhere by more than 110°") {
		t.Errorf("without its rest pose: %v", err)
	}
	if _, _, err := OntoRig(rig, in, rest[:1]); err == nil || !strings.Contains(err.Error(), "1 for a motion of") {
		t.Error(err)
	}
	in.Frames = 0
	if _, _, err := OntoRig(rig, in, rest); err == nil || !strings.Contains(err.Error(), "a motion of 0 frames") {
		t.Error(err)
	}
}

// Two bones that differ much are a rest pose of their own, as of a person who sits at rest, though all others agree.
func TestOntoRigSitting(t *testing.T) {
	sk := person(t)
	sits := *sk
	sits.Offsets = slices.Clone(sk.Offsets)
	for j, name := range sk.Names {
		if name == "LeftLeg" || name == "RightLeg" {
			sits.Offsets[j] = m3.V(0, 0, sk.Offsets[j].Len())
		}
	}
	c := skel.NewClip(&sits, 30, 2)
	for f := range c.Frames { // it stands up
		pos, rot := c.Frame(f)
		for j, name := range sk.Names {
			switch pos[j] = sits.Offsets[j]; name {
			case "LeftUpLeg", "RightUpLeg":
				rot[j] = m3.AxisAngle(m3.V(1, 0, 0), float32(f)*math.Pi/2)
			case "LeftLeg", "RightLeg":
				rot[j] = m3.AxisAngle(m3.V(1, 0, 0), -float32(f)*math.Pi/2)
			}
		}
	}
	rest := slices.Repeat([]m3.Quat{m3.Ident}, sk.Len())
	got, _, err := OntoRig(standing(sk), c, rest)
	must.Do(t, err)
	x, y := make([]m3.Xform, sk.Len()), make([]m3.Xform, sk.Len())
	for f := range c.Frames {
		got.Model(x, f)
		c.Model(y, f)
		for j, name := range sk.Names {
			if d := x[j].Pos.Dist(y[j].Pos); d > 1e-3 {
				t.Fatalf("frame %d: %s is %.1f cm off", f, name, 100*d)
			}
		}
	}
}

// without returns a skeleton without some joints: what hangs on them hangs on the joint above.
func without(s *skel.Skeleton, names ...string) *skel.Skeleton {
	out, at := &skel.Skeleton{}, make([]int, s.Len())
	for j, name := range s.Names {
		p := int(s.Parents[j])
		offset := s.Offsets[j]
		for ; p >= 0 && slices.Contains(names, s.Names[p]); p = int(s.Parents[p]) {
			offset = offset.Add(s.Offsets[p])
		}
		if slices.Contains(names, name) {
			continue
		}
		parent := -1
		if p >= 0 {
			parent = at[p]
		}
		at[j] = out.Len()
		out.Names, out.Parents = append(out.Names, name), append(out.Parents, int16(parent))
		out.Offsets, out.EndSite = append(out.Offsets, offset), append(out.EndSite, s.EndSite[j])
	}
	return out
}

// Bones of the rig keep their lengths, too, where the motion or the rig has joints that the other lacks, and joints that
// move in their parents still do.
func TestOntoRigBetween(t *testing.T) {
	whole := person(t)
	less := without(whole, "LeftShoulder", "RightShoulder", "Spine")
	longer := *whole
	longer.Offsets = slices.Clone(whole.Offsets)
	collar := whole.Index("LeftShoulder")
	longer.Offsets[collar] = longer.Offsets[collar].Add(m3.V(0.05, 0, 0))
	for name, c := range map[string]struct{ rig, motion *skel.Skeleton }{"rig has less": {less, whole}, "rig has more": {&longer, less}} {
		in := wave(c.motion, 30)
		if j := c.motion.Index("LeftShoulder"); j >= 0 {
			for f := range in.Frames {
				in.Rot[f*c.motion.Len()+j] = m3.AxisAngle(m3.V(0, 1, 1), 0.03*float32(f))
			}
		}
		got, _, err := OntoRig(standing(c.rig), in, nil)
		must.Do(t, err)
		model, rest := make([]m3.Xform, got.Skel.Len()), standing(c.rig).Rest
		for f := range got.Frames {
			got.Model(model, f)
			for _, bone := range [][2]string{{"Spine1", "LeftArm"}, {"Spine1", "RightArm"}, {"LowerBack", "Spine1"}, {"LeftArm", "LeftForeArm"}} {
				want := rest[c.rig.Index(bone[0])].Pos.Dist(rest[c.rig.Index(bone[1])].Pos)
				d := model[got.Skel.Index(bone[0])].Pos.Dist(model[got.Skel.Index(bone[1])].Pos)
				if m3.Abs(d-want) > 1e-5 {
					t.Fatalf("%s: frame %d: from %s to %s it is %g m, in the rig %g m", name, f, bone[0], bone[1], d, want)
				}
			}
		}
	}
	// A joint between root and hips does not hold the hips.
	between := *less
	between.Names, between.Parents = append([]string{"Root", "Way"}, less.Names...), []int16{-1, 0}
	for _, p := range less.Parents {
		between.Parents = append(between.Parents, p+2)
	}
	between.Parents[2] = 1
	between.Offsets, between.EndSite = append(make([]m3.Vec3, 2), less.Offsets...), append(make([]bool, 2), less.EndSite...)
	in := skel.NewClip(&between, 30, 10)
	for f := range in.Frames {
		pos, _ := in.Frame(f)
		pos[2].X = float32(f)
	}
	got, _, err := OntoRig(standing(without(&between, "Way")), in, nil)
	must.Do(t, err)
	model := make([]m3.Xform, got.Skel.Len())
	got.Model(model, 9)
	if at := model[got.Skel.Index(less.Names[0])].Pos; m3.Abs(at.X-9) > 0.01 {
		t.Errorf("hips at %v", at)
	}
}

// Groups between the motion's joints that are called as they are take no joint's place, whether they stand in it or not.
func TestOntoRigGroups(t *testing.T) {
	sk := person(t)
	for _, share := range []float32{0, 0.5, 1} {
		for _, which := range []string{"Left", "Spine"} {
			in := wave(sk, 30)
			for f := range in.Frames {
				for j := range sk.Names {
					in.Rot[f*sk.Len()+j] = m3.AxisAngle(m3.V(1, float32(j%3), 0).Normalize(m3.Up), 0.02*float32(f))
				}
			}
			groups, at := &skel.Skeleton{}, make([]int, sk.Len()) // with groups above the joints that which names
			own := []int{}
			for j, name := range sk.Names {
				parent := int16(-1)
				if p := sk.Parents[j]; p >= 0 {
					parent = int16(at[p])
				}
				if !sk.EndSite[j] && strings.Contains(name, which) && parent >= 0 {
					groups.Names, groups.Parents, groups.EndSite = append(groups.Names, name), append(groups.Parents, parent), append(groups.EndSite, false)
					groups.Offsets, own = append(groups.Offsets, sk.Offsets[j].Scale(share)), append(own, -1)
					parent, name = int16(len(own)-1), name+"_2"
					at[j] = len(own)
					groups.Offsets = append(groups.Offsets, sk.Offsets[j].Scale(1-share))
				} else {
					at[j] = len(own)
					groups.Offsets = append(groups.Offsets, sk.Offsets[j])
				}
				groups.Names, groups.Parents, groups.EndSite, own = append(groups.Names, name), append(groups.Parents, parent), append(groups.EndSite, sk.EndSite[j]), append(own, j)
			}
			c := skel.NewClip(groups, in.FPS, in.Frames)
			for f := range c.Frames {
				pos, rot := c.Frame(f)
				for g, j := range own {
					if pos[g], rot[g] = groups.Offsets[g], m3.Ident; j >= 0 {
						rot[g] = in.Rot[f*sk.Len()+j]
					}
				}
			}
			got, _, err := OntoRig(standing(sk), c, nil)
			must.Do(t, err)
			must.Do(t, got.Skel.Validate())
			want, is := make([]m3.Xform, groups.Len()), make([]m3.Xform, got.Skel.Len())
			for f := range in.Frames {
				c.Model(want, f)
				got.Model(is, f)
				for j, name := range sk.Names {
					if k := got.Skel.Index(name); k < 0 || is[k].Pos.Dist(want[at[j]].Pos) > 1e-4 || is[k].Rot.Angle(want[at[j]].Rot) > 1e-3 {
						t.Fatalf("groups above %q, at %g of the bones: %s is joint %d of %v", which, share, name, k, got.Skel.Names)
					}
				}
			}
		}
	}
}

func TestOntoRigRefuses(t *testing.T) {
	sk := person(t)
	turned := *sk
	turned.Offsets = append([]m3.Vec3(nil), sk.Offsets...)
	for j, o := range turned.Offsets {
		turned.Offsets[j] = m3.V(o.Y, o.Z, o.X) // bones along other axes
	}
	for want, rig := range map[string]*skel.Skeleton{
		"0 of the motion's 25 joints have names":      renamed(sk, func(n string) string { return n + "X" }),
		"bones have other directions at rest: Spine ": &turned,
		"joints have names of the file's 27":          renamed(dog(t), strings.ToUpper),
	} {
		if _, _, err := OntoRig(standing(rig), wave(sk, 30), nil); !errors.Is(err, ErrOtherRig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestOpenRig(t *testing.T) {
	sk := person(t)
	rig := must.Get(ReadRig("a.glb", written(t, sk, grown(t, sk), nil)))(t)
	if rig.Skel.Len() != sk.Len() || rig.Skel.Index("LeftFoot") < 0 || len(rig.Rest) != sk.Len() {
		t.Errorf("%v", rig.Skel.Names)
	}
	must.Fail(ReadRig("a.gltf", []byte(`{"asset":{"version":"2.0"},"nodes":[{"name":"a"}]}`)))(t, "a.gltf: skins: there are none, and no animations")
	must.Fail(ReadRig("a.gltf", []byte(`{"asset":{"version":"3.0"}}`)))(t, "version 2 is read")
}

// Animals with other proportions play each other's animations.
func TestOntoRigOfOthers(t *testing.T) {
	dir := filepath.Join(mocapdata.Dir(t), "mesh2motion")
	all := must.Get(OpenMotions(filepath.Join(dir, "animations", "fox-animations.glb")))(t)
	for file, resized := range map[string]bool{"fox-fox": false, "fox-dog": true, "fox-panda": true, "fox-horse": true} {
		path := filepath.Join(dir, "variants", file+".glb")
		rig := must.Get(OpenRig(path))(t)
		var motions []Motion
		for _, m := range all {
			clip, fit, err := OntoRig(rig, m.Clip, nil)
			if err != nil || (fit.Resized > 0) != resized {
				t.Fatalf("%s: %+v, %v", file, fit, err)
			}
			motions = append(motions, Motion{Name: m.Name, Clip: clip})
		}
		out := filepath.Join(t.TempDir(), "out.glb")
		must.Get(AddMotions(path, out, motions, AddOptions{}))(t)
		after := must.Get(OpenMotions(out))(t)
		for i := range after {
			a, b := motions[i].Clip, after[i].Clip
			x, y := make([]m3.Xform, a.Skel.Len()), make([]m3.Xform, b.Skel.Len())
			for f := range a.Frames {
				a.Model(x, f)
				b.Model(y, f)
				for j, name := range a.Skel.Names {
					k := b.Skel.Index(name)
					if k < 0 {
						continue
					}
					if d := x[j].Pos.Dist(y[k].Pos); !(d < 1e-4) {
						t.Fatalf("%s, %s: %s is %.3f mm off", file, motions[i].Name, name, 1000*d)
					}
				}
			}
		}
	}
}

// A person's motion becomes bones of VRM with the same rotations in the scene.
func TestWriteVRMA(t *testing.T) {
	sk := person(t)
	c := wave(sk, 30)
	for f := range c.Frames {
		_, rot := c.Frame(f)
		for j := range rot {
			if !sk.EndSite[j] {
				rot[j] = m3.FromRotationVector(m3.V(m3.Sin(float32(f+j)), 0.3*float32(j), m3.Cos(float32(f))))
			}
		}
	}
	var out bytes.Buffer
	must.Do(t, WriteVRMA(&out, "wave", c))
	f := must.Get(newFile("a.vrma", out.Bytes(), nil))(t)
	rest := must.Get(f.newTree())(t)
	model := make([]m3.Xform, sk.Len())
	for n, node := range f.doc.Nodes {
		if node.Name == "head" || node.Name == "leftToes" {
			high := map[string]float32{"head": 1.4025, "leftToes": 0.02}[node.Name]
			if y := float32(rest.world[n][7]); m3.Abs(y-high) > 1e-4 {
				t.Errorf("%s is %g m high, want %g", node.Name, y, high)
			}
		}
	}
	for _, frame := range []int{0, 7, 19} {
		c.Model(model, frame)
		world := posedNodes(t, out.Bytes(), "wave", frame)
		for n, joint := range map[string]string{"hips": "Hips", "spine": "LowerBack", "chest": "Spine", "upperChest": "Spine1", "neck": "Neck1", "head": "Head",
			"leftUpperArm": "LeftArm", "rightHand": "RightHand", "leftLowerLeg": "LeftLeg", "rightToes": "RightToeBase", "rightShoulder": "RightShoulder"} {
			i := 0
			for i < len(f.doc.Nodes) && f.doc.Nodes[i].Name != n {
				i++
			}
			want := model[sk.Index(joint)]
			for k, axis := range []m3.Vec3{{X: 1}, {Y: 1}, {Z: 1}} {
				w := world[i]
				if got := m3.V(float32(w[k]), float32(w[4+k]), float32(w[8+k])); got.Dist(want.Rot.Rotate(axis)) > 1e-4 {
					t.Errorf("frame %d: %s has another rotation than %s", frame, n, joint)
				}
			}
			if w := world[i]; n == "hips" && m3.V(float32(w[3]), float32(w[7]), float32(w[11])).Dist(want.Pos) > 1e-5 {
				t.Errorf("frame %d: hips are elsewhere", frame)
			}
		}
	}
	d := document(t, out.Bytes()).(map[string]any)
	vrm := d["extensions"].(map[string]any)["VRMC_vrm_animation"].(map[string]any)
	bones := vrm["humanoid"].(map[string]any)["humanBones"].(map[string]any)
	if vrm["specVersion"] != "1.0" || len(bones) != len(writtenBones) {
		t.Errorf("%v", vrm)
	}
	for _, b := range writtenBones {
		if _, ok := bones[b.name]; !ok {
			t.Errorf("no bone %s", b.name)
		}
	}
	for want, change := range map[string]func(c *skel.Clip){
		"needs the joint LeftForeArm":  func(c *skel.Clip) { c.Skel.Names[sk.Index("LeftForeArm")] = "x" },
		"does not stand in a T-pose":   func(c *skel.Clip) { c.Skel.Offsets[sk.Index("LeftForeArm")] = m3.V(0, -0.3, 0) },
		"joint Hips of frame 0 is not": func(c *skel.Clip) { c.Rot[0] = m3.Quat{} },
	} {
		c := wave(person(t), 30)
		change(c)
		if err := WriteVRMA(&out, "x", c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A person's motion written as VRMA and read again has its joints where they were.
func TestVRMARoundTrip(t *testing.T) {
	sk := person(t)
	c := wave(sk, 30)
	for k := range c.Rot {
		if j := k % sk.Len(); !sk.EndSite[j] {
			c.Rot[k] = m3.FromRotationVector(m3.V(0.5*m3.Sin(float32(k)), 0.02*float32(j), 0.4*m3.Cos(float32(k))))
		}
	}
	// Joints without a bone in VRM do not turn.
	for _, name := range []string{"Neck", "LeftHandIndex1", "RightHandIndex1"} {
		for f := range c.Frames {
			c.Rot[f*sk.Len()+sk.Index(name)] = m3.Ident
		}
	}
	var out bytes.Buffer
	must.Do(t, WriteVRMA(&out, "wave", c))
	m := must.Get(ReadMotions("a.vrma", out.Bytes()))(t)[0]
	if m.Clip.Frames != c.Frames || len(m.Parts) < 20 {
		t.Fatalf("%d frames, %v", m.Clip.Frames, m.Parts)
	}
	x, y := make([]m3.Xform, m.Clip.Skel.Len()), make([]m3.Xform, sk.Len())
	for f := range c.Frames {
		m.Clip.Model(x, f)
		c.Model(y, f)
		for joint, own := range m.Parts {
			if d := x[m.Clip.Skel.Index(own)].Pos.Dist(y[sk.Index(joint)].Pos); !(d < 1e-4) {
				t.Errorf("frame %d: %s is %.3f mm off", f, joint, 1000*d)
			}
		}
	}
}
