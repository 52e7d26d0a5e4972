package cli

import (
	"io"
	"math"
	"runtime"

	"github.com/spf13/cobra"

	"mannequin/internal/command"
)

// Threads adds the flag --threads.
func Threads(c *cobra.Command, v *int) {
	command.Number(c, v, "threads", runtime.GOMAXPROCS(0), 1, 1024, "worker goroutines; results do not depend on their number")
}

// Seed adds the flag --seed.
func Seed(c *cobra.Command, v *uint64, of string) {
	command.Number(c, v, "seed", 1, 0, math.MaxUint64, "seed of "+of)
}

// HeldOut adds the flag --held-out. def describes its default.
func HeldOut(c *cobra.Command, v *[]string, def string) {
	c.Flags().StringSliceVar(v, "held-out", nil, "`patterns` of the recordings that the network does not learn from, file names without extension (default: "+def+")")
}

// Model adds the flag of a network, which is a shipped model's name or a model file.
func Model(c *cobra.Command, v *string, name, def, what string) {
	c.Flags().StringVar(v, name, def, what+": a shipped model's `name` or a model file")
}

// People adds the flags of the networks of people on curves.
func People(c *cobra.Command, manifold, footstep, locomotion *string) {
	Model(c, manifold, "manifold", "human", "the motion manifold")
	Model(c, footstep, "footstep", "human-footstep", "the network of footsteps")
	Model(c, locomotion, "locomotion", "human-locomotion", "the network of locomotion")
}

// Acts adds the flags of the networks of punches and kicks.
func Acts(c *cobra.Command, punch, kick *string) {
	Model(c, punch, "punch", "human-punch", "the network of punches")
	Model(c, kick, "kick", "human-kick", "the network of kicks")
}

// JSON adds the flag --json.
func JSON(c *cobra.Command, v *bool) {
	c.Flags().BoolVar(v, "json", false, "print the report as one JSON object")
}

// Report is the output of a command.
type Report interface{ Print(w io.Writer) error }

// Reports makes c print the report that run returns, and adds the flag --json.
func Reports(c *cobra.Command, run func(cmd *cobra.Command, args []string) (Report, error)) {
	var asJSON bool
	JSON(c, &asJSON)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := run(cmd, args)
		if err != nil {
			return err
		}
		return PrintReport(cmd.OutOrStdout(), r, asJSON)
	}
}

// Group returns a command that only has commands below it.
func Group(name, short string, below ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: name, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(below...)
	return c
}

// Unused returns an error if one of the flags was given. why says why it is of no use.
func Unused(cmd *cobra.Command, why string, flags ...string) error {
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			return command.Usagef("--%s %s", name, why)
		}
	}
	return nil
}
