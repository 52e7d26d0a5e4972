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
	KeySpace = "latent" // which latent space it goes with
)

// space identifies a latent space by its components.
func space(meta netruntime.Meta) string {
	h := sha256.Sum256([]byte(meta.Extra[KeyComponents]))
	return hex.EncodeToString(h[:16])
}

// DescribeNextClip writes into meta what NewNextClip reads, of the latent space of whose clips
// the network tells how they go on.
func DescribeNextClip(meta *netruntime.Meta, of *netruntime.Net) {
	if meta.Extra == nil {
		meta.Extra = map[string]string{}
	}
	meta.Extra[KeyNext], meta.Extra[KeySpace] = "1", space(of.Meta())
}

// Next tells how clips go on: which one begins as the one before ends, and is what it
// is asked to be. Coder.Append searches for it; here a network has learnt it. It
// belongs to one goroutine; Run allocates nothing.
type NextClip struct {
	values, batch int
	session       netruntime.Session
	x             []float32 // (batch, nextInput·values)
	in, out       [1][]float32
}

// nextInput times the values are the network's inputs: the components of the clip
// before; those that are asked for, 0 where they are free; 1 where they are asked for.
const nextInput = 3

// NewNextClip returns what a network tells of m's clips.
func (m *Model) NewNextClip(net *netruntime.Net, o CoderOptions) (*NextClip, error) {
	if net == nil {
		return nil, fmt.Errorf("latent: the network that tells how clips go on is missing")
	}
	meta := net.Meta()
	switch {
	case o.Batch < 1 || o.Workers < 1:
		return nil, fmt.Errorf("latent: %d clips at a time on %d workers: want at least one of both", o.Batch, o.Workers)
	case meta.Extra[KeyNext] == "":
		return nil, fmt.Errorf("latent: model %q does not tell how clips go on: train one that does with mannequin train next", meta.Name)
	case meta.Extra[KeySpace] != space(m.Net.Meta()):
		return nil, fmt.Errorf("latent: model %q tells how clips of another latent space go on, not those of %q: train one with mannequin train next", meta.Name, m.Net.Meta().Name)
	case m.Values > MaxSliders || net.Inputs() != nextInput*m.Values || net.Outputs() != m.Values:
		return nil, fmt.Errorf("latent: model %q takes %d values and gives %d, want %d and %d, of at most %d", meta.Name, net.Inputs(), net.Outputs(), nextInput*m.Values, m.Values, MaxSliders)
	}
	session, err := o.open()(net, o.session(1))
	if err != nil {
		return nil, err
	}
	return &NextClip{values: m.Values, batch: o.Batch, session: session, x: make([]float32, o.Batch*nextInput*m.Values)}, nil
}

// Close ends its workers.
func (n *NextClip) Close() error { return n.session.Close() }

// Run writes the components of the clips after those of before, (len(asked), values)
// each.
func (n *NextClip) Run(after, before []float32, asked []Sliders) error {
	v, clips := n.values, len(asked)
	if clips > n.batch || len(after) != clips*v || len(before) != clips*v {
		return fmt.Errorf("latent: %d clips after %d with %d askings: want up to %d", len(after)/v, len(before)/v, clips, n.batch)
	}
	for i := range asked {
		x := n.x[i*nextInput*v:][:nextInput*v]
		copy(x, before[i*v:][:v])
		for k := range v {
			if x[v+k], x[2*v+k] = 0, 0; asked[i].asks(k) {
				x[v+k], x[2*v+k] = asked[i].sane(k), 1
			}
		}
	}
	n.in[0], n.out[0] = n.x[:clips*nextInput*v], after
	if err := n.session.RunSequences(n.out[:], n.in[:], clips, 1); err != nil {
		return err
	}
	for i := range asked {
		for k := range v {
			if asked[i].asks(k) {
				after[i*v+k] = asked[i].sane(k)
			}
		}
	}
	return nil
}
