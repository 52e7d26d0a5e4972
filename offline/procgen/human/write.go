package human

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/BurntSushi/toml"

	"mannequin/internal/atomicfile"
	"mannequin/internal/boundedfile"
	"mannequin/offline/dataset"
	"mannequin/offline/mocap"
	"mannequin/offline/registration"
)

// ModelName is the name of a model trained on the takes.
const ModelName = "human-style-free"

// License is the licence of the takes, in SPDX's spelling.
const License = "CC0-1.0"

// licenceFile is the file beside the takes that holds notice.
const (
	licenceFile = "LICENSE"
	notice      = `Procedural motion of people, made by mannequin's offline/procgen/human.

No recording of a person went into it. To the extent possible under law, its
authors have waived all copyright and related or neighbouring rights to it:
CC0 1.0 Universal, https://creativecommons.org/publicdomain/zero/1.0/
`
)

// Source returns what a folder of the takes says of itself.
func Source(takes []*registration.Take) dataset.Source {
	frames := 0
	for _, t := range takes {
		frames += t.Clip.Frames
	}
	return dataset.Source{
		Name:    ModelName,
		Data:    fmt.Sprintf("%d takes of procedural motion of people in styles, %.0f minutes, made by mannequin's offline/procgen/human from what is published about human gait, without any recording", len(takes), float64(frames)/FPS/60),
		License: License,
		Limits:  "It has seen made-up motion of made-up people of one size, which lacks the irregularity of living ones.",
		HeldOut: []string{},
	}
}

// Write puts takes into a folder, which it makes where there is none: a BVH file
// per take (in centimetres), dataset.toml, which says what they are, and the
// licence. Times and Stands are not in the files: Generate makes them anew, and
// exactly, from the same options. Files of the same names that Write made are
// replaced; a folder that says it holds other recordings is refused.
func Write(dir string, takes []*registration.Take) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("human: %w", err)
	}
	for _, name := range []string{dataset.SourceFile, dataset.LabelsFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if b, err := boundedfile.Read(filepath.Join(dir, licenceFile), int64(len(notice))); err != nil || string(b) != notice {
			return fmt.Errorf("human: %s holds the %s of other recordings: give a folder of its own", dir, name)
		}
	}
	write := func(name string, write func(w io.Writer) error) error {
		if err := atomicfile.Write(filepath.Join(dir, name), write); err != nil {
			return fmt.Errorf("human: %w", err)
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
	src := Source(takes)
	return write(dataset.SourceFile, func(w io.Writer) error { return toml.NewEncoder(w).Encode(src) })
}
