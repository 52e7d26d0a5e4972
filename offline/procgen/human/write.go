package human

import (
	"fmt"
	"io"

	"github.com/BurntSushi/toml"

	"mannequin/offline/dataset"
	"mannequin/offline/procgen/internal/clips"
	"mannequin/offline/registration"
)

// ModelName is the name of a model trained on the takes.
const ModelName = "human-style-free"

// License is the licence of the takes, in SPDX's spelling.
const License = "CC0-1.0"

// notice is the text of the licence file beside the takes.
const notice = `Procedural motion of people, made by mannequin's offline/procgen/human.

No recording of a person went into it. To the extent possible under law, its
authors have waived all copyright and related or neighbouring rights to it:
CC0 1.0 Universal, https://creativecommons.org/publicdomain/zero/1.0/
`

// Source returns the description of the takes for their folder.
func Source(takes []*registration.Take) dataset.Source {
	frames := 0
	for _, t := range takes {
		frames += t.Clip.Frames
	}
	return dataset.Source{
		Name: ModelName,
		Data: fmt.Sprintf("%d takes of procedural motion of people in styles, %.0f minutes, made by mannequin's offline/procgen/human "+
			"from what is published about human gait, without any recording", len(takes), float64(frames)/FPS/60),
		License: License,
		Limits:  "It has seen made-up motion of made-up people of one size, which lacks the irregularity of living ones.",
		HeldOut: []string{},
	}
}

// Write writes a folder of recordings: a BVH file per take (in centimetres), dataset.toml, which
// describes them, and the licence. Times and Stands are not in the files: Generate returns them
// exactly from equal options. Write creates a missing folder and replaces files that an earlier Write
// made. It refuses a folder that says it holds other recordings.
func Write(dir string, takes []*registration.Take) error {
	if err := write(clips.Folder{Dir: dir, Notice: notice, Marks: []string{dataset.SourceFile, dataset.LabelsFile}}, takes); err != nil {
		return fmt.Errorf("human: %w", err)
	}
	return nil
}

func write(folder clips.Folder, takes []*registration.Take) error {
	if err := folder.Open(); err != nil {
		return err
	}
	for _, t := range takes {
		if err := folder.WriteClip(t.Name, t.Clip); err != nil {
			return err
		}
	}
	return folder.Write(dataset.SourceFile, func(w io.Writer) error { return toml.NewEncoder(w).Encode(Source(takes)) })
}
