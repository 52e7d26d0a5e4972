// Package eval has the commands that measure networks.
package eval

import (
	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
)

// New returns the command eval.
func New() *cobra.Command {
	return cli.Group("eval", "Measure characters, and trained networks against recordings and their papers' numbers",
		newEvalController(), newEvalMANN(), newEvalManifold(), newEvalMAR(), newEvalStyle(), newEvalKeypose(), newEvalLatent(), newEvalSTRNN(), newEvalPeople())
}
