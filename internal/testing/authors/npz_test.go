package authors

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// release writes random networks in the release's files.
type release map[string]map[string]npyArray // by file and array

type npyArray struct {
	shape []int
	kind  string // of numpy, such as "<f4"
	data  []float64
}

func newRelease() release {
	r := rand.New(rand.NewPCG(1, 2))
	gen := func(kind string, scale, offset float64, shape ...int) npyArray {
		a := npyArray{shape: shape, kind: kind, data: make([]float64, source{shape: shape}.values())}
		for i := range a.data {
			a.data[i] = float64(float32(offset + scale*r.Float64()))
		}
		return a
	}
	return release{
		"network_core.npz": {
			"L000_L001_W": gen("<f4", 0.1, -0.05, 256, 73, 25), "L000_L002_b": gen("<f4", 0.2, -0.1, 256, 1),
			"L001_L002_W": gen("<f4", 0.1, -0.05, 73, 256, 25), "L001_L003_b": gen("<f4", 0.2, -0.1, 73, 1),
		},
		"preprocess_core.npz": {"Xmean": gen("<f8", 2, -1, 1, 73, 1), "Xstd": gen("<f8", 2, 0.5, 1, 73, 1)},
		"network_footstepper.npz": {
			"L001_W": gen("<f4", 0.2, -0.1, 64, 3, 65), "L002_b": gen("<f4", 0.2, -0.1, 64, 1),
			"L005_W": gen(">f4", 0.1, -0.05, 5, 64, 45), "L006_b": gen("<f4", 0.2, -0.1, 5, 1),
		},
		"preprocess_footstepper.npz": {"Wmean": gen("<f8", 2, -1, 1, 5, 1), "Wstd": gen("<f8", 2, 0.5, 1, 5, 1)},
	}
}

func (a npyArray) bytes() []byte {
	dims := ""
	for _, d := range a.shape {
		dims += fmt.Sprintf("%d, ", d)
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", a.kind, strings.TrimSuffix(dims, " "))
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	b = append(b, head...)
	for _, v := range a.data {
		switch a.kind {
		case "<f4":
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case ">f4":
			b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(v)))
		default:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return b
}

// write writes the files, with change made to the bytes of arrays.
func (r release) write(t testing.TB, method uint16, change func(file, array string, b []byte) []byte) string {
	dir := t.TempDir()
	for file, arrays := range r {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		for name, a := range arrays {
			b := a.bytes()
			if change != nil {
				b = change(file, name, b)
			}
			w := must.Get(z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: method}))(t)
			if _, err := w.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		must.Do(t, z.Close())
		must.Do(t, os.WriteFile(filepath.Join(dir, file), out.Bytes(), 0o644))
	}
	return dir
}

// convolve is the true convolution of x (T, in) with w (out, in, width), by its
// sum: zeros on both sides, and the kernel's first tap meets the last frame.
func convolve(x []float64, w, b npyArray) []float64 {
	out, in, width := w.shape[0], w.shape[1], w.shape[2]
	frames := len(x) / in
	y := make([]float64, frames*out)
	for t := range frames {
		for o := range out {
			sum := b.data[o]
			for k := range width {
				f := t + (width-1)/2 - k
				if f < 0 || f >= frames {
					continue
				}
				for i := range in {
					sum += w.data[(o*in+i)*width+k] * x[f*in+i]
				}
			}
			y[t*out+o] = sum
		}
	}
	return y
}

func relu(x []float64) []float64 {
	for i := range x {
		x[i] = max(x[i], 0)
	}
	return x
}

// TestHoldenNetworks compares networks of random weights with the sums that
// define them. It needs no data.
func TestHoldenNetworks(t *testing.T) {
	r := newRelease()
	h := must.Get(ReadHolden(r.write(t, zip.Deflate, nil)))(t)
	const frames = 16
	mean, std := r["preprocess_core.npz"]["Xmean"].data, r["preprocess_core.npz"]["Xstd"].data
	g := rand.New(rand.NewPCG(3, 4))
	x, norm := make([]float32, frames*HoldenFeatures), make([]float64, frames*HoldenFeatures)
	for i := range x {
		c := i % HoldenFeatures
		x[i] = float32(g.NormFloat64())
		norm[i] = (float64(x[i]) - mean[c]) / std[c]
	}
	core := r["network_core.npz"]
	a := relu(convolve(norm, core["L000_L001_W"], core["L000_L002_b"]))
	hidden, depooled := make([]float64, frames/2*256), make([]float64, frames*256)
	for i := range depooled {
		f, c := i/256, i%256
		hidden[f/2*256+c] = max(a[f/2*2*256+c], a[(f/2*2+1)*256+c])
	}
	for i := range depooled {
		depooled[i] = hidden[i/256/2*256+i%256] / 2
	}
	want := convolve(depooled, core["L001_L002_W"], core["L001_L003_b"])
	check := func(what string, got []float32, want []float64) {
		t.Helper()
		most, off := 0.0, 0.0
		for i, v := range want {
			most, off = max(most, math.Abs(v)), worse(off, math.Abs(float64(got[i])-v))
		}
		if len(got) != len(want) || !(off <= 1e-5*most) {
			t.Errorf("%s: %d values, want %d; off by %g of %g", what, len(got), len(want), off, most)
		}
	}
	check("hidden", run(t, part(t, h.Autoencoder, "x", "hidden"), x, frames, 1), hidden)
	check("y_norm", run(t, part(t, h.Autoencoder, "x", "y_norm"), x, frames, 1), want)
	for i := range want {
		want[i] = want[i]*std[i%HoldenFeatures] + mean[i%HoldenFeatures]
	}
	check("y", run(t, h.Autoencoder, x, frames, 1), want)

	var velocity []float32
	var v []float64
	for f := range frames {
		velocity = append(velocity, x[f*HoldenFeatures+66:][:3]...)
		v = append(v, norm[f*HoldenFeatures+66:][:3]...)
	}
	steps := r["network_footstepper.npz"]
	want = convolve(relu(convolve(v, steps["L001_W"], steps["L002_b"])), steps["L005_W"], steps["L006_b"])
	for i := range want {
		want[i] = want[i]*r["preprocess_footstepper.npz"]["Wstd"].data[i%5] + r["preprocess_footstepper.npz"]["Wmean"].data[i%5]
	}
	check("footsteps", run(t, h.Footsteps, velocity, frames, 1), want)
	for _, n := range []*netruntime.Net{h.Autoencoder, h.Footsteps} {
		if m := n.Meta(); !strings.Contains(m.License, "never ship") {
			t.Errorf("%s has the licence %q", m.Name, m.License)
		}
	}
}

func TestReadHoldenNamesWhatIsBad(t *testing.T) {
	all := newRelease()
	for _, c := range []struct {
		name, file, array string
		change            func(b []byte) []byte
		want              string
	}{
		{"shape", "network_core.npz", "L000_L002_b", func([]byte) []byte { return npyArray{[]int{1, 256}, "<f4", make([]float64, 256)}.bytes() },
			"has shape [1 256], want [256 1]"},
		{"large", "network_core.npz", "L001_L002_W", func(b []byte) []byte {
			return npyArray{[]int{1 << 40, 1 << 40}, "<f4", nil}.bytes()
		}, "has shape [1099511627776 1099511627776]"},
		{"by columns", "preprocess_core.npz", "Xmean", func(b []byte) []byte {
			return bytes.Replace(bytes.Replace(b, []byte("False"), []byte("True"), 1), []byte("}"), []byte("} "), 1)
		}, "has shape [1 73 1] by columns"},
		{"type", "preprocess_core.npz", "Xstd", func([]byte) []byte { return npyArray{[]int{1, 73, 1}, "<i8", make([]float64, 73)}.bytes() }, `values of type "<i8"`},
		{"too few", "network_footstepper.npz", "L001_W", func(b []byte) []byte { return b[:len(b)-1] }, "49919 bytes of values, want 49920"},
		{"too many", "network_footstepper.npz", "L006_b", func(b []byte) []byte { return append(b, make([]byte, 1<<20)...) }, "want 20 for shape [5 1]"},
		{"no header", "network_footstepper.npz", "L006_b", func(b []byte) []byte { return b[:20] }, "not a valid npy header"},
		{"version 2", "network_footstepper.npz", "L006_b", func(b []byte) []byte { return []byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{") }, "version 2 of the npy format"},
		{"not finite", "preprocess_footstepper.npz", "Wmean", func([]byte) []byte {
			return npyArray{[]int{1, 5, 1}, "<f8", []float64{0, 0, math.Inf(1), 0, 0}}.bytes()
		}, "y_mean"},
	} {
		dir := all.write(t, zip.Store, func(file, array string, b []byte) []byte {
			if file == c.file && array == c.array {
				return c.change(b)
			}
			return b
		})
		_, err := ReadHolden(dir)
		where := filepath.Join(dir, c.file) + ": array " + c.array + ":"
		if c.name == "not finite" {
			where = dir
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), where) {
			t.Errorf("%s: %v, want %q and %q", c.name, err, where, c.want)
		}
	}
}

func TestReadHoldenNamesWhatIsMissing(t *testing.T) {
	r := newRelease()
	delete(r["network_footstepper.npz"], "L005_W")
	must.Fail(ReadHolden(r.write(t, zip.Store, nil)))(t, "network_footstepper.npz: array L005_W")
	delete(r, "preprocess_core.npz")
	dir := r.write(t, zip.Store, nil)
	if _, err := ReadHolden(dir); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "preprocess_core.npz") {
		t.Errorf("missing file: %v", err)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "preprocess_core.npz"), []byte("text"), 0o644))
	must.Fail(ReadHolden(dir))(t, "preprocess_core.npz")
}

// FuzzHoldenArray: bytes either are refused, or are the values of the shape.
func FuzzHoldenArray(f *testing.F) {
	for _, kind := range []string{"<f4", ">f4", "<f8", "<i4"} {
		b := npyArray{[]int{2, 1, 3}, kind, []float64{1, 2, 3, 4, 5, 6}}.bytes()
		f.Add(b)
		f.Add(b[:len(b)-3])
		f.Add(b[:30])
	}
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{"))
	f.Add([]byte("\x93NUMPY\x01\x00\x02\x00}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := source{tensor: "t", shape: []int{2, 1, 3}}.decode(b)
		if err != nil {
			return
		}
		if len(x.Data) != 6 || !slices.Equal(x.Shape, []int{2, 3}) {
			t.Fatalf("%+v", x)
		}
		little := len(b) >= 24 && bytes.Contains(b, []byte("<f4")) && !bytes.Contains(b, []byte(">f4")) && !bytes.Contains(b, []byte("f8"))
		if got := binary.LittleEndian.Uint32(b[len(b)-4:]); little && got != math.Float32bits(x.Data[5]) && x.Data[5] == x.Data[5] {
			t.Fatalf("the last value is %g", x.Data[5])
		}
	})
}
