package fbx

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/qmuntal/gltf"

	"mannequin/internal/testing/must"
)

// smile is two sliders of the strip's mesh: one with two shapes, the first of which is full at 40 %, and one with the
// weights of its points in place of those of its shapes, at 50 %. The first moves in a second from 0 to 100 %.
func smile() []tree {
	shape := func(id int, points []int64, by []float64) tree {
		return rec("Geometry", id, "\x00\x01Geometry", "Shape", rec("Indexes", points), rec("Vertices", by))
	}
	channel := func(id int, name string, percent float64, full ...float64) tree {
		return rec("Deformer", id, name+"\x00\x01SubDeformer", "BlendShapeChannel", rec("DeformPercent", percent), rec("FullWeights", full))
	}
	return []tree{
		rec("Deformer", 40, "\x00\x01Deformer", "BlendShape"), channel(41, "smile", 0, 40, 100), channel(42, "frown", 50, 100, 25),
		shape(43, []int64{4, 5}, []float64{1, 2, 3, 0, 0, 0}), shape(44, []int64{5}, []float64{-4, 0, 0}), shape(45, []int64{0, 4}, []float64{8, 0, 0, 0, 8, 0}),
		rec("AnimationCurveNode", 112, "DeformPercent\x00\x01AnimCurveNode", ""), keys(122, []float64{0, 1}, []float32{0, 100}),
		link2(40, 6), link2(41, 40), link2(42, 40), link2(43, 41), link2(44, 41), link2(45, 42),
		link2(112, 101), linkTo(112, 41, "DeformPercent"), linkTo(122, 112, "d|DeformPercent"),
	}
}

// Blend shapes are morph targets, and sliders are their weights.
func TestBlendShapes(t *testing.T) {
	for name, data := range formats(doll(t, strip(), smile()...)) {
		c := must.Get(ReadCharacter(name, data))(t)
		s := newShown(c.Doc)
		mesh := c.Doc.Meshes[0]
		if got := fmt.Sprint(mesh.Weights, mesh.Extras); got != "[0 0 0.5] map[targetNames:[smile 40% smile frown]]" {
			t.Errorf("%s: weights and names %s", name, got)
		}
		for _, p := range mesh.Primitives {
			pos := s.read(t, p.Attributes[gltf.POSITION], 3)
			want := map[[3]float64][3][3]float64{ // by the vertex, in centimetres with +Z up
				{-10, 0, 2}: {{}, {}, {8, 0, 0}}, // point 0, with the mesh's own offset
				{10, 0, 82}: {{1, 2, 3}, {}, {0, 2, 0}}, {-10, 0, 82}: {{}, {-4, 0, 0}, {}},
			}
			for k, target := range p.Targets {
				moved := 0
				for i, x := range s.read(t, target[gltf.POSITION], 3) {
					at := [3]float64{}
					for j := range at {
						at[j] = math.Round(100 * pos[i/3*3+j])
					}
					if got, want := 100*x, want[at][k][i%3]; math.Abs(got-want) > 1e-5 {
						t.Errorf("%s: shape %d moves the vertex at %g by %g along %d, want %g", name, k, at, got, i%3, want)
					}
					if x != 0 {
						moved++
					}
				}
				if a := c.Doc.Accessors[target[gltf.POSITION]]; a.BufferView != nil || (a.Sparse == nil) != (moved == 0) {
					t.Errorf("%s: shape %d has %d numbers and %+v", name, k, moved, a)
				}
			}
		}
		for at, want := range map[float64][3]float64{0: {0, 0, 0.5}, 0.25: {0.625, 0, 0.5}, 0.5: {1 - 1./6, 1. / 6, 0.5}, 1: {0, 1, 0.5}} {
			s.worlds(t, c.Doc.Animations[0], at)
			for n, got := range s.shapes {
				for k := range want {
					if c.Doc.Nodes[n].Name != "Strip" || math.Abs(got[k]-want[k]) > 1e-6 {
						t.Errorf("%s: weight %d of %s is %g at %g s, want %g", name, k, c.Doc.Nodes[n].Name, got[k], at, want[k])
					}
				}
			}
			if len(s.shapes) != 1 {
				t.Errorf("%s: %d nodes have weights", name, len(s.shapes))
			}
		}
		if _, err := c.Skin(); err != nil {
			t.Error(err)
		}
	}
	// An animation of sliders alone is one of the character, and none of the joints.
	records := doll(t, strip(), smile()...)
	links := records[2].below
	for i := range links {
		if links[i].values[2] == int64(3) && len(links[i].values) == 4 {
			links[i].values[3] = "Other"
		}
	}
	data := binaryFile(7400, records)
	if _, err := Read("a.fbx", data); err == nil || !strings.Contains(err.Error(), "has no animation") {
		t.Errorf("sliders alone: %v", err)
	}
	if c := must.Get(ReadCharacter("a.fbx", data))(t); len(c.Doc.Animations) != 1 || len(c.Doc.Animations[0].Channels) != 1 {
		t.Errorf("sliders alone: animations %v", c.Doc.Animations)
	}
}

// Blend shapes that cannot be read are refused with the place.
func TestBlendShapesRefused(t *testing.T) {
	for want, change := range map[string]func(r *tree){
		"is of point 6, the mesh": func(r *tree) {
			if r.values[0] == int64(43) {
				r.below[0] = rec("Indexes", []int64{4, 6})
			}
		},
		"5 coordinates for 2 points": func(r *tree) {
			if r.values[0] == int64(43) {
				r.below[1] = rec("Vertices", []float64{1, 2, 3, 4, 5})
			}
		},
		"moves point 5 by +Inf": func(r *tree) {
			if r.values[0] == int64(44) {
				r.below[1] = rec("Vertices", []float64{math.Inf(1), 0, 0})
			}
		},
		"want numbers that grow": func(r *tree) {
			if r.values[0] == int64(41) {
				r.below[1] = rec("FullWeights", []float64{40, 40})
			}
		},
		"is at NaN %": func(r *tree) {
			if r.values[0] == int64(41) {
				r.below[0] = rec("DeformPercent", math.NaN())
			}
		},
	} {
		records := doll(t, strip(), smile()...)
		for i := range records[1].below {
			change(&records[1].below[i])
		}
		if _, err := ReadCharacter("a.fbx", binaryFile(7400, records)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "a.fbx: byte ") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
