package manifold_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"mannequin/animsys/manifold"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	"mannequin/models/human"
	"mannequin/offline/dataset"
	"mannequin/offline/retarget"
)

func people(t testing.TB) *manifold.Model {
	t.Helper()
	net := must.Get(human.Open())(t)
	return must.Get(manifold.NewModel(net))(t)
}

// recording returns an even number of frames of a recording, at most most.
func recording(t testing.TB, m *manifold.Model, name string, most int) []float32 {
	t.Helper()
	rows, _, err := dataset.OpenPerson(filepath.Join(mocapdata.Dir(t), filepath.FromSlash(name)), m.Layout, m.Skel, retarget.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	cols := m.Layout.Columns()
	return rows[:min(len(rows)/cols&^1, most)*cols]
}

// straight fills a gap of rows with straight lines.
func straight(m *manifold.Model, rows []float32, joints []string, from, to int) {
	cols := m.Layout.Columns()
	for _, j := range joints {
		for k := range 3 {
			c := m.Layout.Pos(m.Layout.Joint(j)) + k
			a, b := rows[(from-1)*cols+c], rows[to*cols+c]
			for f := from; f < to; f++ {
				rows[f*cols+c] = a + (b-a)*float32(f-from+1)/float32(to-from+1)
			}
		}
	}
}

// away returns the RMS distance of joints in frames [from, to), in cm.
func away(m *manifold.Model, a, b []float32, joints []string, from, to int) float64 {
	cols, sum := m.Layout.Columns(), 0.0
	for f := from; f < to; f++ {
		for _, j := range joints {
			for k := range 3 {
				d := float64(a[f*cols+m.Layout.Pos(m.Layout.Joint(j))+k] - b[f*cols+m.Layout.Pos(m.Layout.Joint(j))+k])
				sum += d * d
			}
		}
	}
	return 100 * math.Sqrt(sum/float64((to-from)*len(joints)))
}

// Gaps cut into held-out recordings are filled better than with straight lines. The rest stays
// bit-identical.
func TestFill(t *testing.T) {
	race.Single(t)
	m := people(t)
	cols, all := m.Layout.Columns(), m.Layout.Joints
	arm, leg := []string{"LeftForeArm", "LeftHand", "LeftHandIndex1"}, []string{"RightLeg", "RightFoot", "RightToeBase"}
	for _, c := range []struct {
		name     string
		joints   []string
		from, to int
		share    float64 // of the error of straight lines, at most
	}{
		{"cmu-locomotion/07_04", arm, 120, 180, 0.4},
		{"cmu-locomotion/07_04", leg, 120, 180, 0.6},
		{"cmu-locomotion/07_04", all, 120, 135, 0.6},
		{"cmu-locomotion/08_05", arm, 60, 100, 0.4},
		{"cmu-locomotion/08_05", leg, 60, 100, 0.4},
		{"cmu-actions/h21_box-2", arm, 300, 360, 0.8},
		{"cmu-actions/h21_box-2", all, 300, 315, 0.8},
	} {
		truth := recording(t, m, c.name+".bvh", 600)
		damaged, line := slices.Clone(truth), slices.Clone(truth)
		straight(m, line, c.joints, c.from, c.to)
		gap := manifold.Gap{Joints: c.joints, From: c.from, To: c.to}
		if len(c.joints) == len(all) {
			gap.Joints = nil
		}
		for f := c.from; f < c.to; f++ {
			for _, j := range c.joints {
				damaged[f*cols+m.Layout.Pos(m.Layout.Joint(j))+1] = float32(math.NaN())
			}
		}
		filled := must.Get(m.Fill(damaged, []manifold.Gap{gap}, manifold.DefaultIterations, 1))(t)
		got, lines := away(m, filled, truth, c.joints, c.from, c.to), away(m, line, truth, c.joints, c.from, c.to)
		t.Logf("%s, %d joints, %d frames: %.2f cm, straight lines %.2f", c.name, len(c.joints), c.to-c.from, got, lines)
		if !(got <= c.share*lines) {
			t.Errorf("%s, %d joints in frames %d to %d: %.2f cm off, on straight lines %.2f", c.name, len(c.joints), c.from, c.to, got, lines)
		}
		for i, v := range filled {
			f := i / cols
			if (f < c.from-1 || f >= c.to) && v != truth[i] {
				t.Fatalf("%s: value %d of frame %d changed", c.name, i%cols, f)
			}
		}
		// The body's place after the gap stays.
		was, is := m.Trajectory(truth, place), m.Trajectory(filled, place)
		if d := was[c.to].Pos.Dist(is[c.to].Pos); d > 1e-3 {
			t.Errorf("%s: after the gap the body is %.4f m off", c.name, d)
		}
	}
}

// A joint without any known frame, gaps at the ends and several gaps at once are filled with finite
// values.
func TestFillHardGaps(t *testing.T) {
	race.Single(t)
	m := people(t)
	rows := walkCircle(t, 160)
	for name, gaps := range map[string][]manifold.Gap{
		"a joint throughout":  {{Joints: []string{"LeftHand"}, To: 160}},
		"the start":           {{From: 0, To: 20}},
		"the end":             {{From: 140, To: 160}},
		"overlapping":         {{From: 50, To: 60}, {Joints: []string{"RightFoot", "Head"}, From: 40, To: 100}},
		"all but two frames":  {{From: 0, To: 79}, {From: 80, To: 159}},
		"the start, a joint":  {{Joints: []string{"Head"}, To: 1}},
		"neighbours in time":  {{Joints: []string{"Head"}, From: 30, To: 40}, {Joints: []string{"Head"}, From: 40, To: 50}},
		"the same gap, twice": {{Joints: []string{"Head"}, From: 30, To: 40}, {Joints: []string{"Head"}, From: 30, To: 40}},
	} {
		filled, err := m.Fill(rows, gaps, 10, 1)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, v := range filled {
			if v-v != 0 {
				t.Fatalf("%s: value %d is %g", name, i, v)
			}
		}
	}
}

func TestFillRefuses(t *testing.T) {
	m := people(t)
	rows := walkCircle(t, 60)
	for want, g := range map[string]manifold.Gap{
		"0 to 60":          {From: 3, To: 61},
		"frames 5 to 5":    {From: 5, To: 5},
		`called "Tail"`:    {Joints: []string{"Tail"}, From: 1, To: 2},
		"where the body":   {Joints: []string{"Head", "Hips"}, From: 1, To: 2},
		"the whole motion": {From: 0, To: 60},
	} {
		must.Fail(m.Fill(rows, []manifold.Gap{g}, 10, 1))(t, want)
	}
	if _, err := m.Fill(rows[:7*m.Layout.Columns()], nil, 10, 1); err == nil {
		t.Error("7 frames accepted")
	}
}

// Noise of 5 cm on every coordinate is cut by more than 70 %.
func TestDenoise(t *testing.T) {
	race.Single(t)
	m := people(t)
	rng := rand.New(rand.NewPCG(5, 5))
	for _, name := range []string{"cmu-locomotion/07_04", "cmu-locomotion/08_05", "cmu-actions/h21_box-2"} {
		truth := recording(t, m, name+".bvh", 300)
		noisy := slices.Clone(truth)
		frames := len(truth) / m.Layout.Columns()
		for i := range noisy {
			if i%m.Layout.Columns() < m.Layout.Body() {
				noisy[i] += 0.05 * float32(rng.NormFloat64())
			}
		}
		clean := must.Get(m.Denoise(noisy, manifold.DefaultIterations, 1))(t)
		was, is := away(m, noisy, truth, m.Layout.Joints, 0, frames), away(m, clean, truth, m.Layout.Joints, 0, frames)
		if t.Logf("%s: %.2f cm off, before %.2f", name, is, was); is > 0.3*was || was < 8 {
			t.Errorf("%s: %.2f cm off, before %.2f", name, is, was)
		}
	}
}
