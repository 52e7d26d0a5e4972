package fbx

import (
	"slices"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

// inBinary returns a text file of version 7 as a binary one of version 7.4, with the types of values that other
// readers insist on.
func (f *file) inBinary(t *testing.T) []byte {
	var records []tree
	for i := range f.root.below {
		r := &f.root.below[i]
		records = append(records, f.tree(t, r, r.name, 0))
	}
	return binaryFile(7400, records)
}

// Types of arrays by their records; others are of 64-bit numbers.
var (
	wideArrays  = []string{"KeyTime"}
	wholeArrays = []string{"KeyAttrFlags", "KeyAttrRefCount", "PolygonVertexIndex", "Edges", "Indexes", "UVIndex", "NormalsIndex", "ColorIndex", "Materials", "Smoothing", "TextureId"}
	floatArrays = []string{"KeyValueFloat", "KeyAttrDataFloat"}
)

// tree returns a record at some depth below the top record section.
func (f *file) tree(t *testing.T, r *record, section string, depth int) tree {
	out := tree{name: r.name}
	if a := r.child("a"); a != nil && len(r.below) == 1 {
		switch {
		case slices.Contains(wideArrays, r.name):
			out.values = []any{must.Get(f.wholes(r, MaxKeys))(t)}
		case slices.Contains(wholeArrays, r.name):
			var all []int32
			for _, x := range must.Get(f.wholes(r, maxCorners))(t) {
				all = append(all, int32(x))
			}
			out.values = []any{all}
		case slices.Contains(floatArrays, r.name):
			var all []float32
			for _, x := range must.Get(f.numbers(r, 4*MaxKeys))(t) {
				all = append(all, float32(x))
			}
			out.values = []any{all}
		default:
			out.values = []any{must.Get(f.numbers(r, 4*maxCorners))(t)}
		}
		return out
	}
	kind := ""
	n := 0
	must.Do(t, f.each(r, func(v *value) bool {
		switch whole := v.kind == 'n' && v.num == float64(v.whole); {
		case v.kind == 's':
			text := v.text
			if class, name, ok := strings.Cut(text, "::"); ok && n == 1 && section == "Objects" && depth == 1 {
				text = name + "\x00\x01" + class
			}
			if r.name == "P" && n == 1 {
				kind = text
			}
			out.values = append(out.values, text)
		case r.name == "P" && n >= 4 && slices.Contains([]string{"int", "enum", "bool", "Integer"}, kind):
			out.values = append(out.values, int32(v.whole))
		case r.name == "P" && n >= 4 && slices.Contains([]string{"KTime", "ULongLong"}, kind), r.name == "C", r.name == "Node", n == 0 && section == "Objects" && depth == 1:
			out.values = append(out.values, v.whole)
		case whole && r.name != "P" && r.name != "DeformPercent":
			out.values = append(out.values, int32(v.whole))
		default:
			out.values = append(out.values, v.num)
		}
		n++
		return true
	}))
	for i := range r.below {
		out.below = append(out.below, f.tree(t, &r.below[i], section, depth+1))
	}
	return out
}
