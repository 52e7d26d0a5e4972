package manifold

import (
	"bytes"
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

// someStyles returns a model and a set of two random styles.
func someStyles(t testing.TB, units int) (*Model, *StyleSet) {
	t.Helper()
	m, r := made(t, units, 5), rand.New(rand.NewPCG(1, 2))
	var all []*StyleTransfer
	for _, name := range []string{"tired", "proud"} {
		tr := &StyleTransfer{Name: name, model: m, delta: make([]float32, (units+1)*units)}
		for i := range tr.delta {
			tr.delta[i] = 0.1 * float32(r.NormFloat64())
		}
		all = append(all, tr)
	}
	ts := must.Get(m.NewStyleSet(all))(t)
	ts.Name, ts.Data, ts.License, ts.Card = "test", "made up", "CC0-1.0", "# Test"
	return m, ts
}

func encodeStyles(t testing.TB, ts *StyleSet) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, ts.Encode(&b))
	return b.Bytes()
}

// A style set survives its file, by name and in half precision. Written again it is the same file.
func TestStyleSetFile(t *testing.T) {
	m, ts := someStyles(t, 8)
	file := encodeStyles(t, ts)
	path := filepath.Join(t.TempDir(), "styles.safetensors")
	must.Do(t, os.WriteFile(path, file, 0o644))
	again := must.Get(OpenStyleSet(path))(t)
	if !bytes.Equal(encodeStyles(t, again), file) {
		t.Error("written again the file differs")
	}
	if again.Name != "test" || again.Data != "made up" || again.License != "CC0-1.0" || again.Card != "# Test" ||
		again.Units != 8 || again.Model != m.name || !slices.Equal(again.Names, []string{"proud", "tired"}) {
		t.Errorf("came back as %+v", again)
	}
	one, e1 := ts.For(m)
	two, e2 := again.For(m)
	if e1 != nil || e2 != nil {
		t.Fatal(e1, e2)
	}
	for i := range one {
		if one[i].Name != two[i].Name {
			t.Fatalf("%q came back as %q", one[i].Name, two[i].Name)
		}
		for k, v := range one[i].delta {
			if d := math.Abs(float64(v - two[i].delta[k])); d > 1e-3*math.Abs(float64(v))+1e-6 {
				t.Fatalf("%s: value %d, %g, came back %g off", one[i].Name, k, v, d)
			}
		}
	}
	sum, _ := ts.Checksum()
	named := *again
	named.Name, named.Card = "another", ""
	if s, err := named.Checksum(); err != nil || s != sum {
		t.Errorf("the name changes the checksum: %v", err)
	}
	named.deltas = slices.Clone(named.deltas)
	named.deltas[1] = slices.Clone(named.deltas[1])
	named.deltas[1][3] += 0.1
	if s, _ := named.Checksum(); s == sum {
		t.Error("other values have the same checksum")
	}
}

// Styles of another model are refused, even with equal name and size.
func TestStyleSetOfAnotherModel(t *testing.T) {
	m, ts := someStyles(t, 8)
	if _, err := ts.For(made(t, 8, 5)); err != nil {
		t.Errorf("the same model, read again: %v", err)
	}
	for name, other := range map[string]*Model{"another size": made(t, 16, 5), "other weights": made(t, 8, 7)} {
		if _, err := ts.For(other); err == nil || !strings.Contains(err.Error(), "style transfer") || !strings.Contains(err.Error(), `"test"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := m.NewStyleSet([]*StyleTransfer{{Name: "old", model: made(t, 8, 5)}}); err == nil {
		t.Error("another model's style was accepted")
	}
}

func TestStyleSetRefuses(t *testing.T) {
	_, ts := someStyles(t, 8)
	file := encodeStyles(t, ts)
	meta, arrays, err := netruntime.DecodeArrays(file)
	if err != nil {
		t.Fatal(err)
	}
	for want, edit := range map[string]func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor{
		"architecture": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor { m.Arch = "poem"; return a },
		"of which model": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			m.Extra = map[string]string{keyModel: "x"}
			return a
		},
		"0 transfers": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor { return nil },
		"one row more": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			a[0].Shape = []int{8, 9}
			return a
		},
		"the same for all": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			a[1].Shape, a[1].Data = []int{2, 2}, a[1].Data[:4]
			return a
		},
		"finite": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			a[1].Data[5] = float32(math.NaN())
			return a
		},
		"up to 10000": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor { a[0].Data[5] = 2e4; return a },
		"without spaces": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			a[0].Name = "very proud"
			return a
		},
	} {
		mm, aa := meta, slices.Clone(arrays)
		for i := range aa {
			aa[i].Data = slices.Clone(aa[i].Data)
		}
		aa = edit(&mm, aa)
		var b bytes.Buffer
		if err := netruntime.EncodeArrays(&b, mm, aa, nil); err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		must.Fail(DecodeStyleSet(b.Bytes()))(t, want)
	}
	for want, names := range map[string][]string{"0 transfers": nil, "65 transfers": make([]string, 65), `called "old"`: {"old", "new", "old"}, `called ""`: {""}} {
		must.FailWith(t, CheckStyleNames(names), want)
	}
	for n := range len(file) {
		if _, err := DecodeStyleSet(file[:n]); err == nil {
			t.Fatalf("%d of %d bytes were accepted", n, len(file))
		}
	}
	if _, err := OpenStyleSet(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}

func FuzzStyleSet(f *testing.F) {
	m, ts := someStyles(f, 4)
	file := encodeStyles(f, ts)
	f.Add(file)
	f.Add(file[:len(file)-3])
	f.Add(bytes.Replace(file, []byte("checksum"), []byte("comments"), 1)) // changed bytes get further
	f.Fuzz(func(t *testing.T, b []byte) {
		ts, err := DecodeStyleSet(b)
		if err != nil {
			return
		}
		must.Do(t, ts.check())
		if _, err := DecodeStyleSet(encodeStyles(t, ts)); err != nil {
			t.Fatalf("a decoded set cannot be decoded again: %v", err)
		}
		ts.For(m) // any error
	})
}

// Restyle changes the joints and keeps the body's motion.
func TestRestyle(t *testing.T) {
	m, ts := someStyles(t, 8)
	all := must.Get(ts.For(m))(t)
	_, _, job := styled(t, 8, 1, 120, 48, 1)
	cols := m.Layout.Columns()
	out := must.Get(m.Restyle(job.Rows, WeightedStyle{Transfer: all[0], Weight: 1}, 2, 1))(t)
	moved := 0.0
	for f := range 120 {
		was, is := job.Rows[f*cols:][:cols], out[f*cols:][:cols]
		for i := range m.Layout.Body() {
			moved += math.Abs(float64(was[i] - is[i]))
		}
		for i := m.Layout.Body(); i < m.Layout.Contact(0); i++ {
			if d := math.Abs(float64(was[i] - is[i])); d > 1e-5 {
				t.Fatalf("frame %d: the body differs by %g", f, d)
			}
		}
	}
	if moved == 0 {
		t.Error("no joint moves differently")
	}
	for want, c := range map[string]struct {
		rows []float32
		s    WeightedStyle
	}{
		"even number":   {job.Rows[:cols], WeightedStyle{Transfer: all[0], Weight: 1}},
		"of this model": {job.Rows, WeightedStyle{Transfer: &StyleTransfer{model: made(t, 16, 5)}, Weight: 1}},
		"this model":    {job.Rows, WeightedStyle{Transfer: &StyleTransfer{model: made(t, 8, 5), delta: all[0].delta}, Weight: 1}}, // read again
		"not finite":    {append([]float32{float32(math.NaN())}, job.Rows[1:]...), WeightedStyle{Transfer: all[0], Weight: 1}},
	} {
		must.Fail(m.Restyle(c.rows, c.s, 0, 1))(t, want)
	}
}
