package recipes

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	"mannequin/offline/dataset"
	"mannequin/offline/train"
)

// cardFiles are the templates of the model cards, one for each network, and shared.md.tmpl.
//
//go:embed cards
var cardFiles embed.FS

// card returns the model card of a network. The template sees the recipe as .Recipe, src as
// .Source, k as .Metrics, the names of the held-out recordings as .HeldOut, and the fields that
// the recipe's method cardFields returns, if it has one.
func card(network string, recipe any, src dataset.Source, k modelMetrics, heldOut []string) (string, error) {
	t, err := template.New(network+".md.tmpl").Option("missingkey=error").ParseFS(cardFiles, "cards/shared.md.tmpl", "cards/"+network+".md.tmpl")
	if err != nil {
		return "", fmt.Errorf("recipes: model card: %w", err)
	}
	data := fields{"Recipe": recipe, "Source": src, "Metrics": k, "HeldOut": strings.Join(heldOut, ", ")}
	if more, ok := recipe.(interface{ cardFields() fields }); ok {
		maps.Copy(data, more.cardFields())
	}
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "", fmt.Errorf("recipes: model card: %w", err)
	}
	return b.String(), nil
}

// modelMetrics are the "metrics" metadata of a trained model. They say nothing about time, so
// runs of the same recipe on the same data write the same bytes.
type modelMetrics struct {
	HeldOut       float64 `json:"held_out_loss"`
	HeldOutBefore float64 `json:"held_out_loss_before"`
	Epoch         int     `json:"epoch"` // the best one, whose weights these are
	Rows          int     `json:"training_rows"`
	Visits        int     `json:"visits_per_epoch"`
	HeldOutRows   int     `json:"held_out_rows"`
}

// motionMetrics returns the metrics of a network on windows of motion.
func motionMetrics(set, heldOut *dataset.MotionSet, r *train.Report) modelMetrics {
	frames := func(m *dataset.MotionSet) (n int) {
		for _, c := range m.Clips {
			n += c.Frames
		}
		return n
	}
	return modelMetrics{HeldOut: r.Best, HeldOutBefore: r.Initial, Epoch: r.BestEpoch,
		Rows: frames(set), Visits: len(set.Windows) * (set.Length - 2*set.Margin), HeldOutRows: frames(heldOut)}
}

// unknownLicense is the licence of a model if the folder of its recordings says nothing.
const unknownLicense = "unknown: the terms of the recordings apply"

// sourceOf returns the source that the folder of the recordings describes. If it describes
// none, the dog recordings of the paper's authors are recognised by their file names.
func sourceOf(set *dataset.MANN) dataset.Source {
	if set.Source != nil {
		return *set.Source
	}
	const oneAnimal = "It has seen one animal: other proportions need other recordings."
	recordings := set.Clips[:len(set.Clips)-set.Reversed]
	if slices.ContainsFunc(recordings, func(c string) bool { return !strings.HasPrefix(c, "D1_") || !strings.Contains(c, "_KAN0") }) {
		return dataset.Source{Name: "mann", Data: fmt.Sprintf("%d recordings", len(recordings)), License: unknownLicense, Limits: oneAnimal}
	}
	return dataset.Source{Name: "dog", License: "CC BY-NC 4.0", Limits: oneAnimal,
		Data: fmt.Sprintf("%d motion capture recordings of a dog, published with Zhang, Starke, Komura and Saito, "+
			"Mode-Adaptive Neural Networks for Quadruped Motion Control, 2018", len(recordings))}
}

// free are the sets of recordings whose licence allows any use of weights trained on them.
var free = []struct {
	folder string // prefix of the recordings' names
	data   string
	notice string // to repeat with the weights
}{
	{"cmu-", "the CMU Graphics Lab Motion Capture Database", "The data used in this project was obtained from mocap.cs.cmu.edu. " +
		"The database was created with funding from NSF EIA-0196217."},
	{"human-o3de/", "the Motion Matching sample of O3DE", "Motion Matching sample: copyright (c) Contributors to the Open 3D Engine Project, Apache-2.0 OR MIT; " +
		"its clips were restored from a copy in another format, with fitted leg lengths."},
	{"reactidle/", "ReActIdle", "ReActIdle: MIT License, copyright (c) 2025 RSAIT."},
}

// sourceOfMotion returns the source that the first folder describes. If it describes none,
// free sets are recognised by the names of their folders. name is the model's name then.
func sourceOfMotion(set *dataset.MotionSet, name string) dataset.Source {
	if set.Source != nil {
		return *set.Source
	}
	names := namesOf(set)
	var parts, notices []string
	all := 0
	for _, f := range free {
		n := 0
		for _, name := range names {
			if strings.HasPrefix(name, f.folder) {
				n++
			}
		}
		if n > 0 {
			all += n
			parts, notices = append(parts, fmt.Sprintf("%d motion capture recordings of %s", n, f.data)), append(notices, f.notice)
		}
	}
	if all < len(names) {
		return dataset.Source{Name: name, Data: fmt.Sprintf("%d recordings", len(names)), License: unknownLicense}
	}
	return dataset.Source{Name: name, License: "MIT", Data: strings.Join(parts, ", "), Limits: strings.Join(notices, " ")}
}

// namesOf returns the names of a set's recordings. A recording may be several clips.
func namesOf(set *dataset.MotionSet) (names []string) {
	for _, c := range set.Clips {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}
