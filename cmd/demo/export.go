package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"mannequin/internal/atomicfile"
	"mannequin/offline/mocap"
	"mannequin/scenes"
)

// export writes the motion that a scene's player asks for, and tells of it: what
// fails does not end the scene.
type export struct {
	path string // of a BVH file
	told string // about the last one
}

// take writes the motion, if one is asked for.
func (x *export) take(from scenes.Exporter) {
	clip, err := from.Export()
	if clip == nil && err == nil {
		return
	}
	if err == nil {
		if err = os.MkdirAll(filepath.Dir(x.path), 0o777); err == nil {
			err = atomicfile.Write(x.path, func(w io.Writer) error { return mocap.WriteClip(w, clip) })
		}
	}
	if err != nil {
		x.told = err.Error()
		return
	}
	x.told = fmt.Sprintf("wrote %s: %d frames", x.path, clip.Frames)
}

// lines returns what is told of the last one, after other lines.
func (x *export) lines(others ...string) []string {
	if x.told != "" {
		return append([]string{x.told}, others...)
	}
	return others
}
