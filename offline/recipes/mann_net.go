package recipes

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/train"
)

// mannNet is the trainable form of the mode-adaptive network (Zhang, Starke et al. 2018, sec.
// 4): a gating network of three dense layers, which ends in a softmax over the experts, and a
// motion network of three layers, whose weights are the blend of the experts' weights.
type mannNet struct {
	inputs, outputs  int
	experts          int
	columns          []int          // of the input that the gating network reads
	gatingSize       [4]int         // widths of the gating network's layers, input first
	motionSize       [4]int         // the same of the motion network
	gatingW, gatingB [3]*grad.Param // (out, in), (1, out)
	expertW, expertB [3]*grad.Param // (experts·in, out), (experts, out), as grad.Tape.Blend takes them
}

func newMANNNet(inputs, outputs, experts, hidden, gatingHidden int, columns []int) *mannNet {
	n := &mannNet{inputs: inputs, outputs: outputs, experts: experts, columns: columns,
		gatingSize: [4]int{len(columns), gatingHidden, gatingHidden, experts},
		motionSize: [4]int{inputs, hidden, hidden, outputs}}
	for l := range 3 {
		in, out := n.gatingSize[l], n.gatingSize[l+1]
		n.gatingW[l] = grad.NewParam(fmt.Sprintf("gating.%d.weight", l), out, in)
		n.gatingB[l] = grad.NewParam(fmt.Sprintf("gating.%d.bias", l), 1, out)
		in, out = n.motionSize[l], n.motionSize[l+1]
		n.expertW[l] = grad.NewParam(fmt.Sprintf("experts.%d.weight", l), experts*in, out)
		n.expertB[l] = grad.NewParam(fmt.Sprintf("experts.%d.bias", l), experts, out)
	}
	return n
}

// params returns the parameters, always in the same order.
func (n *mannNet) params() []*grad.Param {
	var out []*grad.Param
	for l := range 3 {
		out = append(out, n.gatingW[l], n.gatingB[l])
	}
	for l := range 3 {
		out = append(out, n.expertW[l], n.expertB[l])
	}
	return out
}

// init draws the weights: the gating network from Xavier's U(±√(6/(in+out))), the experts from
// U(±√(6/(in·out))), which is a product and so far below Xavier. Biases stay zero.
func (n *mannNet) init(seed uint64) {
	for l := range 3 {
		in, out := float64(n.gatingSize[l]), float64(n.gatingSize[l+1])
		uniform(n.gatingW[l].Val, math.Sqrt(6/(in+out)), grad.Hash(seed, uint64(l)))
		in, out = float64(n.motionSize[l]), float64(n.motionSize[l+1])
		uniform(n.expertW[l].Val, math.Sqrt(6/(in*out)), grad.Hash(seed, uint64(3+l)))
	}
}

// forward returns the outputs (rows, outputs) and the gating (rows, experts) for the inputs x
// (rows, inputs), all normalised. Dropout acts on the inputs and the hidden layers of both
// networks; key seeds it.
func (n *mannNet) forward(t *grad.Tape, x *grad.Mat, keep float32, key uint64) (y, omega *grad.Mat) {
	site := uint64(0)
	drop := func(m *grad.Mat) *grad.Mat {
		site++
		return t.Dropout(m, keep, grad.Hash(key, site))
	}
	h := drop(t.Gather(x, n.columns))
	h = drop(t.ELU(t.Dense(h, n.gatingW[0], n.gatingB[0])))
	h = drop(t.ELU(t.Dense(h, n.gatingW[1], n.gatingB[1])))
	omega = t.Softmax(t.Dense(h, n.gatingW[2], n.gatingB[2]))
	y = drop(x)
	y = drop(t.ELU(t.Blend(y, omega, n.expertW[0], n.expertB[0])))
	y = drop(t.ELU(t.Blend(y, omega, n.expertW[1], n.expertB[1])))
	return t.Blend(y, omega, n.expertW[2], n.expertB[2]), omega
}

// tensors returns weights, in the order of params, as a model file holds them.
func (n *mannNet) tensors(weights [][]float32) []netruntime.Tensor {
	var out []netruntime.Tensor
	for i, p := range n.params() {
		t := netruntime.Tensor{Name: p.Name, Shape: []int{p.Rows, p.Cols}, Data: weights[i]}
		if l := slices.Index(n.expertW[:], p); l >= 0 {
			t.Shape = []int{n.experts, n.motionSize[l+1], n.motionSize[l]}
			t.Data = swapped(weights[i], n.experts, n.motionSize[l], n.motionSize[l+1])
		} else if slices.Contains(n.gatingB[:], p) {
			t.Shape = []int{p.Cols}
		}
		out = append(out, t)
	}
	return out
}

// copyTensors copies the weights of a model file of the same form.
func (n *mannNet) copyTensors(from *netruntime.Net) error {
	for _, p := range n.params() {
		d, err := tensorOf(from, p.Name, len(p.Val))
		if err != nil {
			return err
		}
		if l := slices.Index(n.expertW[:], p); l >= 0 {
			d = swapped(d, n.experts, n.motionSize[l+1], n.motionSize[l])
		}
		copy(p.Val, d)
	}
	return nil
}

// tensorOf returns the values of a tensor of the network to start from.
func tensorOf(from *netruntime.Net, name string, want int) ([]float32, error) {
	t, ok := from.Tensor(name)
	if !ok || len(t.Data) != want {
		return nil, fmt.Errorf("recipes: the network to start from has %d values in %q, want %d: train one of the same layout, experts and hidden units",
			len(t.Data), name, want)
	}
	return t.Data, nil
}

// load copies the weights of a trained network of the same form. If its data had other means
// and deviations than those given, the first and the last layers compensate for them, so the
// network computes the same as before.
func (n *mannNet) load(from *netruntime.Net, xMean, xStd, yMean, yStd []float32) error {
	var old [4][]float32
	for i, name := range []string{"x_mean", "x_std", "y_mean", "y_std"} {
		var err error
		if old[i], err = tensorOf(from, name, []int{n.inputs, n.inputs, n.outputs, n.outputs}[i]); err != nil {
			return err
		}
	}
	if err := n.copyTensors(from); err != nil {
		return err
	}
	// x̂_old = (x̂·std + mean − mean_old) / std_old
	for o := range n.gatingSize[1] {
		w := n.gatingW[0].Val[o*len(n.columns):][:len(n.columns)]
		for i, c := range n.columns {
			n.gatingB[0].Val[o] += w[i] * (xMean[c] - old[0][c]) / old[1][c]
			w[i] *= xStd[c] / old[1][c]
		}
	}
	hidden := n.motionSize[1]
	for k := range n.experts {
		b := n.expertB[0].Val[k*hidden:][:hidden]
		for c := range n.inputs {
			w := n.expertW[0].Val[(k*n.inputs+c)*hidden:][:hidden]
			shift, scale := (xMean[c]-old[0][c])/old[1][c], xStd[c]/old[1][c]
			for o := range w {
				b[o] += w[o] * shift
				w[o] *= scale
			}
		}
		// ŷ = (ŷ_old·std_old + mean_old − mean) / std
		b = n.expertB[2].Val[k*n.outputs:][:n.outputs]
		for o := range n.outputs {
			scale := old[3][o] / yStd[o]
			b[o] = b[o]*scale + (old[2][o]-yMean[o])/yStd[o]
			for i := range n.motionSize[2] {
				n.expertW[2].Val[(k*n.motionSize[2]+i)*n.outputs+o] *= scale
			}
		}
	}
	return nil
}

// NewMANNStep returns a function that runs one training step of the paper's network for the
// authors' dog on noise. Benchmarks measure it. end stops its workers.
func NewMANNStep(batch, threads int, seed uint64) (step func() error, end func(), err error) {
	const rows, inputs, outputs = 4096, 480, 363
	columns := make([]int, 19)
	for i := range columns {
		columns[i] = 25 * i
	}
	m := PaperMANN()
	net := newMANNNet(inputs, outputs, m.Experts, m.Hidden, m.GatingHidden, columns)
	net.init(seed)
	xs, ys := make([]float32, rows*inputs), make([]float32, rows*outputs)
	uniform(xs, 1.7, grad.Hash(seed, 100)) // about unit variance, as normalised data has
	uniform(ys, 1.7, grad.Hash(seed, 101))
	job := &train.Job{
		Params: net.params(),
		Loss: func(t *grad.Tape, rows []int32, _ bool, key uint64) *grad.Mat {
			x, want := t.Const(len(rows), inputs), t.Const(len(rows), outputs)
			for i, r := range rows {
				copy(x.Val[i*inputs:], xs[int(r)*inputs:][:inputs])
				copy(want.Val[i*outputs:], ys[int(r)*outputs:][:outputs])
			}
			y, _ := net.forward(t, x, m.Keep, key)
			return t.MSE(y, want)
		},
		Samples: rows, HeldOut: 1, Batch: batch, Epochs: m.Epochs, Seed: seed, Optimizer: m.AdamW, Schedule: m.Schedule,
		Checkpoint: "none", Every: time.Hour, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Time{} },
	}
	pool := grad.NewPool(threads)
	if step, err = job.Stepper(pool); err != nil {
		pool.Close()
		return nil, nil, err
	}
	return step, pool.Close, nil
}
