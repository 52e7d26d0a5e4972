package manifold

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"mannequin/netruntime"
)

// reaching returns a network that answers to places of a kind with the mean pose,
// moved a little by random weights.
func (m *Model) reaching(t testing.TB, kind string) *netruntime.Net {
	columns, err := m.Columns(kind)
	if err != nil {
		t.Fatal(err)
	}
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

// The edit takes hands, or feet, to where they are given.
func TestActReaches(t *testing.T) {
	m := made(t, 48, 9)
	for _, kind := range []string{"punch", "kick"} {
		const batch, length = 2, 60
		a, err := m.NewActor(m.reaching(t, kind), EditorOptions{Batch: batch, Length: length, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		n, cols := a.Given(), m.Layout.Columns()
		mean, _ := m.Normalisation()
		given, rows := make([]float32, batch*length*n), make([]float32, batch*length*cols)
		for f := range batch * length {
			for i, c := range a.columns {
				given[f*n+i] = mean[c] + 0.1*float32(math.Sin(float64(f)/15+float64(i)))
			}
		}
		miss := func() (sum float64) {
			for f := range batch * length {
				for i, c := range a.columns {
					d := float64(rows[f*cols+c] - given[f*n+i])
					sum += d * d
				}
			}
			return math.Sqrt(sum / float64(batch*length))
		}
		if _, err := a.Act(rows, given, batch, length, 0); err != nil {
			t.Fatal(err)
		}
		before := miss()
		r, err := a.Act(rows, given, batch, length, 60)
		if err != nil {
			t.Fatal(err)
		}
		if after := miss(); after > 0.3*before || r.After > r.Before {
			t.Errorf("%s: places are missed by %.3f m, without the edit by %.3f", kind, after, before)
		}
		if _, err := a.Act(rows, given[1:], batch, length, 0); err == nil {
			t.Error("too few places accepted")
		}
		if _, err := a.Act(rows, given, 1, 2*length, 0); err == nil {
			t.Error("too long an act accepted")
		}
		a.Close()
	}
}

func TestActorRefuses(t *testing.T) {
	m := made(t, 16, 9)
	o := EditorOptions{Batch: 1, Length: 10, Workers: 1}
	var schema *SchemaError
	if _, err := m.NewActor(m.drift(t), o); !errors.As(err, &schema) {
		t.Errorf("a network of locomotion: %v", err)
	}
	if _, err := m.NewActor(m.steady(t, 0.1, duty, lags), o); !errors.As(err, &schema) {
		t.Errorf("a network of footsteps: %v", err)
	}
	if _, err := m.NewActor(m.reaching(t, "punch"), EditorOptions{}); err == nil {
		t.Error("no options accepted")
	}
}
