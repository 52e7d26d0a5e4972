package matching_test

import (
	"math"
	"slices"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/models/hero"
)

// A row that is packed goes on in another stream with the same bits. Package resident tests what the kernels do with it.
func TestPack(t *testing.T) {
	l := must.Get(hero.Open())(t).Learned
	open := func() *matching.LearnedStream {
		s := must.Get(l.NewStream(matching.StreamOptions{Capacity: 2}))(t)
		t.Cleanup(func() { must.Do(t, s.Close()) })
		must.Get(s.Add(feature.Place{Pos: m3.V(3, 0, -1), Yaw: 2}, nil))(t)
		return s
	}
	a, b := open(), open()
	shader := must.Get(a.NewShader(matching.ShaderPlaces{}))(t)
	row, again, words := make([]float32, shader.RowLen), make([]float32, shader.RowLen), make([]float32, matching.GoalLen)
	none := []bool{false, false}
	jumps := 0
	for tick := range 400 {
		g := control.Goal{Move: m3.V(0, 0, 3), Speed: 9, Turn: float32(tick/50%3 - 1)}
		switch tick / 40 % 5 {
		case 2:
			g = control.Goal{}
		case 3:
			g.Action = control.Jump
			jumps++
		case 4:
			g.Face = m3.V(-1, 0, 2)
		}
		shader.PutGoal(words, &g)
		a.Controls()[0], b.Controls()[0] = g, shader.Goal(words)
		a.Pack(row, 0)
		must.Do(t, b.Unpack(0, row))
		b.Pack(again, 0)
		if !slices.Equal(row, again) {
			t.Fatal("tick ", tick, ": it is another after it was unpacked")
		}
		must.Do(t, a.Generate(none))
		must.Do(t, b.Generate(none))
		a.Pack(row, 0)
		b.Pack(again, 0)
		if !slices.Equal(row, again) || a.Root(0) != b.Root(0) || a.Velocity(0) != b.Velocity(0) {
			t.Fatal("tick ", tick, ": it goes on as another")
		}
	}
	if d := a.Root(0).Pos.Dist(m3.V(3, 0, -1)); d < 1 || jumps == 0 {
		t.Error("it has come ", d, " m far")
	}
	for what, spoil := range map[string]func([]float32) []float32{
		"half a row":       func(r []float32) []float32 { return r[:40] },
		"a NaN":            func(r []float32) []float32 { r[50] = float32(math.NaN()); return r },
		"a foreign action": func(r []float32) []float32 { r[25] = 1e9; return r },
		"an idle":          func(r []float32) []float32 { r[28] = 99; return r },
		"a state far away": func(r []float32) []float32 { r[46] = 1e6; return r },
		"ticks to come":    func(r []float32) []float32 { r[27] = -1; return r },
	} {
		if b.Unpack(0, spoil(slices.Clone(row))) == nil {
			t.Error(what, ": no error")
		}
		if at := b.Root(0); at != (feature.Place{}) {
			t.Error(what, ": it stands at ", at)
		}
		must.Do(t, b.Generate(none))
	}
}
