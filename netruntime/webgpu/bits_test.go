//go:build webgpu

package webgpu

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// TestBits: the kernels do what the processor does, operation by operation. With a multiplication
// and addition that rounds once, a calculation in that order has the processor's bits, and with that
// of the adapter it has the adapter's. WebGPU lets an adapter round twice, and divide with an error.
func TestBits(t *testing.T) {
	n := dog(t)
	const rows = 10 // of the larger tile
	in, out := n.Inputs(), n.Outputs()
	x := random(4, rows*in)
	cpu := must.Get(n.NewSession(netruntime.SessionOptions{Batch: rows, Workers: 1}))(t)
	defer cpu.Close()
	want, got := make([]float32, rows*out), make([]float32, rows*out)
	must.Do(t, cpu.Run(want, x, rows))
	must.Do(t, open(t, n, netruntime.SessionOptions{Batch: rows}).Run(got, x, rows))
	var once, twice []float32
	for r := range rows {
		once = append(once, arithmetic{fma: roundedOnce}.network(t, n, x[r*in:(r+1)*in])...)
		twice = append(twice, arithmetic{fma: roundedTwice}.network(t, n, x[r*in:(r+1)*in])...)
	}
	if k := different(once, want); k != 0 {
		t.Errorf("%d of %d results of the processor are not those of the reference", k, len(want))
	}
	t.Logf("of %d results, %d are not the processor's bits", len(want), different(got, want))
	if a, b := different(got, once), different(got, twice); a != 0 && b != 0 {
		t.Errorf("%d of %d results differ from the reference that rounds once, %d from the one that rounds twice", a, len(got), b)
	}
}

func different(x, y []float32) (n int) {
	for i := range x {
		if math.Float32bits(x[i]) != math.Float32bits(y[i]) {
			n++
		}
	}
	return n
}

// roundedOnce returns a·b + c rounded to odd in float64, and so once to float32.
func roundedOnce(a, b, c float32) float32 {
	p, q := float64(a)*float64(b), float64(c) // p is exact
	s := p + q
	t := s - p
	u := math.Float64bits(s)
	if err := (p - (s - t)) + (q - t); err != 0 && u&1 == 0 {
		if (err > 0) == (s > 0) {
			u++
		} else {
			u--
		}
	}
	return float32(math.Float64frombits(u))
}

func roundedTwice(a, b, c float32) float32 { return float32(a*b) + c }

// arithmetic computes networks with its own multiplication and addition.
type arithmetic struct {
	fma  func(a, b, c float32) float32
	half func(a, b, c float32) float32 // of the products of many weights, in float16; nil has none
}

func (r arithmetic) exp(x float32) float32 {
	x = max(min(x, 89), -104)
	whole := float32(math.RoundToEven(float64(float32(x * math.Log2E))))
	const ln2 = 0x1.62ep-1
	rest := r.fma(-(math.Ln2 - ln2), whole, r.fma(-ln2, whole, x))
	p := float32(1. / 5040)
	for _, c := range [...]float32{1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1, 1} {
		p = r.fma(p, rest, c)
	}
	half := int(whole) >> 1
	return float32(p*float32(math.Ldexp(1, half))) * float32(math.Ldexp(1, int(whole)-half))
}

// products returns Σ x·w in sums of at most 512. A scale other than 0 is that of weights in float16.
func (r arithmetic) products(x, w []float32, scale float32, each func(sum float32)) {
	for len(x) > 0 {
		k := min(512, len(x))
		var sum, part float32
		for i := range k {
			switch {
			case scale == 0:
				sum = r.fma(x[i], w[i], sum)
			case x[i] >= -500 && x[i] <= 500:
				part = r.half(float16(float64(x[i])), float16(float64(w[i]/scale)), part)
			default:
				sum = r.fma(x[i], float16(float64(w[i]/scale)), sum)
			}
			if i%8 == 7 || i == k-1 {
				sum, part = sum+part, 0
			}
		}
		if scale != 0 {
			sum *= scale
		}
		each(sum)
		x, w = x[k:], w[k:]
	}
}

// network computes one row of a mixture of experts.
func (r arithmetic) network(t *testing.T, n *netruntime.Net, x []float32) []float32 {
	values := map[string][]float32{n.Graph().Inputs[0].Name: x}
	for i := range n.Graph().Nodes {
		node := &n.Graph().Nodes[i]
		tensor := func(role string) netruntime.Tensor {
			v, ok := n.Tensor(node.Tensor(role))
			if !ok {
				t.Fatal("no tensor ", node.Tensor(role))
			}
			return v
		}
		x := values[node.In[0]]
		scale := func(w netruntime.Tensor) (s float32) {
			if r.half == nil || len(w.Data) < netruntime.HeavyWeights {
				return 0
			}
			for s = 0x1p-40; s*16 <= max(slices.Max(w.Data), -slices.Min(w.Data)); s *= 2 {
			}
			return s
		}
		var y []float32
		switch node.Op {
		case netruntime.OpNormalize, netruntime.OpDenormalize:
			for c, v := range x {
				mean, std := tensor("mean").Data[c], cmp.Or(tensor("std").Data[c], 1)
				if node.Op == netruntime.OpNormalize {
					y = append(y, float32(v-mean)*float32(1/std))
				} else {
					y = append(y, r.fma(v, std, mean))
				}
			}
		case netruntime.OpSelect:
			for _, c := range node.Columns {
				y = append(y, x[c])
			}
		case netruntime.OpDense:
			w := tensor("weight")
			s := scale(w)
			for o, total := range tensor("bias").Data {
				r.products(x, w.Data[o*len(x):], s, func(sum float32) { total += sum })
				y = append(y, total)
			}
		case netruntime.OpBlend:
			w, omega := tensor("weight"), values[node.In[1]]
			s := scale(w)
			for o := range w.Shape[1] {
				var total float32
				for k := range omega {
					total = r.fma(omega[k], tensor("bias").Data[k*w.Shape[1]+o], total)
				}
				for k := range omega {
					r.products(x, w.Data[(k*w.Shape[1]+o)*len(x):], s, func(sum float32) { total = r.fma(omega[k], sum, total) })
				}
				y = append(y, total)
			}
		case netruntime.OpSoftmax:
			top, sum := slices.Max(x), float32(0)
			for _, v := range x {
				e := r.exp(v - top)
				y = append(y, e)
				sum += e
			}
			for c := range y {
				y[c] /= sum
			}
		default:
			t.Fatal("operation ", node.Op)
		}
		switch node.Act {
		case "":
		case "elu":
			for c, v := range y {
				y[c] = max(v, 0) + (r.exp(min(v, 0)) - 1)
			}
		default:
			t.Fatal("activation ", node.Act)
		}
		values[node.Name] = y
	}
	return values[n.Graph().Outputs[0]]
}
