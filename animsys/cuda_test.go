//go:build cuda

package animsys_test

import (
	"slices"
	"testing"
	"time"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/internal/testing/fakecuda"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testgen"
	"mannequin/internal/testing/testmatching"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/netruntime/cuda"
)

func TestMain(m *testing.M) { fakecuda.Main(m) }

// TestCUDAPose: over 600 ticks of the shipped dog, each from the processor's
// state, the GPU's pose is the processor's, within 1 mm in TF32 and 5 mm in
// bfloat16.
func TestCUDAPose(t *testing.T) {
	net, err := models.Open("dog")
	if err != nil {
		t.Fatal(err)
	}
	m, err := mann.NewModel(net)
	if err != nil {
		t.Fatal(err)
	}
	const ticks = 600
	in, out := m.Layout.Inputs(), m.Layout.Outputs()
	cpu, err := net.NewSession(netruntime.SessionOptions{Batch: 1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	// run takes row 0 through all ticks; f gets the state before each Scatter.
	run := func(f func(b *mann.Batch, tick int, x, y []float32)) {
		b := mann.NewBatch(m, 2)
		b.Reset(0, m3.Vec3{}, 0)
		x, y, goals := make([]float32, 2*in), make([]float32, 2*out), make([]control.Goal, 2)
		for tick := range ticks {
			goals[0] = tour(tick)
			b.Plan(goals, 0, 1)
			b.Gather(x, 0, 1)
			if err := cpu.Run(y, x, 1); err != nil {
				t.Fatal(err)
			}
			f(b, tick, x, y)
		}
		if n := b.Restored(0); n > 0 {
			t.Fatalf("the dog was restored %d times", n)
		}
	}
	inputs := make([]float32, ticks*in)
	run(func(b *mann.Batch, tick int, x, y []float32) {
		copy(inputs[tick*in:(tick+1)*in], x)
		b.Scatter(y, 0, 1)
	})
	joints := m.Skel.Len()
	model := func(b *mann.Batch, row int) []m3.Xform {
		out := make([]m3.Xform, joints)
		pos, rot := b.Pose(row)
		m.Skel.LocalToModel(out, pos, rot)
		return out
	}
	for _, c := range []struct {
		precision cuda.Precision
		bar       float32 // m
	}{{cuda.FP32, 1e-4}, {cuda.TF32, 1e-3}, {cuda.BF16, 5e-3}} {
		s, err := cuda.NewSession(net, cuda.Options{SessionOptions: netruntime.SessionOptions{Batch: ticks, Workers: 1}, Precision: c.precision, Timeout: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		outputs := make([]float32, ticks*out)
		if err := s.Run(outputs, inputs, ticks); err != nil {
			t.Fatal(err)
		}
		s.Close()
		if n := cuda.Fallbacks(); n > 0 {
			t.Fatal(n, " runs fell back to the processor")
		}
		var worst float32
		at := 0
		run(func(b *mann.Batch, tick int, _, y []float32) {
			b.Copy(1, 0)
			copy(y[out:], outputs[tick*out:(tick+1)*out])
			b.Scatter(y, 0, 2)
			want, got := model(b, 0), model(b, 1)
			for j := range want {
				if d := got[j].Pos.Sub(want[j].Pos).Len(); d > worst {
					worst, at = d, tick
				}
			}
		})
		t.Logf("%s: joints at most %.3f mm off, at tick %d", c.precision, 1000*worst, at)
		if !(worst <= c.bar) {
			t.Errorf("%s: a joint is %.3f mm off at tick %d, at most %.3f mm are allowed", c.precision, 1000*worst, at, 1000*c.bar)
		}
	}
}

// TestCUDACharacters: people of learned motion matching and of a mode-adaptive network are where the processor's are in each tick,
// each from the processor's state.
func TestCUDACharacters(t *testing.T) {
	for name, f := range map[string]*matching.File{"hero": must.Get(models.OpenCharacter("hero"))(t), "adaptive": {Adaptive: testmatching.Adaptive(t)}} {
		t.Run(name, func(t *testing.T) {
			worst := slices.Max(testmatching.Beside(t, f, func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
				return cuda.NewSession(n, cuda.Options{SessionOptions: o, Timeout: time.Hour})
			}, 240, nil))
			if n := cuda.Fallbacks(); n > 0 {
				t.Fatal(n, " runs fell back to the processor")
			}
			t.Logf("joints at most %.4f mm off", 1000*worst)
			if !(worst <= 1e-3) || worst == 0 {
				t.Errorf("a joint is %.3f mm off, at most 1 mm is allowed, and rounding leaves some", 1000*worst)
			}
		})
	}
}

// TestCUDACharacterAllocates: a tick of learned motion matching on the GPU allocates nothing.
func TestCUDACharacterAllocates(t *testing.T) {
	const n = 20
	f := must.Get(models.OpenCharacter("hero"))(t)
	s := must.Get(f.NewStream(matching.StreamOptions{Capacity: n, Workers: 2, Open: func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
		return cuda.NewSession(n, cuda.Options{SessionOptions: o, Timeout: time.Hour})
	}}))(t)
	defer s.Close()
	p := testgen.Play[control.Goal](s, f.Character().Skel.Len())
	for range n {
		must.Get(s.Add(feature.Place{}, &control.Goal{Move: m3.V(0, 0, 1), Speed: 2}))(t)
	}
	must.Do(t, p.Tick(n))
	if times := testing.AllocsPerRun(12, func() { must.Do(t, p.Tick(n)) }); times != 0 {
		t.Errorf("a tick allocates %g times", times)
	}
	if n := cuda.Fallbacks(); n > 0 {
		t.Fatal(n, " runs fell back to the processor")
	}
}
