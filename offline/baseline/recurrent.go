package baseline

import (
	"errors"
	"fmt"

	"mannequin/netruntime"
)

// Recurrent predicts motion frame by frame with a network of recipes.Recurrent.
type Recurrent struct {
	columns, units, layers int
	session                netruntime.Session
	prefix                 int
	in, out                [][]float32
	y                      []float32
}

// NewRecurrent returns a predictor for prefixes of prefix frames. It runs one motion at a time.
func NewRecurrent(net *netruntime.Net, prefix, workers int) (*Recurrent, error) {
	g := net.Graph()
	if len(g.Inputs) < 3 || len(g.Inputs)%2 == 0 || len(g.Outputs) != len(g.Inputs) {
		return nil, errors.New("baseline: not a recurrent network of frames and states")
	}
	r := &Recurrent{columns: g.Inputs[0].Channels, units: g.Inputs[1].Channels, layers: len(g.Inputs) / 2, prefix: prefix}
	var err error
	if r.session, err = net.NewSession(netruntime.SessionOptions{Batch: 1, Length: prefix, Workers: workers}); err != nil {
		return nil, err
	}
	r.y = make([]float32, prefix*r.columns)
	r.in, r.out = make([][]float32, len(g.Inputs)), make([][]float32, len(g.Inputs))
	for i := 1; i < len(r.in); i++ {
		r.in[i], r.out[i] = make([]float32, r.units), make([]float32, r.units)
	}
	return r, nil
}

// Close stops the workers.
func (r *Recurrent) Close() error { return r.session.Close() }

// Extend implements metrics.Extender for prefixes of at least the given length.
func (r *Recurrent) Extend(rows []float32, n, have, frames int) error {
	if have < r.prefix || frames < have || len(rows) != n*frames*r.columns {
		return fmt.Errorf("baseline: %d motions of %d values, %d of %d frames given: want at least %d", n, len(rows), have, frames, r.prefix)
	}
	for i := range n {
		motion := rows[i*frames*r.columns:][:frames*r.columns]
		for k := 1; k < len(r.in); k++ {
			clear(r.in[k])
		}
		x := motion[(have-r.prefix)*r.columns : have*r.columns]
		for at := have; at < frames; at++ {
			length := len(x) / r.columns
			r.in[0], r.out[0] = x, r.y[:len(x)]
			if err := r.session.RunSequences(r.out, r.in, 1, length); err != nil {
				return err
			}
			x = motion[at*r.columns:][:r.columns]
			copy(x, r.y[(length-1)*r.columns:])
			r.in, r.out = r.out, r.in
		}
	}
	return nil
}
