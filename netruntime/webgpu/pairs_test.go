//go:build webgpu

package webgpu

import (
	"math"
	"slices"
	"testing"
	"time"

	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/netruntime/internal/program"
)

// halved returns the least length that a network can halve as often as it does.
func halved(n *netruntime.Net) int {
	length := 1
	for slices.ContainsFunc(n.Values(), func(v netruntime.Value) bool { return v.Length(length) == 0 }) {
		length *= 2
	}
	return length
}

// arrays returns random inputs, and room for outputs.
func arrays(n *netruntime.Net, batch, length int) (in, out [][]float32) {
	for i, v := range n.Values() {
		if i < len(n.Graph().Inputs) {
			in = append(in, random(uint64(i), batch*v.Length(length)*v.Channels))
		}
	}
	for _, o := range n.Graph().Outputs {
		v := n.Values()[slices.IndexFunc(n.Values(), func(v netruntime.Value) bool { return v.Name == o })]
		out = append(out, make([]float32, batch*v.Length(length)*v.Channels))
	}
	return in, out
}

// outputs runs a network, and returns its results and the memory of its constants.
func outputs(t *testing.T, n *netruntime.Net, o Options) (out [][]float32, bytes int64) {
	t.Helper()
	length := 2 * halved(n)
	o.Batch, o.Length, o.Workers, o.Timeout = 3, length, 1, time.Hour
	s, ok := must.Get(NewSession(n, o))(t).(*session)
	if !ok {
		t.Fatal("the processor computes it")
	}
	defer s.Close()
	in, out := arrays(n, 3, length)
	must.Do(t, s.RunSequences(out, in, 3, length))
	return out, s.weights.bytes
}

// same fails the test if results differ in a bit.
func same(t *testing.T, got, want [][]float32) {
	t.Helper()
	for i := range want {
		if k := different(got[i], want[i]); k > 0 {
			t.Errorf("output %d has other bits in %d of %d places", i, k, len(want[i]))
		}
	}
}

// TestPairs: a shipped network's weights are bfloat16 in its file. They are so on the GPU, in half the memory, with the bits of float32.
func TestPairs(t *testing.T) {
	needGPU(t)
	for _, name := range models.Names() {
		t.Run(name, func(t *testing.T) {
			n, err := models.Open(name)
			if err != nil {
				t.Skip(err) // no network
			}
			got, small := outputs(t, n, Options{})
			d := must.Get(theDevice())(t)
			w := must.Get(d.hold(weightsKey{net: n, pairs: program.Exact}, must.Get(program.Compile(n, program.Plain, 0, program.Never))(t)))(t)
			want, size := outputs(t, n, Options{})
			w.release()
			same(t, got, want)
			t.Logf("%.1f MB in place of %.1f", float64(small)/1e6, float64(size)/1e6)
			if heavy := size > 4e6; heavy && float64(small) > 0.6*float64(size) {
				t.Error("too much")
			}
		})
	}
}

// rounded returns two networks: one whose weights are those of n, but no bfloat16 and no float16, and one whose heavy weights are rounded.
func rounded(t *testing.T, n *netruntime.Net, round func(w, most float32) float32) (original, nearby *netruntime.Net) {
	t.Helper()
	fine, coarse := n.Tensors(), n.Tensors()
	for i := range fine {
		if len(fine[i].Data) < netruntime.HeavyWeights {
			continue
		}
		fine[i].Data, coarse[i].Data = slices.Clone(fine[i].Data), slices.Clone(fine[i].Data)
		for k := range fine[i].Data {
			fine[i].Data[k] *= 1 + float32(k%64)/5000
		}
		most := max(slices.Max(fine[i].Data), -slices.Min(fine[i].Data))
		for k, w := range fine[i].Data {
			coarse[i].Data[k] = round(w, most)
		}
	}
	return must.Get(netruntime.New(n.Meta(), fine))(t), must.Get(netruntime.New(n.Meta(), coarse))(t)
}

// checkRounded compares sessions with options that round weights with sessions of float32.
func checkRounded(t *testing.T, o Options, round func(w, most float32) float32) {
	t.Helper()
	for _, name := range []string{"dog", "human", "human-latent"} {
		original, nearby := rounded(t, must.Get(models.Open(name))(t), round)
		whole, size := outputs(t, original, Options{})
		got, small := outputs(t, original, o)
		want, _ := outputs(t, nearby, Options{})
		same(t, got, want)
		worst := 0.0
		for i := range whole {
			worst = max(worst, off(got[i], whole[i]))
		}
		t.Logf("%s: %.1f MB in place of %.1f, off by %.1e of the largest output", name, float64(small)/1e6, float64(size)/1e6, worst)
		if !(worst > 0 && worst < 0.05) || float64(small) > 0.7*float64(size) {
			t.Error("too much, or nothing")
		}
	}
}

// TestBF16: if bfloat16 is asked for, the GPU has the bits of a network whose heavy weights are rounded to it. Otherwise it keeps their float32.
func TestBF16(t *testing.T) {
	needGPU(t)
	checkRounded(t, Options{SessionOptions: netruntime.SessionOptions{BF16: true}}, func(w, _ float32) float32 {
		bits := math.Float32bits(w)
		return math.Float32frombits((bits + 0x7fff + bits>>16&1) &^ 0xffff)
	})
}
