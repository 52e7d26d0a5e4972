package mar

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/retarget"
)

// style is how the test's people move: every joint swings by an amplitude about an angle that
// follow from the seed, at a tempo, the first person's being 1.
type style struct {
	name  string
	seed  uint64
	tempo float64
}

var (
	plain = style{"plain", 1, 1}
	proud = style{"proud", 2, 1.25}
	old   = style{"old", 3, 0.7}
)

// take is one of an action, some cycles of 60 canonical frames long, at a pace.
func (s style) take(action string, number int, cycles, pace float64) *Take {
	sk := retarget.Human()
	rate := s.tempo * pace
	frames := int(cycles*60/rate) + 1
	t := &Take{Name: fmt.Sprintf("%s-%s-%d", action, s.name, number), Action: action, Style: s.name, Content: fmt.Sprint(number),
		Clip: skel.NewClip(sk, 60, frames), Times: make([]float64, frames), Stands: make([]uint8, frames)}
	at, yaw := m3.Vec3{}, float32(0)
	for f := range frames {
		tau := float64(f)*rate + 0.3*float64(number)
		t.Times[f] = tau
		phase := 2 * math.Pi * tau / 60
		if math.Sin(phase) > 0 {
			t.Stands[f] = 1
		} else {
			t.Stands[f] = 2
		}
		// The same for every style but for its numbers; a little of the pace.
		r := rand.New(rand.NewPCG(s.seed, 7))
		a := rand.New(rand.NewPCG(99, uint64(len(action))))
		pos, rot := t.Clip.Frame(f)
		for j := range rot {
			if sk.EndSite[j] {
				continue
			}
			lag := 2 * math.Pi * a.Float64()
			amp := 0.15 + 0.25*r.Float64()
			mid := 0.4*r.Float64() - 0.2
			x := mid + amp*pace*math.Sin(phase+lag) + 0.05*amp*math.Sin(2*phase+lag)
			axis := m3.V(float32(a.Float64()), float32(a.Float64()), float32(a.Float64())).Normalize(m3.V(1, 0, 0))
			if j == 0 {
				axis = m3.V(1, 0, 0)
			}
			rot[j] = m3.AxisAngle(axis, float32(x))
		}
		speed := 1.2 * pace * (0.8 + 0.4*r.Float64())
		turn := 0.3 * math.Sin(phase/3)
		if f > 0 {
			yaw += float32(turn / 60)
			at = at.Add(m3.YawQuat(yaw).Rotate(m3.V(0, 0, float32(speed/60))))
		}
		rot[0] = m3.YawQuat(yaw).Mul(rot[0])
		pos[0] = at.Add(m3.V(0, 0.9+0.03*float32(math.Sin(2*phase)), 0))
	}
	return t
}

// takes are two actions, three paces each, in all styles.
func takes() []*Take {
	var all []*Take
	for _, s := range []style{plain, proud, old} {
		for i, pace := range []float64{0.9, 1, 1.1} {
			all = append(all, s.take("walk", i, 3.3, pace), s.take("amble", i, 3.1, pace))
		}
	}
	return all
}

var synthetic = sync.OnceValues(func() (*Database, error) {
	return NewDatabase(takes(), map[string]float64{"walk": 60, "amble": 60})
})

// database returns the database of takes, which all tests share.
func database(t testing.TB) *Database {
	t.Helper()
	return must.Get(synthetic())(t)
}

func (db *Database) stylist(t testing.TB, o StyleTranslatorOptions) *StyleTranslator {
	t.Helper()
	s, err := db.NewStyleTranslator(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// apart returns the mean distance of the joints of two rows, m.
func (db *Database) apart(a, b []float32) float64 {
	n := db.layout.skel.Len()
	var model [2][]m3.Xform
	for i, row := range [][]float32{a, b} {
		pos, rot := make([]m3.Vec3, n), make([]m3.Quat, n)
		model[i] = make([]m3.Xform, n)
		db.Pose(pos, rot, row)
		db.layout.skel.LocalToModel(model[i], pos, rot)
	}
	sum := 0.0
	for j := range n {
		sum += float64(model[0][j].Pos.Dist(model[1][j].Pos))
	}
	return sum / float64(n)
}
