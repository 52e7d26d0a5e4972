package strnn

import (
	"errors"
	"math"
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/internal/testing/must"
	"mannequin/offline/dataset"
)

// striding returns frames at dataset.Rate of a body that moves at a speed, with hands opposed to the
// other side's feet or not, and bent legs.
func striding(l *feature.Motion, frames int, x, z float32, opposed bool) []float32 {
	cols := l.Columns()
	rows := make([]float32, frames*cols)
	for f := range frames {
		row := rows[f*cols:][:cols]
		row[l.Body()+feature.MotionX], row[l.Body()+feature.MotionZ] = x, z
		put := func(name string, y, z float32) {
			row[l.Pos(l.Joint(name))+1], row[l.Pos(l.Joint(name))+2] = y, z
		}
		swing := float32(math.Sin(float64(f) / 5))
		for i, s := range []float32{swing, -swing} {
			hand := -s
			if !opposed {
				hand = s
			}
			put(sides[i]+"UpLeg", 0.9, 0)
			put(sides[i]+"Leg", 0.5, 0.1)
			put(sides[i]+"Foot", 0.1, 0.2*s)
			put(sides[i]+"Hand", 1, 0.2*hand)
		}
	}
	return rows
}

// Doers are steady and sorted by what they do.
func TestDoers(t *testing.T) {
	l := feature.Human()
	set := &dataset.MotionSet{Layout: l}
	add := func(name string, rows ...float32) {
		set.Clips = append(set.Clips, dataset.MotionClip{Name: name, Frames: len(rows) / l.Columns(), Rows: rows})
	}
	add("still", striding(l, 300, 0, 0.02, true)...)
	add("ahead", striding(l, 300, 0.1, 1.2, true)...)
	add("back", striding(l, 300, 0, -1.2, true)...)
	add("fast", striding(l, 300, 0, 3, true)...)
	add("short", striding(l, 40, 0, 3, true)...)
	add("stops", append(striding(l, 120, 0, 2.5, true), striding(l, 120, 0, 0.5, true)...)...)
	add("aslant", striding(l, 300, 0.8, 1, true)...)
	set.Clips = append(set.Clips, set.Clips...) // mirror images
	got := map[string]string{}
	for _, d := range doersOf(set, 2) {
		got[d.Name] = d.Doing
		if n := len(d.rows) / l.Columns(); n != doerMost*strnn.Rate {
			t.Errorf("%s has %d frames", d.Name, n)
		}
	}
	if len(got) != 4 || got["still@4.0"] != "stand" || got["ahead@4.0"] != "walk" || got["back@4.0"] != "aside" || got["fast@4.0"] != "run" {
		t.Errorf("%v", got)
	}
}

// slowing repeats the last two seconds, slower in each period and for larger seeds.
type slowing struct {
	l    *feature.Motion
	seed uint64
}

func (s *slowing) SetSampling(seed uint64, spread float32) { s.seed = seed }

func (s *slowing) Extend(rows []float32, n, have, frames int) error {
	if s.seed > 2 {
		return errors.New("unusable")
	}
	cols := s.l.Columns()
	for f := have; f < frames; f++ {
		row := rows[f*cols:][:cols]
		copy(row, rows[(f-2*strnn.Rate)*cols:][:cols])
		if f < have+2*strnn.Rate {
			row[0] += 0.1 * float32(s.seed)
		}
		row[s.l.Body()+feature.MotionZ] = rows[s.l.Body()+feature.MotionZ] / float32(1+(f-have)/(goesPeriod*strnn.Rate))
	}
	return nil
}

// Speeds are of each period, and distances of the same joints at the same time.
func TestMeasureGoingOn(t *testing.T) {
	l := feature.Human()
	doer := func(doing string, speed float32, opposed bool) Doer {
		return Doer{Name: doing, Doing: doing, Speed: float64(speed), rows: striding(l, 4*strnn.Rate, 0, speed, opposed)}
	}
	all, apart, err := measureGoingOn(&slowing{l: l}, l, []Doer{doer("walk", 1.2, true), doer("run", 3, false)}, 3, 2, 1)
	must.Do(t, err)
	if len(all) != 6 || all[2].Lost == "" {
		t.Fatalf("%d motions: %+v", len(all), all)
	}
	for i, g := range slices.Delete(all, 2, 3)[:4] {
		speed, arms := []float64{1.2, 3}[i/2], []float64{1, -1}[i/2]
		if len(g.After) != 2 || math.Abs(g.After[0]-speed) > 1e-3 || math.Abs(g.After[1]-speed/2) > 1e-3 || math.Abs(g.Arms-arms) > 1e-3 {
			t.Errorf("motion %d: speeds %v, arms %g, want %g, half of it, and %g", i, g.After, g.Arms, speed, arms)
		}
		if g.Seed != uint64(i%2+1) || !(g.Knee > 20 && g.Knee < 50) {
			t.Errorf("motion %d: seed %d, knees %g°", i, g.Seed, g.Knee)
		}
	}
	joints := float64(len(l.Joints))
	if want := 10 / joints; math.Abs(apart.Seeds-want) > 1e-3 { // the first joint is 10 cm farther with the second seed
		t.Errorf("seeds are %g cm apart, want %g", apart.Seeds, want)
	}
	if !(apart.People > 0.1) {
		t.Errorf("people are %g cm apart", apart.People)
	}
	if _, _, err := measureGoingOn(&slowing{l: l}, l, nil, 1, 1, 1); err == nil {
		t.Error("nobody goes on without an error")
	}
}
