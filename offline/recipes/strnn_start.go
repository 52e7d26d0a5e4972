package recipes

import (
	"fmt"

	"mannequin/animsys/strnn"
)

// load sets the weights of net, and the sets' normalisation, to those of the network to start from,
// and returns its linear filters. Weights that only a network with manners has stay as they are.
// Those of inputs that it lacks become 0, so that it predicts the same at first.
func (m *STRNN) load(net *strnnNet) (*strnn.Linear, error) {
	was, err := strnn.NewModel(m.Start)
	if err != nil {
		return nil, err
	}
	if was.Layout.Hash() != m.Train.Layout.Hash() || was.Encode != m.Encode || was.Predict != m.Predict || was.Latent != m.Latent || (was.Linear != nil) != m.Linear {
		return nil, fmt.Errorf("recipes: the network to start from predicts %d frames from %d with %d latent values and linear filters: %t, want the same layout, %d, %d, %d and %t",
			was.Predict, was.Encode, was.Latent, was.Linear != nil, m.Predict, m.Encode, m.Latent, m.Linear)
	}
	norm := [2][]float32{}
	for i, name := range []string{"mean", "std"} {
		w, _ := m.Start.Tensor(name)
		if len(w.Data) != m.Train.Layout.Columns() {
			return nil, fmt.Errorf("recipes: the network to start from has %d values in %q, want %d", len(w.Data), name, m.Train.Layout.Columns())
		}
		norm[i] = w.Data
	}
	m.Train.Mean, m.Train.Std, m.HeldOut.Mean, m.HeldOut.Std = norm[0], norm[1], norm[0], norm[1]
	for _, p := range net.temporal() {
		w, ok := m.Start.Tensor(p.Name)
		if added := m.Manner - was.Manner; ok && added > 0 && len(w.Data) == p.Rows*(p.Cols-added) {
			after := p.Cols - added // columns before the added ones
			if p == net.lstm[2].wx {
				after = m.Latent + was.Manner
			}
			w.Data = widened(w.Data, p.Rows, after, added)
		}
		switch {
		case !ok && was.Manner == 0 && (p == net.manner.w || p == net.manner.b):
		case len(w.Data) != len(p.Val):
			return nil, fmt.Errorf("recipes: the network to start from has %d values in %q, want %d: train one of the same units", len(w.Data), p.Name, len(p.Val))
		default:
			copy(p.Val, w.Data)
		}
	}
	return was.Linear, net.filter.copyTensors(m.Start)
}

// widened returns the rows of w with more columns of zeros after some.
func widened(w []float32, rows, after, more int) []float32 {
	cols := len(w) / rows
	out := make([]float32, rows*(cols+more))
	for r := range rows {
		from, to := w[r*cols:][:cols], out[r*(cols+more):]
		copy(to, from[:after])
		copy(to[after+more:], from[after:])
	}
	return out
}
