package recipes

import (
	"fmt"

	"mannequin/netruntime"
)

// load takes the weights of a trained network of the same form. Where its data
// had other means and deviations than those given, the first and last layers
// take up the difference, so that it computes what it did.
func (n *mannNet) load(from *netruntime.Net, xMean, xStd, yMean, yStd []float32) error {
	get := func(name string, want int) ([]float32, error) {
		t, ok := from.Tensor(name)
		if !ok || len(t.Data) != want {
			return nil, fmt.Errorf("recipes: the network to start from has %d values in %q, want %d: train one of the same layout, experts and hidden units", len(t.Data), name, want)
		}
		return t.Data, nil
	}
	var stats [4][]float32
	for i, name := range []string{"x_mean", "x_std", "y_mean", "y_std"} {
		var err error
		if stats[i], err = get(name, len([][]float32{xMean, xStd, yMean, yStd}[i])); err != nil {
			return err
		}
	}
	for i, p := range n.params() {
		d, err := get(p.Name, len(p.Val))
		if err != nil {
			return err
		}
		if l := i - 6; l >= 0 && l%2 == 0 {
			n.setExperts(l/2, d)
		} else {
			copy(p.Val, d)
		}
	}
	// x̂_old = (x̂·std + mean − mean_old) / std_old
	for o := range n.gatingSize[1] {
		w := n.gatingW[0].Val[o*len(n.columns):][:len(n.columns)]
		for i, c := range n.columns {
			n.gatingB[0].Val[o] += w[i] * (xMean[c] - stats[0][c]) / stats[1][c]
			w[i] *= xStd[c] / stats[1][c]
		}
	}
	hidden := n.motionOut[1]
	for k := range n.experts {
		b := n.expertB[0].Val[k*hidden:][:hidden]
		for c := range n.inputs {
			w := n.expertW[0].Val[(k*n.inputs+c)*hidden:][:hidden]
			shift, scale := (xMean[c]-stats[0][c])/stats[1][c], xStd[c]/stats[1][c]
			for o := range w {
				b[o] += w[o] * shift
				w[o] *= scale
			}
		}
		// ŷ = (ŷ_old·std_old + mean_old − mean) / std
		b = n.expertB[2].Val[k*n.outputs:][:n.outputs]
		for o := range n.outputs {
			scale := stats[3][o] / yStd[o]
			b[o] = b[o]*scale + (stats[2][o]-yMean[o])/yStd[o]
			for i := range n.motionOut[2] {
				n.expertW[2].Val[(k*n.motionOut[2]+i)*n.outputs+o] *= scale
			}
		}
	}
	return nil
}

// setExperts is the inverse of expertTensor.
func (n *mannNet) setExperts(l int, w []float32) {
	in, out := n.motionOut[l], n.motionOut[l+1]
	for k := range n.experts {
		dst, src := n.expertW[l].Val[k*in*out:][:in*out], w[k*in*out:][:in*out]
		for i := range in {
			for o := range out {
				dst[i*out+o] = src[o*in+i]
			}
		}
	}
}
