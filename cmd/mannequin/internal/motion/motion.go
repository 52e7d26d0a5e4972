// Package motion has the commands that make, change and convert motion.
package motion

import (
	"io"

	"github.com/spf13/cobra"

	"mannequin/animsys/skel"
	"mannequin/internal/atomicfile"
	"mannequin/offline/mocap"
)

// Commands returns the commands.
func Commands() []*cobra.Command {
	return []*cobra.Command{newImport(), newConvert(), newSynth(), newEdit(), newInbetween(), newPredict(), newRollout(), newStylize(), newProcgen(), newExport()}
}

// writeClip writes a BVH file.
func writeClip(out string, clip *skel.Clip) error {
	return atomicfile.Write(out, func(w io.Writer) error { return mocap.WriteClip(w, clip) })
}
