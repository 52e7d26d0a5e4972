package metrics

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/animsys/strnn"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/teststrnn"
	"mannequin/models/human"
	"mannequin/offline/dataset"
)

// walking is a set of two recordings: people at rest, moved ahead and swayed.
func walking(m *manifold.Model) *dataset.MotionSet {
	l := m.Layout
	cols := l.Columns()
	set := &dataset.MotionSet{Layout: l, Skeleton: m.Skel, Mean: make([]float32, cols), Std: slices.Repeat([]float32{0.5}, cols)}
	for c := range l.Body() {
		set.Std[c] = 0.08
	}
	for i, frames := range []int{100, 50} {
		rows := strolling(m, frames, 1, 0)
		for f := range frames {
			for c := range l.Body() {
				rows[f*cols+c] += 0.05 * float32(math.Sin(float64(f)/9+float64(c)))
			}
			for k := range l.Contacts {
				rows[f*cols+l.Contact(k)] = float32((f/20 + k) % 2)
			}
		}
		set.Clips = append(set.Clips, dataset.MotionClip{Name: string(rune('a' + i)), Frames: frames, Rows: rows})
	}
	return set
}

func TestMeasureDenoise(t *testing.T) {
	m := plain(t)
	set := walking(m)
	l, cols := m.Layout, m.Layout.Columns()
	s := Sample{N: 64, Frames: 40, Seed: 1}
	noise := Noise{Joints: 0.3, Contacts: 3}

	var seen [2][][]float32 // what two ways are given
	spy := func(i int) Restorer {
		return Restorer{Name: "spy", Denoise: func(rows []float32) ([]float32, error) {
			seen[i] = append(seen[i], slices.Clone(rows))
			return rows, nil
		}}
	}
	got := must.Get(MeasureDenoise(set, s, noise, spy(0), spy(1), Restorer{Name: "fills only"}))(t)
	if len(got) != 2 || got[0] != got[1] || len(seen[0]) != s.N {
		t.Fatalf("two ways that change nothing: %+v", got)
	}
	for i, x := range seen[0] {
		if !slices.Equal(x, seen[1][i]) || i > 0 && slices.Equal(x, seen[0][i-1]) {
			t.Fatal("ways are given other stretches, or all are the same")
		}
		for f := range s.Frames {
			for k := range feature.MotionLen {
				if v := x[f*cols+l.Body()+k]; v != []float32{0, 1, 0}[k] {
					t.Fatalf("the body's motion has noise: %g", v)
				}
			}
		}
	}
	// Normal values on three axes. A contact is wrong beyond one half, a third of its deviation.
	sigma := 100 * 0.3 * 0.08
	close(t, "RMS of noise, cm", got[0].RMS, sigma*math.Sqrt(3), 0.02*sigma)
	close(t, "mean of noise, cm", got[0].Mean, sigma*math.Sqrt(8/math.Pi), 0.02*sigma)
	close(t, "wrong contacts", got[0].Contacts, 0.5*math.Erfc(0.5/1.5/math.Sqrt2), 0.02)
	close(t, "jerk of noise", got[0].Jerk, sigma*math.Sqrt(8/math.Pi)*math.Sqrt(20), 0.1*sigma)

	same := must.Get(MeasureDenoise(set, s, noise, Untouched(l)))(t)
	same[0].Name = "spy"
	s.Seed = 2
	other := must.Get(MeasureDenoise(set, s, noise, Untouched(l)))(t)
	if same[0] != got[0] || other[0].RMS == got[0].RMS {
		t.Errorf("the seed does not tell the noise: %+v, %+v and %+v", got[0], same[0], other[0])
	}

	// Both networks take noise off, in the same order for any number of workers.
	model := teststrnn.Model(t, teststrnn.Options{})
	run := func(workers int) []Restored {
		d := must.Get(model.NewDenoiser(strnn.DenoiserOptions{FPS: dataset.Rate, Batch: 3 * workers, Workers: workers}))(t)
		defer d.Close()
		return must.Get(MeasureDenoise(set, Sample{N: 4, Frames: 40, Seed: 1}, noise, Untouched(l), Autoencoder(m, false, workers), Autoencoder(m, true, workers), STRNN(d, l, nil, workers), STRNN(d, l, m, workers)))(t)
	}
	r := run(1)
	if !slices.Equal(r, run(2)) {
		t.Error("another number of workers measures something else")
	}
	var names []string
	for _, x := range r {
		if names = append(names, x.Name); !(x.RMS > 0) || math.IsInf(x.RMS, 0) {
			t.Errorf("%+v", x)
		}
	}
	if want := "untouched, or lines; autoencoder; autoencoder, edited; STRNN; STRNN, edited"; strings.Join(names, "; ") != want {
		t.Errorf("%q, want %q", names, want)
	}
}

func TestMeasureFill(t *testing.T) {
	m := plain(t)
	set := walking(m)
	l, cols := m.Layout, m.Layout.Columns()
	s := Sample{N: 20, Frames: 48, Seed: 1}
	hand := l.Pos(l.Joint("LeftHand"))
	for name, joints := range map[string][]string{"all": nil, "a hand": {"LeftHand"}, "a foot": {"LeftFoot"}} {
		froms := map[int]bool{}
		off := Restorer{Name: "off by 2 cm", Fill: func(rows []float32, gaps []manifold.Gap) ([]float32, error) {
			g := gaps[0]
			froms[g.From] = true
			if len(gaps) != 1 || g.From < 12 || g.To > 36 || g.To-g.From != 10 || !slices.Equal(g.Joints, joints) {
				t.Fatalf("%s: gaps %+v", name, gaps)
			}
			y, err := Untouched(l).Fill(rows, gaps)
			for f := range s.Frames {
				lost := rows[f*cols+hand] != rows[f*cols+hand]
				if inside := f >= g.From && f < g.To && name != "a foot"; lost != inside {
					t.Fatalf("%s: frame %d of the hand: lost is %t", name, f, lost)
				}
				for c := range l.Body() {
					if c%3 == 1 {
						y[f*cols+c] += 0.02
					}
				}
			}
			return y, err
		}}
		got := must.Get(MeasureFill(set, s, 10, joints, Untouched(l), off, Restorer{Name: "denoises only"}))(t)
		if len(got) != 2 || len(froms) < 5 {
			t.Fatalf("%s: %+v, gaps at %v", name, got, froms)
		}
		// Lines over ten frames of what sways by 5 cm, 9 frames a radian: less than a
		// crest's height over its chord, on each axis.
		if got[0].RMS < 0.3 || got[0].RMS > 100*0.05*(1-math.Cos(5.5/9))*math.Sqrt(3) {
			t.Errorf("%s: straight lines are %.3f cm off", name, got[0].RMS)
		}
		close(t, name+": 2 cm more", got[1].RMS, math.Hypot(got[0].RMS, 2), 0.3)
	}
	model := teststrnn.Model(t, teststrnn.Options{})
	d := must.Get(model.NewDenoiser(strnn.DenoiserOptions{FPS: dataset.Rate, Batch: 4, Workers: 1}))(t)
	defer d.Close()
	net := must.Get(human.Open())(t)
	m = must.Get(manifold.NewModel(net))(t)
	r := must.Get(MeasureFill(set, Sample{N: 2, Frames: 48, Seed: 1}, 10, nil, Autoencoder(m, false, 1), STRNN(d, l, nil, 1)))(t)
	for _, x := range r {
		if !(x.RMS > 0 && x.RMS < 20) {
			t.Errorf("%+v", x)
		}
	}
}

// A line with one missing end is constant.
func TestLines(t *testing.T) {
	l := feature.Human()
	cols := l.Columns()
	rows := make([]float32, 6*cols)
	for f := range 6 {
		rows[f*cols+7] = float32(f * f)
	}
	for _, c := range []struct {
		gaps []manifold.Gap
		want []float32
	}{
		{[]manifold.Gap{{From: 0, To: 2}}, []float32{4, 4, 4, 9, 16, 25}},
		{[]manifold.Gap{{From: 4, To: 6}}, []float32{0, 1, 4, 9, 9, 9}},
		{[]manifold.Gap{{From: 1, To: 3}, {From: 3, To: 5}}, []float32{0, 5, 10, 15, 20, 25}},
		{[]manifold.Gap{{From: 0, To: 6}}, []float32{0, 0, 0, 0, 0, 0}},
	} {
		got := must.Get(Untouched(l).Fill(rows, c.gaps))(t)
		for f, want := range c.want {
			close(t, "a value on a line", float64(got[f*cols+7]), float64(want), 1e-5)
		}
	}
}

func TestMeasureDenoiseRefuses(t *testing.T) {
	m := plain(t)
	set := walking(m)
	s := Sample{N: 2, Frames: 40, Seed: 1}
	broken := Restorer{Name: "broken", Denoise: func([]float32) ([]float32, error) { return nil, errors.New("no power") }}
	denoise := func(s Sample, ways ...Restorer) error { _, err := MeasureDenoise(set, s, Noise{}, ways...); return err }
	fill := func(frames int, joints ...string) error {
		_, err := MeasureFill(set, s, frames, joints, Untouched(set.Layout))
		return err
	}
	for want, err := range map[string]error{
		"broken: no power":              denoise(s, broken),
		"0 stretches of 40":             denoise(Sample{Frames: 40}),
		"of 101 frames":                 denoise(Sample{N: 1, Frames: 101}),
		"of 102 frames from recordings": denoise(Sample{N: 1, Frames: 102}),
		`called "Tail"`:                 fill(10, "Tail"),
		"a gap of 21 frames in 40":      fill(21),
		"a gap of 0 frames":             fill(0),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}
