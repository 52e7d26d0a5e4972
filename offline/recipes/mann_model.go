package recipes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mannequin/animsys/mann"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
)

// modelMetrics is the "metrics" metadata of a trained model. It says nothing of
// time: runs of the same recipe and data write the same bytes.
type modelMetrics struct {
	HeldOut       float64 `json:"held_out_loss"`
	HeldOutBefore float64 `json:"held_out_loss_before"`
	Epoch         int     `json:"epoch"` // whose weights these are
	Rows          int     `json:"training_rows"`
	Visits        int     `json:"visits_per_epoch"`
	HeldOutRows   int     `json:"held_out_rows"`
}

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
	meta := netruntime.Meta{
		Name: src.Name + suffix(set.Layout.Step()), Arch: "mann", Data: src.Data, License: src.License,
		Card: m.card(src, metrics), Metrics: string(mj), CreatedBy: "mannequin train mann",
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

// unknownLicense is the licence of a model whose recordings nobody has described.
const unknownLicense = "unknown: the terms of the recordings apply"

// oneAnimal is what models of recorded animals have in common.
const oneAnimal = "It has seen one animal: other proportions need other recordings."

// sourceOf returns what the recordings' folder says of itself. Without that it
// recognises the dog recordings of the paper's authors by the names of the
// files. Of others only their owner knows the terms.
func sourceOf(set *dataset.MANN) dataset.Source {
	if s := set.Source; s != nil {
		return *s
	}
	recordings := set.Clips[:len(set.Clips)-set.Reversed]
	for _, c := range recordings {
		if !strings.HasPrefix(c, "D1_") || !strings.Contains(c, "_KAN0") {
			return dataset.Source{Name: "mann", Data: fmt.Sprintf("%d recordings", len(recordings)), License: unknownLicense, Limits: oneAnimal}
		}
	}
	return dataset.Source{Name: "dog",
		Data:    fmt.Sprintf("%d motion capture recordings of a dog, published with Zhang, Starke, Komura and Saito, Mode-Adaptive Neural Networks for Quadruped Motion Control, 2018", len(recordings)),
		License: "CC BY-NC 4.0", Limits: oneAnimal}
}

// card is the model card.
func (m *MANN) card(src dataset.Source, k modelMetrics) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	step := m.Train.Layout.Step()
	p("# %s%s\n\n", src.Name, suffix(step))
	p("A mode-adaptive neural network (Zhang, Starke, Komura and Saito 2018) that drives a quadruped: from the past and wished trajectory, the actions and the pose it predicts the next pose and the motion of the root, %d times per second. ", mann.Rate/step)
	if step > 1 {
		p("It is for those who are far away, whom a network of 60 per second drives nearby. ")
	}
	if m.Train.Layout.Phases {
		p("Beside the pose it carries on a phase of stepping for each paw, by which it chooses among its experts. ")
	}
	p("%d experts, %d hidden units, %d gating units, %d joints, actions %s.\n\n", m.Experts, m.Hidden, m.GatingHidden, len(m.Train.Layout.Joints), strings.Join(m.Train.Layout.Actions, ", "))
	p("## Data and licence\n\nTrained on %s: %d rows, half of them mirrored", src.Data, k.Rows)
	if n := m.Train.Reversed; n > 0 {
		p(", slow walks of %d recordings backward in time among them", n)
	}
	p(". ")
	if k.Visits > k.Rows {
		p("Some gaits are visited more often: an epoch visits %d. ", k.Visits)
	}
	p("Held back from training: %s.\n\nLicence of the weights: %s.", strings.Join(m.HeldOut.Clips, ", "), src.License)
	if src.License == "CC BY-NC 4.0" {
		p(" They follow from recordings under that licence: attribution to the authors, no commercial use.")
	}
	p("\n\n## Training\n\nMean squared error over normalised outputs")
	if m.Ticks > 1 {
		p(", the network going on from its own pose for %d ticks", m.Ticks)
	}
	for _, term := range []struct {
		weight float32
		of     string
	}{{m.Change, "how the pose changes"}, {m.Skate, "how paws slide"}, {m.Bend, "how legs bend"}} {
		if term.weight > 0 {
			p(", plus %g of that of %s", term.weight, term.of)
		}
	}
	if m.Recover > 0 {
		p("; in %g of the steps from where the network had run to by itself, and back", m.Recover)
	}
	if m.Start != nil {
		p("; from a network trained before")
	}
	p("; AdamW (rate %g, normalised decay %g), cosine cycles of the rate, the first of %d epochs", m.AdamW.Rate, m.AdamW.Decay, m.cycles().First+1)
	if m.WarmUp > 0 {
		p(", after a warm-up of %g", m.WarmUp)
	}
	p("; batch %d, dropout retention %g, seed %d. These are the weights after epoch %d, whose held-out loss was the lowest.\n\n", m.Batch, m.Keep, m.Seed, k.Epoch)
	p("## Measures\n\nHeld-out loss %.4f over %d rows; %.4f before training.\n\n", k.HeldOut, k.HeldOutRows, k.HeldOutBefore)
	p("## Limits\n\nThe network sees flat ground only; terrain is the runtime's work. ")
	if src.Limits != "" {
		p("%s ", src.Limits)
	}
	p("Its paws slide a little, which a foot lock or inverse kinematics has to hide.\n")
	return b.String()
}
