package manifold

import (
	"math"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// People whose flat feet are too low are raised as a whole until these stand at the height of the ground in the mean. Rolling and swinging
// feet do not count.
func TestLevel(t *testing.T) {
	m := made(t, 16, 9)
	w := must.Get(m.With(m.steady(t, 0.1, duty, lags), m.drift(t)).NewWalker(WalkerOptions{Batch: 1, Length: 40, Workers: 1}))(t)
	defer w.Close()
	l := m.Layout
	cols, n := l.Columns(), len(l.Contacts)
	for _, c := range []struct{ low, want float32 }{{0.02, 0.02}, {-0.03, -0.03}, {0.1, levelMost}, {float32(math.NaN()), 0}} {
		rows, stand := make([]float32, 40*cols), make([]float32, 40*n)
		for f := range 40 {
			for i, contact := range l.Contacts {
				at := &rows[f*cols+l.Pos(l.Joint(contact.Joint))+1]
				switch {
				case !w.toe[i]:
					*at = 0.5
				case f < 20: // it stands flat: once higher, once lower
					stand[f*n+i], stand[f*n+w.heel[i]] = 1, 1
					*at = standsAt - c.low + 0.01*float32(1-f%2*2)
				default: // it rolls, or swings
					stand[f*n+i], *at = float32(f%2), 0.3
				}
			}
		}
		was := append([]float32(nil), rows...)
		w.level(rows, stand)
		for f := range 40 {
			for j := range l.Joints {
				for axis := range 3 {
					at, want := f*cols+l.Pos(j)+axis, float32(0)
					if axis == 1 {
						want = c.want
					}
					if got := rows[at] - was[at]; m3.Abs(got-want) > 1e-5 {
						t.Fatalf("%g m too low: frame %d, joint %d, axis %d is moved by %g, want %g", c.low, f, j, axis, got, want)
					}
				}
			}
		}
	}
}
