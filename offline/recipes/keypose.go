package recipes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"mannequin/animsys/keypose"
	"mannequin/engine/m3"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
	"mannequin/offline/train"
)

// Keypose is the recipe of the network that makes motion between keys, at keypose.Rate frames per
// second: it corrects the interpolation of the keys. The sets must have poses
// (dataset.MotionOptions.Poses).
type Keypose struct {
	Channels [3]int  `json:"channels"` // at full, half and a quarter of the rate
	Keep     float32 `json:"keep"`     // dropout's retention probability, in (0, 1]
	Stretch  float32 `json:"stretch"`  // largest change of tempo, as a share
	Reverse  float32 `json:"reverse"`  // share of the windows that are played backward: few recordings have people walking backward
	Posture  float32 `json:"posture"`  // deviation of the turn of the upper arms in another posture, which half of the windows have, rad

	// Weights in the loss of the mean errors of joint positions in m, of their motion from frame to
	// frame in m, of rotations in rad, and of contacts.
	Places, Motion, Turns, Contacts float32 `json:"-"`

	Start *netruntime.Net `json:"-"` // initial weights and normalisation; nil: they are drawn, and measured

	Training `json:"-"`

	layout *keypose.Layout
}

// DefaultKeypose returns our recipe without data.
func DefaultKeypose() Keypose {
	return Keypose{Channels: [3]int{256, 320, 384}, Keep: 0.85, Stretch: 0.15, Reverse: 0.1, Posture: 0.2,
		Places: 10, Motion: 20, Turns: 1, Contacts: 0.1, Training: Training{
			Jitter: true, ClipNorm: 1, Epochs: 40, Batch: 16, Seed: 1,
			AdamW: train.AdamW{Rate: 1e-3, Decay: 0.02, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
		}}
}

// every is the number of frames of the data in one frame of the network.
const every = dataset.Rate / keypose.Rate

// check reports the first field that is out of range.
func (m *Keypose) check() error {
	if err := checkCounts("channels", 1<<12, m.Channels[:]...); err != nil {
		return err
	}
	switch {
	case !(m.Stretch >= 0 && m.Stretch <= 1):
		return fmt.Errorf("recipes: Stretch is %g, want 0 to 1", m.Stretch)
	case !(m.Reverse >= 0 && m.Reverse <= 1):
		return fmt.Errorf("recipes: Reverse is %g, want a share from 0 to 1", m.Reverse)
	case !(m.Posture >= 0 && m.Posture <= 1):
		return fmt.Errorf("recipes: Posture is %g rad, want 0 to 1", m.Posture)
	case m.Train.Length%(4*every) != 0:
		return fmt.Errorf("recipes: windows of %d frames, want a multiple of %d: the network halves their rate twice",
			m.Train.Length, 4*every)
	case m.Train.Clips[0].Poses == nil:
		return errors.New("recipes: the recordings have no poses: read them with dataset.MotionOptions.Poses")
	}
	return nil
}

// keyed is a batch of keyed tracks below each other: rows = windows·length.
type keyed struct {
	x     *grad.Mat // (rows, inputs)
	want  *grad.Mat // (rows, 3·joints of the tree) positions
	turns *grad.Mat // (rows, columns) the whole correction
	stand *grad.Mat // (rows, feet) contacts
	mask  []float32 // (rows) 1 in frames to learn from
	base  []float32 // (rows, joints of the tree, 4) interpolated rotations
	y     []float32 // (rows) interpolated height of the root
	pins  netruntime.Pins
}

// Run trains and writes the model.
func (m *Keypose) Run(ctx context.Context) (*train.Report, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	var err error
	if m.layout, err = keypose.NewLayout(m.Train.Skeleton); err != nil {
		return nil, err
	}
	batch := m.windows()
	net := newUNet(m.layout.Inputs(), m.Channels, m.layout.Columns()+keypose.Feet, m.Seed)
	var norm *norm
	if m.Start == nil {
		norm = m.normalisation(batch)
	} else if norm, err = net.load(m.Start); err != nil {
		return nil, err
	}
	encoder := m.layout.NewInputEncoder()
	job := &train.Job{
		Params: net.params(),
		Loss: func(t *grad.Tape, rows []int32, isHeldOut bool, key uint64) *grad.Mat {
			if isHeldOut {
				key = 0
			}
			return m.loss(t, net, m.batch(t, batch, encoder, rows, isHeldOut, key), norm, dropout(m.Keep, isHeldOut), key)
		},
	}
	return m.train(ctx, batch, m.recipe(), job, func(best trained) (*netruntime.Net, error) { return m.model(net, norm, best) })
}

// norm holds the mean and the deviation of the inputs, and the deviation of the outputs.
type norm struct{ mean, std, out []float32 }

// normalisation measures norm on a few hundred windows.
func (m *Keypose) normalisation(w *windows) *norm {
	pool := grad.NewPool(1)
	defer pool.Close()
	tape := grad.NewTape(pool)
	encoder := m.layout.NewInputEncoder()
	in, cols := m.layout.Inputs(), m.layout.Columns()
	sum, sq, out := make([]float64, in), make([]float64, in), make([]float64, cols)
	n := 0.0
	const most = 300
	step := max(1, len(m.Train.Windows)/most)
	for i := 0; i < len(m.Train.Windows); i += step {
		tape.Reset()
		k := m.batch(tape, w, encoder, []int32{int32(i)}, false, uint64(i)+1)
		for r, on := range k.mask {
			if on == 0 {
				continue
			}
			n++
			for c, v := range k.x.Val[r*in:][:in] {
				sum[c] += float64(v)
				sq[c] += float64(v) * float64(v)
			}
			for c, v := range k.turns.Val[r*cols:][:cols] {
				out[c] += float64(v) * float64(v)
			}
		}
	}
	deviation := func(square float64) float32 {
		if s := math.Sqrt(max(square, 0)); s > 1e-4 {
			return float32(s)
		}
		return 1
	}
	f := &norm{}
	for c := range sum {
		mean := sum[c] / n
		f.mean, f.std = append(f.mean, float32(mean)), append(f.std, max(deviation(sq[c]/n-mean*mean), 0.02))
	}
	for c := range out {
		s := deviation(out[c] / n)
		if out[c] == 0 {
			s = 1e-3 // a joint that never turns
		}
		f.out = append(f.out, s)
	}
	f.out = append(f.out, slices.Repeat([]float32{1}, keypose.Feet)...)
	return f
}

// batch reads windows, sets keys in some of their frames, and interpolates between the keys.
func (m *Keypose) batch(t *grad.Tape, w *windows, encoder *keypose.InputEncoder, rows []int32, isHeldOut bool, key uint64) *keyed {
	l := m.layout
	set := w.set(isHeldOut)
	length, joints, tree := set.Length/every, l.Skel.Len(), len(l.Tree().Parents)
	n := len(rows) * length
	k := &keyed{x: t.Const(n, l.Inputs()), want: t.Const(n, 3*tree), turns: t.Const(n, l.Columns()), stand: t.Const(n, keypose.Feet),
		mask: make([]float32, n), base: make([]float32, n*tree*4), y: make([]float32, n), pins: netruntime.Pins{Group: l.Group()}}
	places := make([]float32, length*3*joints)
	for i, r := range rows {
		at := set.Windows[r]
		clip := &set.Clips[at.Clip]
		from := w.start(r, isHeldOut)
		rng := rand.New(rand.NewPCG(grad.Hash(key, uint64(r)), 7))
		step := float64(every)
		if !isHeldOut {
			step *= math.Exp(math.Log1p(float64(m.Stretch)) * (2*rng.Float64() - 1))
		}
		begin := float64(from)
		if !isHeldOut && rng.Float32() < m.Reverse {
			begin, step = begin+step*float64(length-1), -step
		}
		motion, track := l.NewTrack(length, keypose.Rate), l.NewTrack(length, keypose.Rate)
		motion.SetClip(clip.Poses, begin, step)
		if !isHeldOut && rng.Float32() < 0.5 {
			m.changePosture(motion, rng)
		}
		first, last := keyFrames(track, motion, rng)
		track.Interpolate()
		at0 := i * length
		encoder.Encode(k.x.Val[at0*l.Inputs():], track, 1)
		encoder.Places(places, track, motion)
		track.Correction(k.turns.Val[at0*l.Columns():], motion)
		for f := range length {
			row := at0 + f
			src := int(math.Floor(begin + float64(f)*step + 0.5))
			if f >= first && f <= last && src >= 0 && src < clip.Frames {
				k.mask[row] = 1
			}
			k.y[row] = track.Height[f]
			copy(k.want.Val[row*3*tree:], places[f*3*joints:][:3])
			copy(k.want.Val[row*3*tree+3:], places[f*3*joints:][:3*joints])
			track.Rotations(k.base[row*tree*4:][:tree*4], f)
			stands(k.stand.Val[row*keypose.Feet:][:keypose.Feet], set, clip, src)
		}
		k.pins.Prev, k.pins.Next = append(k.pins.Prev, track.Prev...), append(k.pins.Next, track.Next...)
		k.pins.U, k.pins.Weight = append(k.pins.U, track.Between...), append(k.pins.Weight, track.Weight...)
	}
	return k
}

// postures are the joints that another posture turns, with the share of the upper arms' turn.
var postures = []struct {
	joint string
	share float32
}{
	{"LowerBack", 0.25}, {"Spine", 0.25}, {"Spine1", 0.25}, {"Neck", 0.25}, {"Neck1", 0.25}, {"Head", 0.5},
	{"LeftShoulder", 0.25}, {"LeftArm", 1}, {"LeftForeArm", 0.75},
	{"RightShoulder", 0.25}, {"RightArm", 1}, {"RightForeArm", 0.75},
}

// changePosture turns joints of the trunk and the arms by one angle throughout the motion: other
// people hold themselves otherwise, and do the same.
func (m *Keypose) changePosture(motion *keypose.Track, rng *rand.Rand) {
	n := len(m.layout.Joints)
	for _, p := range postures {
		by := m.Posture * p.share
		turn := m3.FromRotationVector(m3.V(by*float32(rng.NormFloat64()), by*float32(rng.NormFloat64()), by*float32(rng.NormFloat64())))
		i := slices.IndexFunc(m.layout.Joints, func(j int16) bool { return m.layout.Skel.Names[j] == p.joint })
		if i < 0 {
			continue
		}
		for f := range motion.Frames {
			motion.Rot[f*n+i] = turn.Mul(motion.Rot[f*n+i])
		}
	}
}

// stands writes which feet stand in a frame, on heel or toe.
func stands(out []float32, set *dataset.MotionSet, clip *dataset.MotionClip, frame int) {
	f := min(max(frame, 0), clip.Frames-1)
	cols := set.Layout.Columns()
	per := len(set.Layout.Contacts) / keypose.Feet
	for i := range out {
		out[i] = 0
		for c := range per {
			out[i] = max(out[i], clip.Rows[f*cols+set.Layout.Contact(i*per+c)])
		}
	}
}

// loss compares the network's motion with the recordings.
func (m *Keypose) loss(t *grad.Tape, net *unet, k *keyed, f *norm, keep float32, key uint64) *grad.Mat {
	l := m.layout
	length := m.Train.Length / every
	cols, tree := l.Columns(), l.Tree()
	for i, v := range k.x.Val {
		c := i % k.x.Cols
		k.x.Val[i] = m3.Clamp((v-f.mean[c])/f.std[c], -8, 8)
	}
	y := t.Affine(net.forward(t, k.x, length, keep, key), f.out, nil)
	correction := t.Pin(t.Columns(y, 0, cols), length, &k.pins)
	none := t.Const(k.x.Rows, 1)
	clear(none.Val)
	turned := t.FK(t.Gather(t.Concat(correction, none), tree.Turns), k.base, grad.Skeleton{Parents: tree.Parents, Offsets: tree.Offsets})
	height := t.Const(k.x.Rows, turned.Cols)
	clear(height.Val)
	for at := 1; at < len(height.Val); at += 3 {
		height.Val[at] = k.y[at/height.Cols]
	}
	places := t.Add(t.Add(turned, height), t.Gather(correction, tree.Moves))
	feet := make([]float32, turned.Cols) // weights of the coordinates
	for j, p := range tree.Parents {
		w := float32(1)
		if p > 0 && strings.Contains(l.Skel.Names[j-1], "Foot") || p > 0 && strings.Contains(l.Skel.Names[j-1], "Toe") {
			w = feetWeight
		}
		feet[3*j], feet[3*j+1], feet[3*j+2] = w, w, w
	}
	mean := func(x *grad.Mat, mask, weights []float32) *grad.Mat { // of the magnitudes with mask 1
		on, kept := t.Const(x.Rows, x.Cols), float32(0)
		for r, v := range mask {
			kept += v
			for c := range x.Cols {
				on.Val[r*x.Cols+c] = v
				if weights != nil {
					on.Val[r*x.Cols+c] = v * weights[c]
				}
			}
		}
		return t.Scale(t.SumAbs(t.Mul(x, on)), 1/max(1, kept*float32(x.Cols)))
	}
	miss := t.Sub(places, k.want)
	var moving []float32 // 1 if a frame and the one before count
	for r := range k.mask {
		if r%length > 0 {
			moving = append(moving, k.mask[r]*k.mask[r-1])
		}
	}
	return t.WeightedSum(
		grad.Term{Loss: mean(miss, k.mask, feet), Weight: m.Places},
		grad.Term{Loss: mean(t.Diff(miss, length), moving, feet), Weight: m.Motion},
		grad.Term{Loss: mean(t.Sub(correction, k.turns), k.mask, nil), Weight: m.Turns},
		grad.Term{Loss: mean(t.Sub(t.Columns(y, cols, cols+keypose.Feet), k.stand), k.mask, nil), Weight: m.Contacts})
}

// feetWeight is the weight of a foot's places and motion in the loss; other joints weigh 1.
const feetWeight = 2

// recipe returns the beginning of the checkpoint key.
func (m *Keypose) recipe() []any {
	parts := []any{fields{"network": "keypose"}, m,
		fields{"loss": [4]float32{m.Places, m.Motion, m.Turns, m.Contacts}}, fields{"jitter": m.Jitter}, fields{"feet": feetWeight}}
	if m.Start != nil {
		parts = append(parts, fields{"start": netHash(m.Start)})
	}
	return parts
}

// model makes the network of the model file.
func (m *Keypose) model(net *unet, f *norm, best trained) (*netruntime.Net, error) {
	meta, err := m.meta("keypose", "human-keypose", best, pipeline(len(f.mean), nil, net.nodes("normalised", "correction")...), m)
	if err != nil {
		return nil, err
	}
	if err := keypose.Describe(&meta, m.Train.Skeleton); err != nil {
		return nil, err
	}
	return netruntime.New(meta, slices.Concat(normTensors("normalised.", f.mean, f.std),
		normTensors("y.", make([]float32, len(f.out)), f.out), net.tensors(best.weights)))
}

// cardFields returns the values of the model card that are not fields of the recipe.
func (m *Keypose) cardFields() fields {
	return fields{"Feet": feetWeight, "Started": m.Start != nil, "Full": keypose.Rate, "Half": keypose.Rate / 2, "Quarter": keypose.Rate / 4, "Frames": m.Train.Length / every}
}
