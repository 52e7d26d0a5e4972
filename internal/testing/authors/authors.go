// Package authors reads networks that the authors of papers released: MANN (Zhang, Starke et al.
// 2018) of April 2018, as folders of raw little-endian float32 files, and the autoencoder and the
// footstep network of Holden et al. 2016, as npz files. They are the reference for our forward
// pass. Their weights are for research only: never ship them, converted or not.
package authors

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/testnet"
	"mannequin/netruntime"
)

// Sizes of the MANN.
const (
	inputs  = 468
	outputs = 363
	hidden  = 512
	gating  = 18 // gating inputs and hidden units
	experts = 8
)

// Layout returns the MANN's input layout: the dog without the desired-speed channel.
func Layout() *feature.MANN {
	m := feature.Dog()
	m.NoSpeed = true
	return m
}

// file is one raw array: dst receives rows·cols values of dir/name.
type file struct {
	name string
	n    int
	dst  []float32
}

// Read returns the MANN in dir exactly as released. The root's three outputs are dx and dz in
// metres and the yaw in degrees, all per frame at 60 Hz, so it does not have our schema. See
// Convert.
//
// Read checks every file's size before it reads any. The error names all files that are missing or
// of another size.
func Read(dir string) (*netruntime.Net, error) {
	var tensors []netruntime.Tensor
	var files []file
	add := func(name string, shape ...int) []float32 {
		t := testnet.Constant(0, name, shape...)
		tensors = append(tensors, t)
		return t.Data
	}
	whole := func(f string, dst []float32) { files = append(files, file{f + ".bin", len(dst), dst}) }
	whole("Xmean", add("x_mean", inputs))
	whole("Xstd", add("x_std", inputs))
	whole("Ymean", add("y_mean", outputs))
	whole("Ystd", add("y_std", outputs))
	for l, out := range []int{gating, gating, experts} {
		whole(fmt.Sprintf("wc%d_w", l), add(fmt.Sprintf("gating.%d.weight", l), out, gating))
		whole(fmt.Sprintf("wc%d_b", l), add(fmt.Sprintf("gating.%d.bias", l), out))
	}
	in := inputs
	for l, out := range []int{hidden, hidden, outputs} {
		w := add(fmt.Sprintf("experts.%d.weight", l), experts, out, in)
		b := add(fmt.Sprintf("experts.%d.bias", l), experts, out)
		for k := range experts {
			whole(fmt.Sprintf("cp%d_a%d", l, k), w[k*out*in:(k+1)*out*in])
			whole(fmt.Sprintf("cp%d_b%d", l, k), b[k*out:(k+1)*out])
		}
		in = out
	}
	if err := readAll(dir, files); err != nil {
		return nil, err
	}
	net, err := netruntime.New(netruntime.Meta{
		Name: "mann-2018-04", Arch: "mann", GatingColumns: Layout().Gating(),
		Data:      "the authors' dog recordings",
		License:   "research only: never ship",
		CreatedBy: "the authors of MANN, April 2018",
	}, tensors)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return net, nil
}

func readAll(dir string, files []file) error {
	var bad []string
	for _, f := range files {
		st, err := os.Stat(filepath.Join(dir, f.name))
		switch {
		case err != nil:
			bad = append(bad, f.name+" is missing")
		case st.Size() != int64(4*f.n):
			bad = append(bad, fmt.Sprintf("%s has %d bytes, want %d", f.name, st.Size(), 4*f.n))
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("%s is not the authors' network of April 2018: %s", dir, strings.Join(bad, "; "))
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := f.decode(b); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// decode reads little-endian values from the file's bytes.
func (f file) decode(b []byte) error {
	if len(b) != 4*f.n {
		return fmt.Errorf("%d bytes, want %d: it changed while it was read", len(b), 4*f.n)
	}
	for i := range f.dst {
		f.dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return nil
}

// Convert returns the network with its root outputs in the order and units of our schema (per
// second), and with that schema in its metadata, so that our controller can run it. It has no
// description of the skeleton.
func Convert(net *netruntime.Net) (*netruntime.Net, error) {
	m := Layout()
	if net.Inputs() != m.Inputs() || net.Outputs() != m.Outputs() {
		return nil, fmt.Errorf("authors: a network of %d inputs and %d outputs is not theirs", net.Inputs(), net.Outputs())
	}
	at := m.OutRoot()
	from := [feature.RootLen]int{feature.RootX: at, feature.RootYaw: at + 2, feature.RootZ: at + 1}
	// rows reorders groups of n values on a tensor's second last axis.
	rows := func(x []float32, n int) {
		old := append([]float32(nil), x...)
		for i, f := range from {
			copy(x[(at+i)*n:(at+i+1)*n], old[f*n:])
		}
	}
	tensors := net.Tensors()
	for _, t := range tensors {
		switch t.Name {
		case "y_mean", "y_std":
			rows(t.Data, 1)
			for i := range feature.RootLen {
				t.Data[at+i] *= 60
			}
		case "experts.2.weight", "experts.2.bias":
			n := len(t.Data) / experts
			for k := range experts {
				rows(t.Data[k*n:(k+1)*n], n/outputs)
			}
		}
	}
	meta := net.Meta()
	schema, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	meta.Schema, meta.SchemaHash = string(schema), m.Hash()
	return netruntime.New(meta, tensors)
}
