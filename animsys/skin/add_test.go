package skin

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/qmuntal/gltf"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/affine"
	"mannequin/internal/testing/must"
)

// hero is a character as programs write them: an armature that is turned and in centimetres, a node
// between joints, a matrix, a mirrored arm, names of all kinds, numbers, members and extensions that a
// decoder would lose. %s are a buffer's other members and an image.
const hero = `{
  "asset": {"version": "2.0", "generator": "by hand", "extras": {"made": 1.10}},
  "extensionsUsed": ["EXT_unknown"],
  "extensions": {"EXT_unknown": {"a": [1, 2.50, 3e2, "] } \" ["], "big": 12345678901234567890}},
  "scene": 0,
  "scenes": [{"nodes": [0, 9]}],
  "nodes": [
    {"name": "Armature", "rotation": [-0.70710678118, 0, 0, 0.70710678118], "scale": [0.01, 0.01, 0.01], "children": [1], "extras": {"id": 7.0}},
    {"name": "Hips", "translation": [0, 0, 100], "children": [2, 5, 7]},
    {"name": "between", "translation": [10, 0, -5], "rotation": [0, 0.1, 0, 0.99498743710662], "scale": [1, 2, 1], "children": [3]},
    {"name": "Bein {links} 左", "extras": null, "matrix": [0,1,0,0, -1,0,0,0, 0,0,1,0, 1,-20,3,1], "children": [4]},
    {"name": "Foot", "translation": [0, -40, 0]},
    {"name": "Arm", "translation": [-20, 0, 50], "scale": [-1, 1, 1], "children": [6]},
    {"name": "Hand", "translation": [20, 0, 0]},
    {"name": "Arm", "translation": [20, 0, 50], "scale": [1, 1, 1], "children": [8]},
    {"translation": [20, 0, 0], "matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]},
    {"name": "mesh", "mesh": 0, "skin": 0}
  ],
  "skins": [{"joints": [1, 3, 4, 5, 6, 7, 8]}],
  "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}, "material": 0}]}],
  "materials": [{"name": "skin", "pbrMetallicRoughness": {"metallicFactor": 0.0}, "extensions": {"EXT_unknown": {}}}],
  "buffers": [{"byteLength": 108, "name": "old"%s}],
  "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 12}, {"buffer": 0, "byteOffset": 48, "byteLength": 48}, {"buffer": 0, "byteOffset": 96, "byteLength": 12}],
  "accessors": [
    {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
    {"bufferView": 1, "componentType": 5121, "count": 3, "type": "VEC4"},
    {"bufferView": 2, "componentType": 5126, "count": 3, "type": "VEC4"},
    {"bufferView": 3, "componentType": 5126, "count": 1, "type": "SCALAR", "min": [0], "max": [0]},
    {"bufferView": 3, "componentType": 5126, "count": 1, "type": "VEC3"}
  ]%s,
  "animations": [ {"name": "old", "extras": [1.0], "samplers": [{"input": 3, "output": 4}], "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}]} ]
}`

// heroBin is the binary data of hero.
func heroBin() []byte {
	var out []byte
	for _, x := range []float32{0, 0, 0, 1, 0, 0, 0, 1, 0} {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	out = append(out, make([]byte, 12)...)
	for range 3 {
		out = append(binary.LittleEndian.AppendUint32(out, math.Float32bits(1)), make([]byte, 12)...)
	}
	return append(out, make([]byte, 12)...)
}

// glbOf returns a GLB with a JSON text as it is, and more chunks.
func glbOf(text string, bin []byte, more ...byte) []byte {
	text += strings.Repeat(" ", -len(text)&3)
	out := []byte("glTF\x02\x00\x00\x00\x00\x00\x00\x00")
	out = append(append(binary.LittleEndian.AppendUint32(out, uint32(len(text))), "JSON"...), text...)
	out = append(append(binary.LittleEndian.AppendUint32(out, uint32(len(bin))), "BIN\x00"...), bin...)
	out = append(out, more...)
	binary.LittleEndian.PutUint32(out[8:], uint32(len(out)))
	return out
}

// heroGLB is hero as a GLB with a chunk that glTF does not know.
func heroGLB() []byte {
	return glbOf(fmt.Sprintf(hero, "", ""), heroBin(), []byte("\x04\x00\x00\x00MOREmore")...)
}

// heroJoints are the joints of hero; a joint's node is not always below its parent's.
func heroJoints() *skel.Skeleton {
	return &skel.Skeleton{
		Names:   []string{"Hips", "Bein {links} 左", "Foot", "Arm", "Hand", "Arm_2", "node8", "FootSite"},
		Parents: []int16{-1, 0, 1, 0, 3, 0, 5, 2}, Offsets: make([]m3.Vec3, 8), EndSite: []bool{7: true},
	}
}

// heroNodes are the nodes of heroJoints.
var heroNodes = []int{1, 3, 4, 5, 6, 7, 8}

// dance returns a motion of hero.
func dance(frames int) Motion {
	sk := heroJoints()
	c := skel.NewClip(sk, 30, frames)
	for f := range frames {
		pos, rot := c.Frame(f)
		for j := range pos {
			x := float32(f)*0.13 + float32(j)
			pos[j] = m3.V(0.2*m3.Sin(x), 0.3, 0.2*m3.Cos(2*x))
			rot[j] = m3.FromRotationVector(m3.V(2*m3.Sin(x), 3*m3.Cos(x), 0.7*x))
			if f%3 == 1 {
				rot[j] = rot[j].Neg() // the same rotation
			}
		}
	}
	return Motion{Name: `dance "左" <1>`, Clip: c}
}

// posed returns the transforms of all nodes at a key of an animation: by the letter of the format.
func posedNodes(t testing.TB, data []byte, name string, key int) []affine.Transform {
	t.Helper()
	f := must.Get(nodesOf("posed.glb", data, nil))(t)
	i := slices.IndexFunc(f.doc.Animations, func(a *gltf.Animation) bool { return a.Name == name })
	if i < 0 {
		t.Fatalf("no animation %q", name)
	}
	for _, c := range f.doc.Animations[i].Channels {
		s := f.doc.Animations[i].Samplers[c.Sampler]
		values := must.Get(f.accessor("output", s.Output, MaxKeys, gltf.AccessorVec3, gltf.AccessorVec4))(t)
		k := min(key, values.count-1)
		n := f.doc.Nodes[*c.Target.Node]
		if n.MatrixOrDefault() != gltf.DefaultMatrix {
			t.Fatalf("nodes[%d] moves and has a matrix", *c.Target.Node)
		}
		for i := range values.width {
			if c.Target.Path == gltf.TRSRotation {
				n.Rotation[i] = values.at(k, i)
			} else {
				n.Translation[i] = values.at(k, i)
			}
		}
	}
	return must.Get(f.newTree())(t).world
}

// Nodes above, between, with a matrix and mirrored: joints are where the clip has them.
func TestAddPlacesJoints(t *testing.T) {
	m := dance(12)
	data, report, err := AppendMotions("hero.glb", heroGLB(), []Motion{m}, AddOptions{})
	must.Do(t, err)
	if report.Joints != 7 || report.Missing != nil || !slices.Equal(report.Animations, []string{m.Name}) {
		t.Errorf("%+v", report)
	}
	model := make([]m3.Xform, m.Clip.Skel.Len())
	for f := range m.Clip.Frames {
		m.Clip.Model(model, f)
		for n, w := range posedNodes(t, data, m.Name, f) {
			j := slices.Index(heroNodes, n)
			if j < 0 {
				continue
			}
			if at := m3.V(float32(w[3]), float32(w[7]), float32(w[11])); at.Dist(model[j].Pos) > 2e-6 {
				t.Errorf("frame %d: %s is at %v, want %v", f, m.Clip.Skel.Names[j], at, model[j].Pos)
			}
			x := m3.V(float32(w[0]), float32(w[4]), float32(w[8])).Normalize(m3.Up)
			if w.Det() < 0 {
				x = x.Neg()
			}
			if mirrored := n == 5 || n == 6; mirrored != (w.Det() < 0) {
				t.Errorf("nodes[%d] changes its side", n)
			}
			y := m3.V(float32(w[1]), float32(w[5]), float32(w[9]))
			want := model[j].Rot
			if x.Dist(want.Rotate(m3.V(1, 0, 0))) > 1e-5 || m3.Abs(y.Dot(want.Rotate(m3.V(0, 0, 1)))) > 1e-5 || y.Dot(want.Rotate(m3.V(0, 1, 0))) <= 0 {
				t.Errorf("frame %d: %s has another rotation", f, m.Clip.Skel.Names[j])
			}
		}
	}
	// The node between keeps its transform, and the old animation has its keys.
	if d := document(t, data).(map[string]any); len(d["animations"].([]any)) != 2 {
		t.Errorf("%v", d["animations"])
	}
}

// The text is the old one with insertions: numbers, order, unknown members and chunks stay. Only nodes
// that move lose their matrix.
func TestAddKeepsTheText(t *testing.T) {
	old := heroGLB()
	data, _, err := AppendMotions("hero.glb", old, []Motion{dance(3)}, AddOptions{})
	must.Do(t, err)
	text, chunks := splitChunks(data)
	if string(chunks) != "\x04\x00\x00\x00MOREmore" {
		t.Errorf("chunks %q", chunks)
	}
	before, _ := splitChunks(old)
	rest := text
	for _, line := range strings.Split(strings.TrimRight(string(before), " "), "\n") {
		if strings.Contains(line, "matrix") || strings.Contains(line, `"buffers"`) {
			continue
		}
		// A list's last item, or its line, may be followed by new ones.
		for _, part := range strings.SplitAfter(line, "}]") {
			part = strings.TrimSuffix(part, "]")
			i := bytes.Index(rest, []byte(part))
			if i < 0 {
				t.Fatalf("%q is not in\n%s", part, text)
			}
			rest = rest[i+len(part):]
		}
	}
	for _, want := range []string{`{"name": "Bein {links} 左","extras": null,"children": [4],"translation":[1,-20,3],"rotation":[`, `{"translation": [20, 0, 0]}`, `"buffers": [{"name": "old","byteLength":`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}

// Only what moves has a key per frame; times are shared; quaternions are units and go the short way.
func TestAddKeys(t *testing.T) {
	m := dance(20)
	c := m.Clip
	n := c.Skel.Len()
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		for j := range n {
			if j == 1 || j == 2 || j == 4 { // still in their parents
				pos[j], rot[j] = c.Pos[j], c.Rot[j]
			}
		}
	}
	data, _, err := AppendMotions("hero.glb", heroGLB(), []Motion{m}, AddOptions{})
	must.Do(t, err)
	f := must.Get(newFile("a.glb", data, nil))(t)
	a := f.doc.Animations[1]
	inputs, counts := map[int]bool{}, map[string]int{}
	for _, ch := range a.Channels {
		s := a.Samplers[ch.Sampler]
		inputs[s.Input] = true
		v := must.Get(f.accessor("", s.Output, MaxKeys, gltf.AccessorVec3, gltf.AccessorVec4))(t)
		counts[fmt.Sprint(*ch.Target.Node, ch.Target.Path)] = v.count
		if ch.Target.Path != gltf.TRSRotation {
			continue
		}
		for k := range v.count {
			l, d := 0.0, 0.0
			for i := range 4 {
				l += v.at(k, i) * v.at(k, i)
				d += v.at(k, i) * v.at(max(k-1, 0), i)
			}
			if math.Abs(l-1) > 1e-6 || d < 0 {
				t.Errorf("nodes[%d], key %d: length² %g, to the last %g", *ch.Target.Node, k, l, d)
			}
		}
	}
	// The foot is still in the leg, which the sheared node above turns with; the hand is in the arm.
	want := map[int]int{1: 20, 5: 20, 6: 1, 7: 20, 8: 20}
	for node, keys := range want {
		if got := counts[fmt.Sprint(node, gltf.TRSRotation)]; got != keys {
			t.Errorf("nodes[%d] has %d keys, want %d: %v", node, got, keys, counts)
		}
	}
	if len(inputs) != 2 {
		t.Errorf("%d accessors of times, want one of all and one of a single one", len(inputs))
	}
	for i := range inputs {
		acc := f.doc.Accessors[i]
		if acc.Min[0] != 0 || float32(acc.Max[0]) != float32(acc.Count-1)/30 {
			t.Errorf("%+v", acc)
		}
	}
}

// A motion that stands still keeps its length, and one of a single frame is a pose.
func TestAddStill(t *testing.T) {
	m := dance(1)
	m.Clip = m.Clip.Section(0, 1)
	long := skel.NewClip(m.Clip.Skel, 30, 60)
	for f := range long.Frames {
		pos, rot := long.Frame(f)
		copy(pos, m.Clip.Pos)
		copy(rot, m.Clip.Rot)
	}
	data, _, err := AppendMotions("hero.glb", heroGLB(), []Motion{{Name: "pose", Clip: m.Clip}, {Name: "still", Clip: long}}, AddOptions{})
	must.Do(t, err)
	f := must.Get(newFile("a.glb", data, nil))(t)
	for i, last := range []float64{0, 59.0 / 30} {
		most := 0.0
		for _, s := range f.doc.Animations[1+i].Samplers {
			most = max(most, f.doc.Accessors[s.Input].Max[0])
		}
		if math.Abs(most-last) > 1e-6 {
			t.Errorf("animations[%d] ends at %g s, want %g", 1+i, most, last)
		}
	}
	if grown := len(data) - len(heroGLB()); grown > 8000 {
		t.Errorf("%d bytes for two poses", grown)
	}
}

func TestAddReplaces(t *testing.T) {
	m := dance(4)
	m.Name = "old"
	if _, _, err := AppendMotions("hero.glb", heroGLB(), []Motion{m}, AddOptions{}); err == nil || !strings.Contains(err.Error(), `hero.glb: animations[0]: is called "old" already`) {
		t.Error(err)
	}
	data, report, err := AppendMotions("hero.glb", heroGLB(), []Motion{m}, AddOptions{Replace: true})
	must.Do(t, err)
	f := must.Get(newFile("a.glb", data, nil))(t)
	if len(f.doc.Animations) != 1 || len(f.doc.Animations[0].Channels) < 7 || !slices.Equal(report.Replaced, []string{"old"}) {
		t.Errorf("%d animations, %v", len(f.doc.Animations), report)
	}
	posedNodes(t, data, "old", 2)
}

func TestAddRefused(t *testing.T) {
	ok := dance(3)
	with := func(change func(c *skel.Clip)) Motion {
		m := dance(3)
		change(m.Clip)
		return m
	}
	renamed := with(func(c *skel.Clip) {
		for j := range c.Skel.Names {
			c.Skel.Names[j] += "?"
		}
	})
	nan := float32(math.NaN())
	for want, m := range map[string][]Motion{
		"there is no motion":                nil,
		"has no clip":                       {{Name: "a"}},
		"two motions are called":            {ok, ok},
		"has 0 frames":                      {with(func(c *skel.Clip) { c.Frames = 0 })},
		"24 places and 23 rotations":        {with(func(c *skel.Clip) { c.Rot = c.Rot[1:] })},
		"frames at 0 per second":            {with(func(c *skel.Clip) { c.FPS = 0 })},
		"their times are equal":             {with(func(c *skel.Clip) { c.FPS = 1e60 })},
		"joint Arm of frame 1 is not fini":  {with(func(c *skel.Clip) { c.Pos[8+3].X = nan })},
		"joint Foot of frame 2 is not fini": {with(func(c *skel.Clip) { c.Rot[16+2] = m3.Quat{} })},
		"none has the name of a joint":      {renamed},
		"two joints for nodes[4]":           {with(func(c *skel.Clip) { c.Skel.Names[1] = "Foot" })},
		"skel: joint 3 (Arm) has parent 7":  {with(func(c *skel.Clip) { c.Skel.Parents[3] = 7 })},
	} {
		if _, _, err := AppendMotions("hero.glb", heroGLB(), m, AddOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	text := fmt.Sprintf(hero, "", "")
	for want, change := range map[string][2]string{
		"nodes[3].matrix: shears":                       {"[0,1,0,0, -1,0,0,0", "[0,1,0,0, -1,1,0,0"},
		"nodes[3]: a node above has the scale 0":        {`"scale": [1, 2, 1]`, `"scale": [1, 0, 1]`},
		"Nodes: is there twice":                         {`"scene": 0,`, `"Nodes": [], "Nodes": [],`},
		"accessors: there are 5 in the text and 0":      {`"animations"`, `"Accessors": [], "animations"`},
		"animations[0]: is null":                        {`{"name": "old", "extras"`, `null, {"name": "old", "extras"`},
		"buffers[0].byteLength: is 99999":               {`"byteLength": 108`, `"byteLength": 99999`},
		`asset.version: "3.0": version 2`:               {`"version": "2.0"`, `"version": "3.0"`},
		"nodes[2].children[0]: nodes[3] already is a c": {`"Hips", "translation": [0, 0, 100], "children": [2, 5, 7]`, `"Hips", "children": [2, 3, 5, 7]`},
	} {
		changed := strings.Replace(text, change[0], change[1], 1)
		if changed == text {
			t.Fatal(change)
		}
		_, _, err := AppendMotions("hero.glb", glbOf(changed, heroBin()), []Motion{ok}, AddOptions{})
		var bad *Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Some editors begin UTF-8 with a byte order mark, and end lines as Windows does.
func TestAddToTextWithMark(t *testing.T) {
	text := fmt.Sprintf(hero, `, "uri": "data:application/octet-stream;base64,`+base64.StdEncoding.EncodeToString(heroBin())+`"`, "")
	text = "\xef\xbb\xbf" + strings.ReplaceAll(text, "\n", "\r\n")
	out, _, err := AppendMotions("hero.gltf", []byte(text), []Motion{dance(5)}, AddOptions{})
	must.Do(t, err)
	if all := must.Get(ReadMotions("hero.glb", out))(t); len(all) != 2 {
		t.Errorf("%d animations", len(all))
	}
}

// A .gltf with files beside it becomes another .gltf beside them, or a .glb with all of them anywhere.
func TestAddToText(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	png := "\x89PNG\r\n\x1a\nnot read"
	must.Do(t, os.WriteFile(in("my tex.png"), []byte(png), 0o644))
	must.Do(t, os.WriteFile(in("hero.bin"), heroBin(), 0o644))
	text := fmt.Sprintf(hero, `, "uri": "hero.bin"`, `, "images": [{"name": "tex", "uri": "my%20tex.png"}, {"uri": "none.png"}, {"uri": "data:image/png;base64,AAAA"}]`)
	must.Do(t, os.WriteFile(in("hero.gltf"), []byte(text), 0o644))
	m := dance(5)
	one := []Motion{m}
	read := func(path string) []byte { return must.Get(os.ReadFile(path))(t) }

	report := must.Get(AddMotions(in("hero.gltf"), in("walks.gltf"), one, AddOptions{}))(t)
	if !slices.Equal(report.Files, []string{in("walks.gltf"), in("walks.bin")}) || !bytes.Equal(read(in("hero.bin")), heroBin()) {
		t.Errorf("%+v", report)
	}
	if bad := kept(document(t, []byte(text)), document(t, read(in("walks.gltf"))), ""); bad != ".nodes[3].matrix" && bad != ".nodes[8].matrix" {
		t.Errorf("%s has changed", bad)
	}
	if f := must.Get(parseWithFolder(in("walks.gltf")))(t); len(f.doc.Buffers) != 2 || f.doc.Buffers[1].URI != "walks.bin" || f.doc.Buffers[1].ByteLength != len(read(in("walks.bin"))) {
		t.Errorf("%+v", f.doc.Buffers)
	}
	// Written over itself it takes no file that it still needs; again, it takes its own.
	m.Name = "second"
	report = must.Get(AddMotions(in("walks.gltf"), in("walks.gltf"), []Motion{m}, AddOptions{}))(t)
	if !slices.Equal(report.Files, []string{in("walks.gltf"), in("walks-1.bin")}) {
		t.Errorf("%+v", report)
	}
	report = must.Get(AddMotions(in("hero.gltf"), in("walks.gltf"), one, AddOptions{}))(t)
	if report.Files[1] != in("walks.bin") {
		t.Errorf("%+v", report)
	}
	must.Do(t, os.WriteFile(in("new.bin"), []byte("of somebody else"), 0o644))
	if report = must.Get(AddMotions(in("hero.gltf"), in("new.gltf"), one, AddOptions{}))(t); report.Files[1] != in("new-1.bin") {
		t.Errorf("%+v", report)
	}

	// As a .glb it needs no other file.
	glb := filepath.Join(other, "hero.glb")
	report = must.Get(AddMotions(in("hero.gltf"), glb, one, AddOptions{}))(t)
	if len(report.Notes) != 2 || !strings.Contains(report.Notes[0], "images[1].uri: no such file") {
		t.Errorf("%+v", report)
	}
	f := must.Get(newFile(glb, read(glb), nil))(t)
	if f.doc.Buffers[0].URI != "" || f.doc.Images[0].URI != "" || f.doc.Images[0].MimeType != "image/png" || f.doc.Images[0].Name != "tex" || f.doc.Images[2].URI == "" {
		t.Errorf("%+v %+v", f.doc.Buffers[0], f.doc.Images)
	}
	if view, _, err := f.view(*f.doc.Images[0].BufferView); err != nil || string(view) != png {
		t.Errorf("%q, %v", view, err)
	}
	if all, err := f.buffer(0); err != nil || !bytes.HasPrefix(all, heroBin()) {
		t.Error(err)
	}
	posedNodes(t, read(glb), one[0].Name, 3)

	for out, want := range map[string]string{
		filepath.Join(other, "a.gltf"):       "buffers[0].uri: \"hero.bin\" would not be found from",
		in("a.fbx"):                          "name the file .glb or .gltf",
		filepath.Join(dir, "none", "a.glb"):  "cannot write",
		filepath.Join(dir, "none", "a.gltf"): "would not be found",
	} {
		if _, err := AddMotions(in("hero.gltf"), out, one, AddOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", out, err, want)
		}
	}
	must.Do(t, os.WriteFile(in("hero.glb"), heroGLB(), 0o644))
	if _, err := AddMotions(in("hero.glb"), in("b.gltf"), one, AddOptions{}); err == nil || !strings.Contains(err.Error(), "becomes a .glb") {
		t.Error(err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 10 {
		t.Errorf("left behind: %v", files)
	}
}

// parseWithFolder reads a file and may read those beside it.
func parseWithFolder(path string) (*file, error) {
	return open(path, func(name string, data []byte, beside *os.Root) (*file, error) {
		f, err := newFile(name, data, beside)
		if err == nil && len(f.doc.Buffers) > 1 {
			_, err = f.buffer(1)
		}
		return f, err
	})
}

// A document without buffers, or with all data in its text, becomes a GLB too.
func TestAddToBareDocuments(t *testing.T) {
	bare := `{"asset":{"version":"2.0"},"nodes":[{"name":"Hips"}],"accessors":null}`
	sk := &skel.Skeleton{Names: []string{"Hips"}, Parents: []int16{-1}, Offsets: make([]m3.Vec3, 1), EndSite: make([]bool, 1)}
	inside := fmt.Sprintf(hero, `, "uri": "data:application/octet-stream;base64,`+base64.StdEncoding.EncodeToString(heroBin())+`"`, "")
	m := Motion{Name: "up", Clip: skel.NewClip(sk, 30, 2)}
	m.Clip.Pos[1] = m3.V(0, 1, 0)
	odd := strings.Replace(strings.Replace(inside, "108", "109", 1), "base64,", "base64,AAAA", 1)
	for _, text := range []string{bare, strings.Replace(bare, "{", "{ ", 1), strings.Replace(odd, "[-1, 1, 1]", "[1, 1, 1]", 1), strings.Replace(inside, "[-1, 1, 1]", "[1, 1, 1]", 1)} {
		data, _, err := AppendMotions("bare.gltf", []byte(text), []Motion{m}, AddOptions{})
		must.Do(t, err)
		all := must.Get(ReadMotions("bare.glb", data))(t)
		f := must.Get(newFile("bare.glb", data, nil))(t)
		if v := f.doc.BufferViews[len(f.doc.BufferViews)-1]; v.ByteOffset%4 != 0 {
			t.Errorf("keys at byte %d", v.ByteOffset)
		}
		c := all[len(all)-1].Clip
		if j := c.Skel.Index("Hips"); c.Frames != 2 || c.Pos[c.Skel.Len()+j].Dist(m3.V(0, 1, 0)) > 1e-6 {
			t.Errorf("%v", c.Pos)
		}
	}
}

// The edited text is JSON with the same values but for the edits, or the file is refused.
func FuzzAppendMotions(f *testing.F) {
	text := fmt.Sprintf(hero, "", "")
	f.Add([]byte(text), uint8(1))
	f.Add([]byte(`{"asset":{},"nodes":[{"name":"Hips","matrix":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]}],"animations":[{"name":"x","channels":[],"samplers":[]}]}`), uint8(3))
	f.Add([]byte(`{"nodes":[{"name":"Hips","children":[1]},{"n\u0061me":"Foot","scale":[-1,1e-9,1]}],"buffers":[{"byteLength":4,"uri":"data:;base64,AAAAAA=="}]}`), uint8(2))
	f.Fuzz(func(t *testing.T, text []byte, how uint8) {
		if len(text) > 1<<15 {
			return
		}
		m := dance(1 + int(how%4))
		if how&4 != 0 {
			m.Name = "x"
		}
		data, _, err := AppendMotions("fuzz.gltf", glbOf(string(text), heroBin()), []Motion{m}, AddOptions{Replace: how&8 != 0})
		if err != nil {
			return
		}
		now, _ := splitChunks(data)
		if !json.Valid(now) {
			t.Fatalf("%s", now)
		}
		if how&8 == 0 {
			if bad := keptMoving(document(t, glbOf(string(text), nil)), document(t, data)); bad != "" {
				t.Fatalf("%s has changed in %s", bad, now)
			}
		}
		again, err := parseFile("fuzz.glb", data, nil)
		if err != nil {
			t.Fatalf("%v: %s", err, now)
		}
		a := again.doc.Animations
		if len(a) == 0 {
			t.Fatalf("no animation in %s", now)
		}
		if _, err := again.newTree(); err != nil {
			t.Fatalf("%v: %s", err, now)
		}
	})
}

// keptMoving is kept for documents in which nodes that move may have lost a matrix, and lists that are
// null are missing.
func keptMoving(old, now any) string {
	o, ok := old.(map[string]any)
	if !ok {
		return ""
	}
	for name, v := range o {
		if v == nil {
			delete(o, name)
		}
	}
	if nodes, ok := o["nodes"].([]any); ok {
		for _, n := range nodes {
			if n, ok := n.(map[string]any); ok {
				if _, ok := n["matrix"]; ok {
					for _, name := range []string{"matrix", "translation", "rotation", "scale"} {
						delete(n, name)
					}
				}
			}
		}
	}
	return kept(o, now, "")
}
