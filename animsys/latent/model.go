package latent

import (
	"errors"
	"fmt"

	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/netruntime"
)

// Rate is the frame rate of clips, per second.
const Rate = generator.TickRate

// Lengths in frames.
const (
	Frames = 61 // of a clip
	Padded = 64 // of the networks' input, which is halved three times: the last frame is held
	Coarse = 8  // of the encoder's output
)

// centre is the Coarse frame whose filter covers all of them. Its values are the clip's.
const centre = (Coarse - 1) / 2

// Names of the values in the autoencoder's graph.
const (
	ValueX      = "x"      // frames, raw, (Padded, columns)
	ValueMean   = "mean"   // mean of the latent values, (Coarse, values); frame centre counts
	ValueLogVar = "logvar" // logarithm of their variance, (Coarse, values)
	ValueZ      = "z"      // latent values, (1, values)
	ValueY      = "y"      // decoded frames, (Coarse·8, columns)
)

// Model is a variational autoencoder of clips. It is immutable and safe to share.
type Model struct {
	*feature.Person // the layout of its frames, and the skeleton that they pose

	Net        *netruntime.Net
	Encoder    *netruntime.Net // frames → means and logarithms of the variances of latent values
	Decoder    *netruntime.Net // latent values → frames
	Values     int             // latent values of a clip
	Components *Components

	weight   []float32 // (columns) 1/deviation², which makes errors comparable
	contacts []int     // first column of the position of each contact's joint
}

var errZeroModel = errors.New("latent: the zero Model has no network: make one with NewModel")

// Describe writes the metadata that NewModel reads into meta.
func Describe(meta *netruntime.Meta, p *feature.Person, c *Components) error {
	var err error
	if meta.Schema, meta.SchemaHash, meta.Skeleton, err = feature.DescribePerson(p.Layout, p.Skel); err != nil {
		return fmt.Errorf("latent: %w", err)
	}
	text, err := c.encode()
	if err != nil {
		return fmt.Errorf("latent: components: %w", err)
	}
	if meta.Extra == nil {
		meta.Extra = map[string]string{}
	}
	meta.Extra[KeyComponents] = text
	return nil
}

// NewModel returns a model of an autoencoder. A *feature.SchemaError lists every difference between
// its metadata, its shapes and this package.
func NewModel(net *netruntime.Net) (*Model, error) {
	meta := net.Meta()
	e := &feature.SchemaError{Package: "latent", Model: meta.Name}
	differ := func(format string, args ...any) { e.Diff = append(e.Diff, fmt.Sprintf(format, args...)) }
	m := &Model{Net: net}
	if m.Person, e.Diff = feature.ReadPerson(meta.Schema, meta.SchemaHash, meta.Skeleton); m.Person == nil {
		return nil, e
	}
	var err error
	if m.Encoder, err = net.Part([]string{ValueX}, []string{ValueMean, ValueLogVar}); err != nil {
		differ("it has no encoder: %v", err)
	}
	if m.Decoder, err = net.Part([]string{ValueZ}, []string{ValueY}); err != nil {
		differ("it has no decoder: %v", err)
	}
	if len(e.Diff) > 0 {
		return nil, e
	}
	cols := m.Layout.Columns()
	m.Values = m.Decoder.Inputs()
	for _, v := range []struct {
		part    *netruntime.Net
		name    string
		length  int // of the run
		frames  int
		columns int
	}{
		{m.Encoder, ValueX, Padded, Padded, cols}, {m.Encoder, ValueMean, Padded, Coarse, m.Values}, {m.Encoder, ValueLogVar, Padded, Coarse, m.Values},
		{m.Decoder, ValueY, 1, Padded, cols},
	} {
		n, err := v.part.Graph().Length(v.name, v.length)
		if err != nil {
			differ("%v", err)
			continue
		}
		for _, of := range v.part.Values() {
			if of.Name == v.name && (n != v.frames || of.Channels != v.columns) {
				differ("its value %q has %d frames of %d values, want %d of %d", v.name, n, of.Channels, v.frames, v.columns)
			}
		}
	}
	if m.Components, err = decodeComponents(meta.Extra[KeyComponents], m.Values); err != nil {
		differ("%v", err)
	}
	std, ok := net.Tensor("std")
	if !ok || len(std.Data) != cols {
		differ("it has no tensor \"std\" with the deviation of each of %d columns", cols)
	}
	if len(e.Diff) > 0 {
		return nil, e
	}
	for _, s := range std.Data {
		if s == 0 { // as in the network
			s = 1
		}
		m.weight = append(m.weight, 1/(s*s))
	}
	for _, c := range m.Layout.Contacts {
		m.contacts = append(m.contacts, m.Layout.Pos(m.Layout.Joint(c.Joint)))
	}
	return m, nil
}
