package latent

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// NewModel reports how an unusable file differs.
func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		spoil      func(m *netruntime.Meta)
	}{
		{"no layout", "schema", func(m *netruntime.Meta) { m.Schema = "{" }},
		{"another layout", "hash", func(m *netruntime.Meta) { m.SchemaHash = "0" }},
		{"no skeleton", "skeleton", func(m *netruntime.Meta) { m.Skeleton = "" }},
		{"no components", KeyComponents, func(m *netruntime.Meta) { delete(m.Extra, KeyComponents) }},
		{"components of other values", "latent values", func(m *netruntime.Meta) {
			m.Extra[KeyComponents] = `{"mean":[0,0],"steps":[[1,0],[0,1]]}`
		}},
		{"dependent components", "independent", func(m *netruntime.Meta) {
			m.Extra[KeyComponents] = `{"mean":[0,0,0,0,0,0],"steps":[` + strings.Repeat("[1,2,3,4,5,6],", values-1) + "[1,2,3,4,5,6]]}"
		}},
		{"no encoder", "encoder", func(m *netruntime.Meta) { rename(m, ValueMean, "other") }},
		{"no decoder", "decoder", func(m *netruntime.Meta) { rename(m, ValueY, "other") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			meta, tensors := parts(t)
			c.spoil(&meta)
			net := must.Get(netruntime.New(meta, tensors))(t)
			_, err := NewModel(net)
			var schema *feature.SchemaError
			if !errors.As(err, &schema) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one of %q", err, c.want)
			}
		})
	}
	// A network with half as many frames.
	meta, tensors := parts(t)
	meta.Graph.Nodes = slices.DeleteFunc(meta.Graph.Nodes, func(n netruntime.Node) bool { return n.Name == "eight" })
	for i, n := range meta.Graph.Nodes {
		if n.Name == "d" {
			meta.Graph.Nodes[i].In = []string{"four"}
		}
	}
	net := must.Get(netruntime.New(meta, tensors))(t)
	must.Fail(NewModel(net))(t, `"y" has 32 frames`)
}

// rename renames a value of the graph.
func rename(m *netruntime.Meta, from, to string) {
	for i := range m.Graph.Nodes {
		if n := &m.Graph.Nodes[i]; n.Name == from {
			n.Name = to
		}
	}
	for i, o := range m.Graph.Outputs {
		if o == from {
			m.Graph.Outputs[i] = to
		}
	}
}

// A model survives its file.
func TestModelFile(t *testing.T) {
	m := made(t)
	var b bytes.Buffer
	must.Do(t, m.Net.Encode(&b))
	net := must.Get(netruntime.Decode(b.Bytes()))(t)
	again := must.Get(NewModel(net))(t)
	if !slices.Equal(again.Components.Mean, m.Components.Mean) || !slices.Equal(again.Components.Names, m.Components.Names) ||
		again.Layout.Hash() != m.Layout.Hash() {
		t.Error("components or layout differ")
	}
	size := Frames * m.Layout.Columns()
	a, c := make([]float32, size), make([]float32, size)
	z := noise(values, 1)
	must.Do(t, errors.Join(coder(t, m, 1, 1).Decode(a, z, 1), coder(t, again, 1, 1).Decode(c, z, 1)))
	if !slices.Equal(a, c) {
		t.Error("they decode differently")
	}
	clip, err := again.Clip(a, Rate, feature.Place{})
	if err != nil || clip.Frames != Frames {
		t.Errorf("%v frames, %v", clip, err)
	}
}

// A clip is bit-identical alone or in a batch and for any number of workers. Coding does not allocate.
func TestCoder(t *testing.T) {
	m := made(t)
	const n = 7
	size := Frames * m.Layout.Columns()
	many, one := coder(t, m, n, 3), coder(t, m, 1, 1)
	z, rows := noise(n*values, 2), make([]float32, n*size)
	mean, deviation := make([]float32, n*values), make([]float32, n*values)
	must.Do(t, errors.Join(many.Decode(rows, z, n), many.Encode(mean, deviation, rows, n)))
	alone, m1, d1 := make([]float32, size), make([]float32, values), make([]float32, values)
	for i := range n {
		must.Do(t, errors.Join(one.Decode(alone, z[i*values:][:values], 1), one.Encode(m1, d1, alone, 1)))
		if !slices.Equal(alone, rows[i*size:][:size]) || !slices.Equal(m1, mean[i*values:][:values]) ||
			!slices.Equal(d1, deviation[i*values:][:values]) {
			t.Fatalf("clip %d differs alone", i)
		}
	}
	if slices.Equal(rows[:size], rows[size:2*size]) || slices.Equal(mean[:values], mean[values:2*values]) {
		t.Error("two clips are the same")
	}
	for _, v := range deviation {
		if !(v > 0) {
			t.Fatalf("deviation %g", v)
		}
	}
	if allocs := testing.AllocsPerRun(5, func() {
		if err := many.Decode(rows, z, n); err != nil {
			t.Error(err)
		}
		if err := many.Encode(mean, deviation, rows, n); err != nil {
			t.Error(err)
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
	if many.Decode(rows, z, n+1) == nil || many.Decode(rows[:1], z, n) == nil || many.Encode(mean, deviation[:1], rows, n) == nil {
		t.Error("wrong lengths accepted")
	}
	if _, err := m.NewCoder(CoderOptions{Batch: 0, Workers: 1}); err == nil {
		t.Error("a coder of no clips accepted")
	}
}

// The encoder's result depends on every frame of the clip.
func TestEncodeSeesAllFrames(t *testing.T) {
	m := made(t)
	c := coder(t, m, 1, 1)
	cols := m.Layout.Columns()
	rows := noise(Frames*cols, 3)
	was, is := make([]float32, values), make([]float32, values)
	must.Do(t, c.Encode(was, nil, rows, 1))
	for _, f := range []int{0, 1, 30, Frames - 1} {
		other := slices.Clone(rows)
		for k := range cols {
			other[f*cols+k] += 1
		}
		must.Do(t, c.Encode(is, nil, other, 1))
		if slices.Equal(was, is) {
			t.Errorf("frame %d changes nothing", f)
		}
	}
}

// FromLatent inverts ToLatent. Components at 0 are the mean, and one deviation is one step.
func TestComponents(t *testing.T) {
	c := oblique(t)
	z, back, again := noise(values, 7), make([]float32, values), make([]float32, values)
	c.FromLatent(back, z)
	c.ToLatent(again, back)
	for i := range z {
		if math.Abs(float64(again[i]-z[i])) > 1e-5 {
			t.Errorf("value %d is %g, was %g", i, again[i], z[i])
		}
	}
	unit := make([]float32, values)
	unit[2] = 1
	c.ToLatent(z, unit)
	for i := range z {
		if want := c.Mean[i] + c.Steps[2][i]; z[i] != want {
			t.Errorf("a step leads to %g, want %g", z[i], want)
		}
	}
	text := must.Get(c.encode())(t)
	read, err := decodeComponents(text, values)
	if err != nil || !slices.Equal(read.Mean, c.Mean) || !slices.Equal(read.Steps[3], c.Steps[3]) {
		t.Errorf("read back: %v", err)
	}
}

func FuzzComponents(f *testing.F) {
	text := must.Get(oblique(f).encode())(f)
	f.Add(text, values)
	f.Add(`{"mean":[0],"steps":[[1e-40]]}`, 1)
	f.Add(`{"mean":[0,0],"steps":[[1],[0,1]]}`, 2)
	f.Fuzz(func(t *testing.T, text string, n int) {
		c, err := decodeComponents(text, n)
		if err != nil {
			return
		}
		z, k := make([]float32, n), make([]float32, n)
		c.ToLatent(z, k)
		c.FromLatent(k, z)
		for i, v := range k {
			if z[i] != c.Mean[i] || v != 0 {
				t.Fatalf("the mean has component %d at %g", i, v)
			}
		}
	})
}
