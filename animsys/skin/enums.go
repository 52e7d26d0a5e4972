package skin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// choices are the parts of a glTF that hold enumerated values, as they are in the file. The library
// replaces a value that it does not know by its first one.
type choices struct {
	Nodes     []struct{} // takes no memory: only their number counts
	Accessors []struct {
		ComponentType, Type raw
		Sparse              struct{ Indices struct{ ComponentType raw } }
	}
	BufferViews []struct{ Target raw }
	Cameras     []struct{ Type raw }
	Materials   []struct{ AlphaMode raw }
	Meshes      []struct{ Primitives []struct{ Mode raw } }
	Samplers    []struct{ MagFilter, MinFilter, WrapS, WrapT raw }
	Animations  []struct {
		Samplers []struct{ Interpolation raw }
		Channels []struct{ Target struct{ Path raw } }
	}
}

// raw is the text of a value, empty if it is missing.
type raw = json.RawMessage

// The values of glTF 2.0.
var (
	componentTypes = []string{"5120", "5121", "5122", "5123", "5125", "5126"}
	indexTypes     = []string{"5121", "5123", "5125"}
	accessorTypes  = []string{`"SCALAR"`, `"VEC2"`, `"VEC3"`, `"VEC4"`, `"MAT2"`, `"MAT3"`, `"MAT4"`}
	targets        = []string{"34962", "34963"}
	cameraTypes    = []string{`"perspective"`, `"orthographic"`}
	alphaModes     = []string{`"OPAQUE"`, `"MASK"`, `"BLEND"`}
	modes          = []string{"0", "1", "2", "3", "4", "5", "6"}
	magFilters     = []string{"9728", "9729"}
	minFilters     = []string{"9728", "9729", "9984", "9985", "9986", "9987"}
	wraps          = []string{"33071", "33648", "10497"}
	interpolations = []string{`"LINEAR"`, `"STEP"`, `"CUBICSPLINE"`}
	paths          = []string{`"translation"`, `"rotation"`, `"scale"`, `"weights"`, `"pointer"`} // the last is of KHR_animation_pointer
)

// checkChoices refuses values that glTF does not have, and too many nodes, before the library takes
// memory for the document.
func (f *file) checkChoices(text []byte) (err error) {
	var d choices
	_ = json.Unmarshal(text, &d) // what is wrong here is wrong for the document, too
	if len(d.Nodes) > MaxNodes {
		return f.errorf("nodes", "%d of them, at most %d are read", len(d.Nodes), MaxNodes)
	}
	// optional checks a value that may be missing. at are the numbers in where.
	optional := func(v raw, known []string, where string, at ...int) {
		if err != nil || len(v) == 0 || slices.Contains(known, string(v)) {
			return
		}
		var numbers []any
		for _, i := range at {
			numbers = append(numbers, i)
		}
		err = f.errorf(fmt.Sprintf(where, numbers...), "is %.40s, want %s", v, strings.Join(known, ", "))
	}
	required := func(v raw, known []string, where string, at int) {
		if optional(v, known, where, at); len(v) == 0 && err == nil {
			err = f.errorf(fmt.Sprintf(where, at), "is missing")
		}
	}
	for i, a := range d.Accessors {
		required(a.ComponentType, componentTypes, "accessors[%d].componentType", i)
		required(a.Type, accessorTypes, "accessors[%d].type", i)
		optional(a.Sparse.Indices.ComponentType, indexTypes, "accessors[%d].sparse.indices.componentType", i)
	}
	for i, v := range d.BufferViews {
		optional(v.Target, targets, "bufferViews[%d].target", i)
	}
	for i, c := range d.Cameras {
		optional(c.Type, cameraTypes, "cameras[%d].type", i)
	}
	for i, m := range d.Materials {
		optional(m.AlphaMode, alphaModes, "materials[%d].alphaMode", i)
	}
	for i, m := range d.Meshes {
		for k, p := range m.Primitives {
			optional(p.Mode, modes, "meshes[%d].primitives[%d].mode", i, k)
		}
	}
	for i, s := range d.Samplers {
		optional(s.MagFilter, magFilters, "samplers[%d].magFilter", i)
		optional(s.MinFilter, minFilters, "samplers[%d].minFilter", i)
		optional(s.WrapS, wraps, "samplers[%d].wrapS", i)
		optional(s.WrapT, wraps, "samplers[%d].wrapT", i)
	}
	for i, a := range d.Animations {
		for k, s := range a.Samplers {
			optional(s.Interpolation, interpolations, "animations[%d].samplers[%d].interpolation", i, k)
		}
		for k, c := range a.Channels {
			optional(c.Target.Path, paths, "animations[%d].channels[%d].target.path", i, k)
		}
	}
	return err
}
