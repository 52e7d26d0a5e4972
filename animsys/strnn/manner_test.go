package strnn_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/teststrnn"
)

// A manner is the mean and the deviation of each column.
func TestMannerOf(t *testing.T) {
	got := make([]float32, 4)
	strnn.MannerOf(got, []float32{1, 5, 3, 5, 5, 5, 7, 5}, 2)
	if want := []float32{4, 5, float32(math.Sqrt(5)), 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Extend holds a motion to how it began, before the frames that the network sees: not to what it
// predicted, nor to what was longer ago, nor to another motion's manner.
func TestExtendHoldsManner(t *testing.T) {
	for _, o := range []teststrnn.Options{{Manner: true}, {}} {
		m := teststrnn.Model(t, o)
		l, cols := m.Layout, m.Layout.Columns()
		p := predictor(t, m, strnn.PredictorOptions{Batch: 2, Workers: 1})
		const have, frames = 200, 260
		run := func(speed float32, at, n int) []float32 {
			rows := make([]float32, n*frames*cols)
			for f := range n * have {
				copy(rows[(f/have*frames+f%have)*cols:], teststrnn.Seen(t, 1, 1)[:cols])
			}
			rows[at*cols+l.Body()+feature.MotionZ] += speed
			p.SetSampling(1, 1)
			must.Do(t, p.Extend(rows, n, have, frames))
			return rows[have*cols : frames*cols]
		}
		same := run(0, have-50, 1)
		if held := !slices.Equal(same, run(50, have-50, 1)); held != o.Manner {
			t.Errorf("manners %t: what was before the frames seen changes the prediction: %t", o.Manner, held)
		}
		if !slices.Equal(same, run(50, have-strnn.MannerFrames-1, 1)) {
			t.Errorf("manners %t: what was long ago changes the prediction", o.Manner)
		}
		if !slices.Equal(same, run(50, frames+have-50, 2)) {
			t.Errorf("manners %t: another motion's manner changes the prediction", o.Manner)
		}
	}
}

// Predict knows no manner, also after Extend.
func TestPredictWithoutManner(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Manner: true})
	cols := m.Layout.Columns()
	p := predictor(t, m, strnn.PredictorOptions{Batch: 1, Workers: 1})
	seen, before, after := teststrnn.Seen(t, 1, 1), make([]float32, m.Predict*cols), make([]float32, m.Predict*cols)
	must.Do(t, p.Predict(before, seen, nil, 1))
	rows := append(slices.Clone(seen), make([]float32, m.Predict*cols)...)
	must.Do(t, p.Extend(rows, 1, m.Encode, m.Encode+m.Predict))
	must.Do(t, p.Predict(after, seen, nil, 1))
	if !slices.Equal(before, after) {
		t.Error("Extend changes a later prediction")
	}
	if slices.Equal(before, rows[m.Encode*cols:]) {
		t.Error("the manner changes nothing")
	}
}

// Of several draws Extend takes the one that is most like the motion's manner, also without codes.
func TestExtendChooses(t *testing.T) {
	for _, o := range []teststrnn.Options{{}, {Plain: true}, {Manner: true, Filter: true}} {
		m := teststrnn.Model(t, o)
		l, cols := m.Layout, m.Layout.Columns()
		std, _ := m.Net.Tensor("std")
		const have = 100
		frames := have + m.Predict
		run := func(seed uint64, draws, workers, n int) []float32 {
			p := predictor(t, m, strnn.PredictorOptions{Batch: n, Draws: draws, Workers: workers})
			rows := make([]float32, n*frames*cols)
			for i := range n {
				for f := range have {
					row := rows[(i*frames+f)*cols:]
					copy(row, teststrnn.Seen(t, 1, 1)[:cols])
					row[l.Body()+feature.MotionZ] = 2 * float32(f%2)
				}
			}
			p.SetSampling(seed, 1)
			must.Do(t, p.Extend(rows, n, have, frames))
			if a := testing.AllocsPerRun(2, func() { p.Extend(rows, n, have, frames) }); a > 0 {
				t.Errorf("Extend allocates %g times", a)
			}
			return rows
		}
		off := func(rows []float32) (sum float64) { // of the manner at the end from that before
			was, is := make([]float32, 2*cols), make([]float32, 2*cols)
			strnn.MannerOf(was, rows[:have*cols], cols)
			strnn.MannerOf(is, rows[(have-m.Encode)*cols:], cols)
			for k := range was {
				d := float64(is[k]-was[k]) / float64(std.Data[k%cols])
				if d *= d; k%cols >= l.Body() {
					d *= 4
				}
				sum += d
			}
			return sum
		}
		const draws = 8
		for seed := range uint64(4) {
			if one, best := off(run(seed, 1, 1, 1)), off(run(seed, draws, 1, 1)); !(best <= one) || seed == 0 && best == one {
				t.Errorf("%+v: the manner of the best of %d draws is %g off, that of the first %g", o, draws, best, one)
			}
		}
		alone, both := run(1, draws, 1, 1), run(1, draws, 2, 2)
		if !slices.Equal(alone, both[:len(alone)]) {
			t.Errorf("%+v: alone and with another person, the choice differs", o)
		}
		if slices.Equal(alone[have*cols:], both[len(alone)+have*cols:]) {
			t.Errorf("%+v: two people have the same draws", o)
		}
	}
}

// Agents that begin with the same frames and are steered alike move differently if the network knows
// manners, and the same agent does not move in two ways.
func TestStreamManners(t *testing.T) {
	poses := func(manner bool, seed uint64) (out []string) {
		m := teststrnn.Model(t, teststrnn.Options{Guide: true, Manner: manner})
		s := must.Get(play(m.NewStream(strnn.StreamOptions{Capacity: 5, Workers: 1, Seed: seed, Every: 2 * m.Predict})))(t)
		defer s.Close()
		for range 5 {
			must.Get(s.Add(feature.Place{}, &strnn.Steer{Speed: 1}))(t)
		}
		for range 8 * m.Predict {
			must.Do(t, s.Continue())
			s.Advance(0, 5)
		}
		pos, rot := make([]m3.Vec3, m.Skel.Len()), make([]m3.Quat, m.Skel.Len())
		for _, row := range []int{0, 4} {
			s.Show(row, pos, rot)
			out = append(out, fmt.Sprint(pos, rot))
		}
		return out
	}
	if p := poses(false, 1); p[0] != p[1] {
		t.Error("without manners two agents move differently")
	}
	p := poses(true, 1)
	if p[0] == p[1] {
		t.Error("two agents have the same manner")
	}
	if slices.Equal(p, poses(true, 2)) {
		t.Error("another seed gives the same manners")
	}
	if !slices.Equal(p, poses(true, 1)) {
		t.Error("the same seed gives other manners")
	}
}
