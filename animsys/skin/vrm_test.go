package skin

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/qmuntal/gltf"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// vrmBones are VRM's bones of mixamo's joints.
func vrmBones() map[string]string {
	out := map[string]string{"Hips": "hips", "Spine": "spine", "Spine1": "chest", "Spine2": "upperChest", "Neck": "neck", "Head": "head"}
	for _, side := range []string{"Left", "Right"} {
		for ours, theirs := range map[string]string{"UpLeg": "UpperLeg", "Leg": "LowerLeg", "Foot": "Foot", "ToeBase": "Toes", "Shoulder": "Shoulder",
			"Arm": "UpperArm", "ForeArm": "LowerArm", "Hand": "Hand", "HandIndex1": "IndexProximal", "HandThumb1": "ThumbMetacarpal"} {
			out[side+ours] = strings.ToLower(side) + theirs
		}
	}
	return out
}

// nodeNumbers returns the nodes of mixamo's joints by VRM's names of their bones, and hides the joints'
// own names.
func nodeNumbers(d *gltf.Document) map[string]int {
	bones, out := vrmBones(), map[string]int{}
	for i, n := range d.Nodes {
		if b, ok := bones[n.Name]; ok {
			out[b] = i
		}
		if n.Name != "character" {
			n.Name = fmt.Sprintf("骨%d", i)
		}
	}
	return out
}

// asVRM1 makes a document a VRM 1.0.
func asVRM1(d *gltf.Document) {
	bones := map[string]any{}
	for b, n := range nodeNumbers(d) {
		bones[b] = map[string]any{"node": n}
	}
	d.Extensions = gltf.Extensions{vrm1: map[string]any{"specVersion": "1.0", "humanoid": map[string]any{"humanBones": bones},
		"meta": map[string]any{"name": "Ann\n", "version": "2", "authors": []string{"A. Author", "B"}, "licenseUrl": "https://vrm.dev/licenses/1.0/", "commercialUsage": "corporation", "allowRedistribution": false}}}
	d.ExtensionsRequired = []string{vrm1}
}

// asVRM0 makes a document a VRM 0.x, which faces −Z.
func asVRM0(d *gltf.Document) {
	var bones []any
	for b, n := range nodeNumbers(d) {
		b = strings.Replace(b, "ThumbMetacarpal", "ThumbProximal", 1)
		bones = append(bones, map[string]any{"bone": b, "node": n})
	}
	bones = append(bones, map[string]any{"bone": "jaw", "node": -1})
	d.Extensions = gltf.Extensions{vrm0: map[string]any{"humanoid": map[string]any{"humanBones": bones},
		"meta": map[string]any{"title": "Ann", "author": "A. Author", "licenseName": "CC_BY", "commercialUssageName": "Allow"}}}
	root(d).Rotation = [4]float64{0, 1, 0, 0}
}

// A VRM needs no names: its table says what its joints are. It is turned to face +Z.
func TestVRM(t *testing.T) {
	sk, target := mixamo(t), person(t)
	data := written(t, sk, grown(t, sk), nil)
	want := must.Get(must.Get(readAlone("a.glb", data))(t).Character(target, CharacterOptions{Size: 1}))(t).Body
	for name, c := range map[string]struct {
		edit   func(d *gltf.Document)
		turned bool
		meta   string
	}{
		"1.0": {asVRM1, false, "VRM 1.0; Ann 2; by A. Author, B; licence https://vrm.dev/licenses/1.0/; commercialUsage: corporation, allowRedistribution: false"},
		"0.x": {asVRM0, true, "VRM 0.x; Ann; by A. Author; licence CC_BY; commercialUssageName: Allow"},
	} {
		s := must.Get(readAlone("a.vrm", edited(t, data, c.edit)))(t)
		made := must.Get(s.Character(target, CharacterOptions{Size: 1}))(t)
		b, report := made.Body, made.Report
		if got := s.Meta.String(); got != c.meta || !strings.Contains(report.String(), c.meta) {
			t.Errorf("%s: %q, want %q; report %v", name, got, c.meta, report)
		}
		if report.Turned != c.turned || len(report.Pairs) != 24 {
			t.Errorf("%s: turned %v, %d pairs: %v", name, report.Turned, len(report.Pairs), report.Pairs)
		}
		if upright, err := s.Upright(); err != nil || !upright {
			t.Errorf("%s: upright %v, %v", name, upright, err)
		}
		far := float32(0)
		for v, p := range b.Levels[0].Pos {
			far = max(far, p.Dist(want.Levels[0].Pos[v]))
		}
		if far > 1e-3 {
			t.Errorf("%s: up to %g m off the same character with names", name, far)
		}
	}
}

// What the table lacks is guessed by names; the table comes first.
func TestVRMPart(t *testing.T) {
	sk := mixamo(t)
	data := edited(t, written(t, sk, grown(t, sk), nil), func(d *gltf.Document) {
		n := slices.IndexFunc(d.Nodes, func(n *gltf.Node) bool { return n.Name == "LeftForeArm" })
		d.Nodes[n].Name = "Head"
		d.Extensions = gltf.Extensions{vrm1: map[string]any{"humanoid": map[string]any{"humanBones": map[string]any{"leftLowerArm": map[string]any{"node": n}}}}}
	})
	report := must.Get(must.Get(readAlone("a.vrm", data))(t).Character(person(t), CharacterOptions{}))(t).Report
	for _, p := range report.Pairs {
		if p.Joint == "LeftForeArm" && p.Source != "Head_2" || p.Joint == "Hips" && p.Source != "Hips" {
			t.Errorf("%v", report.Pairs)
		}
	}
}

// Rigid meshes on the bones of a VRM are a body.
func TestVRMWithoutSkin(t *testing.T) {
	d := small()
	d.Nodes[2] = &gltf.Node{Name: "plate", Mesh: gltf.Index(0)}
	d.Nodes[1].Children = []int{2}
	d.Scenes[0].Nodes = []int{0}
	d.Skins = nil
	d.Extensions = gltf.Extensions{vrm1: map[string]any{"humanoid": map[string]any{"humanBones": map[string]any{"hips": map[string]any{"node": 0}, "head": map[string]any{"node": 1}}}}}
	s := must.Get(readAlone("a.vrm", encode(t, d, true)))(t)
	if s.Vertices() != 3 || !slices.Equal(s.Joints(), []string{"a", "b"}) || s.mesh.influences[0][0] != (influence{1, 1}) {
		t.Errorf("%d vertices on %q: %v", s.Vertices(), s.Joints(), s.mesh.influences)
	}
}

func TestVRMErrors(t *testing.T) {
	table := func(bones any) map[string]any {
		return map[string]any{"humanoid": map[string]any{"humanBones": bones}, "meta": 7}
	}
	bone := func(n any) map[string]any { return map[string]any{"hips": map[string]any{"node": n}} }
	for want, x := range map[string]gltf.Extensions{
		"extensions.VRMC_vrm.humanoid.humanBones.hips.node: there is no nodes[9]: there are 3": {vrm1: table(bone(9))},
		"extensions.VRMC_vrm.humanoid.humanBones.hips.node: there is no nodes[-1]":             {vrm1: table(bone(-1))},
		"extensions.VRMC_vrm.humanoid.humanBones.hips.node: is missing":                        {vrm1: table(map[string]any{"hips": map[string]any{}})},
		"extensions.VRMC_vrm: is no table of bones":                                            {vrm1: table(bone("a"))},
		"extensions.VRM.humanoid.humanBones[1]: hips is there twice":                           {vrm0: table([]any{map[string]any{"bone": "hips", "node": 0}, map[string]any{"bone": "hips", "node": 1}})},
		"extensions.VRM: is no table of bones":                                                 {vrm0: []any{}},
		"extensions.VRMC_vrm_animation.humanoid.humanBones.hips.node: there is no nodes[9]":    {vrmAnim: table(bone(9))},
		"extensions: the table of bones names nodes[2] for Hips: the scene does not have it":   {vrm1: table(bone(2))},
	} {
		d := small()
		d.Scenes[0].Nodes = []int{0, 3}
		d.Nodes = append(d.Nodes[:2:2], &gltf.Node{}, d.Nodes[2])
		if strings.Contains(want, "are 3") {
			d.Nodes, d.Scenes[0].Nodes = append(d.Nodes[:2:2], d.Nodes[3]), []int{0, 2}
		}
		d.Extensions = x
		must.Fail(readAlone("a.vrm", encode(t, d, true)))(t, want)
	}
}

// asAnimation makes a document a VRM animation: bones only, in frames of their own, with an expression.
func asAnimation(d *gltf.Document) {
	asVRM1(d)
	table := d.Extensions[vrm1].(map[string]any)["humanoid"]
	d.Meshes, d.Skins = nil, nil
	for _, n := range d.Nodes {
		n.Mesh, n.Skin = nil, nil
	}
	d.Nodes = append(d.Nodes, &gltf.Node{Name: "happy"})
	d.Scenes[0].Nodes = append(d.Scenes[0].Nodes, len(d.Nodes)-1)
	a := d.Animations[0]
	a.Channels = append(a.Channels, &gltf.AnimationChannel{Sampler: 1, Target: gltf.AnimationChannelTarget{Node: gltf.Index(len(d.Nodes) - 1), Path: gltf.TRSTranslation}})
	d.Asset.Generator, d.ExtensionsRequired = "", nil
	d.Extensions = gltf.Extensions{vrmAnim: map[string]any{"humanoid": table, "expressions": map[string]any{"preset": map[string]any{"happy": map[string]any{"node": len(d.Nodes) - 1}}}}}
}

// A VRM animation names its joints, moves no expression's node as one, and rests in its T-pose.
func TestVRMAnimation(t *testing.T) {
	sk := mixamo(t)
	tall := posed(grown(t, sk), tPose(t, sk))
	clip := skel.NewClip(sk, 30, 10)
	for f := range clip.Frames {
		pos, rot := clip.Frame(f)
		pos[0] = m3.V(0, 1, 0)
		rot[sk.Index("LeftArm")] = m3.AxisAngle(m3.V(0, 0, 1), 0.1*float32(f))
	}
	m := must.Get(ReadMotions("a.vrma", edited(t, written(t, sk, tall, clip), asAnimation)))(t)[0]
	if m.Clip.Skel.Len() != len(vrmBones()) || len(m.Parts) != 24 {
		t.Errorf("%d joints, %d parts: %v", m.Clip.Skel.Len(), len(m.Parts), m.Parts)
	}
	for part, want := range map[string]string{"Hips": "Hips", "LowerBack": "Spine", "Spine": "Spine1", "Spine1": "Spine2", "LeftArm": "LeftArm", "RightToeBase": "RightToeBase", "LeftHandIndex1": "LeftHandIndex1"} {
		if got := m.Parts[part]; got != fmt.Sprintf("骨%d", sk.Index(want)) {
			t.Errorf("%s is %s, want %s", part, got, want)
		}
	}
	if !slices.Contains(m.Notes, "what it has besides bones is not read: expressions") {
		t.Errorf("notes %q", m.Notes)
	}
	at := m.AtRest()
	for j, name := range at.Skel.Names {
		k := slices.IndexFunc(sk.Names, func(n string) bool { return fmt.Sprintf("骨%d", sk.Index(n)) == name })
		if d := m.Rest[j].Pos.Dist(tall.Bind[k].Pos); d > 1e-4 {
			t.Errorf("%s rests %g m off", sk.Names[k], d)
		}
	}
}
