// Package motion has the commands that make, change and convert motion.
package motion

import "github.com/spf13/cobra"

// Commands returns the commands.
func Commands() []*cobra.Command {
	return []*cobra.Command{newImport(), newConvert(), newSynth(), newEdit(), newInbetween(), newPredict(), newRollout(), newStylize(), newProcgen(), newExport()}
}
