package latent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"mannequin/netruntime"
)

// Keys of the extra metadata of a network for NewNextClip.
const (
	KeyNext  = "next"   // "1"
	KeySpace = "latent" // the latent space for which it was trained
)

// space identifies a latent space by its components.
func space(meta netruntime.Meta) string {
	h := sha256.Sum256([]byte(meta.Extra[KeyComponents]))
	return hex.EncodeToString(h[:16])
}

// DescribeNextClip writes the metadata that NewNextClip reads into meta. of is the autoencoder
// whose clips the network continues.
func DescribeNextClip(meta *netruntime.Meta, of *netruntime.Net) {
	if meta.Extra == nil {
		meta.Extra = map[string]string{}
	}
	meta.Extra[KeyNext], meta.Extra[KeySpace] = "1", space(of.Meta())
}

// NextClip predicts the next clip: one that begins as the clip before ends and has the wanted
// components. Coder.Append searches for it, NextClip runs a network trained for it. It belongs to
// one goroutine; Run does not allocate.
type NextClip struct {
	values, batch int
	session       netruntime.Session
	x             []float32 // (batch, nextInput·values)
	run           netruntime.Sequences
}

// inputsPerValue is the number of inputs per latent value: the component of the clip before; the
// wanted one, 0 if free; 1 if wanted.
const inputsPerValue = 3

// NewNextClip returns a predictor of m's next clips.
func (m *Model) NewNextClip(net *netruntime.Net, o CoderOptions) (*NextClip, error) {
	if m.Net == nil {
		return nil, errZeroModel
	}
	if net == nil {
		return nil, fmt.Errorf("latent: the network of next clips is missing")
	}
	meta := net.Meta()
	switch {
	case o.Batch < 1 || o.Workers < 1:
		return nil, fmt.Errorf("latent: %d clips at a time on %d workers: want at least one of both", o.Batch, o.Workers)
	case meta.Extra[KeyNext] == "":
		return nil, fmt.Errorf("latent: model %q does not predict next clips: train one with mannequin train next", meta.Name)
	case meta.Extra[KeySpace] != space(m.Net.Meta()):
		return nil, fmt.Errorf("latent: model %q predicts clips of another latent space than that of %q: train one with mannequin train next",
			meta.Name, m.Net.Meta().Name)
	case m.Values > MaxSliders || net.Inputs() != inputsPerValue*m.Values || net.Outputs() != m.Values:
		return nil, fmt.Errorf("latent: model %q takes %d values and returns %d, want %d and %d, at most %d",
			meta.Name, net.Inputs(), net.Outputs(), inputsPerValue*m.Values, m.Values, MaxSliders)
	}
	session, err := o.Open.Session(net, o.session(1))
	if err != nil {
		return nil, err
	}
	return &NextClip{values: m.Values, batch: o.Batch, session: session, x: make([]float32, o.Batch*inputsPerValue*m.Values)}, nil
}

// Close stops its workers.
func (n *NextClip) Close() error {
	if n.session == nil {
		return nil
	}
	return n.session.Close()
}

// Run writes the components of the clips that follow those of before, (len(wanted), values) each.
func (n *NextClip) Run(after, before []float32, wanted []Sliders) error {
	v, clips := n.values, len(wanted)
	if clips > n.batch || len(after) != clips*v || len(before) != clips*v {
		return fmt.Errorf("latent: %d clips after %d with %d sliders: want equal numbers, up to %d", len(after)/v, len(before)/v, clips, n.batch)
	}
	for i := range wanted {
		x := n.x[i*inputsPerValue*v:][:inputsPerValue*v]
		copy(x, before[i*v:][:v])
		for k := range v {
			if x[v+k], x[2*v+k] = 0, 0; wanted[i].isSet(k) {
				x[v+k], x[2*v+k] = wanted[i].clamped(k), 1
			}
		}
	}
	if err := n.run.Run(n.session, after, n.x[:clips*inputsPerValue*v], clips, 1); err != nil {
		return err
	}
	for i := range wanted {
		for k := range v {
			if wanted[i].isSet(k) {
				after[i*v+k] = wanted[i].clamped(k)
			}
		}
	}
	return nil
}
