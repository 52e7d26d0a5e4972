package manifold

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// round returns motion of the shipped networks round a circle.
func (m *Model) round(t testing.TB, steps, locomotion *netruntime.Net, radius, speed float32, frames int) []float32 {
	t.Helper()
	path := must.Get(control.Circle(radius))(t)
	c := must.Get(AlongPath(path, frames, func(int) float32 { return speed }, func(int) float32 { return 0 }))(t)
	l := must.Get(m.With(steps, locomotion).NewLocomotion(LocomotionOptions{Batch: 1, Frames: frames, Workers: 2}))(t)
	defer l.Close()
	made, _, err := l.Make([]Trajectory{c}, nil, CrowdIterations, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made[0].Rows
}

// A transfer found for one walk gives other walks nearly as much of the style as the optimizer does;
// half the weight gives less.
func TestTransfer(t *testing.T) {
	base, footsteps, locomotion := shipped(t)
	m := must.Get(NewModel(base))(t)
	style := must.Get(m.NewStyle(m.round(t, footsteps, locomotion, 8, 3, 240), 2))(t)
	var content []float32
	for i, speed := range []float32{1, 1.2, 1.4, 1.6} {
		content = append(content, m.round(t, footsteps, locomotion, [...]float32{3, 5, 8, 4}[i], speed, 240)...)
	}
	steps := 0
	tr, report, err := m.NewStyleTransfer(style, content, StyleTransferOptions{Workers: 2, Step: func(done, most int) bool {
		if steps++; done != steps || done > most {
			t.Errorf("step %d of %d is reported as %d", steps, most, done)
		}
		return true
	}})
	if err != nil {
		t.Fatal(err)
	}
	const frames = 240
	tr.Name = "jogging"
	ts, err := m.NewStyleSet([]*StyleTransfer{tr})
	if err == nil {
		ts, err = DecodeStyleSet(encodeStyles(t, ts))
	}
	if err != nil {
		t.Fatal(err)
	}
	stored := must.Get(ts.For(m))(t)
	for _, c := range []struct{ radius, speed float32 }{{3, 1.5}, {6, 1.1}, {20, 1.4}} {
		other := m.round(t, footsteps, locomotion, c.radius, c.speed, frames)
		hidden := m.hiddenOf(t, other)
		distance := func(weight float32) float64 {
			change := narrow(hidden)
			tr.apply(change, make([]float32, m.Units), weight)
			h := slices.Clone(hidden)
			for i, v := range change {
				h[i] += float64(v)
			}
			return squaredDistance(gramOracle(h, m.Units), wide(style.gram))
		}
		whole, e1 := m.Restyle(other, WeightedStyle{tr, 1}, 0, 1)
		rounded, e2 := m.Restyle(other, WeightedStyle{stored[0], 1}, 0, 1)
		if e1 != nil || e2 != nil {
			t.Fatal(e1, e2)
		}
		apart := float32(0)
		for i := range whole {
			apart = max(apart, m3.Abs(whole[i]-rounded[i]))
		}
		if t.Logf("at half precision coordinates are up to %.2f mm off", 1000*apart); apart > 1e-3 {
			t.Errorf("at half precision coordinates are up to %g mm off", 1000*apart)
		}
		before, half, after := distance(0), distance(0.5), distance(1)
		t.Logf("%g m/s: %.3f of the distance to a run is left, with half the weight %.3f; the optimizer leaves the content %.3f",
			c.speed, after/before, half/before, report.Ratio())
		if after/before > 0.3 || half/before < after/before || half/before > 0.8 {
			t.Errorf("%g m/s: %.3f of the distance to a run is left, with half the weight %.3f", c.speed, after/before, half/before)
		}
	}
}

// narrow returns v in single precision.
func narrow(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// A transfer from pairs does to other motion what it does to theirs, and to motion unlike theirs no
// more than that.
func TestPairedTransfer(t *testing.T) {
	m := made(t, 24, 9)
	bow := func(rows []float32) []float32 { // the head 10 cm ahead and lower
		out := slices.Clone(rows)
		for f := 0; f < len(out); f += m.Layout.Columns() {
			head := out[f+m.Layout.Pos(m.Layout.Joint("Head")):]
			head[1], head[2] = head[1]-0.1, head[2]+0.1
		}
		return out
	}
	var pairs []StylePair
	for seed := range uint64(4) {
		plain := m.stray(t, 1, 120, 30+seed)
		pairs = append(pairs, StylePair{plain, bow(plain)})
	}
	tr := must.Get(m.NewPairedTransfer(pairs, 1))(t)
	plain := m.stray(t, 1, 120, 40)
	want, from := m.hiddenOf(t, bow(plain)), m.hiddenOf(t, plain)
	change := narrow(from)
	tr.apply(change, make([]float32, m.Units), 1)
	off, all := 0.0, 0.0
	for i, v := range change {
		d := want[i] - from[i]
		off, all = off+(float64(v)-d)*(float64(v)-d), all+d*d
	}
	if t.Logf("%.3f of the change is missed", math.Sqrt(off/all)); !(off < 0.25*all) {
		t.Errorf("%.3f of the change is missed", math.Sqrt(off/all))
	}
	must.Fail(m.NewPairedTransfer([]StylePair{{plain, plain[1:]}}, 1))(t, "want as many")
	must.Fail(m.NewPairedTransfer([]StylePair{{plain[1:], plain[1:]}}, 1))(t, "even number")
	must.Fail(m.NewPairedTransfer(nil, 1))(t, "no motion")
}

func TestTransferRefuses(t *testing.T) {
	m, _, job := styled(t, 16, 1, 240, 48, 1)
	style, content := job.Styles[0], job.Rows
	for want, c := range map[string]struct {
		rows []float32
		o    StyleTransferOptions
	}{
		"even number": {content[:len(content)/2], StyleTransferOptions{Workers: 1}},
		"not finite":  {append([]float32{float32(math.NaN())}, content[1:]...), StyleTransferOptions{Workers: 1}},
		"stopped":     {slices.Clone(content), StyleTransferOptions{Workers: 1, Step: func(done, most int) bool { return done < 3 }}},
		"above 0":     {slices.Clone(content), StyleTransferOptions{Workers: 1, Weights: &StyleWeights{Style: 1}}},
	} {
		if _, _, err := m.NewStyleTransfer(style, c.rows, c.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
