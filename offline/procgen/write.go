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
	"mannequin/offline/dataset"
	"mannequin/offline/mocap"
)

// ModelName is the name of a model trained on the clips.
const ModelName = "dog-free"

// License is the licence of the clips, in SPDX's spelling.
const License = "CC0-1.0"

// notice is the licence file beside the clips.
const notice = `Procedural motion of a quadruped, made by mannequin's offline/procgen.

No recording of an animal or a person went into it. To the extent possible
under law, its authors have waived all copyright and related or neighbouring
rights to it: CC0 1.0 Universal,
https://creativecommons.org/publicdomain/zero/1.0/
`

// clipLabels is a clip's entry in labels.json, as package dataset reads it.
type clipLabels struct {
	Frames   int                 `json:"frames"`
	Train    [][2]int            `json:"train_range_0based"`
	Segments map[string][][2]int `json:"segments_0based_inclusive"`
}

// margin is how many frames at both ends of a clip are not trained on: the
// trajectory reaches a second beyond the present.
const margin = fps

// entry returns the take's labels.
func (t *Take) entry() clipLabels {
	l := clipLabels{Frames: t.Clip.Frames, Train: [][2]int{}, Segments: map[string][][2]int{}}
	if last := t.Clip.Frames - 1 - margin; last >= margin {
		l.Train = append(l.Train, [2]int{margin, last})
	}
	for i, s := range t.labels {
		end := t.Clip.Frames
		if i+1 < len(t.labels) {
			end = t.labels[i+1].frame
		}
		if end > s.frame {
			l.Segments[s.name] = append(l.Segments[s.name], [2]int{s.frame, end - 1})
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
// makes the folder where there is none; files of the same names are replaced.
func Write(dir string, takes []*Take) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("procgen: %w", err)
	}
	labels := map[string]clipLabels{}
	for _, t := range takes {
		labels[t.Name] = t.entry()
		c := t.Clip.Scaled(100)
		err := atomicfile.Write(filepath.Join(dir, t.Name+".bvh"), func(w io.Writer) error { return mocap.WriteClip(w, c) })
		if err != nil {
			return fmt.Errorf("procgen: %s: %w", t.Name, err)
		}
	}
	frames := 0
	for _, t := range takes {
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
	for name, write := range map[string]func(w io.Writer) error{
		"labels.json": func(w io.Writer) error {
			enc := json.NewEncoder(w)
			enc.SetIndent("", " ")
			return enc.Encode(labels)
		},
		dataset.SourceFile: func(w io.Writer) error { return toml.NewEncoder(w).Encode(src) },
		"LICENSE":          func(w io.Writer) error { _, err := io.WriteString(w, notice); return err },
	} {
		if err := atomicfile.Write(filepath.Join(dir, name), write); err != nil {
			return fmt.Errorf("procgen: %w", err)
		}
	}
	return nil
}
