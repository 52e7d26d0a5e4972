package manifold

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	humankick "mannequin/models/human-kick"
	humanpunch "mannequin/models/human-punch"
	"mannequin/netruntime"
)

// reaching returns a network of a kind whose output is the mean pose plus a random linear map of
// its input.
func (m *Model) reaching(t testing.TB, kind string) *netruntime.Net {
	columns := must.Get(m.Columns(kind))(t)
	in, out := len(columns), m.Layout.Columns()
	rng := rand.New(rand.NewPCG(11, 11))
	w := make([]float32, out*in)
	for i := range w {
		w[i] = 0.02 * float32(rng.NormFloat64())
	}
	mean, _ := m.Normalisation()
	return m.describe(t, netruntime.Meta{Name: kind, Arch: "graph", Extra: map[string]string{KeyKind: kind}, Graph: &netruntime.Graph{
		Inputs:  []netruntime.Input{{Name: "x", Channels: in}},
		Nodes:   []netruntime.Node{{Name: "y", Op: netruntime.OpDense, In: []string{"x"}}},
		Outputs: []string{"y"},
	}}, []netruntime.Tensor{{Name: "y.weight", Shape: []int{out, in}, Data: w}, {Name: "y.bias", Shape: []int{out}, Data: mean}})
}

// The edit moves hands or feet to the given positions.
func TestActionReaches(t *testing.T) {
	m := made(t, 48, 9)
	for _, kind := range []string{"punch", "kick"} {
		const batch, length = 2, 60
		a := must.Get(m.NewActionSynthesizer(m.reaching(t, kind), EditorOptions{Batch: batch, Length: length, Workers: 1}))(t)
		a.Weight = 1
		n, cols := a.Inputs(), m.Layout.Columns()
		mean, _ := m.Normalisation()
		given, rows := make([]float32, batch*length*n), make([]float32, batch*length*cols)
		for f := range batch * length {
			for i, c := range a.inputs {
				given[f*n+i] = mean[c] + 0.1*float32(math.Sin(float64(f)/15+float64(i)))
			}
		}
		miss := func() (sum float64) {
			for f := range batch * length {
				for i, c := range a.inputs {
					d := float64(rows[f*cols+c] - given[f*n+i])
					sum += d * d
				}
			}
			return math.Sqrt(sum / float64(batch*length))
		}
		must.Get(a.Run(rows, given, batch, length, 0))(t)
		before := miss()
		r := must.Get(a.Run(rows, given, batch, length, 60))(t)
		if after := miss(); after > 0.3*before || r.After > r.Before {
			t.Errorf("%s: positions are %.3f m off, without the edit %.3f", kind, after, before)
		}
		if _, err := a.Run(rows, given[1:], batch, length, 0); err == nil {
			t.Error("too few positions accepted")
		}
		if _, err := a.Run(rows, given, 1, 2*length, 0); err == nil {
			t.Error("too long a motion accepted")
		}
		a.Close()
	}
}

// The shipped networks punch and kick. After ActionIterations the cost of the edit is below that of
// the 50 steps of Adam in the authors' release. Hands and feet are at the given positions, and
// standing feet do not slide.
func TestActionPeople(t *testing.T) {
	race.Single(t)
	base, _, _ := shipped(t)
	m := must.Get(NewModel(base))(t)
	const length = 240
	mean, _ := m.Normalisation()
	cols, feet := m.Layout.Columns(), len(m.feet())
	for kind, open := range map[string]func() (*netruntime.Net, error){"punch": humanpunch.Open, "kick": humankick.Open} {
		net := must.Get(open())(t)
		a := must.Get(m.NewActionSynthesizer(net, EditorOptions{Batch: 1, Length: length, Workers: 1}))(t)
		defer a.Close()
		given, rows := make([]float32, length*a.Inputs()), make([]float32, length*cols)
		for f := range length {
			for i, c := range a.inputs {
				given[f*a.Inputs()+i] = mean[c]
			}
			// The right hand punches at chest height, the right foot kicks a ball, once a second.
			x := float32(math.Pow(math.Max(0, math.Sin(2*math.Pi*float64(f)/60)), 2))
			switch at := given[f*a.Inputs():]; kind {
			case "punch":
				at[3], at[4], at[5] = at[3]+0.1*x, at[4]+0.3*x, at[5]+0.45*x
			default:
				for _, k := range []int{6, 9} {
					at[k+1], at[k+2] = at[k+1]+0.25*x, at[k+2]+0.5*x
				}
			}
		}
		h := make([]float32, length/2*m.Units)
		encode := must.Get(net.Part([]string{"x"}, []string{"hidden"}))(t)
		s := must.Get(encode.NewSession(netruntime.SessionOptions{Batch: 1, Length: length, Workers: 1}))(t)
		defer s.Close()
		must.Do(t, s.RunSequences([][]float32{h}, [][]float32{given}, 1, length))
		must.Get(a.Run(rows, given, 1, length, 0))(t)
		job := a.newEdit(rows, given, 1, length)
		m.race(t, &job, h, 50, ActionIterations)

		must.Get(a.Run(rows, given, 1, length, ActionIterations))(t)
		var miss, slid, steps float64
		trajectory := m.Trajectory(rows, feature.Place{})
		for f := range length {
			for i := 0; i < a.Inputs(); i += 3 {
				miss += 100 * float64(vec(rows[f*cols:], a.inputs[i]).Dist(vec(given[f*a.Inputs():], i))) / float64(length*a.Inputs()/3)
			}
			for i, p := range m.feet() {
				if f+1 < length && a.stand[f*feet+i] == 1 {
					world := func(f int) m3.Vec3 {
						return m3.YawQuat(trajectory[f].Yaw).Rotate(vec(rows[f*cols:], p)).Add(trajectory[f].Pos)
					}
					slid, steps = slid+100*float64(world(f+1).Dist(world(f))), steps+1
				}
			}
		}
		t.Logf("%s: given positions are %.2f cm off, standing feet slide %.3f cm per frame", kind, miss, slid/steps)
		if miss > 1 || slid/steps > 0.3 || steps < length {
			t.Errorf("%s: given positions are %.2f cm off, %.0f standing feet slide %.3f cm per frame", kind, miss, steps, slid/steps)
		}
	}
}

func TestActionRefuses(t *testing.T) {
	m := made(t, 16, 9)
	o := EditorOptions{Batch: 1, Length: 10, Workers: 1}
	var schema *feature.SchemaError
	if _, err := m.NewActionSynthesizer(m.drift(t), o); !errors.As(err, &schema) {
		t.Errorf("a network of locomotion: %v", err)
	}
	if _, err := m.NewActionSynthesizer(m.steady(t, 0.1, duty, lags), o); !errors.As(err, &schema) {
		t.Errorf("a network of footsteps: %v", err)
	}
	if _, err := m.NewActionSynthesizer(m.reaching(t, "punch"), EditorOptions{}); err == nil {
		t.Error("no options accepted")
	}
}
