package dataset

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/offline/mocap"
)

// recording is one labelled clip before it becomes rows.
type recording struct {
	name     string
	labels   Labels
	weights  []float32
	clip     *skel.Clip
	roots    []feature.Place // (frames); nil: they follow from the pose
	warnings []Warning       // of frames that rows show
}

func readRecordings(dir string, opt Options) ([]recording, error) {
	labels, err := readLabels(dir)
	if err != nil {
		return nil, err
	}
	recs := make([]recording, 0, len(labels))
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		recs = append(recs, recording{name: name, labels: labels[name]})
	}
	return recs, Parallel(opt.Workers, len(recs), func(i int) error { return recs[i].read(dir, opt) })
}

func (r *recording) read(dir string, opt Options) error {
	if r.name == "" || filepath.Base(r.name) != r.name {
		return fmt.Errorf("dataset: %s: %q is not the name of a recording", filepath.Join(dir, LabelsFile), r.name)
	}
	path := filepath.Join(dir, r.name+".bvh")
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return fmt.Errorf("dataset: %s labels recording %q, but there is no %s", filepath.Join(dir, LabelsFile), r.name, path)
	}
	b, err := mocap.OpenBVH(path)
	if err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	r.clip = b.Clip
	if r.clip.FPS != fps {
		return fmt.Errorf("dataset: %s: %.4g frames per second, want %d, in which the labels count", path, r.clip.FPS, fps)
	}
	if r.clip.Frames != r.labels.Frames {
		return fmt.Errorf("dataset: %s has %d frames, its labels in %s are for %d", path, r.clip.Frames, LabelsFile, r.labels.Frames)
	}
	if r.weights, err = r.labels.weights(opt.Layout.Actions, opt.Ramp); err != nil {
		return fmt.Errorf("dataset: %s: %s: %w", filepath.Join(dir, LabelsFile), r.name, err)
	}
	reach := make([]Range, len(r.labels.Train)) // of rows' trajectories, a second to both sides
	for i, t := range r.labels.Train {
		reach[i] = Range{max(t[0]-fps, 0), min(t[1]+fps, r.labels.Frames-1)}
	}
	in := covered(reach, r.labels.Frames)
	r.warnings = fileWarnings(r.name, b.Notes)
	for _, w := range motionWarnings(r.name, mocap.Faults(r.clip, float64(opt.Unit), mocap.Animal)) {
		if in[w.Frame] {
			r.warnings = append(r.warnings, w)
		}
	}
	return nil
}
