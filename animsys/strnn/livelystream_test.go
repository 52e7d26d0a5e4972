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

// People who stand with bent knees are shown with straighter ones, on feet of one height that stay where they are.
// People who walk keep theirs.
func TestStreamStandsUpright(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Guide: true})
	s := must.Get(m.NewStream(strnn.StreamOptions{Capacity: 1, Workers: 1}))(t)
	defer s.Close()
	must.Get(s.Add(feature.Place{}, nil))(t)
	l := m.Layout
	bends := func(speed float32) (out []float32) {
		for f := range m.Encode + m.Predict {
			row := s.Window(0)[f*l.Columns():][:l.Columns()]
			clear(row)
			for i, side := range []string{"Left", "Right"} {
				for joint, p := range map[string]m3.Vec3{"UpLeg": {Y: 0.9}, "Leg": {Y: 0.5, Z: 0.08 + 0.02*float32(i)}, "Foot": {Y: 0.1}, "ToeBase": {Y: 0.02 + 0.003*float32(i), Z: 0.1}} {
					at := l.Pos(l.Joint(side + joint))
					row[at], row[at+1], row[at+2] = 0.1-0.2*float32(i), p.Y, p.Z
				}
			}
			row[l.Body()+feature.MotionZ] = speed
		}
		s.Enliven(0)
		shown := s.Shown(0)[l.Body():][:l.Body()]
		was := s.Window(0)
		for _, side := range []string{"Left", "Right"} {
			at := func(joint string) m3.Vec3 {
				k := l.Pos(l.Joint(side + joint))
				return m3.V(shown[k], shown[k+1], shown[k+2])
			}
			toe, k := at("ToeBase"), l.Pos(l.Joint(side+"ToeBase"))
			if toe.X != was[k] || toe.Z != was[k+2] || speed == 0 && m3.Abs(toe.Y-0.031) > 1e-5 {
				t.Errorf("a toe at %v", toe)
			}
			thigh, shin := at("Leg").Sub(at("UpLeg")), at("Foot").Sub(at("Leg"))
			if was := m3.V(0, 0.4, 0.08).Len(); side == "Left" && m3.Abs(thigh.Len()-was) > 1e-4 {
				t.Errorf("a thigh of %g m, was %g", thigh.Len(), was)
			}
			out = append(out, m3.Acos(thigh.Dot(shin)/(thigh.Len()*shin.Len()))*180/math.Pi)
		}
		return out
	}
	walks, stands := bends(1), bends(0)
	for i := range walks {
		if r := stands[i] / walks[i]; m3.Abs(r-strnn.StandBend) > 0.08 || walks[i] < 20 {
			t.Errorf("leg %d: a knee of %g° bends by %g° in a stand", i, walks[i], stands[i])
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
