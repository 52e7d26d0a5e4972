package inference

import (
	"errors"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"mannequin/netruntime"
)

// Gating is the name of the output that holds the experts' weights, of networks that have them.
const Gating = "gating"

// Port is an input or an output of a network.
type Port struct {
	netruntime.Value
	Name string // in messages
}

// Layout says how a network's inputs and outputs are laid out in messages.
type Layout struct {
	Flat            bool // no operation over time: tensors are (batch, channels), else (batch, length, channels)
	Inputs, Outputs []Port
	Gating          *Port // nil without experts' weights

	values []netruntime.Value
}

// NewLayout returns the layout of n. It is that of exported ONNX models.
func NewLayout(n *netruntime.Net) *Layout {
	g := n.Graph()
	l := &Layout{Flat: true, values: n.Values()}
	byName := map[string]Port{}
	for _, v := range l.values {
		byName[v.Name] = Port{v, v.Name}
	}
	for _, in := range g.Inputs {
		l.Inputs = append(l.Inputs, byName[in.Name])
	}
	for _, name := range g.Outputs {
		l.Outputs = append(l.Outputs, byName[name])
	}
	gates := map[string]bool{}
	for _, node := range g.Nodes {
		switch node.Op {
		case netruntime.OpConv, netruntime.OpMaxPool, netruntime.OpDepool, netruntime.OpLSTM:
			l.Flat = false
		case netruntime.OpBlend:
			gates[node.In[1]] = true
		}
	}
	if len(gates) == 1 && !slices.Contains(g.Outputs, Gating) {
		for name := range gates {
			l.Gating = &Port{byName[name].Value, Gating}
		}
	}
	return l
}

// Runs reports whether a run may have the length: it can be halved as often as the network does.
func (l *Layout) Runs(length int) bool {
	for i := range l.values {
		if l.values[i].Length(length) == 0 {
			return false
		}
	}
	return true
}

// Size returns the number of values of p in a run, or 0 if the run's length cannot be halved as often
// as the network does.
func (p *Port) Size(batch, length int) int { return batch * p.Length(length) * p.Channels }

// Tensor sets t to the values of p in a run.
func (l *Layout) Tensor(t *Tensor, p *Port, batch, length int, values []float32) {
	frames := p.Length(length)
	if l.Flat {
		frames = 0
	}
	t.Set(p.Name, batch, frames, p.Channels, values)
}

// Is reports whether a decoded tensor is p's in a run of the given batch and length.
func (l *Layout) Is(t *Tensor, p *Port, batch, length int) bool {
	var want Tensor
	l.Tensor(&want, p, batch, length, nil)
	return t.Name == p.Name && t.Dims == want.Dims && t.Shape == want.Shape
}

// Shape returns p's shape in metadata, -1 for what a request chooses.
func (l *Layout) Shape(p *Port) []int64 {
	switch {
	case l.Flat:
		return []int64{-1, int64(p.Channels)}
	case p.Once():
		return []int64{-1, 1, int64(p.Channels)}
	}
	return []int64{-1, -1, int64(p.Channels)}
}

// Once reports whether p has one frame in a run of any length.
func (p *Port) Once() bool { return p.Length(1<<20) == 1 }

// MetadataRequest is a ModelMetadataRequest.
type MetadataRequest struct{ Model, Version string }

// Metadata is a ModelMetadataResponse.
type Metadata struct {
	Versions        []string
	Inputs, Outputs []Info
}

// Info is an input or an output in metadata.
type Info struct {
	Name, Type string
	Shape      []int64
}

func (m *Metadata) decode(b []byte) error {
	*m = Metadata{}
	return fields(b, func(field protowire.Number, kind protowire.Type, b []byte, _ uint64) error {
		var version string
		var info Info
		switch {
		case kind != protowire.BytesType:
			return nil
		case len(m.Versions) == MaxTensors || len(m.Inputs) == MaxTensors || len(m.Outputs) == MaxTensors:
			return errors.New("metadata of too many versions, inputs or outputs")
		case field == 2:
			err := text(&version, b)
			m.Versions = append(m.Versions, version)
			return err
		case field == 4:
			err := info.decode(b)
			m.Inputs = append(m.Inputs, info)
			return err
		case field == 5:
			err := info.decode(b)
			m.Outputs = append(m.Outputs, info)
			return err
		}
		return nil
	})
}

func (i *Info) decode(b []byte) error {
	var t Tensor
	var none []byte
	if err := t.decode(b, &none); err != nil {
		return err
	}
	*i = Info{t.Name, t.Type, slices.Clone(t.Shape[:t.Dims])}
	return nil
}

// Fits returns whether a model with this metadata computes a network of layout l, and whether it also
// puts out the experts' weights.
func (m *Metadata) Fits(l *Layout) (ok, gating bool) {
	for _, side := range []struct {
		ports []Port
		infos []Info
	}{{l.Inputs, m.Inputs}, {l.Outputs, m.Outputs}} {
		for i := range side.ports {
			p := &side.ports[i]
			if !slices.ContainsFunc(side.infos, func(in Info) bool { return in.is(l, p) }) {
				return false, false
			}
		}
	}
	if len(m.Inputs) != len(l.Inputs) {
		return false, false
	}
	return true, l.Gating != nil && slices.ContainsFunc(m.Outputs, func(in Info) bool { return in.is(l, l.Gating) })
}

func (i *Info) is(l *Layout, p *Port) bool {
	return i.Name == p.Name && i.Type == FP32 && slices.Equal(i.Shape, l.Shape(p))
}
