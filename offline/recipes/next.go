package recipes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/latent"
	"mannequin/engine/m3"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
	"mannequin/offline/train"
)

// Next is the recipe of the network that continues motion clip by clip. From the components of a
// clip, and those that the user asks of the next clip, it predicts the other components of the next
// clip. It learns from the course of recordings, through the fixed decoder of a latent space: from
// its own last clip to the recorded clip half a second later, turned, bent and so on as asked.
type Next struct {
	Latent *netruntime.Net `json:"-"`      // the latent space of the clips
	Hidden [2]int          `json:"hidden"` // units of the two hidden layers
	Match  float64         `json:"match"`  // weight of the difference between a clip's start and the end of the clip before

	Training `json:"-"`
}

// DefaultNext returns our recipe without data.
func DefaultNext() Next {
	return Next{Hidden: [2]int{256, 256}, Match: 0.5, Training: Training{
		ClipNorm: 1, Epochs: 40, Batch: 32, Seed: 1, AdamW: train.Adam(2e-3),
	}}
}

// A chain of clips follows a recording. Components are asked for with the values of the recording
// plus an addition. Legs cannot take steps of another length than recorded ones, so nothing is
// added to the step component. Instead the chain jumps to a clip with other steps, the one that
// continues the motion best.
const (
	nextNamed  = 0.7 // share of chains that ask for the named components except the lead; the others ask for any
	nextHeld   = 0.3 // chance that one of the others asks for a component
	nextOther  = 0.6 // share of chains with additions
	nextChange = 0.3 // chance that the additions change with the next clip
	nextWide   = 1.2 // deviation of an addition
	nextLength = 6   // most clips of a chain, with the first one
	nextJump   = 0.3 // chance of a jump
	nextNear   = 0.2 // largest distance between the steps of the clip after a jump and the wanted ones, in deviations
	nextLooks  = 10  // frames between those that are compared for a jump
)

// check reports the first field that is out of range.
func (m *Next) check() error {
	switch {
	case m.Latent == nil:
		return errors.New("recipes: the latent space is missing")
	case min(m.Hidden[0], m.Hidden[1]) < 1 || max(m.Hidden[0], m.Hidden[1]) > 1<<12:
		return fmt.Errorf("recipes: layers of %d and %d units, want 1 to 4096", m.Hidden[0], m.Hidden[1])
	case m.Train.Length != latent.Frames || m.Train.Margin != 0:
		return fmt.Errorf("recipes: windows of %d frames with margins of %d, want %d without margins",
			m.Train.Length, m.Train.Margin, latent.Frames)
	case len(m.HeldOut.Windows) == 0:
		return errNoneHeldOut
	}
	return nil
}

// Run trains and writes the model.
func (m *Next) Run(ctx context.Context) (*train.Report, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	l, err := newNextLoss(m)
	if err != nil {
		return nil, err
	}
	job := &train.Job{Params: l.net.params(), Loss: l.loss}
	return m.train(ctx, m.windows(), m.recipe(), job, func(best trained) (*netruntime.Net, error) { return m.model(l.net, best) })
}

// recipe returns the beginning of the checkpoint key.
func (m *Next) recipe() []any {
	return []any{fields{"network": "next"}, fields{"latent": netHash(m.Latent)}, m, fields{"epochs": m.Epochs}}
}

// nextLoss computes the loss of the network.
type nextLoss struct {
	m       *Next
	model   *latent.Model
	net     convNet
	decoder *latentNet     // with fixed weights
	toZ     [2]*grad.Param // from components to latent values
	named   []bool         // components that most chains ask for
	sets    [2]chains      // training, held out
	overlap []float32      // (Overlap) weights of the frames' errors; their mean is 1
}

// chains are the clips of recordings in their order.
type chains struct {
	components []float32 // (clips, values)
	after      []int32   // (clips) the clip that begins with this one's second half, or −1
	begins     []int32   // clips that have a clip after them
	values     int
	step       int       // index of the component for the length of steps, or −1
	looks      int       // values of a row of start and end
	start, end []float32 // (clips, looks) joints in the body's frame at the start of a clip, and at the wanted start of the next
}

func newChains(model *latent.Model, set *dataset.MotionSet, workers int) (c chains, err error) {
	index := map[dataset.Window]int32{}
	for i, w := range set.Windows {
		index[w] = int32(i)
	}
	c.after = make([]int32, len(set.Windows))
	for i, w := range set.Windows {
		w.From += latent.Frames - latent.Overlap
		if next, ok := index[w]; ok {
			c.after[i], c.begins = next, append(c.begins, int32(i))
		} else {
			c.after[i] = -1
		}
	}
	if len(c.begins) == 0 {
		return c, fmt.Errorf("recipes: no recording of %d frames goes on from clip to clip: want longer recordings, and windows at a distance of which %d frames are a multiple",
			2*latent.Frames-latent.Overlap, latent.Frames-latent.Overlap)
	}
	z, rows, err := EncodeClips(model, set, workers)
	if err != nil {
		return c, err
	}
	v := model.Values
	c.values, c.step = v, model.Components.Index("step")
	look := func(to, clip []float32, from int) []float32 {
		cols := model.Layout.Columns()
		for f := from; f < from+latent.Overlap; f += nextLooks {
			to = append(to, clip[f*cols:][:model.Layout.Body()]...)
		}
		return to
	}
	for _, clip := range rows {
		c.start, c.end = look(c.start, clip, 0), look(c.end, clip, latent.Frames-latent.Overlap)
	}
	c.looks = len(c.start) / len(rows)
	c.components = make([]float32, len(set.Windows)*v)
	at := make([]float32, v)
	for i := range set.Windows {
		for k := range at {
			at[k] = float32(z.At(i, k))
		}
		model.Components.FromLatent(c.components[i*v:][:v], at)
	}
	return c, nil
}

// like returns the clip that continues clip best, among those with about the steps of other.
func (c *chains) like(clip, other int32) int32 {
	want, best, least := c.components[int(other)*c.values+c.step], other, float32(math.Inf(1))
	end := c.end[int(clip)*c.looks:][:c.looks]
	for i := range c.after {
		if m3.Abs(c.components[i*c.values+c.step]-want) > nextNear {
			continue
		}
		sum := float32(0)
		for k, v := range c.start[i*c.looks:][:c.looks] {
			sum += (v - end[k]) * (v - end[k])
		}
		if sum < least {
			best, least = int32(i), sum
		}
	}
	return best
}

func newNextLoss(m *Next) (*nextLoss, error) {
	model, err := latent.NewModel(m.Latent)
	if err != nil {
		return nil, err
	}
	if got, want := m.Train.Layout.Hash(), model.Layout.Hash(); got != want {
		return nil, fmt.Errorf("recipes: the recordings' frames have schema %s, the latent space's %s", got, want)
	}
	v := model.Values
	if v > latent.MaxSliders {
		return nil, fmt.Errorf("recipes: latent space %q has %d values, want at most the %d of latent.Sliders",
			m.Latent.Meta().Name, v, latent.MaxSliders)
	}
	l := &nextLoss{m: m, model: model, named: model.Components.Controllable(),
		net: newConvNet([]int{3 * v, m.Hidden[0], m.Hidden[1], v}, []int{1, 1, 1}, m.Seed).named("next")}
	if l.decoder, err = frozenDecoder(model); err != nil {
		return nil, err
	}
	c := model.Components
	l.toZ = [2]*grad.Param{grad.NewParam("steps", v, v), grad.NewParam("mean", 1, v)}
	copy(l.toZ[1].Val, c.Mean)
	for k, step := range c.Steps {
		for i, s := range step {
			l.toZ[0].Val[i*v+k] = s
		}
	}
	l.toZ[0].Frozen, l.toZ[1].Frozen = true, true
	total := float32(0)
	for i := range latent.Overlap {
		l.overlap = append(l.overlap, latent.OverlapWeight(i))
		total += l.overlap[i]
	}
	for i := range l.overlap {
		l.overlap[i] *= latent.Overlap / total
	}
	for i, set := range []*dataset.MotionSet{m.Train, m.HeldOut} {
		if l.sets[i], err = newChains(model, set, m.Threads); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// chain is a sequence of clips to learn from.
type chain struct {
	set   *chains
	clip  int32     // the recorded one
	left  int       // clips to come
	key   uint64    // draws the chain
	held  []bool    // components that are asked for
	added []float32 // additions to them
}

// chain draws a chain.
func (l *nextLoss) chain(set *chains, row int32, key uint64) *chain {
	v := l.model.Values
	c := &chain{set: set, clip: set.begins[int(row)%len(set.begins)], key: key, held: slices.Clone(l.named), added: make([]float32, v)}
	if share01(grad.Hash(key, 1)) >= nextNamed {
		for k := range c.held {
			c.held[k] = share01(grad.Hash(key, uint64(k+8))) < nextHeld
		}
	}
	c.left = 1 + int((nextLength-1)*share01(grad.Hash(key, 2)))
	if share01(grad.Hash(key, 3)) < nextOther {
		c.add(grad.Hash(key, 4))
	}
	return c
}

// add draws the additions from here on.
func (c *chain) add(key uint64) {
	for k, held := range c.held {
		if c.added[k] = 0; held && k != c.set.step {
			c.added[k] = float32(nextWide * normal(grad.Hash(key, uint64(2*k)), grad.Hash(key, uint64(2*k+1))))
		}
	}
}

// recorded writes the components of the current clip with the additions.
func (c *chain) recorded(to []float32) {
	copy(to, c.set.components[int(c.clip)*len(to):])
	for k, by := range c.added {
		to[k] += by
	}
}

// step advances by a clip and reports whether there was one. It writes the asked components to
// x, behind the components of the clip before, and the clip's components to want.
func (c *chain) step(x, want []float32) bool {
	if c.left == 0 {
		return false
	}
	c.left--
	key := grad.Hash(c.key, uint64(c.left)+1<<32)
	if next := c.set.after[c.clip]; c.set.step >= 0 && c.held[c.set.step] && (next < 0 || share01(grad.Hash(key, 2)) < nextJump) {
		c.clip = c.set.like(c.clip, int32(share01(grad.Hash(key, 3))*float64(len(c.set.after))))
	} else if next < 0 {
		return false
	} else {
		c.clip = next
	}
	if share01(key) < nextChange && share01(grad.Hash(c.key, 3)) < nextOther {
		c.add(grad.Hash(key, 1))
	}
	v := len(want)
	c.recorded(want)
	for k, held := range c.held {
		if x[v+k], x[2*v+k] = 0, 0; held {
			x[v+k], x[2*v+k] = want[k], 1
		}
	}
	return true
}

// forward returns the components of the next clips, (n, values). x, (n, 3·values), holds the
// components of the clips before, the asked ones, and 1 for each that is asked for.
func (l *nextLoss) forward(t *grad.Tape, x *grad.Mat) *grad.Mat {
	v := l.model.Values
	asked, free := t.Const(x.Rows, v), t.Const(x.Rows, v)
	for i := range x.Rows {
		copy(asked.Val[i*v:][:v], x.Val[(3*i+1)*v:])
		for k, h := range x.Val[(3*i+2)*v:][:v] {
			free.Val[i*v+k] = 1 - h
		}
	}
	return t.Add(asked, t.Mul(free, l.net.forward(t, x, 1, 1, 0)))
}

// loss is train.Job.Loss. Only the last clip of each chain counts. The network itself makes the
// clips before it, as at run time.
func (l *nextLoss) loss(t *grad.Tape, rows []int32, isHeldOut bool, key uint64) *grad.Mat {
	v, set := l.model.Values, &l.sets[0]
	if isHeldOut {
		set, key = &l.sets[1], 1 // the same chains in every epoch
	}
	x, want := t.Const(len(rows), 3*v), t.Const(len(rows), v)
	all := make([]*chain, len(rows))
	for i, r := range rows {
		all[i] = l.chain(set, r, grad.Hash(key, uint64(r)))
		row := x.Val[3*i*v:][:3*v]
		all[i].recorded(row[:v])
		all[i].step(row, want.Val[i*v:][:v])
	}
	for range nextLength {
		made := l.forward(t, x)
		more := false
		for i, c := range all {
			row := x.Val[3*i*v:][:3*v]
			if c.step(row, want.Val[i*v:][:v]) {
				copy(row[:v], made.Val[i*v:])
				more = true
			}
		}
		if !more {
			break
		}
	}
	before := l.frames(t, t.Columns(x, 0, v))
	next := l.frames(t, l.forward(t, x))
	miss := t.Sub(t.Frames(next, latent.Padded, 0, latent.Frames), t.Frames(l.frames(t, want), latent.Padded, 0, latent.Frames))
	seam := t.Sub(t.Frames(next, latent.Padded, 0, latent.Overlap), t.Frames(before, latent.Padded, latent.Frames-latent.Overlap, latent.Frames))
	weight := t.Const(seam.Rows, seam.Cols)
	for i := range weight.Val {
		weight.Val[i] = l.overlap[i/seam.Cols%latent.Overlap]
	}
	return t.WeightedSum(
		grad.Term{Loss: t.Mean(t.Mul(miss, miss)), Weight: 1},
		grad.Term{Loss: t.Mean(t.Mul(weight, t.Mul(seam, seam))), Weight: float32(l.m.Match)})
}

// frames returns the normalised frames, (clips·Padded, columns), of components.
func (l *nextLoss) frames(t *grad.Tape, components *grad.Mat) *grad.Mat {
	return l.decoder.decode(t, t.Dense(components, l.toZ[0], l.toZ[1]))
}

// model makes the network of the model file.
func (m *Next) model(net convNet, best trained) (*netruntime.Net, error) {
	net = slices.Clone(net)
	net[len(net)-1].name = "y"
	g := &netruntime.Graph{Inputs: []netruntime.Input{{Name: "x", Channels: net[0].in}},
		Nodes: net.nodes("x", "relu", ""), Outputs: []string{"y"}}
	meta, err := m.meta("next", "human-next", best, g, m)
	if err != nil {
		return nil, err
	}
	latent.DescribeNextClip(&meta, m.Latent)
	return netruntime.New(meta, net.tensors(best.weights))
}

// cardFields returns the values of the model card that are not fields of the recipe.
func (m *Next) cardFields() fields { return fields{"Clips": nextLength - 1} }
