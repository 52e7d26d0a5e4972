package procgen

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/BurntSushi/toml"

	"mannequin/offline/dataset"
	"mannequin/offline/procgen/internal/clips"
)

// ModelName is the name of a model trained on the clips.
const ModelName = "dog-free"

// License is the licence of the clips, in SPDX's spelling.
const License = "CC0-1.0"

// notice is the text of the licence file beside the clips.
const notice = `Procedural motion of a quadruped, made by mannequin's offline/procgen.

No recording of an animal or a person went into it. To the extent possible
under law, its authors have waived all copyright and related or neighbouring
rights to it: CC0 1.0 Universal,
https://creativecommons.org/publicdomain/zero/1.0/
`

// margin is the number of frames at both ends of a clip that are not trained on: the trajectory
// reaches a second beyond the present.
const margin = fps

// Labels returns the take's entry in labels.json.
func (t *Take) Labels() dataset.Labels {
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

// heldOut returns the takes that training does not see: the last take of each kind that shows
// something of its own, a tenth of all. A kind with one clip is trained on. Mixed gaits are an
// exception, because something must be held out.
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

// Write writes a folder of recordings for dataset.BuildMANN: a BVH file per take (in centimetres),
// labels.json, dataset.toml and the licence. It creates a missing folder and replaces files that an
// earlier Write made. It refuses a folder with labels of other recordings.
func Write(dir string, takes []*Take) error {
	if err := write(clips.Folder{Dir: dir, Notice: notice, Marks: []string{dataset.LabelsFile}}, takes); err != nil {
		return fmt.Errorf("procgen: %w", err)
	}
	return nil
}

func write(folder clips.Folder, takes []*Take) error {
	if err := folder.Open(); err != nil {
		return err
	}
	frames := 0
	labels := map[string]dataset.Labels{}
	for _, t := range takes {
		if err := folder.WriteClip(t.Name, t.Clip); err != nil {
			return err
		}
		labels[t.Name] = t.Labels()
		frames += t.Clip.Frames
	}
	src := dataset.Source{
		Name: ModelName,
		Data: fmt.Sprintf("%d clips of procedural motion, %.0f minutes, made by mannequin's offline/procgen "+
			"from what is published about the gaits of dogs, without any recording", len(takes), float64(frames)/fps/60),
		License: License,
		Limits:  "It has seen made-up motion of one made-up animal, which lacks the irregularity of living ones.",
		HeldOut: heldOut(takes),
		Repeat:  1, // gaits are balanced as they are
	}
	if err := folder.Write(dataset.SourceFile, func(w io.Writer) error { return toml.NewEncoder(w).Encode(src) }); err != nil {
		return err
	}
	return folder.Write(dataset.LabelsFile, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(labels)
	})
}
