package dog_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/models/dog"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
)

// shortcuts are faster ways to run the dog, with the error that each may have: relative RMS of the
// standardised outputs, and the mean distance of a joint in metres from its place with float32.
var shortcuts = []struct {
	bf16      bool
	skip      float32
	rms, mean float64
}{
	{true, 0, 0.002, 0.0001},
	{false, 1e-3, 0.002, 0.0001},
	{false, 1e-2, 0.025, 0.0015},
	{false, 3e-2, 0.12, 0.012},
	{false, 0.1, 0.5, 0.055},
	{true, 1e-2, 0.025, 0.0015},
}

// rows returns recorded input rows that the dog was not trained on.
func rows(tb testing.TB) (x []float32, n int) {
	layout := layout()
	_, held, err := dataset.BuildMANN(filepath.Join(mocapdata.Dir(tb), "dog"), dataset.Options{Layout: layout})
	if err != nil {
		tb.Fatal(err)
	}
	for r := 0; r < held.Rows; r += 5 {
		x = append(x, held.Input(r)...)
		n++
	}
	return x, n
}

// layout is the shipped dog's layout.
func layout() *feature.MANN {
	l := feature.Dog()
	l.Phases = true
	return l
}

// TestShortcuts measures the error of bfloat16 and skipped experts over recorded rows. With -v it
// prints the table.
func TestShortcuts(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all recordings")
	}
	net := must.Get(dog.Open())(t)
	x, n := rows(t)
	layout := layout()
	if net.Inputs() != layout.Inputs() || net.Outputs() != layout.Outputs() {
		t.Fatal("the shipped dog has another layout")
	}
	run := func(o netruntime.SessionOptions) (y, gating []float32, kernel string) {
		o.Batch, o.Workers = n, 2
		s := must.Get(net.NewSession(o))(t)
		defer s.Close()
		y = make([]float32, n*net.Outputs())
		must.Do(t, s.Run(y, x, n))
		return y, slices.Clone(s.Gating()), s.Kernel()
	}
	exact, gating, _ := run(netruntime.SessionOptions{})
	t.Logf("%d rows", n)
	mean, _ := net.Tensor("y_mean")
	std, _ := net.Tensor("y_std")
	for _, c := range shortcuts {
		y, _, kernel := run(netruntime.SessionOptions{BF16: c.bf16, SkipBelow: c.skip})
		kept := 0
		for _, w := range gating {
			if w >= c.skip {
				kept++
			}
		}
		var num, den, rawNum, rawDen, sum, most float64
		for i, v := range y {
			s, col := float64(exact[i]), i%net.Outputs()
			d, dev := float64(v)-s, float64(std.Data[col])
			rawNum, rawDen = rawNum+d*d, rawDen+s*s
			if dev > 0 {
				s -= float64(mean.Data[col])
				num, den = num+d*d/(dev*dev), den+s*s/(dev*dev)
			}
		}
		for r := range n {
			for b := range layout.Joints {
				at := r*net.Outputs() + layout.OutBone(b)
				d := 0.0
				for i := range 3 {
					e := float64(y[at+i] - exact[at+i])
					d += e * e
				}
				sum, most = sum+math.Sqrt(d), max(most, math.Sqrt(d))
			}
		}
		rms, joint := math.Sqrt(num/den), sum/float64(n*len(layout.Joints))
		t.Logf("%-11s ε %-5g: %.2f experts per row, relative RMS %.3f %% (raw %.3f %%), joints off by %.3f cm, at most %.2f cm",
			kernel, c.skip, float64(kept)/float64(n), 100*rms, 100*math.Sqrt(rawNum/rawDen), 100*joint, 100*most)
		if !(rms <= c.rms && joint <= c.mean) {
			t.Errorf("%s, ε %g: relative RMS %g, joints %g m: want at most %g and %g", kernel, c.skip, rms, joint, c.rms, c.mean)
		}
	}
}

// BenchmarkShortcuts times the shortcuts over recorded rows, in turns, so that the ratio to float32
// is taken under the same conditions.
func BenchmarkShortcuts(b *testing.B) {
	net, err := dog.Open()
	if err != nil {
		b.Fatal(err)
	}
	x, n := rows(b)
	for _, batch := range []int{1, 16, 64, 256, 1024} {
		batch = min(batch, n)
		options := []netruntime.SessionOptions{{}}
		for _, c := range shortcuts {
			options = append(options, netruntime.SessionOptions{BF16: c.bf16, SkipBelow: c.skip})
		}
		sessions, least := make([]netruntime.Session, len(options)), make([]time.Duration, len(options))
		for i, o := range options {
			o.Batch, o.Workers = batch, 2
			if sessions[i], err = net.NewSession(o); err != nil {
				b.Fatal(err)
			}
			defer sessions[i].Close()
			least[i] = time.Hour
		}
		b.Run(fmt.Sprintf("agents=%d", batch), func(b *testing.B) {
			// Batches that are each drawn from all recordings.
			in, y := net.Inputs(), make([]float32, batch*net.Outputs())
			runs := max(1, 64/batch)
			var drawn []float32
			for i := range runs * batch {
				drawn = append(drawn, x[i*2503%n*in:][:in]...)
			}
			for b.Loop() {
				for i, s := range sessions {
					start := time.Now()
					for r := range runs {
						must.Do(b, s.Run(y, drawn[r*batch*in:], batch))
					}
					least[i] = min(least[i], time.Since(start)/time.Duration(runs))
				}
			}
			b.ReportMetric(float64(least[0])/1e3, "f32-us")
			for i, o := range options[1:] {
				name := "f32"
				if o.BF16 {
					name = "bf16"
				}
				b.ReportMetric(float64(least[0])/float64(least[i+1]), fmt.Sprintf("x-%s-%g", name, o.SkipBelow))
			}
		})
	}
}
