package recipes

import (
	"testing"

	"mannequin/offline/train"
)

// Whatever metadata a file has, the comparison with it ends, and a model is not better than itself.
func FuzzEarlier(f *testing.F) {
	f.Add(`{"hidden": 8, "seed": 1}`, `{"held_out": 0.5, "epoch": 3}`)
	f.Add(`{"hidden": {"a": [1, null]}}`, `{"held_out": -1e308}`)
	f.Add(`[`, `{}`)
	f.Fuzz(func(t *testing.T, recipe, metrics string) {
		e := parseEarlier(recipe, "data", metrics)
		if e == nil {
			return
		}
		job := &train.Job{Recipe: recipe, DataHash: "data"}
		if e.better(job, &train.Report{Best: e.metrics.HeldOut}) {
			t.Error("a model is better than one of the same loss")
		}
		if e.better(&train.Job{Recipe: recipe, DataHash: "other"}, &train.Report{Best: e.metrics.HeldOut + 1}) {
			t.Error("a model of other data is better")
		}
	})
}
