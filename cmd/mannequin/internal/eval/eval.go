// Package eval has the commands that measure networks.
package eval

import "github.com/spf13/cobra"

// New returns the command eval.
func New() *cobra.Command {
	c := &cobra.Command{
		Use:   "eval",
		Short: "Measure a trained network against recordings and its paper's numbers",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(newEvalMANN(), newEvalManifold(), newEvalMAR(), newEvalKeypose(), newEvalLatent(), newEvalSTRNN())
	return c
}
