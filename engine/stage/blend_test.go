package stage

import (
	"bytes"
	"math"
	"testing"

	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// pane is an upright square of one metre that looks along +Z, of a colour and an opacity.
func pane(t *testing.T, blend bool, opacity float32) *body.Body {
	m := body.Mesh{Index: []uint32{0, 1, 2, 0, 2, 3}}
	for _, p := range [][2]float32{{-0.5, 0}, {0.5, 0}, {0.5, 1}, {-0.5, 1}} {
		m.Pos, m.Normal, m.UV = append(m.Pos, m3.V(p[0], p[1], 0)), append(m.Normal, m3.V(0, 0, 1)), append(m.UV, p)
		m.Joints, m.Weights, m.Coat = append(m.Joints, [4]uint8{}), append(m.Weights, [4]float32{1}), append(m.Coat, [4]float32{1, 1, 1, 1})
	}
	b := must.Get(body.Adopt([]m3.Xform{{Rot: m3.Ident}}, m, body.Paint))(t)
	b.Levels = b.Levels[:1]
	b.Levels[0].UV, b.Levels[0].Parts = m.UV, []body.Part{{Count: len(m.Index)}}
	b.Materials = []body.Material{{BaseColor: [4]float32{0.8, 0.05, 0.05, opacity}, Roughness: 1, Cutoff: 0.5, Blend: blend, DoubleSided: true}}
	return b
}

// A material that blends lets as much through as it is not opaque, of the sky and of a character behind it, and what is
// solid of it is drawn as ever.
func TestBlendedMaterial(t *testing.T) {
	const opacity = 0.6
	colour := func(bodies ...*body.Body) [3]float64 {
		s := open(t, 160, 160)
		for i, b := range bodies { // one behind the other
			newCrowd(t, s, b, []m3.Xform{{Pos: m3.V(0, 0.5, float32(i)), Rot: m3.Ident}}, nil)
		}
		s.Camera.Place(m3.V(0, 1, 5), m3.V(0, 1, 0))
		defer s.Close()
		return at(t, s, shoot(t, s, View{}), m3.V(0, 1, 0))
	}
	blue := pane(t, false, 1)
	blue.Materials[0].BaseColor = [4]float32{0.05, 0.05, 0.8, 1}
	for name, behind := range map[string][]*body.Body{"sky": nil, "character": {blue}} {
		back, solid, glass := colour(behind...), colour(append(behind, pane(t, false, 1))...), colour(append(behind, pane(t, true, opacity))...)
		for k := range glass {
			if want := opacity*solid[k] + (1-opacity)*back[k]; math.Abs(glass[k]-want) > 3 {
				t.Errorf("before the %s channel %d is %.0f, want %.0f: between %v and %v", name, k, glass[k], want, solid, back)
			}
		}
		if got := colour(append(behind, pane(t, true, 1))...); got != solid {
			t.Errorf("what is solid of a material that blends is %v before the %s, want %v", got, name, solid)
		}
	}
}

// The nearest of three characters lies over the others, whatever their order.
func TestBlendsFromBackToFront(t *testing.T) {
	s := open(t, 160, 160)
	c := must.Get(s.NewCrowd(pane(t, true, 0.5)))(t)
	s.Camera.Place(m3.V(0, 1, 6), m3.V(0, 1, 0))
	// The light falls on them at different angles.
	places := []m3.Xform{{Pos: m3.V(0, 0.5, -1), Rot: m3.YawQuat(0.9)}, {Pos: m3.V(0.1, 0.5, 0), Rot: m3.Ident}, {Pos: m3.V(0, 0.5, 1.5), Rot: m3.YawQuat(-0.9)}}
	var first []byte
	for _, order := range [][3]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}} {
		must.Do(t, c.Set([]m3.Xform{places[order[0]], places[order[1]], places[order[2]]}, nil))
		img := shoot(t, s, View{})
		if first == nil {
			first = bytes.Clone(img.Pix)
		} else if !bytes.Equal(first, img.Pix) {
			t.Errorf("in the order %v the picture is another", order)
		}
	}
}
