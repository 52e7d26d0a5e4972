// Package eval has the commands that measure networks.
package eval

import (
	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
)

// New returns the command eval.
func New() *cobra.Command {
	return cli.Group("eval", "Measure a trained network against recordings and its paper's numbers",
		newEvalMANN(), newEvalManifold(), newEvalMAR(), newEvalStyle(), newEvalKeypose(), newEvalLatent(), newEvalSTRNN(), newEvalPeople())
}
