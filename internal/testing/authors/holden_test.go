package authors

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

func holden(t testing.TB) (*Holden, []HoldenClip) {
	dir := filepath.Join(mocapdata.Dir(t), "reference", "holden2016")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the authors' networks are not here: %v", err)
	}
	h := must.Get(ReadHolden(dir))(t)
	clips := must.Get(ReadHoldenGolden(dir))(t)
	if len(clips) != 4 {
		t.Fatalf("%d golden clips", len(clips))
	}
	return h, clips
}

// run computes the one output of a network from one sequence.
func run(t testing.TB, n *netruntime.Net, x []float32, length, workers int) []float32 {
	s := must.Get(n.NewSession(netruntime.SessionOptions{Batch: 1, Length: length, Workers: workers}))(t)
	defer s.Close()
	g := n.Graph()
	frames := must.Get(g.Length(g.Outputs[0], length))(t)
	y := make([]float32, frames*n.Outputs())
	must.Do(t, s.RunSequences([][]float32{y}, [][]float32{x}, 1, length))
	return y
}

func part(t testing.TB, n *netruntime.Net, from, to string) *netruntime.Net {
	p := must.Get(n.Part([]string{from}, []string{to}))(t)
	return p
}

// farthest returns the largest difference of two values.
func farthest(a, b []float32) float64 {
	most := 0.0
	for i := range a {
		most = worse(most, math.Abs(float64(a[i])-float64(b[i])))
	}
	return most
}

// TestHoldenGolden compares every frame of every golden clip, in one network
// and by way of the hidden values, under every family of kernels.
func TestHoldenGolden(t *testing.T) {
	h, clips := holden(t)
	whole := part(t, h.Autoencoder, "x", "y_norm")
	encoder, decoder := part(t, h.Autoencoder, "x", "hidden"), part(t, h.Autoencoder, "hidden", "y_norm")
	compare := func(c HoldenClip) (most float64) {
		var first []float32
		for _, workers := range []int{1, 3} {
			got := run(t, whole, c.Features, c.Frames, workers)
			most = worse(most, farthest(got, c.Recon))
			if first == nil {
				first = got
			}
			if e := farthest(got, first); e != 0 {
				t.Errorf("%s: %d workers and one differ by %g", c.Name, workers, e)
			}
			hidden := run(t, encoder, c.Features, c.Frames, workers)
			if len(hidden) != c.Frames/2*holdenHidden {
				t.Fatalf("%s: %d hidden values", c.Name, len(hidden))
			}
			if e := farthest(run(t, decoder, hidden, c.Frames/2, workers), got); e != 0 {
				t.Errorf("%s, %d workers: encoder and decoder differ from the whole by %g", c.Name, workers, e)
			}
		}
		return most
	}
	for _, kind := range netruntime.KernelFamilies() {
		t.Run(kind, func(t *testing.T) {
			defer netruntime.ForceKernels(kind)()
			for _, c := range clips {
				if kind == "generic" && len(netruntime.KernelFamilies()) > 1 && c.Frames > 100 {
					continue // slow, and the others have them
				}
				e := compare(c)
				t.Logf("%s, %d frames, by 1 and 3 workers: at most %.2g off", c.Name, c.Frames, e)
				if !(e <= 1e-4) {
					t.Errorf("%s: off by %g", c.Name, e)
				}
			}
		})
	}
}

// TestHoldenReconstruction measures how far the joints move, and pins it: the
// figures depend on the statistics, on the columns and on the unit.
func TestHoldenReconstruction(t *testing.T) {
	h, clips := holden(t)
	mean, _ := h.Autoencoder.Tensor("x_mean")
	std, _ := h.Autoencoder.Tensor("x_std")
	want := map[string]float64{"07_04": 1.893, "neutral_01_000": 2.058, "strutting_13_000": 3.278, "angry_18_000": 4.454}
	for _, c := range clips {
		golden := make([]float32, len(c.Recon))
		for i, v := range c.Recon {
			golden[i] = v*std.Data[i%HoldenFeatures] + mean.Data[i%HoldenFeatures]
		}
		rms := jointError(c.Features, golden)
		ours := jointError(c.Features, run(t, h.Autoencoder, c.Features, c.Frames, 2))
		t.Logf("%s: joints are %.3f cm off (root mean square of the distance), %.3f by our output; %.3f cm on each axis", c.Name, rms, ours, rms/math.Sqrt(3))
		if !(math.Abs(rms-want[c.Name]) <= 0.001) || !(math.Abs(ours-want[c.Name]) <= 0.001) {
			t.Errorf("%s: %.4f cm by the golden output, %.4f by ours, want %.3f", c.Name, rms, ours, want[c.Name])
		}
	}
}

// jointError returns the root mean square, over frames and joints but joint 0,
// of the distance of joints in the body's frame, in centimetres.
func jointError(a, b []float32) float64 {
	sum, n := 0.0, 0
	for f := 0; f < len(a); f += HoldenFeatures {
		for i := f + 3; i < f+3*HoldenJoints; i++ {
			d := float64(a[i]) - float64(b[i])
			sum += d * d
		}
		n += HoldenJoints - 1
	}
	return 100 * HoldenUnit * math.Sqrt(sum/float64(n))
}

// TestHoldenFootsteps: there is no golden output of this network. Over a walk of a few steps its
// phase must advance by about π for each change of a contact of the clip itself.
func TestHoldenFootsteps(t *testing.T) {
	h, clips := holden(t)
	for _, c := range clips {
		var x []float32
		changes := 0
		for f := range c.Frames {
			frame := c.Features[f*HoldenFeatures:][:HoldenFeatures]
			x = append(x, frame[holdenVelocity:holdenVelocity+3]...)
			for k := HoldenFeatures - 4; k < HoldenFeatures && f > 0; k++ {
				if (frame[k] > 0.5) != (c.Features[(f-1)*HoldenFeatures+k] > 0.5) {
					changes++
				}
			}
		}
		y := run(t, h.Footsteps, x, c.Frames, 2)
		if len(y) != c.Frames*stepsOut {
			t.Fatalf("%s: %d values", c.Name, len(y))
		}
		turns, low, high := 0.0, math.Inf(1), math.Inf(-1)
		for i, v := range y {
			if v-v != 0 {
				t.Fatalf("%s: value %d is %v", c.Name, i, v)
			}
			if i%stepsOut == 0 {
				turns += float64(v) / math.Pi
			} else {
				low, high = min(low, float64(v)), max(high, float64(v))
			}
		}
		each := float64(changes) / 4
		t.Logf("%s: the phase advances by %.1f π, a contact changes %.1f times; duty angles %.2f to %.2f", c.Name, turns, each, low, high)
		if c.Frames > 100 && !(math.Abs(turns-each) <= 1) {
			t.Errorf("%s: the phase advances by %.1f π, a contact changes %.1f times", c.Name, turns, each)
		}
		if !(low > 0 && high < math.Pi) {
			t.Errorf("%s: duty angles from %g to %g", c.Name, low, high)
		}
	}
}

func TestReadHoldenGolden(t *testing.T) {
	const frame = 4 * HoldenFeatures
	values := func(n int) []byte {
		var b []byte
		for i := range n {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(i)))
		}
		return b
	}
	nan := values(2 * HoldenFeatures)
	binary.LittleEndian.PutUint32(nan[4*7:], math.Float32bits(float32(math.NaN())))
	for _, c := range []struct {
		features, recon []byte
		want            string
	}{
		{values(2 * HoldenFeatures), values(2 * HoldenFeatures), ""},
		{make([]byte, 2*frame+4), make([]byte, 2*frame), "a.features.f32: 588 bytes, want 292 for each frame"},
		{nil, nil, "a.features.f32: 0 bytes"},
		{make([]byte, 3*frame), make([]byte, 3*frame), "a.features.f32: 3 frames, want an even number"},
		{make([]byte, 2*frame), make([]byte, 4*frame), "a.recon_normalised.f32: 4 frames, but a.features.f32 has 2"},
		{nan, make([]byte, 2*frame), "a.features.f32: value 7 is NaN"},
	} {
		dir := t.TempDir()
		must.Do(t, os.Mkdir(filepath.Join(dir, "golden"), 0o755))
		for name, b := range map[string][]byte{"a.features.f32": c.features, "a.recon_normalised.f32": c.recon, "notes": nil} {
			must.Do(t, os.WriteFile(filepath.Join(dir, "golden", name), b, 0o644))
		}
		clips, err := ReadHoldenGolden(dir)
		if c.want != "" {
			must.FailWith(t, err, c.want)
			continue
		}
		if err != nil || len(clips) != 1 || clips[0].Name != "a" || clips[0].Frames != 2 {
			t.Fatalf("%+v, %v", clips, err)
		}
		// By frames: the second frame's third column, which by channels is the sixth value.
		if f, r := clips[0].Features[HoldenFeatures+2], clips[0].Recon[HoldenFeatures+2]; f != HoldenFeatures+2 || r != 5 {
			t.Errorf("column 2 of frame 1 is %g, and %g of the output", f, r)
		}
	}
	if _, err := ReadHoldenGolden(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}
