package strnn

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mannequin/offline/dataset"
	"mannequin/offline/metrics"
	"mannequin/offline/retarget"
)

// h36mSubject is the usual test subject.
const h36mSubject = "S5"

// H36M is the error of predictions of an action of Human3.6M.
type H36M struct {
	Action     string     `json:"action"`
	Recordings []string   `json:"recordings"`
	Forecast   []Forecast `json:"forecast"` // standing still, rivals, parts, and the model, last
	set        *dataset.MotionSet
}

// openH36M reads the subject's recordings, by actions: S5_walking_2.txt shows walking.
func (r *Report) openH36M() error {
	if r.opt.H36m == "" {
		return nil
	}
	files, err := os.ReadDir(r.opt.H36m) // sorted
	if err != nil {
		return fmt.Errorf("--h36m: %w", err)
	}
	paths := map[string][]string{}
	for _, f := range files {
		name, isText := strings.CutSuffix(f.Name(), ".txt")
		of, ok := strings.CutPrefix(name, h36mSubject+"_")
		if f.IsDir() || !isText || !ok {
			continue
		}
		action := strings.TrimRight(of, "_0123456789")
		if paths[action] == nil {
			r.H36M = append(r.H36M, H36M{Action: action})
		}
		paths[action] = append(paths[action], filepath.Join(r.opt.H36m, f.Name()))
		h := &r.H36M[slices.IndexFunc(r.H36M, func(h H36M) bool { return h.Action == action })]
		h.Recordings = append(h.Recordings, name)
	}
	if len(r.H36M) == 0 {
		return fmt.Errorf("--h36m %s: no %s_*.txt, recordings of Human3.6M's exponential maps: unpack them there", r.opt.H36m, h36mSubject)
	}
	for i := range r.H36M {
		h := &r.H36M[i]
		if h.set, err = dataset.OpenMotion(paths[h.Action], r.model.Layout, retarget.Reading{}, 2, r.opt.Threads); err != nil {
			return fmt.Errorf("--h36m: %w", err)
		}
	}
	return nil
}

// forecastH36M measures predictions of these recordings.
func (r *Report) forecastH36M() (err error) {
	for i := range r.H36M {
		h := &r.H36M[i]
		if h.Forecast, err = r.forecastsOf(h.set); err != nil {
			return err
		}
		if h.Forecast[len(h.Forecast)-1].Prefixes == 0 {
			return fmt.Errorf("--h36m: %s: no recording is long enough for %d frames of 30 a second and %g s", h.Action, r.model.Encode, metrics.Horizons[len(metrics.Horizons)-1])
		}
	}
	return nil
}
