package latent

import (
	"errors"
	"fmt"

	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// Coder encodes, decodes, fits and chains clips. It belongs to one goroutine. It allocates only for
// a larger task than before.
type Coder struct {
	m              *Model
	batch          int
	encode, decode netruntime.Session
	padded         []float32 // (batch, Padded, columns)
	code           [2][]float32
	in, out        [][]float32
	z              []float32 // of decodeComponents
	fitting        fitting
	chaining       chaining
}

// CoderOptions are the options of NewCoder.
type CoderOptions struct {
	Batch   int               // maximum number of clips, at least 1
	Workers int               // goroutines, at least 1
	Open    netruntime.Opener // opens sessions; nil: on the CPU
	BF16    bool              // see netruntime.SessionOptions
}

// NewCoder returns a coder.
func (m *Model) NewCoder(o CoderOptions) (*Coder, error) {
	if m.Net == nil {
		return nil, errZeroModel
	}
	c, err := m.newDecoder(o)
	if err != nil {
		return nil, err
	}
	if c.encode, err = o.Open.Session(m.Encoder, o.session(Padded)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	for i := range c.code {
		c.code[i] = make([]float32, o.Batch*Coarse*m.Values)
	}
	return c, nil
}

// newDecoder returns a coder without an encoder.
func (m *Model) newDecoder(o CoderOptions) (*Coder, error) {
	if o.Batch < 1 || o.Workers < 1 {
		return nil, fmt.Errorf("latent: a coder of %d clips on %d workers: want at least one of both", o.Batch, o.Workers)
	}
	c := &Coder{m: m, batch: o.Batch, in: make([][]float32, 1), out: make([][]float32, 0, 2),
		padded: make([]float32, o.Batch*Padded*m.Layout.Columns())}
	var err error
	if c.decode, err = o.Open.Session(m.Decoder, o.session(1)); err != nil {
		return nil, err
	}
	return c, nil
}

func (o *CoderOptions) session(length int) netruntime.SessionOptions {
	return netruntime.SessionOptions{Batch: o.Batch, Length: length, Workers: o.Workers, BF16: o.BF16}
}

// Close stops the coder's workers.
func (c *Coder) Close() error {
	if c.decode == nil {
		return nil
	}
	err := c.decode.Close()
	if c.encode != nil {
		err = errors.Join(err, c.encode.Close())
	}
	return err
}

// size checks the number of clips and the lengths of their values and rows.
func (c *Coder) size(n, values, rows int) error {
	if c.m == nil {
		return errZeroModel
	}
	m := c.m
	if n < 0 || n > c.batch || values != n*m.Values || rows != n*Frames*m.Layout.Columns() {
		return fmt.Errorf("latent: %d clips with %d latent values and %d values of frames: want up to %d clips with %d and %d each",
			n, values, rows, c.batch, m.Values, Frames*m.Layout.Columns())
	}
	return nil
}

// Encode writes the mean, (n, values), and if not nil the deviation of the latent values of n
// clips, (n, Frames, columns) raw. A clip's result is bit-identical alone or in a batch.
func (c *Coder) Encode(mean, deviation, rows []float32, n int) error {
	if err := c.size(n, len(mean), len(rows)); err != nil {
		return err
	}
	if deviation != nil && len(deviation) != len(mean) {
		return fmt.Errorf("latent: %d deviations of %d latent values", len(deviation), len(mean))
	}
	m := c.m
	cols := m.Layout.Columns()
	for i := range n {
		clip, to := rows[i*Frames*cols:][:Frames*cols], c.padded[i*Padded*cols:][:Padded*cols]
		copy(to, clip)
		for f := Frames; f < Padded; f++ {
			copy(to[f*cols:], clip[(Frames-1)*cols:])
		}
	}
	c.in[0], c.out = c.padded[:n*Padded*cols], append(c.out[:0], c.code[0], c.code[1])
	if err := c.encode.RunSequences(c.out, c.in, n, Padded); err != nil {
		return err
	}
	for i := range n {
		at := (i*Coarse + centre) * m.Values
		copy(mean[i*m.Values:][:m.Values], c.code[0][at:])
		if deviation != nil {
			for k := range m.Values {
				deviation[i*m.Values+k] = float32(m3.Exp64(0.5 * float64(c.code[1][at+k])))
			}
		}
	}
	return nil
}

// Decode writes n clips, (n, Frames, columns) raw, of latent values z, (n, values). A clip's result
// is bit-identical alone or in a batch.
func (c *Coder) Decode(rows, z []float32, n int) error {
	if err := c.size(n, len(z), len(rows)); err != nil {
		return err
	}
	cols := c.m.Layout.Columns()
	c.in[0], c.out = z, append(c.out[:0], c.padded[:n*Padded*cols])
	if err := c.decode.RunSequences(c.out, c.in, n, 1); err != nil {
		return err
	}
	for i := range n {
		copy(rows[i*Frames*cols:][:Frames*cols], c.padded[i*Padded*cols:])
	}
	return nil
}
