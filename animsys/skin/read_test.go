package skin

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// small returns a document of one triangle that two joints move.
func small() *gltf.Document {
	d := gltf.NewDocument()
	d.Nodes = []*gltf.Node{{Name: "a", Children: []int{1}}, {Name: "b", Translation: [3]float64{0, 1, 0}}, {Mesh: gltf.Index(0), Skin: gltf.Index(0)}}
	d.Scenes[0].Nodes = []int{0, 2}
	d.Skins = []*gltf.Skin{{Joints: []int{0, 1}}}
	d.Skins[0].InverseBindMatrices = gltf.Index(modeler.WriteAccessor(d, gltf.TargetNone, [][4][4]float32{
		{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}, {{1, 0, 0, 0}, {0, 1, 0, -1}, {0, 0, 1, 0}, {0, 0, 0, 1}}}))
	d.Meshes = []*gltf.Mesh{{Primitives: []*gltf.Primitive{{
		Attributes: gltf.PrimitiveAttributes{
			gltf.POSITION:  modeler.WritePosition(d, [][3]float32{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}),
			gltf.JOINTS_0:  modeler.WriteJoints(d, [][4]uint8{{0}, {0, 1}, {1}}),
			gltf.WEIGHTS_0: modeler.WriteWeights(d, [][4]float32{{1}, {0.25, 0.75}, {2}}),
		},
		Indices: gltf.Index(modeler.WriteIndices(d, []uint16{0, 1, 2})),
	}}}}
	return d
}

func encode(t testing.TB, d *gltf.Document, binary bool) []byte {
	t.Helper()
	var b bytes.Buffer
	e := gltf.NewEncoder(&b)
	e.AsBinary = binary
	must.Do(t, e.Encode(d))
	return b.Bytes()
}

// smallest checks what small becomes.
func smallest(t *testing.T, s *Skin) {
	t.Helper()
	m := &s.mesh
	if len(s.joints) != 2 || s.joints[1].name != "b" || s.joints[1].parent != 0 || s.joints[1].pos != m3.V(0, 1, 0) {
		t.Fatalf("joints %+v", s.joints)
	}
	if len(m.pos) != 3 || m.pos[1] != m3.V(1, 0, 0) || len(m.index) != 3 || m.index[2] != 2 || m.colour[0] != [3]float32{0.6, 0.6, 0.6} {
		t.Fatalf("mesh %+v", m)
	}
	if p := m.influences[1]; len(p) != 2 || p[0] != (influence{1, 0.75}) || p[1] != (influence{0, 0.25}) {
		t.Errorf("influences of vertex 1: %v", p)
	}
	if p := m.influences[2]; len(p) != 1 || p[0] != (influence{1, 1}) {
		t.Errorf("weights are not scaled to 1: %v", p)
	}
}

func TestRead(t *testing.T) {
	for name, binary := range map[string]bool{"a.glb": true, "a.gltf": false} {
		s := must.Get(readAlone(name, encode(t, small(), binary)))(t)
		smallest(t, s)
	}
}

// A buffer may lie in a file beside, in the same folder or below.
func TestOpenBeside(t *testing.T) {
	dir := t.TempDir()
	d := small()
	data := d.Buffers[0].Data
	must.Do(t, os.MkdirAll(filepath.Join(dir, "in", "data"), 0o777))
	for _, f := range []string{"in/data/b c.bin", "out.bin"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, f), data, 0o666))
	}
	if err := os.Symlink("../out.bin", filepath.Join(dir, "in", "link.bin")); err != nil {
		t.Skip(err)
	}
	path := filepath.Join(dir, "in", "a.gltf")
	for uri, want := range map[string]string{
		"data/b%20c.bin":                       "",
		"./data/b%20c.bin":                     "",
		"../out.bin":                           "want the name of a file in the same folder or below",
		filepath.Join(dir, "out.bin"):          "want the name of a file",
		"file://" + dir + "/out.bin":           "want the name of a file",
		"https://example.org/a.bin":            "want the name of a file",
		"data/..%2f..%2fout.bin":               "want the name of a file",
		`..\out.bin`:                           "want the name of a file",
		"link.bin":                             "escapes",
		"data":                                 "not a regular file",
		"none.bin":                             "no such file",
		"data:application/octet-stream,abc":    "not in base64",
		"data:text/plain;base64,====":          "illegal base64",
		"data:application/gltf-buffer;base64,": "byteLength",
	} {
		d.Buffers[0].URI, d.Buffers[0].Data = uri, nil
		must.Do(t, os.WriteFile(path, encode(t, d, false), 0o666))
		s, err := Open(path)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", uri, err)
				continue
			}
			smallest(t, s)
			continue
		}
		var bad *Error
		if !errors.As(err, &bad) || !strings.HasPrefix(bad.Where, "buffers[0]") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want buffers[0] … %s", uri, err, want)
		}
	}
	if _, err := Open(filepath.Join(dir, "none.glb")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// Each error says where in the file.
func TestReadErrors(t *testing.T) {
	prim := func(d *gltf.Document) *gltf.Primitive { return d.Meshes[0].Primitives[0] }
	accessor := func(d *gltf.Document, name string) *gltf.Accessor { return d.Accessors[prim(d).Attributes[name]] }
	for name, c := range map[string]struct {
		edit func(d *gltf.Document)
		want string
	}{
		"no mesh":        {func(d *gltf.Document) { d.Nodes[2].Mesh = nil }, "nodes: no mesh of the scene has a skin"},
		"no skin":        {func(d *gltf.Document) { d.Nodes[2].Skin = nil }, "nodes: no mesh of the scene has a skin"},
		"skin":           {func(d *gltf.Document) { d.Nodes[2].Skin = gltf.Index(4) }, "nodes[2].skin: there is no skins[4]: there are 1"},
		"mesh":           {func(d *gltf.Document) { d.Nodes[2].Mesh = gltf.Index(4) }, "nodes[2].mesh: there is no meshes[4]"},
		"child":          {func(d *gltf.Document) { d.Nodes[1].Children = []int{9} }, "nodes[1].children[0]: there is no nodes[9]: there are 3"},
		"loop":           {func(d *gltf.Document) { d.Nodes[1].Children = []int{1} }, "nodes[1].children[0]: nodes[1] already is a child of nodes[0]"},
		"circle":         {func(d *gltf.Document) { d.Nodes[1].Children = []int{0} }, "scenes[0].nodes[0]: nodes[0] is a child of nodes[1]"},
		"root":           {func(d *gltf.Document) { d.Scenes[0].Nodes = []int{-1} }, "scenes[0].nodes[0]: there is no nodes[-1]"},
		"root twice":     {func(d *gltf.Document) { d.Scenes[0].Nodes = []int{0, 2, 0} }, "scenes[0].nodes[2]: nodes[0] is there twice"},
		"scene":          {func(d *gltf.Document) { d.Scene = gltf.Index(1) }, "scene: there is no scenes[1]"},
		"far":            {func(d *gltf.Document) { d.Nodes[0].Translation[0] = 1e300 }, "nodes[0]: its position in the scene"},
		"joint":          {func(d *gltf.Document) { d.Skins[0].Joints[1] = 7 }, "skins[0].joints[1]: the scene has no nodes[7]"},
		"no joints":      {func(d *gltf.Document) { d.Skins[0].Joints = []int{} }, "skins[0].joints: 0 of them, want 1 to 1024"},
		"joints":         {func(d *gltf.Document) { d.Skins[0].Joints = d.Skins[0].Joints[:1] }, "JOINTS_0: element 1 names joint 1, skins[0] has 1"},
		"matrices":       {func(d *gltf.Document) { d.Accessors[0].Count = 1 }, "skins[0].inverseBindMatrices: 1 matrices of FLOAT for 2 joints"},
		"matrices' kind": {func(d *gltf.Document) { d.Skins[0].InverseBindMatrices = gltf.Index(1) }, "skins[0].inverseBindMatrices: accessors[1]: is of type VEC3"},
		"null":           {func(d *gltf.Document) { d.Nodes[1] = nil }, "nodes[1]: is null"},
		"null primitive": {func(d *gltf.Document) { d.Meshes[0].Primitives[0] = nil }, "meshes[0].primitives[0]: is null"},
		"lines alone":    {func(d *gltf.Document) { prim(d).Mode = gltf.PrimitiveLines }, "meshes: no skinned triangles"},
		"no position":    {func(d *gltf.Document) { delete(prim(d).Attributes, gltf.POSITION) }, "meshes[0].primitives[0].attributes.POSITION: is missing"},
		"no joints_0":    {func(d *gltf.Document) { delete(prim(d).Attributes, gltf.JOINTS_0) }, "attributes.JOINTS_0: is missing"},
		"no weights":     {func(d *gltf.Document) { delete(prim(d).Attributes, gltf.WEIGHTS_0) }, "attributes.WEIGHTS_0: is missing"},
		"twenty joints":  {func(d *gltf.Document) { prim(d).Attributes["JOINTS_4"] = 2 }, "attributes.JOINTS_4: more than 16 joints"},
		"accessor":       {func(d *gltf.Document) { prim(d).Attributes[gltf.POSITION] = 99 }, "attributes.POSITION: accessors[99]: there are only"},
		"count":          {func(d *gltf.Document) { accessor(d, gltf.POSITION).Count = 1 << 40 }, "accessors[1]: has count 1099511627776, want 1 to 524288"},
		"negative count": {func(d *gltf.Document) { accessor(d, gltf.POSITION).Count = -1 }, "accessors[1]: has count -1"},
		"count beyond":   {func(d *gltf.Document) { accessor(d, gltf.POSITION).Count = 1000 }, "1000 elements take 12000 bytes at byte 0"},
		"other count":    {func(d *gltf.Document) { accessor(d, gltf.JOINTS_0).Count = 2 }, "attributes.JOINTS_0: has 2 elements, POSITION has 3"},
		"offset":         {func(d *gltf.Document) { accessor(d, gltf.POSITION).ByteOffset = -4 }, "attributes.POSITION: accessors[1]"},
		"no view": {func(d *gltf.Document) {
			accessor(d, gltf.POSITION).BufferView, d.ExtensionsUsed = nil, []string{"KHR_draco_mesh_compression"}
		}, "has no bufferView: export without compression"},
		"view":             {func(d *gltf.Document) { *accessor(d, gltf.POSITION).BufferView = 50 }, "there is no bufferViews[50]"},
		"view's length":    {func(d *gltf.Document) { d.BufferViews[1].ByteLength = 1 << 30 }, "bufferViews[1]: 1073741824 bytes"},
		"view's offset":    {func(d *gltf.Document) { d.BufferViews[1].ByteOffset = -1 << 62 }, "bufferViews[1]"},
		"view's buffer":    {func(d *gltf.Document) { d.BufferViews[1].Buffer = 3 }, "there is no buffers[3]"},
		"stride":           {func(d *gltf.Document) { d.BufferViews[1].ByteStride = 4 }, "has byteStride 4, want 12 to 252"},
		"weights' kind":    {func(d *gltf.Document) { prim(d).Attributes[gltf.WEIGHTS_0] = 1 }, "attributes.WEIGHTS_0: accessors[1]: is of type VEC3, want [VEC4]"},
		"joints' kind":     {func(d *gltf.Document) { prim(d).Attributes[gltf.JOINTS_0] = 3 }, "attributes.JOINTS_0: is of FLOAT"},
		"indices' kind":    {func(d *gltf.Document) { d.Accessors[*prim(d).Indices].ComponentType = gltf.ComponentShort }, "indices: is of SHORT"},
		"index":            {func(d *gltf.Document) { d.Buffers[0].Data[d.BufferViews[4].ByteOffset] = 3 }, "indices: element 0 is vertex 3, there are 3"},
		"not a number":     {func(d *gltf.Document) { put(d, 1, []byte{0, 0, 0xc0, 0x7f}) }, "attributes.POSITION: element 0 has the value NaN"},
		"infinite":         {func(d *gltf.Document) { put(d, 3, []byte{0, 0, 0x80, 0x7f}) }, "attributes.WEIGHTS_0: element 0 has the value +Inf"},
		"negative weight":  {func(d *gltf.Document) { put(d, 3, []byte{0, 0, 0x80, 0xbf}) }, "attributes.WEIGHTS_0: element 0 has the value -1"},
		"infinite matrix":  {func(d *gltf.Document) { put(d, 0, []byte{0, 0, 0x80, 0x7f}) }, "inverseBindMatrices: matrix 0 is not finite"},
		"material":         {func(d *gltf.Document) { prim(d).Material = gltf.Index(0) }, "meshes[0].primitives[0].material: there is no materials[0]"},
		"Draco":            {func(d *gltf.Document) { d.ExtensionsRequired = []string{"KHR_draco_mesh_compression"} }, "extensionsRequired: KHR_draco_mesh_compression is not read"},
		"version":          {func(d *gltf.Document) { d.Asset.Version = "1.0" }, `asset.version: "1.0"`},
		"without a buffer": {func(d *gltf.Document) { d.Buffers[0].URI = ""; d.Buffers[0].Data = nil }, "buffers[0]"},
	} {
		d := small()
		d.Buffers[0].Data = append([]byte(nil), d.Buffers[0].Data...)
		c.edit(d)
		_, err := readAlone("bad.glb", encode(t, d, len(d.Buffers[0].Data) > 0))
		var bad *Error
		if !errors.As(err, &bad) || bad.File != "bad.glb" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// put overwrites the beginning of a buffer view.
func put(d *gltf.Document, view int, b []byte) {
	copy(d.Buffers[0].Data[d.BufferViews[view].ByteOffset:], b)
}

// Files that break off, or are none.
func TestReadDamaged(t *testing.T) {
	whole := encode(t, small(), true)
	for n := range len(whole) - 1 {
		if _, err := readAlone("a.glb", whole[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes are read", n, len(whole))
		}
	}
	for text, want := range map[string]string{
		"":             "is not a glTF file: it is empty",
		"# mannequin":  `is not a glTF file: it begins with "# mannequin"`,
		`{"nodes" 3}`:  "damaged at byte 10",
		`{"nodes": 3}`: "nodes is a number",
		`[]`:           "not a glTF",
		`{"nodes":` + strings.Repeat("[", 299999): "300000 opening brackets",
		`{"buffers":[null]}`:                      "buffers[0]: is null",
	} {
		if _, err := readAlone("a.gltf", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v, want %s", text, err, want)
		}
	}
	bin := 20 + int(binary.LittleEndian.Uint32(whole[12:])) // the second chunk
	for want, edit := range map[string]func(b []byte){
		"GLB of version 1":             func(b []byte) { b[4] = 1 },
		"its header says 4294967295":   func(b []byte) { copy(b[8:], "\xff\xff\xff\xff") },
		"byte 12 has 4294967295 bytes": func(b []byte) { copy(b[12:], "\xff\xff\xff\xff") },
		"has 2147483647 bytes, the":    func(b []byte) { copy(b[bin:], "\xff\xff\xff\x7f") },
		"of kind 0x4e4942, not JSON":   func(b []byte) { copy(b[16:], "BIN\x00") },
		"has 255 bytes, the file only": func(b []byte) { b[bin] = 0xff },
	} {
		b := bytes.Clone(whole)
		edit(b)
		if _, err := readAlone("a.glb", b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The strongest four joints stay. Vertices without weights follow the first. Both are reported.
func TestReadInfluences(t *testing.T) {
	d := small()
	d.Nodes = append(d.Nodes, &gltf.Node{Name: "c\x1b[2J\n"}, &gltf.Node{Name: "d"}, &gltf.Node{Name: "e"}, &gltf.Node{Name: "fixed", Mesh: gltf.Index(0)})
	d.Nodes[1].Children = []int{3, 4, 5, 6}
	d.Skins[0].Joints, d.Skins[0].InverseBindMatrices = []int{0, 1, 3, 4, 5}, nil
	a := d.Meshes[0].Primitives[0].Attributes
	a[gltf.WEIGHTS_0] = modeler.WriteWeights(d, [][4]uint8{{0}, {51, 51, 51, 51}, {255}})
	a[gltf.JOINTS_0] = modeler.WriteJoints(d, [][4]uint16{{9}, {0, 1, 2, 3}, {1}})
	a["WEIGHTS_1"] = modeler.WriteWeights(d, [][4]float32{{0}, {0.3, 0.3, 0, 0}, {0}})
	a["JOINTS_1"] = modeler.WriteJoints(d, [][4]uint8{{0}, {4, 2, 0, 0}, {1}})
	s := must.Get(readAlone("a.glb", encode(t, d, true)))(t)
	p := s.mesh.influences[4]
	var sum float32
	for _, q := range p {
		sum += q.weight
	}
	if len(p) != 4 || p[0].joint != 2 || p[1].joint != 4 || p[2].joint != 0 || m3.Abs(sum-1) > 1e-6 || m3.Abs(p[0].weight/p[2].weight-2.5) > 1e-5 {
		t.Errorf("influences of vertex 1: %v", p)
	}
	if name := s.Joints()[2]; name != "c?[2J?" {
		t.Errorf("a joint is called %q", name)
	}
	notes := strings.Join(s.Notes, "\n")
	for _, want := range []string{"1 vertices have no weights: they follow a", "1 vertices have more than four"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in %q", want, notes)
		}
	}
	// The mesh without a skin, which comes first, below joint b, moves with it.
	if s.Vertices() != 6 || s.mesh.influences[0][0] != (influence{1, 1}) || s.mesh.pos[0] != m3.V(0, 1, 0) {
		t.Errorf("what hangs on a joint: %v at %v", s.mesh.influences[:3], s.mesh.pos[:3])
	}
}

// In a node that mirrors, triangles keep their outside.
func TestReadMirrored(t *testing.T) {
	d := small()
	d.Nodes[0].Scale = [3]float64{-2, 2, 2}
	d.Meshes[0].Primitives[0].Attributes[gltf.NORMAL] = modeler.WriteNormal(d, [][3]float32{{0, 0, 1}, {0, 0, 1}, {0, 0, 1}})
	s := must.Get(readAlone("a.glb", encode(t, d, true)))(t)
	m := &s.mesh
	a, b, c := m.pos[m.index[0]], m.pos[m.index[1]], m.pos[m.index[2]]
	if out := b.Sub(a).Cross(c.Sub(a)); m.pos[1] != m3.V(-2, 0, 0) || out.Z <= 0 || m.normal[0] != m3.V(0, 0, 1) {
		t.Errorf("triangle %v with the outside at %v has the normal %v", m.pos, out, m.normal[0])
	}
}

// Materials are read with all that glTF says of them, and each primitive is a part. Plain colours are
// no materials.
func TestReadMaterials(t *testing.T) {
	d := small()
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 2, 1))))
	p := d.Meshes[0].Primitives[0]
	p.Attributes["TEXCOORD_1"] = modeler.WriteTextureCoord(d, [][2]float32{{0.1, 0.5}, {0.9, 0.5}, {-0.9, 3.5}})
	second := *p
	d.Meshes[0].Primitives = append(d.Meshes[0].Primitives, &second)
	p.Material, second.Material = gltf.Index(1), gltf.Index(0)
	d.Images = []*gltf.Image{{URI: "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())}}
	d.Samplers = []*gltf.Sampler{{WrapS: gltf.WrapMirroredRepeat, WrapT: gltf.WrapClampToEdge}}
	d.Textures = []*gltf.Texture{{Source: gltf.Index(0), Sampler: gltf.Index(0)}}
	d.Materials = []*gltf.Material{
		{Name: "veil", AlphaMode: gltf.AlphaBlend, PBRMetallicRoughness: &gltf.PBRMetallicRoughness{BaseColorFactor: &[4]float64{0.5, 1, 1, 0.7}, MetallicFactor: gltf.Float(0)}},
		{Name: "armour", DoubleSided: true, AlphaMode: gltf.AlphaMask, AlphaCutoff: gltf.Float(0.3), EmissiveFactor: [3]float64{0, 0, 0.25},
			PBRMetallicRoughness: &gltf.PBRMetallicRoughness{BaseColorFactor: &[4]float64{1, 0.5, 0.25, 0.75}, MetallicFactor: gltf.Float(0.9), RoughnessFactor: gltf.Float(0.2),
				BaseColorTexture: &gltf.TextureInfo{Index: 0, TexCoord: 1}, MetallicRoughnessTexture: &gltf.TextureInfo{Index: 0, TexCoord: 1}},
			NormalTexture: &gltf.NormalTexture{Index: gltf.Index(0), TexCoord: 1, Scale: gltf.Float(2)}, EmissiveTexture: &gltf.TextureInfo{Index: 0, TexCoord: 0}},
	}
	s := must.Get(readAlone("a.glb", encode(t, d, true)))(t)
	if len(s.materials) != 2 || len(s.mesh.parts) != 2 || s.mesh.parts[0] != (body.Part{Material: 0, Count: 3}) || s.mesh.parts[1] != (body.Part{Material: 1, Start: 3, Count: 3}) {
		t.Fatalf("%d materials, parts %v", len(s.materials), s.mesh.parts)
	}
	m := s.materials[0]
	if m.Name != "armour" || m.BaseColor != [4]float32{1, 0.5, 0.25, 0.75} || m.Metallic != 0.9 || m.Roughness != 0.2 || m.NormalScale != 2 ||
		m.Emissive != [3]float32{0, 0, 0.25} || m.Cutoff != 0.3 || !m.DoubleSided || m.Mirrored != [2]bool{true, false} || m.Clamped != [2]bool{false, true} {
		t.Errorf("the armour is %+v", m)
	}
	if m.BaseTexture == nil || m.BaseTexture.Bounds().Dx() != 2 || m.BaseTexture != m.NormalMap || m.MetalRough == nil || m.Emission != nil {
		t.Error("the armour has other textures")
	}
	if !slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, "emissiveTexture: is left out") }) {
		t.Errorf("nothing is said of the texture with other coordinates: %q", s.Notes)
	}
	if s.mesh.uv[1] != [2]float32{0.9, 0.5} || s.materials[1].BaseTexture != nil || s.materials[1].Metallic != 0 || !s.materials[1].Blend || m.Blend {
		t.Errorf("texture coordinates %v, veil %+v", s.mesh.uv, s.materials[1])
	}
	p.Material = gltf.Index(0)
	if s = must.Get(readAlone("a.glb", encode(t, d, true)))(t); len(s.materials) != 1 || !s.materials[0].Blend {
		t.Errorf("a colour that lets light through is no material: %d of them", len(s.materials))
	}
	d.Materials[0].AlphaMode = gltf.AlphaOpaque
	if s = must.Get(readAlone("a.glb", encode(t, d, true)))(t); s.materials != nil || s.mesh.parts != nil || s.mesh.colour[4] != [3]float32{0.5, 1, 1} {
		t.Errorf("plain colours are %d materials, a vertex %v", len(s.materials), s.mesh.colour[4])
	}
	for _, bad := range []func(m *gltf.Material){
		func(m *gltf.Material) { m.EmissiveFactor[1] = -1 },
		func(m *gltf.Material) { m.PBRMetallicRoughness.RoughnessFactor = gltf.Float(7) },
		func(m *gltf.Material) { m.NormalTexture.Index = gltf.Index(9) },
	} {
		p.Material = gltf.Index(1)
		kept, pbr, normal := *d.Materials[1], *d.Materials[1].PBRMetallicRoughness, *d.Materials[1].NormalTexture
		kept.PBRMetallicRoughness, kept.NormalTexture = &pbr, &normal
		bad(d.Materials[1])
		if _, err := readAlone("a.glb", encode(t, d, true)); err == nil || !strings.Contains(err.Error(), "materials[1].") {
			t.Errorf("a bad material: %v", err)
		}
		d.Materials[1] = &kept
	}
}

// Colours: factor times texture times the vertex's own, all linear.
func TestReadColour(t *testing.T) {
	d := small()
	img := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	img.Set(0, 0, color.NRGBA{255, 0, 0, 255})
	img.Set(1, 0, color.NRGBA{0, 188, 0, 255}) // 188 of 255 is half the light
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, img))
	p := d.Meshes[0].Primitives[0]
	p.Attributes[gltf.TEXCOORD_0] = modeler.WriteTextureCoord(d, [][2]float32{{0.1, 0.5}, {0.9, 0.5}, {-0.9, 3.5}})
	p.Attributes[gltf.COLOR_0] = modeler.WriteColor(d, [][4]uint8{{255, 255, 255, 255}, {255, 51, 255, 255}, {255, 255, 255, 255}})
	p.Material = gltf.Index(0)
	d.Images = []*gltf.Image{{URI: "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())}}
	d.Textures = []*gltf.Texture{{Source: gltf.Index(0)}}
	d.Materials = []*gltf.Material{{PBRMetallicRoughness: &gltf.PBRMetallicRoughness{BaseColorFactor: &[4]float64{0.5, 1, 1, 1}, BaseColorTexture: &gltf.TextureInfo{Index: 0}}}}
	s := must.Get(readAlone("a.glb", encode(t, d, true)))(t)
	whole := &body.Body{Cover: body.Paint, Materials: s.materials}
	mesh := &body.Mesh{Index: s.mesh.index, Parts: s.mesh.parts, UV: s.mesh.uv}
	for _, c := range s.mesh.colour {
		mesh.Coat = append(mesh.Coat, [4]float32{c[0], c[1], c[2]})
	}
	got := vertexColours(whole, mesh, [3]float32{})
	for v, want := range [][3]float32{{0.5, 0, 0}, {0, 0.1, 0}, {0.5, 0, 0}} {
		for k := range want {
			if m3.Abs(got[v][k]-want[k]) > 2e-3 {
				t.Errorf("vertex %d has the colour %v, want %v", v, got[v], want)
			}
		}
	}
	head := b.Bytes()
	head[16], head[17] = 0x7f, 0x7f // a width of two thousand million
	for uri, want := range map[string]string{
		"data:image/png;base64," + base64.StdEncoding.EncodeToString(head): "images[0]: ",
		"../skin.png": "images[0]: \"../skin.png\": want the name of a file",
	} {
		d.Images[0].URI = uri
		if _, err := readAlone("a.glb", encode(t, d, true)); err == nil || !strings.Contains(err.Error(), "materials[0].pbrMetallicRoughness.baseColorTexture: "+want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A body of rigid parts without a skin follows the nodes that animations move.
func TestReadRigidParts(t *testing.T) {
	d := moving([]track{{node: 1, path: gltf.TRSTranslation, times: []float32{0, 1}, values: [][3]float32{{0, 1, 0}, {4, 5, 6}}}, {node: 0, path: gltf.TRSRotation, times: []float32{0, 1}, values: turned(0, 9)}})
	d.Nodes[2].Mesh = gltf.Index(0)
	d.Meshes = []*gltf.Mesh{{Primitives: []*gltf.Primitive{{Attributes: gltf.PrimitiveAttributes{gltf.POSITION: modeler.WritePosition(d, [][3]float32{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}})}}}}}
	s := must.Get(readAlone("a.glb", encode(t, d, true)))(t)
	if !slices.Equal(s.Joints(), []string{"a", "b"}) || s.mesh.influences[2][0] != (influence{1, 1}) || s.mesh.pos[2] != m3.V(1, 2, 0) ||
		!slices.Equal(s.Notes, []string{"no mesh has a skin: its parts follow the 2 nodes that animations move"}) {
		t.Errorf("%q, %v, %v, %q", s.Joints(), s.mesh.influences, s.mesh.pos, s.Notes)
	}
	// Draco compresses meshes, and no animations.
	d.ExtensionsRequired = []string{draco}
	must.Fail(readAlone("a.glb", encode(t, d, true)))(t, "extensionsRequired: KHR_draco_mesh_compression is not read")
	must.Get(ReadMotions("a.glb", encode(t, d, true)))(t)
}

// WebP is read. A texture without a picture that is read is left out, and told.
func TestReadPictures(t *testing.T) {
	const webp = "UklGRh4AAABXRUJQVlA4TBIAAAAvAQAAAA8wvPsf8x8OKhDR/wA=" // a red pixel and a green one
	for name, c := range map[string]struct {
		texture *gltf.Texture
		uri     string
		note    string
	}{
		"WebP":    {&gltf.Texture{Extensions: gltf.Extensions{"EXT_texture_webp": map[string]any{"source": 0}}}, "data:image/webp;base64," + webp, ""},
		"Basis":   {&gltf.Texture{Extensions: gltf.Extensions{"KHR_texture_basisu": map[string]any{"source": 0}}}, "data:image/ktx2;base64,AAAA", "baseColorTexture: is left out: textures[0] has no image of PNG, JPEG or WebP"},
		"missing": {&gltf.Texture{Source: gltf.Index(0)}, "skin.png", `baseColorTexture: is left out: images[0]: no such file as "skin.png" beside it`},
		"unknown": {&gltf.Texture{Source: gltf.Index(0)}, "data:image/png;base64,AAAA", "baseColorTexture: is left out: images[0] is no PNG, JPEG or WebP"},
	} {
		d := small()
		d.ExtensionsRequired = []string{"EXT_texture_webp", "KHR_texture_basisu"}
		p := d.Meshes[0].Primitives[0]
		p.Attributes[gltf.TEXCOORD_0] = modeler.WriteTextureCoord(d, make([][2]float32, 3))
		p.Material = gltf.Index(0)
		d.Images, d.Textures = []*gltf.Image{{URI: c.uri}}, []*gltf.Texture{c.texture}
		d.Materials = []*gltf.Material{{PBRMetallicRoughness: &gltf.PBRMetallicRoughness{BaseColorTexture: &gltf.TextureInfo{Index: 0}}}}
		root := must.Get(os.OpenRoot(t.TempDir()))(t)
		defer root.Close()
		s := must.Get(read("a.glb", encode(t, d, true), root))(t)
		switch img := s.materials[0].BaseTexture; {
		case c.note == "" && (img == nil || img.Bounds().Dx() != 2 || len(s.Notes) > 0):
			t.Errorf("%s: %v, notes %q", name, img, s.Notes)
		case c.note != "" && (img != nil || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], c.note)):
			t.Errorf("%s: %v, notes %q", name, img, s.Notes)
		}
	}
}

// A halved picture has the means of four pixels; what cannot be seen has no weight.
func TestHalved(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 5, 2))
	for i, c := range []color.NRGBA{{200, 0, 0, 255}, {100, 0, 0, 255}, {9, 9, 9, 0}, {0, 80, 0, 255}, {}, {200, 0, 0, 255}, {100, 0, 0, 255}, {9, 9, 9, 0}, {0, 40, 0, 255}, {}} {
		img.SetNRGBA(i%5, i/5, c)
	}
	grey := image.NewGray(image.Rect(0, 0, 2, 2))
	copy(grey.Pix, []uint8{10, 20, 30, 40})
	for _, c := range []struct {
		img  image.Image
		want []color.NRGBA
	}{
		{img, []color.NRGBA{{150, 0, 0, 255}, {0, 60, 0, 128}}},
		{grey, []color.NRGBA{{25, 25, 25, 255}}},
	} {
		got := halved(c.img).(*image.NRGBA)
		for x, want := range c.want {
			if g := got.NRGBAAt(x, 0); g != want || got.Rect.Dx() != len(c.want) || got.Rect.Dy() != 1 {
				t.Errorf("%v: pixel %d is %v, want %v", got.Rect, x, g, want)
			}
		}
	}
}

func TestReadMap(t *testing.T) {
	m, err := ReadMap("a.toml", []byte("Hips = \"pelvis\" # here\nLeftArm = 'l.arm'\n"))
	if err != nil || len(m) != 2 || m["LeftArm"] != "l.arm" {
		t.Errorf("%v, %v", m, err)
	}
	for text, want := range map[string]string{
		"Hips = \"a\"\nHead":           "a.toml:2: ",
		"Hips = 3":                     "a.toml:1: ",
		"[Hips]\na = 'b'":              "a.toml:1: ",
		strings.Repeat("[", 100):       "a.toml:1: nested",
		"\n" + strings.Repeat(".", 99): "a.toml:2: nested",
		strings.Repeat(" ", maxMap+1):  "at most",
	} {
		if _, err := ReadMap("a.toml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

// Any skin that is read is valid: walking, reporting and failing to fit it do not panic.
func FuzzRead(f *testing.F) {
	f.Add(encode(f, small(), true))
	f.Add(encode(f, small(), false))
	for _, edit := range []func(d *gltf.Document){
		func(d *gltf.Document) {
			sparse(d, d.Meshes[0].Primitives[0].Attributes[gltf.POSITION], []uint16{1}, [][3]float32{{5, 6, 7}})
		},
		func(d *gltf.Document) { d.Meshes[0].Primitives[0].Mode = gltf.PrimitiveTriangleStrip },
		func(d *gltf.Document) { d.Meshes[0].Primitives[0].Mode = gltf.PrimitiveTriangleFan },
		func(d *gltf.Document) { // posed and mirrored
			d.Nodes[1].Children, d.Nodes = []int{3}, append(d.Nodes, &gltf.Node{Name: "b", Rotation: [4]float64{0, 0, 1, 1}, Scale: [3]float64{-1, 1, 1}})
			d.Skins[0].Joints = []int{0, 1}
			d.Nodes[1].Rotation = [4]float64{0, 0, 0.5, 1}
		},
		func(d *gltf.Document) { // two characters
			d.Nodes = append(d.Nodes, &gltf.Node{Name: "other"}, &gltf.Node{Mesh: gltf.Index(0), Skin: gltf.Index(1)}, &gltf.Node{Name: "armature", Children: []int{3, 5}}, &gltf.Node{Name: "a"})
			d.Nodes[5], d.Nodes[6] = d.Nodes[6], d.Nodes[5]
			d.Nodes[6].Children = []int{3, 5}
			d.Scenes[0].Nodes = []int{0, 2, 4, 6}
			d.Skins = append(d.Skins, &gltf.Skin{Joints: []int{3, 5}})
		},
		func(d *gltf.Document) {
			d.Extensions = gltf.Extensions{vrm1: map[string]any{"meta": map[string]any{"name": "x", "authors": []string{"y"}},
				"humanoid": map[string]any{"humanBones": map[string]any{"hips": map[string]any{"node": 0}, "head": map[string]any{"node": 1}}}}}
		},
		func(d *gltf.Document) {
			d.Extensions = gltf.Extensions{vrm0: map[string]any{"meta": map[string]any{"title": "x"},
				"humanoid": map[string]any{"humanBones": []any{map[string]any{"bone": "hips", "node": 0}, map[string]any{"bone": "head", "node": 1}}}}}
		},
	} {
		d := small()
		edit(d)
		f.Add(encode(f, d, false))
		must.Get(readAlone("seed", encode(f, d, false)))(f)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		s, err := readAlone("fuzz", data)
		if err != nil {
			var bad *Error
			if !errors.As(err, &bad) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		m := &s.mesh
		if len(m.normal) != len(m.pos) || len(m.colour) != len(m.pos) || len(m.influences) != len(m.pos) || len(m.index)%3 != 0 {
			t.Fatal("slices of different lengths")
		}
		for _, i := range m.index {
			if int(i) >= len(m.pos) {
				t.Fatal("an index is out of range")
			}
		}
		for v := range m.pos {
			if !m.pos[v].Finite() || !m.normal[v].Finite() {
				t.Fatal("a vertex is not finite")
			}
			var sum float32
			for _, p := range m.influences[v] {
				sum += p.weight
				if p.joint < 0 || int(p.joint) >= len(s.joints) {
					t.Fatal("a joint is out of range")
				}
			}
			if !(m3.Abs(sum-1) < 1e-4) {
				t.Fatalf("shares add up to %g", sum)
			}
		}
		s.Upright()
	})
}

func FuzzReadMap(f *testing.F) {
	f.Add([]byte("Hips = \"pelvis\"\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if m, err := ReadMap("fuzz.toml", text); err == nil && m == nil {
			t.Error("neither a map nor an error")
		}
	})
}
