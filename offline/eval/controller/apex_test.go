package controller

import (
	"math"
	"testing"

	"mannequin/animsys"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// A path that is the stick's, some time later, has that delay.
func TestApexDelay(t *testing.T) {
	for _, w := range weaves(1.4, 3.5) {
		for _, late := range []float64{0, 0.2, 0.35} {
			var path []float64
			at := 0.0
			for tick := range int((apexes/2 + 1.5) * w.period * animsys.TickRate) {
				const steps = 20
				for k := range steps {
					v, _ := w.stick(2 * math.Pi * ((float64(tick)+float64(k)/steps)/animsys.TickRate - late) / w.period)
					at += float64(v.Dot(w.axis)) / animsys.TickRate / steps
				}
				path = append(path, at)
			}
			if got, never := w.delay(path); math.Abs(got-late) > 1.5/animsys.TickRate || never > 0 {
				t.Errorf("%s: a delay of %.3f s, want %.3f; none in %d turns", w.name, got, late, never)
			}
			straight := make([]float64, len(path))
			if _, never := w.delay(straight); never != apexes {
				t.Errorf("%s: a standing character turns back %d times", w.name, apexes-never)
			}
			for i := range straight {
				straight[i] = 0.02 * float64(i)
			}
			if _, never := w.delay(straight); never != apexes {
				t.Errorf("%s: a character on a straight path turns back %d times", w.name, apexes-never)
			}
		}
	}
}

// A person turns back, and the stick is as long as the speed.
func TestApexes(t *testing.T) {
	for _, a := range must.Get(Apexes(subject(t), 1.2, 2.4))(t) {
		if !(a.Delay > 0 && a.Delay < 1.2) || a.Never > 0 {
			t.Errorf("%+v", a)
		}
	}
	for _, w := range weaves(1, 3) {
		if v, face := w.stick(math.Pi / 2); m3.Abs(face.Len()-1) > 1e-5 || v.Len() < 0.99 || v.Len() > 3.01 {
			t.Errorf("%s: %v, facing %v", w.name, v, face)
		}
	}
	if _, err := Apexes(subject(t), 0, 1); err == nil {
		t.Error("a speed of 0 is taken")
	}
}
