package recipes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mannequin/animsys/mann"
	"mannequin/netruntime"
)

// model makes the network that a model file holds.
func (m *MANN) model(net *mannNet, best trained) (*netruntime.Net, error) {
	set := m.Train
	metrics := modelMetrics{HeldOut: best.report.Best, HeldOutBefore: best.report.Initial, Epoch: best.report.BestEpoch,
		Rows: set.Rows, Visits: len(set.Order), HeldOutRows: m.HeldOut.Rows}
	mj, err := json.Marshal(metrics)
	if err != nil {
		return nil, err
	}
	src := sourceOf(set)
	text, err := card("mann", m, src, metrics, m.HeldOut.Clips)
	if err != nil {
		return nil, err
	}
	meta := netruntime.Meta{
		Name: src.Name + suffix(set.Layout.Step()), Arch: "mann", Data: src.Data, License: src.License,
		Card: text, Metrics: string(mj), CreatedBy: "mannequin train mann",
		Extra: map[string]string{"recipe": best.key, "data_hash": best.dataHash},
	}
	if err := mann.Describe(&meta, set.Layout, set.Skeleton, set.RestPose()); err != nil {
		return nil, err
	}
	return netruntime.New(meta, slices.Concat(normTensors("x_", set.XMean, set.XStd), normTensors("y_", set.YMean, set.YStd), net.tensors(best.weights)))
}

// suffix returns what tells a network of a stride by its name.
func suffix(stride int) string {
	if stride == 1 {
		return ""
	}
	return fmt.Sprintf("-stride%d", stride)
}

// tensors returns weights, in the order of params, as a model file holds them.
func (n *mannNet) tensors(weights [][]float32) []netruntime.Tensor {
	var out []netruntime.Tensor
	for i, p := range n.params() {
		t := netruntime.Tensor{Name: p.Name, Shape: []int{p.Rows, p.Cols}, Data: weights[i]}
		if l := slices.Index(n.expertW[:], p); l >= 0 {
			t.Shape, t.Data = []int{n.experts, n.motionOut[l+1], n.motionOut[l]}, n.expertTensor(l, weights[i])
		} else if slices.Contains(n.gatingB[:], p) {
			t.Shape = []int{p.Cols}
		}
		out = append(out, t)
	}
	return out
}

// cardFields returns what the model card says besides the recipe.
func (m *MANN) cardFields() fields {
	l := m.Train.Layout
	return fields{"Suffix": suffix(l.Step()), "Rate": mann.Rate / l.Step(), "Layout": l, "Actions": strings.Join(l.Actions, ", "), "Cycle": m.cycles().First + 1}
}
