package keypose

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// Rate is the frame rate of the network. Motion may have twice as many frames.
const Rate = 30

// Feet is the number of contacts that the network predicts: the left foot, the right foot.
const Feet = 2

// Model is an in-betweening network. It is immutable and safe to share.
type Model struct {
	Net    *netruntime.Net
	Layout *Layout
}

var (
	errZeroModel  = errors.New("keypose: the zero Model has no network: make one with NewModel")
	errZeroLayout = errors.New("keypose: the zero Layout has no joints: make one with NewLayout")
)

// schema describes the columns in a model file.
type schema struct {
	Rate    int      `json:"rate"`
	Joints  []string `json:"joints"` // whose rotations can be keyed, the root first
	Inputs  int      `json:"inputs"`
	Columns int      `json:"columns"` // of the correction
	Feet    int      `json:"feet"`
}

func (l *Layout) schema() ([]byte, string, error) {
	s := schema{Rate: Rate, Inputs: l.Inputs(), Columns: l.Columns(), Feet: Feet}
	for _, j := range l.Joints {
		s.Joints = append(s.Joints, l.Skel.Names[j])
	}
	text, err := json.Marshal(s)
	return text, schemaHash(text), err
}

// Describe writes the metadata that NewModel reads into meta: the columns, and the skeleton.
func Describe(meta *netruntime.Meta, sk *skel.Skeleton) error {
	l, err := NewLayout(sk)
	if err != nil {
		return err
	}
	text, _, err := l.schema()
	if err != nil {
		return fmt.Errorf("keypose: schema: %w", err)
	}
	return describe(meta, text, sk)
}

// describe writes a schema and a skeleton into meta.
func describe(meta *netruntime.Meta, schema []byte, sk *skel.Skeleton) error {
	skeleton, err := json.Marshal(sk)
	if err != nil {
		return fmt.Errorf("keypose: skeleton: %w", err)
	}
	meta.Schema, meta.SchemaHash, meta.Skeleton = string(schema), schemaHash(schema), string(skeleton)
	return nil
}

func schemaHash(text []byte) string {
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:8])
}

// NewModel returns a model of a network. A *feature.SchemaError lists every difference between its
// metadata, its shapes and this package.
func NewModel(net *netruntime.Net) (*Model, error) {
	meta := net.Meta()
	e := &feature.SchemaError{Package: "keypose", Model: meta.Name}
	differ := func(format string, args ...any) { e.Diff = append(e.Diff, fmt.Sprintf(format, args...)) }
	sk := new(skel.Skeleton)
	if err := json.Unmarshal([]byte(meta.Skeleton), sk); err != nil {
		differ("its skeleton cannot be read: %v", err)
		return nil, e
	}
	l, err := NewLayout(sk)
	if err != nil {
		differ("%v", err)
		return nil, e
	}
	text, hash, err := l.schema()
	if err != nil {
		return nil, fmt.Errorf("keypose: schema: %w", err)
	}
	if meta.SchemaHash != hash || meta.Schema != string(text) {
		differ("its schema is %.60q…, hash %q, this program's %.60q…, hash %q", meta.Schema, meta.SchemaHash, text, hash)
	}
	if net.Inputs() != l.Inputs() {
		differ("it takes %d values per frame, want %d", net.Inputs(), l.Inputs())
	}
	if net.Outputs() != l.Columns()+Feet {
		differ("it returns %d values per frame, want %d", net.Outputs(), l.Columns()+Feet)
	}
	if len(e.Diff) > 0 {
		return nil, e
	}
	return &Model{Net: net, Layout: l}, nil
}

// A segment is what the network sees at a time. Its frames are as in the whole motion except for
// margins, the reach of the filters.
const (
	segment = 160 // network frames
	margin  = 32
)

// Inbetweener makes motion between keys. It belongs to one goroutine.
type Inbetweener struct {
	model   *Model
	encoder *InputEncoder
	session netruntime.Session
	run     netruntime.Sequences
	read    []float32 // (network frames, inputs)
	all     []float32 // (network frames, columns + Feet)
	raw     []float32 // (frames, columns)
	pinned  []float32
	x, y    []float32 // of a segment
	smooth  smoother
}

// Layout returns the layout of its keys.
func (m *Inbetweener) Layout() *Layout {
	if m.model == nil {
		return nil
	}
	return m.model.Layout
}

// InbetweenerOptions are the options of NewInbetweener.
type InbetweenerOptions struct {
	Workers int               // goroutines; 0: 1
	Open    netruntime.Opener // opens sessions; nil: on the CPU
}

// NewInbetweener returns an in-betweener.
func (m *Model) NewInbetweener(o InbetweenerOptions) (*Inbetweener, error) {
	if m.Net == nil {
		return nil, errZeroModel
	}
	s, err := o.Open.Session(m.Net, netruntime.SessionOptions{Batch: 1, Length: segment, Workers: max(o.Workers, 1)})
	if err != nil {
		return nil, err
	}
	return &Inbetweener{model: m, encoder: m.Layout.NewInputEncoder(), session: s,
		x: make([]float32, segment*m.Layout.Inputs()), y: make([]float32, segment*(m.Layout.Columns()+Feet))}, nil
}

// Close stops its workers.
func (m *Inbetweener) Close() error {
	if m.session == nil {
		return nil
	}
	return m.session.Close()
}

// Fill fills a track at Rate or twice Rate frames per second with motion between its keys, in
// place. Keys of weight 1 stay exactly. stand, (Frames, Feet), if not nil, receives the probability
// of each foot's contact. Fill fails if the motion is not finite, or if no frame has a key of the
// path.
func (m *Inbetweener) Fill(t *Track, stand []float32) error {
	step := int(t.FPS+0.5) / Rate
	if float32(step*Rate) != t.FPS || step < 1 || step > 2 {
		return fmt.Errorf("keypose: a track at %g frames per second, want %d or %d", t.FPS, Rate, 2*Rate)
	}
	if t.Frames < 2 {
		return fmt.Errorf("keypose: a track of %d frames, want at least 2", t.Frames)
	}
	l := m.model.Layout
	if len(t.Weight) != t.Frames*l.Groups() {
		return fmt.Errorf("keypose: a track of another skeleton: %d weights for %d frames of %d groups", len(t.Weight), t.Frames, l.Groups())
	}
	keyed := false
	for i := GroupPath; i < len(t.Weight); i += l.Groups() {
		keyed = keyed || t.Weight[i] > 0
	}
	if !keyed {
		return errors.New("keypose: no frame says where the root is: want one with weight for the path")
	}
	t.Interpolate()
	in, cols := l.Inputs(), l.Columns()
	wide := cols + Feet
	n := (t.Frames + step - 1) / step
	m.read, m.all = grow(m.read, n*in), grow(m.all, n*wide)
	m.raw, m.pinned = grow(m.raw, t.Frames*cols), grow(m.pinned, t.Frames*cols)
	m.encoder.Encode(m.read, t, step)
	for i, v := range m.read {
		if !m3.Finite(v) {
			return fmt.Errorf("keypose: a key is not finite: value %d of the network's input at frame %d is %g", i%in, i/in*step, v)
		}
	}
	if err := m.correct(n); err != nil {
		return err
	}
	t.correct(m.all, step, m.raw, m.pinned, stand)
	m.smooth.run(t)
	return nil
}

// The network makes the mean of the motions that are possible between keys, and its hips bounce less than any
// person's: the less, the further keys are apart. So its correction of the hips' height is scaled.
const (
	bounce     = 1.12 // with keys nearBounce apart and less
	farBounce  = 1.32 // with keys twice as far apart and more
	nearBounce = 0.5  // s
)

// bounceAt returns the scale of the correction of the hips' height in a frame.
func (t *Track) bounceAt(f int) float32 {
	g := f*t.Layout.Groups() + GroupRoot
	if t.Prev[g] < 0 || t.Next[g] < 0 {
		return bounce
	}
	return m3.Lerp(bounce, farBounce, m3.Clamp(float32(t.Next[g]-t.Prev[g])/t.FPS/nearBounce-1, 0, 1))
}

// correct corrects an interpolated track by the network's output for every step-th frame, all,
// (⌈Frames/step⌉, columns + Feet). raw and pinned, (Frames, columns), are scratch. stand, (Frames,
// Feet), may be nil; else it receives the probability of each foot's contact.
func (t *Track) correct(all []float32, step int, raw, pinned, stand []float32) {
	cols, n := t.Layout.Columns(), (t.Frames+step-1)/step
	wide := cols + Feet
	for f := range t.Frames {
		a, b, u := f/step, min((f+step-1)/step, n-1), float32(f%step)/float32(step)
		x, y := all[a*wide:][:wide], all[b*wide:][:wide]
		for c := range cols {
			raw[f*cols+c] = m3.Lerp(x[c], y[c], u)
		}
		for c := range Feet {
			if stand != nil {
				stand[f*Feet+c] = m3.Clamp(m3.Lerp(x[cols+c], y[cols+c], u), 0, 1)
			}
		}
	}
	t.pin(pinned, raw)
	for f := range t.Frames {
		pinned[f*cols+colHeight] *= t.bounceAt(f)
	}
	t.applyAll(pinned)
}

// correct runs the network on n frames of m.read, segment by segment, into m.all.
func (m *Inbetweener) correct(n int) error {
	in, wide := m.model.Layout.Inputs(), m.model.Layout.Columns()+Feet
	for from := 0; from < n; {
		first := max(0, (from-margin)/4*4)
		length := min((n-first+3)/4*4, segment)
		have := min(n-first, length)
		copy(m.x, m.read[first*in:][:have*in])
		for f := have; f < length; f++ { // the last frame is held
			copy(m.x[f*in:], m.x[(have-1)*in:have*in])
		}
		if err := m.run.Run(m.session, m.y[:length*wide], m.x[:length*in], 1, length); err != nil {
			return err
		}
		to := first + have
		if to < n {
			to -= margin
		}
		copy(m.all[from*wide:to*wide], m.y[(from-first)*wide:])
		from = to
	}
	return nil
}

func grow[T any](v []T, n int) []T { return slices.Grow(v[:0], n)[:n] }
