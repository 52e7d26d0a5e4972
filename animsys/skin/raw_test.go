package skin

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

// object is a JSON object. It can hold what the library cannot write.
type object = map[string]any

// plain returns the document and the binary chunk of one triangle that one joint moves, with a
// texture that is not there and an animation.
func plain() (object, []byte) {
	var bin bytes.Buffer
	bin.Write(binary.LittleEndian.AppendUint32(nil, 0)) // joints of three vertices
	bin.Write(make([]byte, 8))
	for _, x := range []float32{0, 0, 0, 1, 0, 0, 0, 1, 0, // positions
		1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, // weights
		0, 0, 1, 0, 0, 1} { // places in the texture
		binary.Write(&bin, binary.LittleEndian, x)
	}
	view := func(at, n int) object { return object{"buffer": 0, "byteOffset": at, "byteLength": n} }
	accessor := func(view, component int, kind string) object {
		return object{"bufferView": view, "componentType": component, "count": 3, "type": kind}
	}
	return object{
		"asset": object{"version": "2.0"}, "scene": 0, "scenes": []any{object{"nodes": []any{0, 1}}},
		"nodes":       []any{object{"name": "j"}, object{"mesh": 0, "skin": 0}},
		"skins":       []any{object{"joints": []any{0}}},
		"meshes":      []any{object{"primitives": []any{object{"attributes": object{"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2, "TEXCOORD_0": 3}}}}},
		"buffers":     []any{object{"byteLength": bin.Len()}},
		"bufferViews": []any{view(12, 36), view(0, 12), view(48, 48), view(96, 24)},
		"accessors":   []any{accessor(0, 5126, "VEC3"), accessor(1, 5121, "VEC4"), accessor(2, 5126, "VEC4"), accessor(3, 5126, "VEC2")},
		"cameras":     []any{object{"type": "perspective"}},
		"materials":   []any{object{}},
		"samplers":    []any{object{}},
		"animations":  []any{object{"samplers": []any{object{}}, "channels": []any{object{"target": object{"path": "scale"}}}}},
	}, bin.Bytes()
}

// part returns the object at a place such as meshes, 0, primitives, 0.
func part(d any, place ...any) object {
	for _, p := range place {
		switch p := p.(type) {
		case string:
			d = d.(object)[p]
		case int:
			d = d.([]any)[p]
		}
	}
	return d.(object)
}

// packed returns the GLB of a document and its binary chunk.
func packed(t testing.TB, d object, bin []byte) []byte {
	t.Helper()
	text := must.Get(json.Marshal(d))(t)
	out := []byte("glTF\x02\x00\x00\x00\x00\x00\x00\x00")
	for _, chunk := range []struct {
		kind string
		body []byte
	}{{"JSON", append(text, bytes.Repeat([]byte(" "), -len(text)&3)...)}, {"BIN\x00", append(bin, make([]byte, -len(bin)&3)...)}} {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(chunk.body))), chunk.kind...)
		out = append(out, chunk.body...)
	}
	binary.LittleEndian.PutUint32(out[8:], uint32(len(out)))
	return out
}

// A value that glTF does not have is refused with its place, and the ones that it has are read.
func TestReadEnums(t *testing.T) {
	for _, c := range []struct {
		place []any
		name  string
		bad   []any
		good  []any
		want  string
	}{
		{[]any{"accessors", 0}, "componentType", []any{9999, 0, -1, 5124, 5126.5, 1e300, 5126 + 65536, nil}, []any{5126}, "accessors[0].componentType"},
		{[]any{"accessors", 1}, "componentType", []any{5127, "5121"}, []any{5121}, "accessors[1].componentType"},
		{[]any{"accessors", 0}, "type", []any{"VEC5", "vec3", "", 3, nil}, []any{"VEC3"}, "accessors[0].type"},
		{[]any{"accessors", 3}, "sparse", []any{object{"indices": object{"componentType": 5126}}}, nil, "accessors[3].sparse.indices.componentType"},
		{[]any{"bufferViews", 2}, "target", []any{1, 34964}, []any{34962, 34963}, "bufferViews[2].target"},
		{[]any{"cameras", 0}, "type", []any{"wide", 0, nil}, []any{"perspective", "orthographic"}, "cameras[0].type"},
		{[]any{"materials", 0}, "alphaMode", []any{"opaque", "GLASS"}, []any{"OPAQUE", "MASK", "BLEND"}, "materials[0].alphaMode"},
		{[]any{"meshes", 0, "primitives", 0}, "mode", []any{77, 7, -1, 4.5, 260, "4", nil}, []any{4}, "meshes[0].primitives[0].mode"},
		{[]any{"samplers", 0}, "magFilter", []any{1, 9984}, []any{9728, 9729}, "samplers[0].magFilter"},
		{[]any{"samplers", 0}, "minFilter", []any{9730, 9988}, []any{9728, 9729, 9984, 9985, 9986, 9987}, "samplers[0].minFilter"},
		{[]any{"samplers", 0}, "wrapS", []any{10496}, []any{33071, 33648, 10497}, "samplers[0].wrapS"},
		{[]any{"samplers", 0}, "wrapT", []any{0}, []any{33071, 33648, 10497}, "samplers[0].wrapT"},
		{[]any{"animations", 0, "samplers", 0}, "interpolation", []any{"CUBIC"}, []any{"LINEAR", "STEP", "CUBICSPLINE"}, "animations[0].samplers[0].interpolation"},
		{[]any{"animations", 0, "channels", 0, "target"}, "path", []any{"Scale"}, []any{"translation", "rotation", "scale", "weights", "pointer"}, "animations[0].channels[0].target.path"},
	} {
		try := func(v any) error {
			d, bin := plain()
			part(d, c.place...)[c.name] = v
			_, err := readAlone("a.glb", packed(t, d, bin))
			return err
		}
		for _, v := range c.bad {
			var bad *Error
			if err := try(v); !errors.As(err, &bad) || bad.Where != c.want {
				t.Errorf("%s = %v: %v", c.want, v, err)
			}
		}
		for _, v := range c.good {
			if err := try(v); err != nil {
				t.Errorf("%s = %v: %v", c.want, v, err)
			}
		}
	}
}

// Numbers out of their ranges are refused.
func TestReadRanges(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(d object, bin []byte)
		want string
	}{
		"weight NaN":    {func(_ object, bin []byte) { copy(bin[48:], "\x00\x00\xc0\x7f") }, "WEIGHTS_0: element 0 has the value NaN"},
		"place NaN":     {func(_ object, bin []byte) { copy(bin[12:], "\x00\x00\xc0\x7f") }, "POSITION: element 0 has the value NaN"},
		"stride":        {func(d object, _ []byte) { part(d, "bufferViews", 0)["byteStride"] = 8 }, "byteStride 8, want 12 to 252"},
		"long stride":   {func(d object, _ []byte) { part(d, "bufferViews", 0)["byteStride"] = 1 << 62 }, "want 12 to 252"},
		"minus stride":  {func(d object, _ []byte) { part(d, "bufferViews", 0)["byteStride"] = -12 }, "want 12 to 252"},
		"offset":        {func(d object, _ []byte) { part(d, "accessors", 0)["byteOffset"] = int64(1<<63 - 1) }, "accessors[0]: 3 elements take 36 bytes"},
		"count":         {func(d object, _ []byte) { part(d, "accessors", 0)["count"] = 1 << 62 }, "has count 4611686018427387904"},
		"normalized":    {func(d object, _ []byte) { part(d, "accessors", 0)["normalized"] = 1 }, "normalized is a number"},
		"signed joints": {func(d object, _ []byte) { part(d, "accessors", 1)["componentType"] = 5120 }, "JOINTS_0: is of BYTE"},
		"many nodes":    {func(d object, _ []byte) { d["nodes"] = make([]object, MaxNodes+1) }, "nodes: 16385 of them"},
		"own child":     {func(d object, _ []byte) { part(d, "nodes", 0)["children"] = []any{0} }, "is a child of nodes[0] and not a root"},
		"far":           {func(d object, _ []byte) { part(d, "nodes", 0)["translation"] = []any{1e308, 1e308, 1e308} }, "nodes[0]: its position"},
		"joint":         {func(d object, _ []byte) { part(d, "skins", 0)["joints"] = []any{5} }, "skins[0].joints[0]: the scene has no nodes[5]"},
		"many joints":   {func(d object, _ []byte) { part(d, "skins", 0)["joints"] = make([]int, 5000) }, "skins[0].joints: 5000 of them"},
	} {
		d, bin := plain()
		c.edit(d, bin)
		if _, err := readAlone("a.glb", packed(t, d, bin)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	for _, edit := range []func(d object){ // odd, and harmless: the library's zero stands for nothing
		func(object) {},
		func(d object) { part(d, "nodes", 0)["rotation"] = []any{0, 0, 0, 0} },
		func(d object) { part(d, "nodes", 0)["scale"] = []any{0, 0, 0} },
	} {
		d, bin := plain()
		edit(d)
		must.Get(readAlone("a.glb", packed(t, d, bin)))(t)
	}
}
