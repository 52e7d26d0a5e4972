package manifold

import (
	"errors"
	"fmt"
	"sync"

	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/skel"
	"mannequin/netruntime"
)

// Names of the values in the autoencoder's graph.
const (
	valueX      = "x"      // frames, raw, (length, columns)
	valueHidden = "hidden" // hidden values, (length/2, units)
	valueY      = "y"      // frames again
)

// Model is a motion manifold. It is immutable and safe to share.
type Model struct {
	Net    *netruntime.Net // the whole autoencoder
	Layout *feature.Motion
	Skel   *skel.Skeleton // of its frames, metres

	Encoder *netruntime.Net // frames → hidden values, at half the frames
	Decoder *netruntime.Net // hidden values → frames
	Units   int             // of hidden values

	name   string
	person *feature.Person
	kernel func() (*netruntime.Net, error)
}

var (
	errZeroModel    = errors.New("manifold: the zero Model has no network: make one with NewModel")
	errZeroNetworks = errors.New("manifold: the zero Networks have no models: make some with NewNetworks")
)

// Rate is the frame rate of motion, per second.
const Rate = generator.TickRate

// Describe writes the metadata that NewModel reads into meta: the layout of frames and their
// skeleton.
func Describe(meta *netruntime.Meta, layout *feature.Motion, sk *skel.Skeleton) error {
	schema, hash, skeleton, err := feature.DescribePerson(layout, sk)
	if err != nil {
		return fmt.Errorf("manifold: %w", err)
	}
	meta.Schema, meta.SchemaHash, meta.Skeleton = schema, hash, skeleton
	return nil
}

// NewModel returns a model of an autoencoder. A *feature.SchemaError lists every difference between
// its metadata, its shapes and this package.
func NewModel(net *netruntime.Net) (*Model, error) {
	meta := net.Meta()
	e := &feature.SchemaError{Package: "manifold", Model: meta.Name}
	differ := func(format string, args ...any) { e.Diff = append(e.Diff, fmt.Sprintf(format, args...)) }
	person, diff := feature.ReadPerson(meta.Schema, meta.SchemaHash, meta.Skeleton)
	if person == nil {
		e.Diff = diff
		return nil, e
	}
	m := &Model{Net: net, name: meta.Name, Layout: person.Layout, Skel: person.Skel, person: person}
	var err error
	if m.Encoder, err = net.Part([]string{valueX}, []string{valueHidden}); err != nil {
		differ("it has no encoder: %v", err)
	} else if m.Encoder.Inputs() != m.Layout.Columns() {
		differ("its encoder takes %d values per frame, its schema has %d", m.Encoder.Inputs(), m.Layout.Columns())
	} else {
		m.Units = m.Encoder.Outputs()
	}
	if m.Decoder, err = net.Part([]string{valueHidden}, []string{valueY}); err != nil {
		differ("it has no decoder: %v", err)
	} else if m.Decoder.Outputs() != m.Layout.Columns() {
		differ("its decoder returns %d values per frame, its schema has %d", m.Decoder.Outputs(), m.Layout.Columns())
	}
	for _, v := range []struct {
		name string
		per  int // frames for each of its own
	}{{valueX, 1}, {valueHidden, 2}, {valueY, 1}} {
		if n, err := net.Graph().Length(v.name, 4); err != nil || n != 4/v.per {
			differ("its value %q does not have one frame for %d input frames", v.name, v.per)
		}
	}
	if len(e.Diff) > 0 {
		return nil, e
	}
	m.kernel = sync.OnceValues(func() (*netruntime.Net, error) { return newKernel(m.Decoder) })
	return m, nil
}

// Normalisation returns the mean and the deviation of each column with which the networks
// normalise.
func (m *Model) Normalisation() (mean, std []float32) {
	if m == nil || m.Net == nil {
		return nil, nil
	}
	a, _ := m.Net.Tensor("mean")
	b, _ := m.Net.Tensor("std")
	return a.Data, b.Data
}

// KeyKind is the extra metadata key for the kind of parameters from which a network makes motion;
// see Columns.
const KeyKind = "kind"

// KeyLags is the extra metadata key of a footstep network for the phase by which each contact
// follows the first, a JSON list in radians.
const KeyLags = "lags"

// Columns returns the columns of a frame that are the parameters of a kind of motion. "locomotion"
// has the body's motion and the contacts, "punch" the positions of the hands, "kick" those of the
// joints with contacts.
func (m *Model) Columns(kind string) ([]int, error) {
	var cols []int
	joint := func(name string) error {
		j := m.Layout.Joint(name)
		if j < 0 {
			return fmt.Errorf("manifold: a %s needs a joint %q, which model %q lacks", kind, name, m.Net.Meta().Name)
		}
		cols = append(cols, m.Layout.Pos(j), m.Layout.Pos(j)+1, m.Layout.Pos(j)+2)
		return nil
	}
	switch kind {
	case "locomotion":
		for c := m.Layout.Body(); c < m.Layout.Columns(); c++ {
			cols = append(cols, c)
		}
		return cols, nil
	case "punch":
		err := errors.Join(joint("LeftHand"), joint("RightHand"))
		return cols, err
	case "kick":
		for _, c := range m.Layout.Contacts {
			if err := joint(c.Joint); err != nil {
				return nil, err
			}
		}
		return cols, nil
	}
	return nil, fmt.Errorf("manifold: unknown kind of motion %q: want locomotion, punch or kick", kind)
}

// Bones returns the bones between the layout's joints with a constant length.
func (m *Model) Bones() []feature.Bone {
	if m == nil {
		return nil
	}
	return m.person.Bones()
}

// Clip returns rows, (frames, Layout.Columns()) at fps frames per second, as a clip of the model's
// skeleton. Its first frame stands at start. Clip fails if a value is not finite.
func (m *Model) Clip(rows []float32, fps float64, start feature.Place) (*skel.Clip, error) {
	if m == nil {
		return nil, errZeroModel
	}
	return m.person.Clip(rows, fps, start)
}
