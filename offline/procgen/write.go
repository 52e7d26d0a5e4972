package procgen

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"

	"mannequin/internal/atomicfile"
	"mannequin/internal/boundedfile"
	"mannequin/offline/dataset"
	"mannequin/offline/mocap"
)

// ModelName is the name of a model trained on the clips.
const ModelName = "dog-free"

// License is the licence of the clips, in SPDX's spelling.
const License = "CC0-1.0"

// licenceFile is the file beside the clips that holds notice.
const (
	licenceFile = "LICENSE"
	notice      = `Procedural motion of a quadruped, made by mannequin's offline/procgen.

No recording of an animal or a person went into it. To the extent possible
under law, its authors have waived all copyright and related or neighbouring
rights to it: CC0 1.0 Universal,
https://creativecommons.org/publicdomain/zero/1.0/
`
)

// margin is how many frames at both ends of a clip are not trained on: the
// trajectory reaches a second beyond the present.
const margin = fps

// entry returns the take's labels.
func (t *Take) entry() dataset.Labels {
	l := dataset.Labels{Frames: t.Clip.Frames, Train: []dataset.Range{}, Segments: map[string][]dataset.Range{}}
	if last := t.Clip.Frames - 1 - margin; last >= margin {
		l.Train = append(l.Train, dataset.Range{margin, last})
	}
	for i, s := range t.labels {
		end := t.Clip.Frames
		if i+1 < len(t.labels) {
			end = t.labels[i+1].frame
		}
		if end > s.frame {
			l.Segments[s.name] = append(l.Segments[s.name], dataset.Range{s.frame, end - 1})
		}
	}
	return l
}

// heldOut returns the takes that training shall not see: the last of each kind
// that alone shows something, a tenth of all. Kinds of one clip are trained on,
// mixed gaits excepted: something must be held out.
func heldOut(takes []*Take) []string {
	count, last := map[string]int{}, map[string]string{}
	for _, t := range takes {
		k, _, _ := strings.Cut(t.Name, "_")
		count[k]++
		last[k] = t.Name
	}
	names := []string{}
	for _, k := range []string{"walk", "trot", "canter", "gaits", "lie", "stand", "jump"} {
		if n := count[k]; n >= 2 || k == "gaits" && n > 0 {
			names = append(names, last[k])
		}
	}
	return names
}

// Write makes a folder of recordings that dataset.BuildMANN reads: a BVH file
// per take (in centimetres), labels.json, dataset.toml and the licence. It
// makes the folder where there is none. Files of the same names that Write made
// are replaced; a folder with labels of other recordings is refused.
func Write(dir string, takes []*Take) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("procgen: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, dataset.LabelsFile)); err == nil {
		if b, err := boundedfile.Read(filepath.Join(dir, licenceFile), int64(len(notice))); err != nil || string(b) != notice {
			return fmt.Errorf("procgen: %s holds the %s of other recordings: give a folder of its own", dir, dataset.LabelsFile)
		}
	}
	frames := 0
	labels := map[string]dataset.Labels{}
	for _, t := range takes {
		labels[t.Name] = t.entry()
		frames += t.Clip.Frames
	}
	src := dataset.Source{
		Name:    ModelName,
		Data:    fmt.Sprintf("%d clips of procedural motion, %.0f minutes, made by mannequin's offline/procgen from what is published about the gaits of dogs, without any recording", len(takes), float64(frames)/fps/60),
		License: License,
		Limits:  "It has seen made-up motion of one made-up animal, which lacks the irregularity of living ones.",
		HeldOut: heldOut(takes),
		Repeat:  1, // gaits are balanced as they are
	}
	write := func(name string, write func(w io.Writer) error) error {
		if err := atomicfile.Write(filepath.Join(dir, name), write); err != nil {
			return fmt.Errorf("procgen: %w", err)
		}
		return nil
	}
	// The licence first: it tells that the folder may be written again.
	if err := write(licenceFile, func(w io.Writer) error { _, err := io.WriteString(w, notice); return err }); err != nil {
		return err
	}
	for _, t := range takes {
		c := t.Clip.Scaled(100)
		if err := write(t.Name+".bvh", func(w io.Writer) error { return mocap.WriteClip(w, c) }); err != nil {
			return err
		}
	}
	if err := write(dataset.SourceFile, func(w io.Writer) error { return toml.NewEncoder(w).Encode(src) }); err != nil {
		return err
	}
	return write(dataset.LabelsFile, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(labels)
	})
}
