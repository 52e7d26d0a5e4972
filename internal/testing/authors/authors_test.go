package authors

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

func folder(t testing.TB) string {
	dir := filepath.Join(mocapdata.Dir(t), "reference", "mann-2018-04")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the authors' network is not here: %v", err)
	}
	return dir
}

type golden struct {
	Columns []int `json:"control_neurons"`
	Cases   []struct {
		Name   string
		X      []float32
		Gating []float64
		Y      []float64
	}
}

func load(t testing.TB) (*netruntime.Net, golden) {
	dir := folder(t)
	net := must.Get(Read(dir))(t)
	b := must.Get(os.ReadFile(filepath.Join(dir, "golden.json")))(t)
	var g golden
	must.Do(t, json.Unmarshal(b, &g))
	if len(g.Cases) != 10 {
		t.Fatalf("%d golden cases", len(g.Cases))
	}
	return net, g
}

// TestGolden compares every golden vector, alone and in one batch, under every family of kernels.
func TestGolden(t *testing.T) {
	net, g := load(t)
	if !slices.Equal(net.Meta().GatingColumns, g.Columns) {
		t.Fatalf("gating columns %v, want %v", net.Meta().GatingColumns, g.Columns)
	}
	for _, kind := range netruntime.KernelFamilies() {
		for _, rows := range []int{1, len(g.Cases)} {
			worstG, worstY := compare(t, net, g, kind, rows)
			t.Logf("%v, %d rows: gating within %.2g, output within %.2g of the largest", kind, rows, worstG, worstY)
			if !(worstG <= 1e-5) || !(worstY <= 1e-4) {
				t.Errorf("%v, %d rows: gating off by %g, output by %g", kind, rows, worstG, worstY)
			}
		}
	}
}

func compare(t *testing.T, net *netruntime.Net, g golden, kind string, rows int) (worstG, worstY float64) {
	defer netruntime.ForceKernels(kind)()
	s := must.Get(net.NewSession(netruntime.SessionOptions{Batch: rows, Workers: 2}))(t)
	defer s.Close()
	x, y := make([]float32, rows*inputs), make([]float32, rows*outputs)
	for from := 0; from < len(g.Cases); from += rows {
		for r := range rows {
			copy(x[r*inputs:], g.Cases[from+r].X)
		}
		must.Do(t, s.Run(y, x, rows))
		for r := range rows {
			c := g.Cases[from+r]
			for k, want := range c.Gating {
				worstG = worse(worstG, math.Abs(float64(s.Gating()[r*experts+k])-want))
			}
			most := 0.0
			for _, v := range c.Y {
				most = max(most, math.Abs(v))
			}
			for i, want := range c.Y {
				worstY = worse(worstY, math.Abs(float64(y[r*outputs+i])-want)/most)
			}
		}
	}
	return worstG, worstY
}

// worse is max, but a NaN stays.
func worse(a, b float64) float64 {
	if a != a || b != b {
		return math.NaN()
	}
	return max(a, b)
}

// TestConvert checks for the same outputs, with the root's reordered and per second.
func TestConvert(t *testing.T) {
	net, g := load(t)
	conv := must.Get(Convert(net))(t)
	m := Layout()
	if conv.Meta().SchemaHash != m.Hash() {
		t.Fatal("schema hash")
	}
	y := make([]float32, outputs)
	for _, c := range g.Cases {
		s := must.Get(conv.NewSession(netruntime.SessionOptions{Batch: 1, Workers: 1}))(t)
		must.Do(t, s.Run(y, c.X, 1))
		s.Close()
		root := m.OutRoot()
		want := slices.Clone(c.Y)
		want[root+feature.RootX], want[root+feature.RootYaw], want[root+feature.RootZ] = 60*c.Y[root], 60*c.Y[root+2], 60*c.Y[root+1]
		for i := range want {
			if !(math.Abs(float64(y[i])-want[i]) <= 1e-3) {
				t.Fatalf("%s: output %d is %v, want %v", c.Name, i, y[i], want[i])
			}
		}
	}
}

// TestStoredGolden sends the network through a model file.
func TestStoredGolden(t *testing.T) {
	net, g := load(t)
	var b bytes.Buffer
	must.Do(t, net.Encode(&b))
	again := must.Get(netruntime.Decode(b.Bytes()))(t)
	if worstG, worstY := compare(t, again, g, netruntime.Kernels(), 5); !(worstG <= 1e-5 && worstY <= 1e-4) {
		t.Fatalf("gating off by %g, output by %g", worstG, worstY)
	}
}

func TestReadNamesBadFiles(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"Xmean.bin": 11, "Xstd.bin": 1876} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o644))
	}
	_, err := Read(dir)
	for _, want := range []string{dir, "Xmean.bin has 11 bytes, want 1872", "Xstd.bin has 1876 bytes, want 1872", "cp2_b7.bin is missing", "wc0_w.bin is missing"} {
		must.FailWith(t, err, want)
	}
}
