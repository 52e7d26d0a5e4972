package metrics

import (
	"math"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/teststrnn"
	"mannequin/offline/dataset"
)

// moving returns a set of one recording at 60 frames per second, and a copy in its mirror image's
// place. Value c of frame f is of(f, c), raw.
func moving(frames int, of func(f, c int) float32) *dataset.MotionSet {
	l := feature.Human()
	cols := l.Columns()
	rows := make([]float32, frames*cols)
	for f := range frames {
		for c := range cols {
			rows[f*cols+c] = of(f, c)
		}
	}
	clip := dataset.MotionClip{Name: "moving", Frames: frames, Rows: rows}
	set := &dataset.MotionSet{Layout: l, Clips: []dataset.MotionClip{clip, clip}, Mean: make([]float32, cols), Std: make([]float32, cols)}
	for c := range cols {
		set.Std[c] = 1
	}
	return set
}

// A standing prediction is off by the distance that joints have moved since. An exact one is not.
func TestForecast(t *testing.T) {
	const speed = 0.6 // m/s, of all joints, to the left seen from the body
	set := moving(200, func(f, c int) float32 {
		if c < feature.Human().Body() && c%3 == 0 {
			return speed * float32(f) / dataset.Rate
		}
		return 0
	})
	r := must.Get(MeasureForecast(StandStill{set.Layout}, set, 20))(t)
	if r.Prefixes == 0 {
		t.Fatal("no prefixes")
	}
	for h, s := range Horizons {
		if want := 100 * speed * s; math.Abs(r.Body[h]-want) > 1e-3*want || math.Abs(r.World[h]-want) > 1e-3*want {
			t.Errorf("after %g s joints are %g cm off, %g in the world, want %g", s, r.Body[h], r.World[h], want)
		}
	}
	r = must.Get(MeasureForecast(goesOn{speed, set.Layout}, set, 20))(t)
	for h, s := range Horizons {
		if r.Body[h] > 1e-3 {
			t.Errorf("after %g s known joints are %g cm off", s, r.Body[h])
		}
	}
}

// goesOn knows how joints move.
type goesOn struct {
	speed  float32
	layout *feature.Motion
}

func (g goesOn) Extend(rows []float32, n, have, frames int) error {
	cols := g.layout.Columns()
	for i := range n {
		for f := have; f < frames; f++ {
			to, was := rows[(i*frames+f)*cols:][:cols], rows[(i*frames+f-1)*cols:]
			copy(to, was)
			for j := range g.layout.Joints {
				to[g.layout.Pos(j)] += g.speed / strnn.Rate
			}
		}
	}
	return nil
}

// Jerk, variance and rest of motion with a closed form.
func TestLiveliness(t *testing.T) {
	const jerk = 2.5 // m/s³
	l := feature.Human()
	set := moving(240, func(f, c int) float32 {
		if c == l.Pos(3) {
			s := float64(f) / dataset.Rate
			return float32(jerk * s * s * s / 6)
		}
		return 0
	})
	v := LivelinessOf(set)
	if math.Abs(v.Most-jerk) > 0.1*jerk {
		t.Errorf("the jerk is %g, want %g", v.Most, jerk)
	}
	// It is faster than 0.1 m/s from √(2·0.1/2.5) s on.
	if want := math.Sqrt(2 * stillSpeed / jerk); math.Abs(v.Still-want) > 2.0/strnn.Rate {
		t.Errorf("nothing moves for %g s, want %g", v.Still, want)
	}
	const wide, turns = 0.2, 8
	set = moving(480, func(f, c int) float32 {
		if c == l.Pos(5)+1 {
			return float32(wide * math.Sin(2*math.Pi*turns*float64(f)/480))
		}
		return 0
	})
	v = LivelinessOf(set)
	if want := wide * wide / 2; math.Abs(v.Variance[5]-want) > 1e-3*want || v.Variance[4] != 0 {
		t.Errorf("the variance is %g, that of another joint %g, want %g and 0", v.Variance[5], v.Variance[4], want)
	}
	set.Clips[0].Rows[7] = float32(math.NaN())
	if LivelinessOf(set).Finite {
		t.Error("motion with a NaN is called finite")
	}
}

// A recording is on the manifold. A shifted one is off by the shift.
func TestManifoldDistance(t *testing.T) {
	l := feature.Human()
	set := moving(400, func(f, c int) float32 { return float32(math.Sin(float64(f)/15 + float64(c))) })
	m := NewManifold(set)
	rows := make([]float32, 60*l.Columns())
	strnn.HalveRate(rows, set.Clips[0].Rows, l)
	at := func(rows []float32) float64 {
		return must.Get(m.Distance(rows, 2))(t)
	}
	if d := at(rows); d > 1e-5 {
		t.Errorf("a recording is %g off", d)
	}
	for f := range 60 {
		rows[f*l.Columns()+4] += 50
	}
	if d := at(rows); math.Abs(d-50) > 0.5 {
		t.Errorf("with a value that is 50 deviations off it is %g off", d)
	}
	rows[9] = float32(math.NaN())
	if d := at(rows); !math.IsInf(d, 1) {
		t.Errorf("with a NaN it is %g off", d)
	}
	if _, err := m.Distance(rows[:10*l.Columns()], 1); err == nil {
		t.Error("10 frames are as good as 40")
	}
}

// obedient moves the body as asked, in the rest pose, with left and right contact in turn, and as long
// without: feet that were held come after the body.
type obedient struct {
	m    *strnn.Model
	rest []float32 // (columns)
}

func (o obedient) Run(next, seen []float32, n int, job *strnn.Control) (float64, error) {
	cols := o.m.Layout.Columns()
	for f := range n * o.m.Predict {
		row := next[f*cols:][:cols]
		copy(row, o.rest)
		copy(row[o.m.Layout.Body():], job.Body[f*feature.MotionLen:][:feature.MotionLen])
		for i := range o.m.Layout.Contacts {
			if f%o.m.Predict*4/o.m.Predict == i/2*2 {
				row[o.m.Layout.Contact(i)] = 1
			}
		}
	}
	return 0, nil
}

// An exact follower stays on the path. Feet that stand while the body moves slide.
func TestControlled(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{})
	set := moving(200, func(f, c int) float32 {
		if c == m.Layout.Body()+feature.MotionZ {
			return 1.2
		}
		return 0
	})
	who := obedient{m, teststrnn.Seen(t, 1, 1)[:m.Layout.Columns()]}
	r := must.Get(MeasureControlled(who, m, set, 3, 4, 1.2, strnn.Control{}))(t)
	if r.Mean > 0.05 || r.Last > 0.05 {
		t.Errorf("an exact follower is %g cm off, %g at the end", r.Mean, r.Last)
	}
	if want := 100 * 1.2 / strnn.Rate; math.Abs(r.Slide-want) > 0.05*want {
		t.Errorf("feet slide by %g cm in a frame, want %g", r.Slide, want)
	}
	if r.Held > 0.2*r.Slide {
		t.Errorf("feet that are held slide by %g cm in a frame, others by %g", r.Held, r.Slide)
	}
	if r, err := MeasureControlled(stubborn{who}, m, set, 3, 4, 1.2, strnn.Control{}); err != nil || r.Last < 50 {
		t.Errorf("a standing person is %g cm off at the end (%v)", r.Last, err)
	}
}

// stubborn stands.
type stubborn struct{ obedient }

func (s stubborn) Run(next, seen []float32, n int, job *strnn.Control) (float64, error) {
	clear(next)
	return 0, nil
}
