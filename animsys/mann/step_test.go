package mann

import (
	"slices"
	"testing"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// A row that hangs in the air comes down, unless it jumps; what comes to the ground now and then
// stays as it is.
func TestSinks(t *testing.T) {
	for _, c := range []struct {
		name string
		up   float32
		act  control.Action
		hop  float32 // m by which it leaves its height, a tenth of a second in every third
		want float32
	}{
		{"in the air", 0.3, control.Move, 0, 0.03}, {"hovering", 0.04, control.Move, 0, 0.03}, {"jumping", 0.3, control.Jump, 0, 0.3},
		{"standing", 0.015, control.Move, 0, 0.015}, {"galloping", 0.005, control.Move, 0.1, 0.005}, {"galloping in the air", 0.1, control.Move, 0.1, 0.021},
	} {
		b := dogBatch()
		moving(b, 0)
		w := b.act[now*b.actions:][:b.actions]
		clear(w)
		w[b.Model.action[c.act]] = 1
		for k := range b.bonePos {
			b.bonePos[k].Y = c.up + 0.01*float32(k)
		}
		hop := func(by float32) {
			for k := range b.bonePos {
				b.bonePos[k].Y += by
			}
		}
		for tick := range 480 {
			switch tick % 20 {
			case 6:
				hop(c.hop)
			case 12:
				hop(-c.hop)
			}
			b.lowerToGround(0)
		}
		for k, p := range b.bonePos {
			if want := c.want + 0.01*float32(k); m3.Abs(p.Y-want) > 4e-3 {
				t.Fatalf("%s, %g m up: bone %d at %g m, want %g", c.name, c.up, k, p.Y, want)
			}
		}
	}
}

// Phases are zero at rest, and then what the network said, row by row.
func TestPhasesGoOn(t *testing.T) {
	b := NewBatch(beetleModel(), 3)
	l := b.Model.Layout
	x, y := buffers(b)
	b.Gather(x, 0, 3)
	phases := func(v []float32, n, r, at int) []float32 { return v[r*n:][at : at+2*len(l.Tips)] }
	for _, v := range phases(x, l.Inputs(), 1, l.InPhase(0)) {
		if v != 0 {
			t.Fatalf("phase %g at rest", v)
		}
	}
	for r := range 3 {
		echo(b.Model, y[r*l.Outputs():][:l.Outputs()], x[r*l.Inputs():][:l.Inputs()])
		for i := range phases(y, l.Outputs(), r, l.OutPhase(0)) {
			y[r*l.Outputs()+l.OutPhase(0)+i] = 0.1 * float32(1+r+i)
		}
	}
	b.Scatter(y, 0, 3)
	b.Gather(x, 0, 3)
	for r := range 3 {
		if got, want := phases(x, l.Inputs(), r, l.InPhase(0)), phases(y, l.Outputs(), r, l.OutPhase(0)); !slices.Equal(got, want) {
			t.Errorf("row %d: phases %g, want %g", r, got, want)
		}
	}

	// One that grows beyond what recordings have keeps its angle.
	copy(y[l.Outputs()+l.OutPhase(0):], []float32{30, -40})
	b.Scatter(y, 0, 3)
	if p := b.phases(1); m3.Abs(p[0]-0.54) > 1e-6 || m3.Abs(p[1]+0.72) > 1e-6 || !slices.Equal(p[2:], phases(y, l.Outputs(), 1, l.OutPhase(0))[2:]) {
		t.Errorf("phases %g", p)
	}
}
