package recipes

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"mannequin/animsys/keypose"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
	"mannequin/offline/train"
)

// Sparse is the recipe of the network that makes motion from evenly spaced poses
// alone: four convolutions over time with expansions between them (Lüdi 2016,
// sec. 4.1). Windows of the sets are SparseWindow long.
type Sparse struct {
	Poses    int     // a second: 1 or 2
	Channels [3]int  // of the hidden layers; the thesis has 256, 512, 256
	Widths   [4]int  // of the filters in frames of their layers; the thesis has 3, 7, 13, 21
	Keep     float32 // dropout's retention probability, of the hidden values, in (0, 1]; the thesis has 0.8
	Key      float32 // weight in the loss of the frames of the poses; the thesis has 0.1
	L1       float64 // weight of the mean of the parameters' magnitudes; the thesis has 0.1 of a sum

	Learning
}

// DefaultSparse returns the thesis's recipe without data: the learning rate falls
// to a tenth after every quarter of the epochs, every 50 of the thesis's 200. Batch
// is ours: the thesis tells none.
func DefaultSparse() Sparse {
	return Sparse{Poses: 2, Channels: [3]int{256, 512, 256}, Widths: [4]int{3, 7, 13, 21}, Keep: 0.8, Key: 0.1, L1: 0.1, Learning: Learning{
		Jitter: true, Steps: 4, Epochs: 200, Batch: 8, Seed: 1,
		AdamW: train.AdamW{Rate: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
	}}
}

// SparseFrames is how many frames a window's poses span: two seconds.
const SparseFrames = 2*dataset.Rate + 1

// SparseWindow returns how recordings are cut for Sparse: windows of SparseFrames, a
// new one every second, and a frame at both ends that nothing is learnt from.
// Shorter clips are left out.
func SparseWindow() dataset.MotionOptions {
	return dataset.MotionOptions{Length: SparseFrames + 2, Margin: 1, Hop: dataset.Rate, Shortest: SparseFrames}
}

// expansions of the three layers, by poses a second. The thesis has 2·5·3 for two;
// it leaves those of one open.
var expansions = map[int][3]int{1: {4, 5, 3}, 2: {2, 5, 3}}

// segments returns what the network sees and makes.
func (m *Sparse) segments() keypose.Segments {
	return keypose.Segments{Poses: 2*m.Poses + 1, Every: dataset.Rate / m.Poses}
}

// check reports the first field that is out of range.
func (m *Sparse) check() error {
	if _, ok := expansions[m.Poses]; !ok {
		return fmt.Errorf("recipes: %d poses a second, want 1 or 2", m.Poses)
	}
	for _, c := range m.Channels {
		if c < 1 || c > 1<<12 {
			return fmt.Errorf("recipes: %d channels, want 1 to 4096", c)
		}
	}
	for _, w := range m.Widths {
		if w < 1 || w > 255 {
			return fmt.Errorf("recipes: filters of %d frames, want 1 to 255", w)
		}
	}
	if set := m.Train; set.Length-2*set.Margin != SparseFrames {
		return fmt.Errorf("recipes: windows of which %d frames are learnt from, want %d", set.Length-2*set.Margin, SparseFrames)
	}
	return nil
}

// sparseNet is a stack of convolutions of which all but the last lengthen.
type sparseNet struct {
	convNet
	by [3]int
}

func newSparseNet(columns int, channels [3]int, widths [4]int, by [3]int, seed uint64) sparseNet {
	return sparseNet{newConvNet([]int{columns, channels[0], channels[1], channels[2], columns}, widths[:], seed), by}
}

// forward returns the frames that the network makes of x, (batch·poses, columns),
// normalised: (batch·poses·every, columns).
func (n sparseNet) forward(t *grad.Tape, x *grad.Mat, poses int, keep float32, key uint64) *grad.Mat {
	length := poses
	for l, c := range n.convNet {
		if x = t.Conv(x, length, c.w, c.b, c.width, false); l == len(n.by) {
			break
		}
		// A value is dropped before it is spread: whole.
		x = t.Depool(t.Dropout(t.ReLU(x), keep, grad.Hash(key, uint64(l))), n.by[l], false, 0)
		length *= n.by[l]
	}
	return x
}

// nodes returns the operations for a model file from the value called from.
func (n sparseNet) nodes(from string) (nodes []netruntime.Node) {
	for l, c := range n.convNet {
		node := netruntime.Node{Name: c.name, Op: netruntime.OpConv, In: []string{from}}
		if l == len(n.by) {
			return append(nodes, node)
		}
		node.Act, from = "relu", fmt.Sprintf("spread%d", l+1)
		nodes = append(nodes, node, netruntime.Node{Name: from, Op: netruntime.OpDepool, In: []string{c.name}, Factor: n.by[l]})
	}
	return nodes
}

// posed are windows: the poses that the network sees, and what it shall make.
type posed struct {
	x    *grad.Mat // (batch·poses, columns)
	want *grad.Mat // (batch·poses·every, columns), those left out around the window, too
	mask *grad.Mat // of want: 1 in frames to learn from
	keys *grad.Mat // of want: 1 in those of the poses
}

// batch reads windows. One that would reach over an end of its clip is moved into
// it: poses are those of recorded frames.
func (m *Sparse) batch(t *grad.Tape, w *windows, rows []int32, isHeldOut bool) posed {
	set := w.train
	if isHeldOut {
		set = w.heldOut
	}
	s, cols := m.segments(), set.Layout.Columns()
	made := s.Poses * s.Every
	frames := len(rows) * made
	b := posed{t.Const(len(rows)*s.Poses, cols), t.Const(frames, cols), t.Const(frames, cols), t.Const(frames, cols)}
	for _, v := range []*grad.Mat{b.want, b.mask, b.keys} {
		clear(v.Val)
	}
	window := make([]float32, set.Length*cols)
	for i, r := range rows {
		at := set.Windows[r]
		from := min(int(at.From)+w.shift(r, set, isHeldOut), set.Clips[at.Clip].Frames-SparseFrames-set.Margin)
		first, end := set.Window(window, int(at.Clip), max(from, -set.Margin))
		for f := range SparseFrames {
			row := window[(set.Margin+f)*cols:][:cols]
			k := (i*made + s.Lead() + f) * cols
			copy(b.want.Val[k:], row)
			learnt := f+set.Margin >= first && f+set.Margin < end
			if f%s.Every == 0 {
				copy(b.x.Val[(i*s.Poses+f/s.Every)*cols:], row)
			}
			for c := range cols {
				if learnt {
					b.mask.Val[k+c] = 1
					if f%s.Every == 0 {
						b.keys.Val[k+c] = 1
					}
				}
			}
		}
	}
	return b
}

// Run trains and writes the model.
func (m *Sparse) Run(ctx context.Context) (*train.Report, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	net := newSparseNet(m.Train.Layout.Columns(), m.Channels, m.Widths, expansions[m.Poses], m.Seed)
	batch := m.windows()
	job := &train.Job{
		Params: net.params(),
		Loss: func(t *grad.Tape, rows []int32, isHeldOut bool, key uint64) *grad.Mat {
			b, keep := m.batch(t, batch, rows, isHeldOut), m.Keep
			if isHeldOut {
				keep = 1
			}
			return m.loss(t, net.forward(t, b.x, m.segments().Poses, keep, key), b)
		},
		L1: m.L1 / float64(count(net.params())), Penalised: net.params(),
	}
	return m.learn(ctx, batch, m.recipe(), job, func(best [][]float32, r *train.Report, recipe, hash string) (*netruntime.Net, error) {
		return m.model(net, best, r, recipe, hash)
	})
}

// loss is equation 4.2 with means in place of sums.
func (m *Sparse) loss(t *grad.Tape, y *grad.Mat, b posed) *grad.Mat {
	return t.WeightedSum(
		grad.Term{Loss: maskedMSE(t, y, b.want, b.mask), Weight: 1},
		grad.Term{Loss: maskedMSE(t, y, b.want, b.keys), Weight: m.Key})
}

// recipe names everything but the data that shapes the result.
func (m *Sparse) recipe() any {
	return struct {
		Network  string  `json:"network"`
		Schema   string  `json:"schema"`
		Poses    int     `json:"poses_per_second"`
		Channels [3]int  `json:"channels"`
		Widths   [4]int  `json:"widths"`
		Keep     float32 `json:"keep"`
		Key      float32 `json:"key"`
		Jitter   bool    `json:"jitter"`
		L1       float64 `json:"l1"`
		learnt
	}{"sparse", m.Train.Layout.Hash(), m.Poses, m.Channels, m.Widths, m.Keep, m.Key, m.Jitter, m.L1, m.learnt()}
}

// model makes the network that a model file holds: raw poses in, raw frames out.
func (m *Sparse) model(net sparseNet, weights [][]float32, r *train.Report, recipe, hash string) (*netruntime.Net, error) {
	shared := map[string]string{"mean": "mean", "std": "std"}
	cols := m.Train.Layout.Columns()
	nodes := []netruntime.Node{{Name: "normalised", Op: netruntime.OpNormalize, In: []string{"x"}, Tensors: shared}}
	nodes = append(nodes, net.nodes("normalised")...)
	nodes = append(nodes, netruntime.Node{Name: "y", Op: netruntime.OpDenormalize, In: []string{net.convNet[len(net.by)].name}, Tensors: shared})
	metrics := motionMetrics(m.Train, m.HeldOut, r)
	mj, err := json.Marshal(metrics)
	if err != nil {
		return nil, err
	}
	src := sourceOfMotion(m.Train, fmt.Sprintf("human-sparse-%d", m.Poses))
	meta := netruntime.Meta{
		Name: src.name, Arch: "graph", Data: src.data, License: src.license,
		Graph: &netruntime.Graph{Inputs: []netruntime.Input{{Name: "x", Channels: cols}}, Nodes: nodes, Outputs: []string{"y"}},
		Card:  m.card(src, metrics), Metrics: string(mj), CreatedBy: "mannequin train sparse",
		Extra: map[string]string{"recipe": recipe, "data_hash": hash},
	}
	if err := keypose.DescribeSparseModel(&meta, m.Train.Layout, m.Train.Skeleton, m.segments()); err != nil {
		return nil, err
	}
	return netruntime.New(meta, append([]netruntime.Tensor{
		{Name: "mean", Shape: []int{cols}, Data: m.Train.Mean}, {Name: "std", Shape: []int{cols}, Data: m.Train.Std},
	}, net.tensors(weights)...))
}

// card is the model card.
func (m *Sparse) card(src source, k mannMetrics) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	by := expansions[m.Poses]
	p("# %s\n\nMakes human motion, 60 frames per second, from poses alone, %d a second: four convolutions over time, %d, %d, %d and %d frames wide, with expansions by %d, %d and %d between them (Lüdi 2016, sec. 4.1).\n\n",
		src.name, m.Poses, m.Widths[0], m.Widths[1], m.Widths[2], m.Widths[3], by[0], by[1], by[2])
	p("## Data and licence\n\nTrained on %s: %d frames, half of them mirrored. Held back from training: %s.\n\nLicence of the weights: %s.\n\n",
		src.data, k.Rows, heldOutNames(m.HeldOut), src.license)
	p("## Training\n\nMean squared error of normalised frames in windows of %d, that of the poses' own frames %g times once more; Adam (rate %g), %s over %d epochs; batch %d, dropout retention %g, sparsity %g, seed %d. These are the weights after epoch %d, whose held-out loss was the lowest: %.4f, %.4f before training.\n\n",
		SparseFrames, m.Key, m.AdamW.Rate, m.course(), m.Epochs, m.Batch, m.Keep, m.L1, m.Seed, k.Epoch, k.HeldOut, k.HeldOutBefore)
	p("## Limits\n\nIt comes near its poses but meets none exactly, and where the body goes is the sum of the velocities that it makes: it drifts. It knows level ground and the motions of its data. %s\n", src.limits)
	return b.String()
}

// course says how the learning rate falls.
func (m *Sparse) course() string {
	if m.Steps == 0 {
		return "one cosine of the rate"
	}
	return fmt.Sprintf("%d steps down to a tenth of the rate each", m.Steps-1)
}
