package skin

import (
	"slices"
	"strings"
	"testing"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// sparse makes an accessor sparse: the values at these indices.
func sparse(d *gltf.Document, accessor int, index []uint16, values any) {
	i, v := modeler.WriteAccessor(d, gltf.TargetNone, index), modeler.WriteAccessor(d, gltf.TargetNone, values)
	d.Accessors[accessor].Sparse = &gltf.Sparse{Count: len(index),
		Indices: gltf.SparseIndices{BufferView: *d.Accessors[i].BufferView, ComponentType: gltf.ComponentUshort},
		Values:  gltf.SparseValues{BufferView: *d.Accessors[v].BufferView}}
}

// Sparse values replace those of the bufferView, or zeros.
func TestReadSparse(t *testing.T) {
	for name, c := range map[string]struct {
		without bool
		want    []m3.Vec3
	}{
		"over a bufferView":    {false, []m3.Vec3{{}, m3.V(5, 6, 7), m3.V(0, 1, 0)}},
		"without a bufferView": {true, []m3.Vec3{{}, m3.V(5, 6, 7), {}}},
	} {
		d := small()
		a := d.Meshes[0].Primitives[0].Attributes[gltf.POSITION]
		sparse(d, a, []uint16{1}, [][3]float32{{5, 6, 7}})
		if c.without {
			d.Accessors[a].BufferView = nil
		}
		s := must.Get(readAlone(name, encode(t, d, true)))(t)
		if !slices.Equal(s.mesh.pos, c.want) {
			t.Errorf("%s: %v, want %v", name, s.mesh.pos, c.want)
		}
	}
}

// An accessor without data is zeros, as small files have them.
func TestReadZeros(t *testing.T) {
	d := moving([]track{{node: 1, path: gltf.TRSTranslation, times: []float32{0, 1}, values: [][3]float32{{1, 2, 3}, {4, 5, 6}}}})
	d.Accessors[d.Animations[0].Samplers[0].Output].BufferView = nil
	m := must.Get(ReadMotions("a.glb", encode(t, d, true)))(t)[0].Clip
	if m.Frames != 25 || slices.ContainsFunc(m.Pos, func(p m3.Vec3) bool { return p != m3.Vec3{} }) {
		t.Errorf("%d frames: %v", m.Frames, m.Pos)
	}
}

func TestReadSparseErrors(t *testing.T) {
	for want, edit := range map[string]func(d *gltf.Document, s *gltf.Sparse){
		"sparse.count is 0, want 1 to 3":                            func(_ *gltf.Document, s *gltf.Sparse) { s.Count = 0 },
		"sparse.count is 4, want 1 to 3":                            func(_ *gltf.Document, s *gltf.Sparse) { s.Count = 4 },
		"sparse.indices: there is no bufferViews[77]":               func(_ *gltf.Document, s *gltf.Sparse) { s.Indices.BufferView = 77 },
		"sparse.values: 2 elements take 24 bytes at byte 4":         func(_ *gltf.Document, s *gltf.Sparse) { s.Values.ByteOffset = 4 },
		"sparse.values: 2 elements take 24 bytes at byte -1":        func(_ *gltf.Document, s *gltf.Sparse) { s.Values.ByteOffset = -1 },
		"element 1 is 0, want less than 3 and more than the one be": func(d *gltf.Document, s *gltf.Sparse) { put(d, s.Indices.BufferView, []byte{2, 0, 0, 0}) },
		"element 1 is 3, want less than 3":                          func(d *gltf.Document, s *gltf.Sparse) { put(d, s.Indices.BufferView, []byte{2, 0, 3, 0}) },
	} {
		d := small()
		a := d.Meshes[0].Primitives[0].Attributes[gltf.POSITION]
		sparse(d, a, []uint16{1, 2}, [][3]float32{{5, 6, 7}, {1, 1, 1}})
		edit(d, d.Accessors[a].Sparse)
		must.Fail(readAlone("a.glb", encode(t, d, true)))(t, want)
	}
}

// Sparse accessors of zeros take a bounded memory, however many there are.
func TestSparseMemory(t *testing.T) {
	d := gltf.NewDocument()
	d.Nodes = []*gltf.Node{{Name: "a"}}
	d.Scenes[0].Nodes = []int{0}
	times := modeler.WriteAccessor(d, gltf.TargetNone, []float32{0, 1})
	a := &gltf.Animation{}
	for range 8 {
		out := len(d.Accessors)
		d.Accessors = append(d.Accessors, &gltf.Accessor{ComponentType: gltf.ComponentFloat, Type: gltf.AccessorVec4, Count: MaxKeys})
		sparse(d, out, []uint16{0}, [][4]float32{{0, 0, 0, 1}})
		a.Samplers = append(a.Samplers, &gltf.AnimationSampler{Input: times, Output: out})
		a.Channels = append(a.Channels, &gltf.AnimationChannel{Sampler: len(a.Samplers) - 1, Target: gltf.AnimationChannelTarget{Node: gltf.Index(0), Path: gltf.TRSRotation}})
	}
	d.Animations = []*gltf.Animation{a}
	must.Fail(ReadMotions("a.glb", encode(t, d, true)))(t, "all sparse accessors may take 64 MB")
	for i := range a.Channels { // the same one, often
		a.Samplers[i].Output = a.Samplers[0].Output
	}
	must.Get(ReadMotions("a.glb", encode(t, d, true)))(t)
}

// Strips and fans are the triangles that they stand for, with the same winding; degenerate ones join
// strips.
func TestReadChains(t *testing.T) {
	at := [][3]float32{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 2, 0}}
	for name, c := range map[string]struct {
		mode  gltf.PrimitiveMode
		index []uint16
		want  []uint32
	}{
		"strip":            {gltf.PrimitiveTriangleStrip, []uint16{0, 1, 2, 3, 4}, []uint32{0, 1, 2, 1, 3, 2, 2, 3, 4}},
		"strip, all":       {gltf.PrimitiveTriangleStrip, nil, []uint32{0, 1, 2, 1, 3, 2, 2, 3, 4}},
		"joined strips":    {gltf.PrimitiveTriangleStrip, []uint16{0, 1, 2, 2, 1, 1, 3, 4}, []uint32{0, 1, 2, 1, 4, 3}},
		"fan":              {gltf.PrimitiveTriangleFan, []uint16{0, 1, 3, 4, 2}, []uint32{0, 1, 3, 0, 3, 4, 0, 4, 2}},
		"triangles":        {gltf.PrimitiveTriangles, []uint16{0, 1, 2}, []uint32{0, 1, 2}},
		"strip of a point": {gltf.PrimitiveTriangleStrip, []uint16{0, 1}, nil},
	} {
		d := small()
		p := d.Meshes[0].Primitives[0]
		p.Mode, p.Indices = c.mode, nil
		p.Attributes[gltf.POSITION] = modeler.WritePosition(d, at)
		p.Attributes[gltf.JOINTS_0] = modeler.WriteJoints(d, make([][4]uint8, len(at)))
		p.Attributes[gltf.WEIGHTS_0] = modeler.WriteWeights(d, slices.Repeat([][4]float32{{1}}, len(at)))
		if c.index != nil {
			p.Indices = gltf.Index(modeler.WriteIndices(d, c.index))
		}
		s, err := readAlone("a.glb", encode(t, d, true))
		switch {
		case c.want == nil:
			must.FailWith(t, err, "meshes[0].primitives[0].indices: 2 vertices are too few for a TRIANGLE_STRIP")
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case !slices.Equal(s.mesh.index, c.want):
			t.Errorf("%s: %v, want %v", name, s.mesh.index, c.want)
		}
	}
}

// Up to sixteen joints of a vertex are read, and the strongest four stay.
func TestReadManyInfluences(t *testing.T) {
	d := small()
	a := d.Meshes[0].Primitives[0].Attributes
	for _, set := range []string{"1", "2", "3"} {
		a["JOINTS_"+set] = modeler.WriteJoints(d, [][4]uint8{{1}, {1}, {1}})
		a["WEIGHTS_"+set] = modeler.WriteWeights(d, [][4]float32{{1}, {0}, {0}})
	}
	s := must.Get(readAlone("a.glb", encode(t, d, true)))(t)
	if p := s.mesh.influences[0]; len(p) != 2 || p[0] != (influence{1, 0.75}) || p[1] != (influence{0, 0.25}) {
		t.Errorf("%v", p)
	}
}

// Morph targets do not disturb, and are told. Joints of the same name stay apart.
func TestReadNotes(t *testing.T) {
	d := small()
	p := d.Meshes[0].Primitives[0]
	p.Targets = []gltf.PrimitiveAttributes{{gltf.POSITION: 999}, {}}
	d.Meshes[0].Weights = []float64{1, 0}
	d.Nodes[1].Name = "a"
	d.Nodes[1].Children = []int{3}
	d.Nodes = append(d.Nodes, &gltf.Node{Name: "a_2"})
	d.Skins[0].Joints, d.Skins[0].InverseBindMatrices = []int{0, 1, 3}, nil
	s := must.Get(readAlone("a.glb", encode(t, d, true)))(t)
	if !slices.Equal(s.Joints(), []string{"a", "a_2", "a_2_2"}) {
		t.Errorf("joints %q", s.Joints())
	}
	notes := strings.Join(s.Notes, "\n")
	for _, want := range []string{"2 morph targets are not read", `all but the first "a" got a number, 2 joints in all`} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in %q", want, notes)
		}
	}
}

// Compressed views are unpacked; the buffer beside is for programs that do not know the compression.
func TestReadMeshopt(t *testing.T) {
	read := func(edit func(x map[string]any)) (*Skin, error) {
		d := small()
		v := d.BufferViews[*d.Accessors[*d.Meshes[0].Primitives[0].Indices].BufferView]
		at := len(d.Buffers[0].Data)
		d.Buffers[0].Data = append(d.Buffers[0].Data, 0xd1, 0, 4, 4, 0, 0, 0, 0) // 0, one more, one more
		d.Buffers[0].ByteLength = len(d.Buffers[0].Data)
		x := map[string]any{"buffer": 0, "byteOffset": at, "byteLength": 8, "byteStride": 2, "count": 3, "mode": "INDICES"}
		edit(x)
		v.Extensions, v.Buffer = gltf.Extensions{meshoptCompression: x}, 1
		v.ByteOffset, v.ByteLength = 0, 6
		d.Buffers = append(d.Buffers, &gltf.Buffer{ByteLength: 6})
		d.ExtensionsRequired = []string{meshoptCompression}
		return readAlone("a.glb", encode(t, d, true))
	}
	smallest(t, must.Get(read(func(map[string]any) {}))(t))
	for want, edit := range map[string]func(x map[string]any){
		`mode is "STRIPS"`:                  func(x map[string]any) { x["mode"] = "STRIPS" },
		"9 bytes at byte":                   func(x map[string]any) { x["byteLength"] = 9 },
		"there is no buffers[7]":            func(x map[string]any) { x["buffer"] = 7 },
		"4 elements in 8 bytes":             func(x map[string]any) { x["count"] = 4 },
		"cannot unmarshal string":           func(x map[string]any) { x["count"] = "a" },
		"begins with 0x0, want 0xd1":        func(x map[string]any) { x["byteOffset"] = 0 },
		"3 elements take 6 bytes at byte 0": func(x map[string]any) { x["count"] = 1 },
	} {
		must.Fail(read(edit))(t, want)
	}
}
