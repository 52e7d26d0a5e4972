package skin

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

const posedNote = "posed unlike the bind pose"

// nodeOf returns the node with a name.
func nodeOf(d *gltf.Document, name string) *gltf.Node {
	return d.Nodes[slices.IndexFunc(d.Nodes, func(n *gltf.Node) bool { return n.Name == name })]
}

// turnNode turns a node in its parent's space.
func turnNode(n *gltf.Node, q m3.Quat) {
	r := n.RotationOrDefault()
	q = q.Mul(m3.Quat{X: float32(r[0]), Y: float32(r[1]), Z: float32(r[2]), W: float32(r[3])})
	n.Rotation = [4]float64{float64(q.X), float64(q.Y), float64(q.Z), float64(q.W)}
}

// widest returns the largest distance between joints and vertices of two skins.
func widest(t *testing.T, a, b *Skin) (far float32) {
	t.Helper()
	if len(a.joints) != len(b.joints) || len(a.mesh.pos) != len(b.mesh.pos) {
		t.Fatalf("%d joints and %d vertices, want %d and %d", len(a.joints), len(a.mesh.pos), len(b.joints), len(b.mesh.pos))
	}
	for j := range a.joints {
		far = max(far, a.joints[j].pos.Dist(b.joints[j].pos))
	}
	for v := range a.mesh.pos {
		far = max(far, a.mesh.pos[v].Dist(b.mesh.pos[v]))
	}
	return far
}

// A character whose nodes stand in a pose is the one that was bound, whatever is posed, under a scaled and
// turned armature, too.
func TestBindPose(t *testing.T) {
	sk := person(t)
	data := written(t, sk, grown(t, sk), nil)
	pose := func(d *gltf.Document) {
		turnNode(nodeOf(d, "LeftArm"), m3.AxisAngle(m3.V(0, 0, 1), 1))
		turnNode(nodeOf(d, "RightLeg"), m3.AxisAngle(m3.V(1, 0, 0), 0.8))
		nodeOf(d, "Head").Translation[1] += 0.05
	}
	lean := func(d *gltf.Document) { turnNode(nodeOf(d, "Hips"), m3.AxisAngle(m3.V(1, 0, 1).Normalize(m3.Up), 0.5)) }
	armature := func(d *gltf.Document) {
		root(d).Rotation, root(d).Scale = [4]float64{-math.Sqrt2 / 2, 0, 0, math.Sqrt2 / 2}, [3]float64{0.01, 0.01, 0.01}
	}
	for name, edit := range map[string][]func(d *gltf.Document){
		"limbs":               {pose},
		"both":                {lean, pose},
		"below an armature":   {armature, pose},
		"leaning below it":    {armature, lean, pose},
		"hidden by its scale": {func(d *gltf.Document) { nodeOf(d, "LeftHand").Scale = [3]float64{0.001, 0.001, 0.001} }},
	} {
		want := must.Get(readAlone("a.glb", edited(t, data, func(d *gltf.Document) {
			if strings.Contains(name, "below") {
				armature(d)
			}
		})))(t)
		got := must.Get(readAlone("a.glb", edited(t, data, func(d *gltf.Document) {
			for _, e := range edit {
				e(d)
			}
		})))(t)
		if far := widest(t, got, want); far > 2e-4 || !strings.Contains(strings.Join(got.Notes, "\n"), posedNote) {
			t.Errorf("%s: up to %g m off the bind pose; notes %q", name, far, got.Notes)
		}
		if len(want.Notes) > 0 {
			t.Errorf("%s: the bind pose itself has notes %q", name, want.Notes)
		}
	}
}

// A mesh whose vertices are in the space of each joint has no bind pose: its nodes tell its shape.
func TestNoBindPose(t *testing.T) {
	d := small()
	d.Nodes[1].Children = []int{3}
	d.Nodes = append(d.Nodes, &gltf.Node{Name: "c", Translation: [3]float64{1, 0, 0}})
	d.Skins[0].Joints = []int{0, 1, 3}
	one := [4][4]float32{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}
	d.Skins[0].InverseBindMatrices = gltf.Index(modeler.WriteAccessor(d, gltf.TargetNone, [][4][4]float32{one, one, one}))
	s := must.Get(readAlone("a.glb", encode(t, d, true)))(t)
	if len(s.Notes) > 0 || s.joints[2].pos != m3.V(1, 1, 0) || s.mesh.pos[2] != m3.V(0, 2, 0) {
		t.Errorf("joints %v, vertices %v, notes %q", s.joints, s.mesh.pos, s.Notes)
	}
}

// What hangs on a posed joint without a skin of its own comes back with it, and so does another skin.
func TestBindPoseFollows(t *testing.T) {
	sk := person(t)
	data := written(t, sk, grown(t, sk), nil)
	with := func(posed, nested bool) *Skin {
		return must.Get(readAlone("a.glb", edited(t, data, func(d *gltf.Document) {
			hand := nodeOf(d, "LeftHand")
			tip := len(d.Nodes)
			d.Nodes = append(d.Nodes, &gltf.Node{Name: "tip", Translation: [3]float64{0.5, 0, 0}}, &gltf.Node{Name: "sword", Translation: [3]float64{0.1, 0, 0}, Children: []int{tip}},
				&gltf.Node{Name: "hat", Mesh: gltf.Index(0), Translation: [3]float64{0, 0.2, 0}}, &gltf.Node{Name: "blade", Mesh: gltf.Index(0), Skin: gltf.Index(1)})
			n := len(d.Nodes)
			hand.Children = append(hand.Children, n-3)
			nodeOf(d, "Head").Children = append(nodeOf(d, "Head").Children, n-2)
			d.Scenes[0].Nodes = append(d.Scenes[0].Nodes, n-1)
			d.Skins = append(d.Skins, &gltf.Skin{Joints: append(slices.Repeat([]int{n - 3}, sk.Len()-1), tip)})
			if nested { // the sword has a bind pose in a space of its own
				one, far := [4][4]float32{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}, [4][4]float32{{1, 0, 0, -0.5}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}
				d.Skins[1].InverseBindMatrices = gltf.Index(modeler.WriteAccessor(d, gltf.TargetNone, append(slices.Repeat([][4][4]float32{one}, sk.Len()-1), far)))
			}
			if posed {
				if nested {
					turnNode(nodeOf(d, "tip"), m3.AxisAngle(m3.V(0, 0, 1), 1))
				}
				turnNode(nodeOf(d, "LeftArm"), m3.AxisAngle(m3.V(0, 0, 1), 1))
				turnNode(nodeOf(d, "Neck"), m3.AxisAngle(m3.V(0, 0, 1), 1))
			}
		})))(t)
	}
	for _, nested := range []bool{false, true} {
		if far := widest(t, with(true, nested), with(false, nested)); far > 2e-4 {
			t.Errorf("nested %v: up to %g m off", nested, far)
		}
	}
}

// A mirrored armature is the mirrored character: the same triangles face outward, and motions go on.
func TestMirrored(t *testing.T) {
	sk := person(t)
	data := written(t, sk, grown(t, sk), wave(sk, 30))
	plain := must.Get(readAlone("a.glb", data))(t)
	mirror := func(d *gltf.Document) { root(d).Scale = [3]float64{-1, 1, 1} }
	s := must.Get(readAlone("a.glb", edited(t, data, mirror)))(t)
	for v, p := range s.mesh.pos {
		if q := plain.mesh.pos[v]; p.Dist(m3.V(-q.X, q.Y, q.Z)) > 1e-6 {
			t.Fatalf("vertex %d is at %v, want %v mirrored", v, p, q)
		}
	}
	inward := 0
	for i := 0; i < len(s.mesh.index); i += 3 {
		a, b, c := s.mesh.index[i], s.mesh.index[i+1], s.mesh.index[i+2]
		n := s.mesh.pos[b].Sub(s.mesh.pos[a]).Cross(s.mesh.pos[c].Sub(s.mesh.pos[a]))
		if n.Dot(s.mesh.normal[a].Add(s.mesh.normal[b]).Add(s.mesh.normal[c])) < 0 {
			inward++
		}
	}
	if inward > s.Triangles()/100 || !strings.Contains(strings.Join(s.Notes, "\n"), "30 joints are mirrored") {
		t.Errorf("%d of %d triangles face inward; notes %q", inward, s.Triangles(), s.Notes)
	}
	moved, want := must.Get(ReadMotions("a.glb", edited(t, data, mirror)))(t)[0], must.Get(ReadMotions("a.glb", data))(t)[0]
	far := float32(0)
	a, b := make([]m3.Xform, sk.Len()), make([]m3.Xform, sk.Len())
	for f := range want.Clip.Frames {
		moved.Clip.Model(a, f)
		want.Clip.Model(b, f)
		for j := range a {
			far = max(far, a[j].Pos.Dist(m3.V(-b[j].Pos.X, b[j].Pos.Y, b[j].Pos.Z)))
		}
		for j, p := range sk.Parents {
			pos, _ := moved.Clip.Frame(f)
			if p >= 0 && pos[j].Dist(moved.Clip.Skel.Offsets[j]) > 1e-5 {
				t.Fatalf("frame %d: %s is at %v, at rest at %v", f, sk.Names[j], pos[j], moved.Clip.Skel.Offsets[j])
			}
		}
	}
	if far > 1e-5 || !strings.Contains(strings.Join(moved.Notes, "\n"), "mirrored back") {
		t.Errorf("up to %g m off the mirrored motion; notes %q", far, moved.Notes)
	}
}

// Of two characters in a file the one with more vertices is read, or the one that is named.
func TestTwoCharacters(t *testing.T) {
	sk := person(t)
	data := edited(t, written(t, sk, grown(t, sk), nil), func(d *gltf.Document) {
		root(d).Name = "Bob"
		// Alice has the same joints, one triangle, and stands aside.
		first := len(d.Nodes)
		for _, n := range d.Nodes[:first-1] {
			twin := *n
			twin.Children = nil
			for _, c := range n.Children {
				twin.Children = append(twin.Children, c+first)
			}
			if n.Name == "Bob" {
				twin.Name, twin.Translation = "Alice", [3]float64{2, 0, 0}
			}
			d.Nodes = append(d.Nodes, &twin)
		}
		joints := make([]int, sk.Len())
		for j := range joints {
			joints[j] = first + j
		}
		d.Skins = append(d.Skins, &gltf.Skin{Joints: joints, InverseBindMatrices: d.Skins[0].InverseBindMatrices})
		d.Meshes = append(d.Meshes, &gltf.Mesh{Primitives: []*gltf.Primitive{{Attributes: gltf.PrimitiveAttributes{
			gltf.POSITION: modeler.WritePosition(d, [][3]float32{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}), gltf.JOINTS_0: modeler.WriteJoints(d, make([][4]uint8, 3)),
			gltf.WEIGHTS_0: modeler.WriteWeights(d, slices.Repeat([][4]float32{{1}}, 3))}}}})
		d.Nodes = append(d.Nodes, &gltf.Node{Mesh: gltf.Index(1), Skin: gltf.Index(1)})
		d.Scenes[0].Nodes = append(d.Scenes[0].Nodes, 2*first-2, 2*first-1)
	})
	for name, c := range map[string]struct {
		vertices int
		x        float32
		note     string
	}{
		"":      {len(grown(t, sk).Levels[0].Pos), 0, `another character, "Alice", with 30 joints and 3 vertices, is left out: "Bob" is read`},
		"Bob":   {len(grown(t, sk).Levels[0].Pos), 0, `another character, "Alice"`},
		"Alice": {3, 2, `another character, "Bob"`},
	} {
		s := must.Get(readCharacter("two.glb", data, nil, name))(t)
		if s.Vertices() != c.vertices || len(s.joints) != sk.Len() || m3.Abs(s.joints[0].pos.X-c.x) > 0.01 || s.joints[0].name != "Hips" ||
			len(s.Notes) != 1 || !strings.Contains(s.Notes[0], c.note) {
			t.Errorf("%q: %d vertices, %d joints, %q at %v, notes %q", name, s.Vertices(), len(s.joints), s.joints[0].name, s.joints[0].pos, s.Notes)
		}
	}
	two := must.Get(readCharacter("two.glb", data, nil, ""))(t)
	if _, err := two.Character(dog(t), CharacterOptions{}); err == nil || !strings.Contains(err.Error(), "name one as in two.glb#Alice") {
		t.Errorf("a person as a dog: %v", err)
	}
	must.Fail(readCharacter("two.glb", data, nil, "Carol"))(t, `no character is called "Carol": there is Bob, Alice`)
	must.Fail(readCharacter("one.glb", written(t, sk, grown(t, sk), nil), nil, "Carol"))(t, "there is character")
}

// Two whole bodies below one node are two characters, though no name of one is one of the other's.
func TestTwoBodiesBelowOneNode(t *testing.T) {
	sk := person(t)
	data := edited(t, written(t, sk, grown(t, sk), nil), func(d *gltf.Document) {
		first, joints := len(d.Nodes), make([]int, sk.Len())
		top := root(d)
		for i, n := range d.Nodes[:first] {
			twin := gltf.Node{Name: fmt.Sprintf("b%d", i), Translation: n.Translation, Rotation: n.Rotation, Scale: n.Scale}
			for _, c := range n.Children {
				twin.Children = append(twin.Children, c+first)
			}
			d.Nodes = append(d.Nodes, &twin)
			if n == top {
				top.Children = append(top.Children, twin.Children...)
				twin.Children = nil
			}
		}
		for k, j := range d.Skins[0].Joints {
			joints[k] = first + j
		}
		d.Skins = append(d.Skins, &gltf.Skin{Joints: joints, InverseBindMatrices: d.Skins[0].InverseBindMatrices})
		d.Nodes = append(d.Nodes, &gltf.Node{Mesh: gltf.Index(0), Skin: gltf.Index(1)})
		d.Scenes[0].Nodes = append(d.Scenes[0].Nodes, len(d.Nodes)-1)
	})
	s := must.Get(readAlone("two.glb", data))(t)
	if len(s.joints) != sk.Len() || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "another character") {
		t.Errorf("%d joints, notes %q", len(s.joints), s.Notes)
	}
}

// Skins of one character are one, even if they share no joints: legs and trunk below the same node.
func TestSkinsOfOneCharacter(t *testing.T) {
	d := small()
	d.Nodes = []*gltf.Node{{Name: "hips", Children: []int{1, 2}}, {Name: "leg"}, {Name: "spine", Children: []int{3}}, {Name: "head", Translation: [3]float64{0, 1, 0}},
		{Mesh: gltf.Index(0), Skin: gltf.Index(0)}, {Mesh: gltf.Index(0), Skin: gltf.Index(1)}}
	d.Scenes[0].Nodes = []int{0, 4, 5}
	d.Skins = []*gltf.Skin{{Joints: []int{1, 1}}, {Joints: []int{3, 3}}} // hips and spine move nothing
	s := must.Get(readAlone("a.glb", encode(t, d, true)))(t)
	if !slices.Equal(s.Joints(), []string{"leg", "head"}) || s.Vertices() != 6 || len(s.Notes) > 0 {
		t.Errorf("%q, %d vertices, %q", s.Joints(), s.Vertices(), s.Notes)
	}
}

// The same joints twice are two characters, even below the same node.
func TestTwinsBelowOneNode(t *testing.T) {
	d := small()
	d.Nodes = []*gltf.Node{{Name: "scene", Children: []int{1, 4}}, {Name: "hips", Children: []int{2, 3}}, {Name: "leg"}, {Name: "head"},
		{Name: "hips.001", Children: []int{5, 6}}, {Name: "leg.001"}, {Name: "head.001"}, {Mesh: gltf.Index(0), Skin: gltf.Index(0)}, {Mesh: gltf.Index(0), Skin: gltf.Index(1)}}
	d.Scenes[0].Nodes = []int{0, 7, 8}
	d.Skins = []*gltf.Skin{{Name: "one", Joints: []int{1, 2, 3}}, {Name: "two", Joints: []int{4, 5, 6}}}
	s := must.Get(readCharacter("a.glb", encode(t, d, true), nil, "two"))(t)
	if !slices.Equal(s.Joints(), []string{"hips.001", "leg.001", "head.001"}) || s.Vertices() != 3 {
		t.Errorf("%q, %d vertices", s.Joints(), s.Vertices())
	}
}

// The rest pose of a motion is the bind pose, and AtRest makes it the pose without rotations.
func TestMotionAtRest(t *testing.T) {
	sk := person(t)
	data := edited(t, written(t, sk, grown(t, sk), wave(sk, 30)), func(d *gltf.Document) {
		d.Asset.Generator = "another program"
		turnNode(nodeOf(d, "LeftArm"), m3.AxisAngle(m3.V(0, 0, 1), 1))
	})
	m := must.Get(ReadMotions("a.glb", data))(t)[0]
	at := m.AtRest()
	still := skel.NewClip(at.Skel, 30, 1)
	model := make([]m3.Xform, sk.Len())
	still.Model(model, 0)
	for j, x := range grown(t, sk).Bind {
		i := at.Skel.Index(sk.Names[j])
		if model[i].Pos.Dist(x.Pos) > 1e-4 || m.Rest[i].Rot.Angle(x.Rot) > 1e-3 {
			t.Errorf("%s rests at %v, want %v", sk.Names[j], model[i].Pos, x.Pos)
		}
	}
	was := make([]m3.Xform, sk.Len())
	for f := range at.Frames {
		at.Model(model, f)
		m.Clip.Model(was, f)
		for j := range model {
			if model[j].Pos.Dist(was[j].Pos) > 1e-4 {
				t.Fatalf("frame %d: %s is at %v, want %v", f, at.Skel.Names[j], model[j].Pos, was[j].Pos)
			}
		}
	}
	own := must.Get(ReadMotions("a.glb", written(t, sk, grown(t, sk), wave(sk, 30))))(t)[0]
	if own.AtRest() != own.Clip {
		t.Error("a motion of Write got other frames")
	}
}
