//go:build webgpu

package webgpu

import (
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/netruntime"
)

// float16 rounds to float16, to nearest, ties to even.
func float16(v float64) float32 {
	_, e := math.Frexp(v)
	unit := math.Ldexp(1, max(e-11, -24))
	return float32(math.RoundToEven(v/unit) * unit)
}

func halfOnce(a, b, c float32) float32 { return float16(float64(a)*float64(b) + float64(c)) }

func halfTwice(a, b, c float32) float32 {
	return float16(float64(float16(float64(a)*float64(b))) + float64(c))
}

// withoutFloat16 lets sessions of the test run as on a device without float16.
func withoutFloat16(t *testing.T) {
	d := must.Get(theDevice())(t)
	half := d.half
	d.half = false
	t.Cleanup(func() { d.half = half })
}

// needFloat16 skips the test on a device without float16.
func needFloat16(t *testing.T) {
	t.Helper()
	needGPU(t)
	if d := must.Get(theDevice())(t); !d.half {
		t.Skip("no float16 on " + d.name)
	}
}

func openF16(t *testing.T, n *netruntime.Net, rows int) *session {
	t.Helper()
	s, ok := must.Get(NewSession(n, Options{SessionOptions: netruntime.SessionOptions{Batch: rows, Workers: 1}, F16: true, Timeout: time.Hour}))(t).(*session)
	if !ok {
		t.Fatal("the processor computes it")
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestF16Weights: a device without float16 has the bits of a network whose heavy weights are rounded to it, in multiples of the least number.
func TestF16Weights(t *testing.T) {
	needGPU(t)
	withoutFloat16(t)
	checkRounded(t, Options{F16: true}, func(w, most float32) float32 {
		_, e := math.Frexp(float64(most))
		scale := math.Ldexp(1, e-4) // all are at most 16 times as large
		return float32(float64(float16(float64(w)/scale)) * scale)
	})
}

// TestF16Bits: a device with float16 has the bits of a calculation that rounds sums of eight products to it.
func TestF16Bits(t *testing.T) {
	needFloat16(t)
	n, _ := rounded(t, dog(t), func(w, _ float32) float32 { return w })
	const rows = 10 // of the larger tile
	in, out := n.Inputs(), n.Outputs()
	x := random(4, rows*in)
	s := openF16(t, n, rows)
	if s.Kernel() != "webgpu_f16" {
		t.Error("the session runs on ", s.Kernel())
	}
	got := make([]float32, rows*out)
	must.Do(t, s.Run(got, x, rows))
	least := len(got)
	for _, fma := range []func(a, b, c float32) float32{roundedOnce, roundedTwice} {
		for _, half := range []func(a, b, c float32) float32{halfOnce, halfTwice} {
			var want, of []float32
			for _, r := range []int{0, rows - 1} {
				want = append(want, arithmetic{fma, half}.network(t, n, x[r*in:(r+1)*in])...)
				of = append(of, got[r*out:(r+1)*out]...)
			}
			least = min(least, different(of, want))
			t.Logf("of %d results, %d have other bits, and they are off by %.1e", len(want), different(of, want), off(of, want))
		}
	}
	if least > 0 {
		t.Errorf("%d results differ from every reference", least)
	}
}

// TestF16Shipped: results of all shipped networks with and without float16.
func TestF16Shipped(t *testing.T) {
	needFloat16(t)
	for _, name := range models.Names() {
		n, err := models.Open(name)
		if err != nil {
			continue // no network
		}
		whole, _ := outputs(t, n, Options{})
		got, _ := outputs(t, n, Options{F16: true})
		for i := range whole {
			e := off(got[i], whole[i])
			t.Logf("%s: output %d is off by %.1e of the largest", name, i, e)
			if !(e < 0.01) {
				t.Error("too much")
			}
		}
	}
}

// dense returns a network of one heavy layer.
func dense(t *testing.T, w []float32) *netruntime.Net {
	t.Helper()
	const size = 200
	g := netruntime.Graph{Inputs: []netruntime.Input{{Name: "x", Channels: size}}, Outputs: []string{"y"},
		Nodes: []netruntime.Node{{Name: "y", Op: netruntime.OpDense, In: []string{"x"}}}}
	return must.Get(netruntime.New(netruntime.Meta{Name: "dense", Arch: "graph", Graph: &g},
		[]netruntime.Tensor{{Name: "y.weight", Shape: []int{size, size}, Data: w}, {Name: "y.bias", Shape: []int{size}, Data: make([]float32, size)}}))(t)
}

// TestF16Range: values and weights of every size give what they give in float32, and a NaN stays in its row.
func TestF16Range(t *testing.T) {
	needGPU(t)
	d := must.Get(theDevice())(t)
	for _, half := range slices.Compact([]bool{d.half, false}) {
		if !half {
			withoutFloat16(t)
		}
		const size, rows = 200, 9
		for _, scale := range []float32{1, 1e-30, 1e-38, 1e-42, 1e30, 0} {
			w := random(1, size*size)
			for i := range w {
				w[i] *= scale
			}
			if scale == 1 {
				w[size+3] = 1e-6
				for c := range size {
					w[c] = 131071 // just below a power of two: 16 times the scale
				}
			}
			n := dense(t, w)
			s := openF16(t, n, rows)
			x := random(2, rows*size)
			for r, large := range []float32{0, 499, 501, 65519, 65520, 1e6, 1e-6} {
				if large != 0 {
					for c := range size {
						x[r*size+c] *= large
					}
				}
			}
			for c := range size {
				x[7*size+c] = 500
			}
			nan := 8*size + 5
			x[nan] = float32(math.NaN())
			got := make([]float32, rows*size)
			must.Do(t, s.Run(got, x, rows))
			for r := range rows {
				for o := range size {
					var want, all float64
					for c := range size {
						p := float64(w[o*size+c]) * float64(x[r*size+c])
						want += p
						all += math.Abs(p)
					}
					v := float64(got[r*size+o])
					least := 1e-3*float64(slices.Max(x[r*size:(r+1)*size]))*float64(slices.Max(w)) + 1e-4*float64(slices.Max(w)) + 0x1p-126 // which a GPU may take for 0
					switch bad := r == nan/size; {
					case bad && v == v && scale != 0:
						t.Fatalf("weights of %g: row %d has %g, want NaN", scale, r, v)
					case !bad && !(math.Abs(v-want) <= 2e-3*all+least):
						t.Fatalf("weights of %g, float16 %v: result %d of row %d is %g, want %g", scale, half, o, r, v, want)
					}
				}
			}
		}
	}
}

// TestF16Absent: one line of the log says that a device has no float16.
func TestF16Absent(t *testing.T) {
	needGPU(t)
	withoutFloat16(t)
	notHalf = sync.Once{}
	var log strings.Builder
	for range 2 {
		s := must.Get(NewSession(dog(t), Options{SessionOptions: netruntime.SessionOptions{Batch: 1, Workers: 1}, F16: true, Log: slog.New(slog.NewTextHandler(&log, nil))}))(t)
		if s.Kernel() != "webgpu" {
			t.Error("the session runs on ", s.Kernel())
		}
		must.Do(t, s.Close())
	}
	if strings.Count(log.String(), "no float16") != 1 {
		t.Errorf("the log: %q", log.String())
	}
}
