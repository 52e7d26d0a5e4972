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

// export writes the motion that the player asks for. An error is shown and does not end the scene.
type export struct {
	path   string // BVH file
	status string // of the last export
}

// take writes the motion if the player asked for it.
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
		x.status = err.Error()
		return
	}
	x.status = fmt.Sprintf("wrote %s: %d frames", x.path, clip.Frames)
}

// lines returns the status of the last export, followed by other lines.
func (x *export) lines(others ...string) []string {
	if x.status != "" {
		return append([]string{x.status}, others...)
	}
	return others
}
