package recipes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mannequin/animsys/keypose"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
	"mannequin/offline/train"
)

// Sparse is the recipe of the network that makes motion from evenly spaced poses alone: four
// convolutions over time with expansions between them (Lüdi 2016, sec. 4.1). The sets must be cut
// as SparseWindow says.
type Sparse struct {
	Poses    int     `json:"poses_per_second"` // per second: 1 or 2
	Channels [3]int  `json:"channels"`         // of the hidden layers; the thesis has 256, 512, 256
	Widths   [4]int  `json:"widths"`           // of the filters, in frames of their layers; the thesis has 3, 7, 13, 21
	Keep     float32 `json:"keep"`             // dropout's retention probability, of the hidden values, in (0, 1]; the thesis has 0.8
	Key      float32 `json:"key"`              // weight in the loss of the frames with given poses; the thesis has 0.1
	L1       float64 `json:"-"`                // weight of the mean magnitude of the parameters; the thesis has 0.1 of the sum

	Training `json:"-"`
}

// DefaultSparse returns the thesis's recipe without data. The learning rate falls to a tenth after
// every quarter of the epochs: 50 of the thesis's 200. Batch is ours, the thesis gives none.
func DefaultSparse() Sparse {
	return Sparse{Poses: 2, Channels: [3]int{256, 512, 256}, Widths: [4]int{3, 7, 13, 21}, Keep: 0.8, Key: 0.1, L1: 0.1, Training: Training{
		Jitter: true, Steps: 4, Epochs: 200, Batch: 8, Seed: 1, AdamW: train.Adam(1e-3),
	}}
}

// SparseFrames is the number of frames that a window's poses span: two seconds.
const SparseFrames = 2*dataset.Rate + 1

// SparseWindow returns the options that cut recordings for Sparse: windows of SparseFrames, one
// every second, with a margin of one frame at both ends. Shorter clips are left out.
func SparseWindow() dataset.MotionOptions {
	return dataset.MotionOptions{Length: SparseFrames + 2, Margin: 1, Hop: dataset.Rate, Shortest: SparseFrames}
}

// expansions are the factors of the three layers, by poses per second. The thesis has 2·5·3 for two
// poses and gives none for one pose.
var expansions = map[int][3]int{1: {4, 5, 3}, 2: {2, 5, 3}}

// segments returns the spacing of the poses that the network sees and of the frames it makes.
func (m *Sparse) segments() keypose.Segments {
	return keypose.Segments{Poses: 2*m.Poses + 1, Every: dataset.Rate / m.Poses}
}

// check reports the first field that is out of range.
func (m *Sparse) check() error {
	if _, ok := expansions[m.Poses]; !ok {
		return fmt.Errorf("recipes: %d poses per second, want 1 or 2", m.Poses)
	}
	if set := m.Train; set.Length-2*set.Margin != SparseFrames {
		return fmt.Errorf("recipes: windows of %d frames without margins, want %d", set.Length-2*set.Margin, SparseFrames)
	}
	return errors.Join(checkCounts("channels", 1<<12, m.Channels[:]...), checkCounts("frames of a filter", 255, m.Widths[:]...))
}

// sparseNet is a stack of convolutions with an expansion after each except the last.
type sparseNet struct {
	convNet
	by [3]int
}

func newSparseNet(columns int, channels [3]int, widths [4]int, by [3]int, seed uint64) sparseNet {
	return sparseNet{newConvNet([]int{columns, channels[0], channels[1], channels[2], columns}, widths[:], seed), by}
}

// forward returns frames, (batch·poses·every, columns), from poses x, (batch·poses, columns), all
// normalised.
func (n sparseNet) forward(t *grad.Tape, x *grad.Mat, poses int, keep float32, key uint64) *grad.Mat {
	length := poses
	for l, c := range n.convNet {
		if x = t.Conv(x, length, c.w, c.b, c.width, false); l == len(n.by) {
			break
		}
		// Dropout acts before the expansion, so it drops all copies of a value.
		x = t.Depool(t.Dropout(t.ReLU(x), keep, grad.Hash(key, uint64(l))), n.by[l], false, 0)
		length *= n.by[l]
	}
	return x
}

// nodes returns the operations of a model file; from is the name of the input.
func (n sparseNet) nodes(from string) (nodes []netruntime.Node) {
	for l, c := range n.convNet {
		conv := node(c.name, netruntime.OpConv, from)
		if l == len(n.by) {
			return append(nodes, conv)
		}
		conv.Act, from = "relu", fmt.Sprintf("spread%d", l+1)
		nodes = append(nodes, conv, netruntime.Node{Name: from, Op: netruntime.OpDepool, In: []string{c.name}, Factor: n.by[l]})
	}
	return nodes
}

// posed is a batch of windows: the poses that the network sees and the frames that it is to make.
type posed struct {
	x    *grad.Mat // (batch·poses, columns)
	want *grad.Mat // (batch·poses·every, columns), with the frames around the window
	mask *grad.Mat // as want: 1 in frames to learn from
	keys *grad.Mat // as want: 1 in frames with given poses
}

// batch reads windows. A window that reaches beyond its clip is moved into it, because poses must
// be recorded ones.
func (m *Sparse) batch(t *grad.Tape, w *windows, rows []int32, isHeldOut bool) posed {
	set := w.set(isHeldOut)
	s, cols := m.segments(), set.Layout.Columns()
	made := s.Poses * s.Every
	frames := len(rows) * made
	b := posed{t.Const(len(rows)*s.Poses, cols), t.Const(frames, cols), t.Const(frames, cols), t.Const(frames, cols)}
	for _, v := range []*grad.Mat{b.want, b.mask, b.keys} {
		clear(v.Val)
	}
	window, ones := make([]float32, set.Length*cols), slices.Repeat([]float32{1}, cols)
	for i, r := range rows {
		at := set.Windows[r]
		from := min(w.start(r, isHeldOut), set.Clips[at.Clip].Frames-SparseFrames-set.Margin)
		first, end := set.Window(window, int(at.Clip), float64(max(from, -set.Margin)), 1)
		for f := range SparseFrames {
			row := window[(set.Margin+f)*cols:][:cols]
			k := (i*made + s.Lead() + f) * cols
			copy(b.want.Val[k:], row)
			inside := f+set.Margin >= first && f+set.Margin < end
			if inside {
				copy(b.mask.Val[k:], ones)
			}
			if f%s.Every == 0 {
				copy(b.x.Val[(i*s.Poses+f/s.Every)*cols:], row)
				if inside {
					copy(b.keys.Val[k:], ones)
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
			b := m.batch(t, batch, rows, isHeldOut)
			return m.loss(t, net.forward(t, b.x, m.segments().Poses, dropout(m.Keep, isHeldOut), key), b)
		},
		L1: m.L1 / float64(count(net.params())), Penalised: net.params(),
	}
	return m.train(ctx, batch, m.recipe(), job, func(best trained) (*netruntime.Net, error) { return m.model(net, best) })
}

// loss is equation 4.2 with means instead of sums.
func (m *Sparse) loss(t *grad.Tape, y *grad.Mat, b posed) *grad.Mat {
	return t.WeightedSum(
		grad.Term{Loss: maskedMSE(t, y, b.want, b.mask), Weight: 1},
		grad.Term{Loss: maskedMSE(t, y, b.want, b.keys), Weight: m.Key})
}

// recipe returns the beginning of the checkpoint key.
func (m *Sparse) recipe() []any {
	return []any{fields{"network": "sparse", "schema": m.Train.Layout.Hash()}, m, fields{"jitter": m.Jitter, "l1": m.L1}}
}

// model makes the network of the model file: raw poses in, raw frames out.
func (m *Sparse) model(net sparseNet, best trained) (*netruntime.Net, error) {
	g := pipeline(m.Train.Layout.Columns(), ownStats, net.nodes("normalised")...)
	meta, err := m.meta("sparse", fmt.Sprintf("human-sparse-%d", m.Poses), best, g, m)
	if err != nil {
		return nil, err
	}
	if err := keypose.DescribeSparseModel(&meta, m.Train.Layout, m.Train.Skeleton, m.segments()); err != nil {
		return nil, err
	}
	return netruntime.New(meta, append(normTensors("", m.Train.Mean, m.Train.Std), net.tensors(best.weights)...))
}

// cardFields returns the values of the model card that are not fields of the recipe.
func (m *Sparse) cardFields() fields {
	return fields{"By": expansions[m.Poses], "Frames": SparseFrames, "Falls": max(0, m.Steps-1)}
}
