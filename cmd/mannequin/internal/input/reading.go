package input

import (
	"fmt"

	"github.com/spf13/cobra"

	"mannequin/internal/command"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
)

// Reading adds the flags of all commands that read recordings of people: those of File, and the
// retargeting profile. Notes on a recording go to standard error.
func Reading(c *cobra.Command, v *retarget.Reading) {
	File(c, &v.OpenOptions)
	profile(c, &v.Profile)
	v.Note = func(note string) { fmt.Fprintln(c.ErrOrStderr(), "note:", note) }
}

// File adds the flags of all commands that read motion files.
func File(c *cobra.Command, v *mocap.OpenOptions) {
	command.Number(c, &v.FrameRate, "frame-rate", 0, 1e-3, 1e5, "frames per second that a motion file has, whatever it says; nothing is resampled (default: as it says, 120 for AMC)")
	command.Choice(c, &v.Up, "up", "", mocap.Ups, "vertical axis of a motion file; it is turned to y (default: found from a person's motion)")
	c.Flags().StringVar(&v.Animation, "animation", "", "`name` or number of the animation of a glTF or FBX file with several; a file's may also stand after it, as in hero.glb#Walk")
	c.Flags().StringVar(&v.Root, "root", "", "`name` of the root joint of the character to take from a motion file with several (default: the first person)")
	c.Flags().BoolVar(&v.Salvage, "salvage", false, "keep the whole frames of a damaged BVH, AMC or TXT file, and say what is lost")
	command.Path(c, &v.ASF, "asf", "`file` of the skeleton of AMC files (default: the one beside each)")
}
