package body

import (
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// Coarser levels keep each material on its part of the surface, and texture coordinates where they
// were, also beside a seam.
func TestAdoptKeepsTextures(t *testing.T) {
	fine := sheet(60)
	var sides [2][]uint32
	for i := 0; i < len(fine.Index); i += 3 {
		side := 0
		if v := fine.Index[i : i+3]; fine.Pos[v[0]].X+fine.Pos[v[1]].X+fine.Pos[v[2]].X > 1.5 {
			side = 1
		}
		for _, v := range fine.Index[i : i+3] {
			for int(v) >= len(fine.UV) {
				fine.UV = append(fine.UV, [2]float32{})
			}
			fine.UV[v] = [2]float32{fine.Pos[v].X + 5*float32(side), fine.Pos[v].Z}
			sides[side] = append(sides[side], v)
		}
	}
	fine.Index = append(sides[0], sides[1]...)
	fine.Parts = []Part{{Material: 7, Count: len(sides[0])}, {Material: 3, Start: len(sides[0]), Count: len(sides[1])}}
	b := must.Get(Adopt([]m3.Xform{m3.Identity, m3.Identity}, fine, Paint))(t)
	for k, m := range b.Levels {
		if len(m.Parts) != 2 || m.Parts[0].Material != 7 || m.Parts[1].Material != 3 || len(m.UV) != len(m.Pos) {
			t.Fatalf("level %d has the parts %v and %d texture coordinates for %d vertices", k, m.Parts, len(m.UV), len(m.Pos))
		}
		wrong := 0
		for side, p := range m.Parts {
			for i := p.Start; i < p.Start+p.Count; i++ {
				v := m.Index[i]
				if m3.Abs(m.UV[v][0]-5*float32(side)-m.Pos[v].X) > 0.06 || m3.Abs(m.UV[v][1]-m.Pos[v].Z) > 0.06 {
					wrong++
				}
			}
		}
		if wrong > len(m.Index)/50 {
			t.Errorf("level %d: %d of %d corners have texture coordinates from elsewhere", k, wrong, len(m.Index))
		}
	}
	for _, parts := range [][]Part{{{Count: 3}}, {{Count: 4}, {Start: 4, Count: len(fine.Index) - 4}}, {{Material: -1, Count: len(fine.Index)}}, {{Start: 3, Count: len(fine.Index) - 3}}} {
		bad := fine
		bad.Parts = parts
		if _, err := Adopt([]m3.Xform{m3.Identity, m3.Identity}, bad, Paint); err == nil {
			t.Errorf("the parts %v were accepted", parts)
		}
	}
	bad := fine
	bad.UV = bad.UV[1:]
	if _, err := Adopt([]m3.Xform{m3.Identity, m3.Identity}, bad, Paint); err == nil {
		t.Error("a missing texture coordinate was accepted")
	}
}
