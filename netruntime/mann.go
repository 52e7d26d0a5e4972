package netruntime

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mannequin/internal/kernel"
)

// archMANN is the mode-adaptive network for quadruped control (Zhang, Starke
// et al. 2018, sec. 6): a gating network blends the weights of K experts,
//
//	ω = softmax(G2·ELU(G1·ELU(G0·x̂[gating columns])))
//	y = Φ2(ELU(Φ1(ELU(Φ0(x̂)))))     Φl(h) = Σ_k ω_k (W_lk·h + b_lk)
//
// with biases in every G and x̂, y normalised column by column.
const archMANN = "mann"

// mann is the network's own view of the tensors.
type mann struct {
	in, out     int
	k           int    // experts
	h           [2]int // hidden units of the motion network
	gin         int    // gating inputs
	g           [2]int // hidden units of the gating network
	xMean, xInv []float32
	yMean, yStd []float32
	columns     []int // gating inputs' columns of x
	gw, gb      [3][]float32
	ew, eb      [3][]float32
}

// slot is one tensor of the architecture: its name, the sizes of its axes as
// letters, and where its data go. Letters get their values from the first
// tensor that has them.
type slot struct {
	name string
	axes string
	dst  *[]float32
}

// newMANN takes the tensors apart and checks them against the table. It
// returns them in the table's order.
func newMANN(meta *Meta, tensors []Tensor) (*mann, []Tensor, error) {
	m := &mann{}
	slots := []slot{
		{"x_mean", "I", &m.xMean}, {"x_std", "I", &m.xInv},
		{"y_mean", "O", &m.yMean}, {"y_std", "O", &m.yStd},
		{"gating.0.weight", "AG", &m.gw[0]}, {"gating.0.bias", "A", &m.gb[0]},
		{"gating.1.weight", "BA", &m.gw[1]}, {"gating.1.bias", "B", &m.gb[1]},
		{"gating.2.weight", "KB", &m.gw[2]}, {"gating.2.bias", "K", &m.gb[2]},
		{"experts.0.weight", "KHI", &m.ew[0]}, {"experts.0.bias", "KH", &m.eb[0]},
		{"experts.1.weight", "KJH", &m.ew[1]}, {"experts.1.bias", "KJ", &m.eb[1]},
		{"experts.2.weight", "KOJ", &m.ew[2]}, {"experts.2.bias", "KO", &m.eb[2]},
	}
	size, ordered, err := fill(slots, tensors)
	if err != nil {
		return nil, nil, err
	}
	m.in, m.out, m.k, m.gin = size['I'], size['O'], size['K'], size['G']
	m.h = [2]int{size['H'], size['J']}
	m.g = [2]int{size['A'], size['B']}
	m.columns = meta.GatingColumns
	if len(m.columns) != m.gin {
		return nil, nil, fmt.Errorf("gating_columns lists %d inputs, gating.0.weight has %d", len(m.columns), m.gin)
	}
	for _, c := range m.columns {
		if c < 0 || c >= m.in {
			return nil, nil, fmt.Errorf("gating_columns: there is no input %d, the network has %d", c, m.in)
		}
	}
	// The runtime multiplies by 1/std. A constant column has deviation 0 and
	// is left in its unit.
	if m.xInv, err = usable("x_std", m.xInv); err != nil {
		return nil, nil, err
	}
	for i, s := range m.xInv {
		m.xInv[i] = 1 / s
	}
	if m.yStd, err = usable("y_std", m.yStd); err != nil {
		return nil, nil, err
	}
	return m, ordered, nil
}

// usable returns std with 1 for 0.
func usable(name string, std []float32) ([]float32, error) {
	out := make([]float32, len(std))
	for i, s := range std {
		if s == 0 {
			s = 1
		}
		if s < 0 || math.IsInf(float64(1/s), 0) {
			return nil, fmt.Errorf("%s: deviation %d is %g", name, i, s)
		}
		out[i] = s
	}
	return out, nil
}

// fill hands every tensor to its slot, and checks that all are there once, of
// agreeing shapes, and finite.
func fill(slots []slot, tensors []Tensor) (size map[byte]int, ordered []Tensor, err error) {
	byName := map[string]Tensor{}
	for _, t := range tensors {
		if _, twice := byName[t.Name]; twice {
			return nil, nil, fmt.Errorf("tensor %q twice", t.Name)
		}
		byName[t.Name] = t
	}
	size = map[byte]int{}
	from := map[byte]string{}
	for _, s := range slots {
		t, ok := byName[s.name]
		if !ok {
			return nil, nil, fmt.Errorf("tensor %q is missing", s.name)
		}
		delete(byName, s.name)
		if len(t.Shape) != len(s.axes) {
			return nil, nil, fmt.Errorf("tensor %q has shape %v, want %d axes", s.name, t.Shape, len(s.axes))
		}
		n := 1
		for i, d := range t.Shape {
			a := s.axes[i]
			if d < 1 {
				return nil, nil, fmt.Errorf("tensor %q has shape %v", s.name, t.Shape)
			}
			if want, known := size[a]; known && d != want {
				return nil, nil, fmt.Errorf("tensor %q has shape %v, axis %d should be %d as in %q", s.name, t.Shape, i, want, from[a])
			}
			if _, known := size[a]; !known {
				size[a], from[a] = d, s.name
			}
			if n > len(t.Data)/d {
				n = -1
				break
			}
			n *= d
		}
		if n != len(t.Data) {
			return nil, nil, fmt.Errorf("tensor %q has shape %v and %d values", s.name, t.Shape, len(t.Data))
		}
		for i, v := range t.Data {
			if v-v != 0 {
				return nil, nil, fmt.Errorf("tensor %q: value %d is %v", s.name, i, v)
			}
		}
		*s.dst = t.Data
		ordered = append(ordered, t)
	}
	if len(byName) > 0 {
		var extra []string
		for name := range byName {
			extra = append(extra, strconv.Quote(name))
		}
		slices.Sort(extra)
		return nil, nil, fmt.Errorf("unknown tensors %s", strings.Join(extra, ", "))
	}
	return size, ordered, nil
}

func (m *mann) inputs() int  { return m.in }
func (m *mann) outputs() int { return m.out }

func (m *mann) sizes() map[string]string {
	return map[string]string{
		"experts":       strconv.Itoa(m.k),
		"hidden":        strconv.Itoa(m.h[0]),
		"gating_hidden": strconv.Itoa(m.g[0]),
	}
}

// packedMANN is the weights in the layout of a kernel family.
type packedMANN struct {
	gating  [3]*kernel.Packed
	experts [3]*kernel.Packed // a part per expert
	bias    [3]*kernel.Packed // (K, out): ω·bias is the blended bias
}

func (m *mann) pack() any {
	p := &packedMANN{}
	gin := [3]int{m.gin, m.g[0], m.g[1]}
	gout := [3]int{m.g[0], m.g[1], m.k}
	in := [3]int{m.in, m.h[0], m.h[1]}
	out := [3]int{m.h[0], m.h[1], m.out}
	for l := range 3 {
		p.gating[l] = kernel.Pack(true, 1, gin[l], gout[l], m.gw[l], gin[l])
		p.bias[l] = kernel.Pack(false, 1, m.k, out[l], m.eb[l], out[l])
		p.experts[l] = kernel.Pack(true, m.k, in[l], out[l], m.ew[l], in[l])
	}
	return p
}
