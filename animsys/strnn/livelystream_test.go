package strnn_test

import (
	"math"
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/strnn"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/teststrnn"
)

// Trunk and arms of a crowd's people move more about their mean, joined from window to window; legs do not. People
// who stand do not tremble.
func TestStreamEnlivens(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Guide: true})
	s := must.Get(m.NewStream(strnn.StreamOptions{Capacity: 1, Workers: 1}))(t)
	defer s.Close()
	must.Get(s.Add(feature.Place{}, nil))(t)
	l := m.Layout
	cols, width := l.Columns(), l.Body()
	head, shoulder, hand, knee := l.Pos(l.Joint("Head")), l.Pos(l.Joint("LeftArm")), l.Pos(l.Joint("LeftHand")), l.Pos(l.Joint("LeftLeg"))
	at := func(f int, speed float32) []float32 { // a frame of someone who swings
		row := make([]float32, cols)
		swing := m3.Sin(2 * math.Pi * float32(f) / 20)
		row[head], row[shoulder+2], row[hand+2], row[knee+2] = 0.01*swing, 0.01*swing, 0.11*swing, 0.1*swing
		row[l.Body()+feature.MotionZ] = speed
		return row
	}
	fill := func(from int, speed float32) {
		for f := range m.Encode + m.Predict {
			copy(s.Window(0)[f*cols:], at(from+f, speed))
		}
		s.Enliven(0)
	}
	fill(0, 1)
	// The mean is over n of the 20 frames of a swing.
	n := float32(min(strnn.LivelyWindow, m.Encode))
	for f := range m.Predict + 1 {
		var mean float32
		for i := range int(n) {
			mean += m3.Sin(2*math.Pi*float32(m.Encode-1+f-i)/20) / n
		}
		was := at(m.Encode-1+f, 1)
		swing := was[knee+2] / 0.1
		shown := s.Shown(0)[f*width:][:width]
		for _, v := range []struct {
			name string
			at   int
			more float32
		}{{"head", head, strnn.LivelyTrunk * 0.01}, {"shoulder", shoulder + 2, strnn.LivelyTrunk * 0.01}, {"hand", hand + 2, strnn.LivelyTrunk*0.01 + strnn.LivelyArms*0.1}, {"knee", knee + 2, 0}} {
			if by, want := shown[v.at]-was[v.at], v.more*(swing-mean); m3.Abs(by-want) > 1e-5 {
				t.Errorf("frame %d: the %s moves by %g m more, want %g", f, v.name, by, want)
			}
		}
	}
	last := slices.Clone(s.Shown(0)[m.Predict*width:][:width])
	fill(m.Predict, 1)
	for k, v := range s.Shown(0)[:width] {
		if m3.Abs(v-last[k]) > 1e-5 {
			t.Errorf("column %d: a window begins at %g, the one before ended at %g", k, v, last[k])
		}
	}

	// People who stand.
	for f := range m.Encode + m.Predict {
		row := s.Window(0)[f*cols:][:cols]
		clear(row)
		row[knee+2] = 0.01 * float32(f%2)
	}
	s.Enliven(0)
	for f := 2; f <= m.Predict-2; f++ {
		a, b := s.Shown(0)[f*width+knee+2], s.Shown(0)[(f-1)*width+knee+2]
		if m3.Abs(a-b) > 0.005 {
			t.Errorf("frame %d: the knee of a person who stands trembles by %g m", f, a-b)
		}
	}
}

// A restored row shows what the saved one does, also where the window is copied later.
func TestRestoreEnlivens(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Guide: true})
	for _, later := range []bool{false, true} {
		s := must.Get(m.NewStream(strnn.StreamOptions{Capacity: 2, Workers: 1}))(t)
		defer s.Close()
		must.Get(s.Add(feature.Place{}, &strnn.Steer{Speed: 1}))(t)
		for range 50 {
			must.Do(t, s.Generate([]bool{false}))
			s.Sample(nil, 0, 0)
		}
		st := &generator.State{Later: later}
		s.Save(st, 0)
		must.Do(t, st.Finish(&generator.State{}, 0, len(st.Data)))
		st.Rewind()
		row := must.Get(s.Restore(st))(t)
		must.Do(t, st.Finish(&generator.State{}, 0, len(st.Data)))
		if row != 1 || !slices.Equal(s.Shown(0), s.Shown(row)) {
			t.Errorf("copied later: %v: row %d shows other joints than the saved one", later, row)
		}
	}
}
