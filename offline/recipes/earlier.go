package recipes

import (
	"encoding/json"
	"maps"
	"reflect"

	"mannequin/netruntime"
	"mannequin/offline/train"
)

// earlier is the model that is in a run's output file already.
type earlier struct {
	recipe, dataHash string
	metrics          modelMetrics
}

// openEarlier reads what was trained into a file. It returns nil if there is no trained model.
func openEarlier(path string) *earlier {
	n, err := netruntime.Open(path)
	if err != nil {
		return nil
	}
	meta := n.Meta()
	return parseEarlier(meta.Extra["recipe"], meta.Extra["data_hash"], meta.Metrics)
}

// parseEarlier returns the model with such metadata, or nil if it was not trained.
func parseEarlier(recipe, dataHash, metrics string) *earlier {
	e := &earlier{recipe: recipe, dataHash: dataHash}
	if recipe == "" || json.Unmarshal([]byte(metrics), &e.metrics) != nil {
		return nil
	}
	return e
}

// better reports whether the model has a lower held-out loss than the best weights of a run, if the
// two losses measure the same. A file that a resumed run has written itself is none: if a time limit
// cut an epoch short, it may hold weights of within the epoch, which are not those of a whole run.
func (e *earlier) better(job *train.Job, r *train.Report) bool {
	if e == nil || e.dataHash != job.DataHash || !reflect.DeepEqual(measured(e.recipe), measured(job.Recipe)) {
		return false
	}
	own := r.Resumed > 0 && e.recipe == job.Recipe && e.metrics.Epoch <= r.Epochs+1
	return !own && e.metrics.HeldOut < r.Best
}

// measured returns the parts of a checkpoint key that the held-out loss may depend on: all but those
// that only say how weights are found.
func measured(recipe string) map[string]any {
	var parts map[string]any
	_ = json.Unmarshal([]byte(recipe), &parts) // a file of another make has no parts
	maps.DeleteFunc(parts, func(name string, _ any) bool {
		switch name {
		case "seed", "start", "epochs", "batch", "adamw", "adadelta", "schedule", "warm_up", "clip_norm", "keep", "recover", "jitter":
			return true
		}
		return false
	})
	return parts
}
