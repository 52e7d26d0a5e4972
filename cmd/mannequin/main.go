// Command mannequin imports, makes and edits motion, trains and measures networks, and draws. Run it
// without arguments for the list of its commands.
package main

import (
	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/bench"
	"mannequin/cmd/mannequin/internal/character"
	"mannequin/cmd/mannequin/internal/doctor"
	"mannequin/cmd/mannequin/internal/eval"
	"mannequin/cmd/mannequin/internal/inspect"
	"mannequin/cmd/mannequin/internal/judge"
	"mannequin/cmd/mannequin/internal/motion"
	"mannequin/cmd/mannequin/internal/plot"
	"mannequin/cmd/mannequin/internal/queue"
	"mannequin/cmd/mannequin/internal/serve"
	"mannequin/cmd/mannequin/internal/style"
	"mannequin/cmd/mannequin/internal/sweep"
	"mannequin/cmd/mannequin/internal/train"
	"mannequin/internal/command"
)

func main() { command.Main(newRoot()) }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "mannequin",
		Short: "Animate characters with neural networks, and train those networks from motion capture",
		Long: `Animate characters with neural networks, and train those networks from motion capture.

What a command works on is an argument: files, folders of recordings, or a model by name. What it
writes is --out.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(motion.Commands()...)
	root.AddCommand(judge.Commands()...)
	root.AddCommand(queue.Commands()...)
	root.AddCommand(bench.New(), doctor.New(), eval.New(), inspect.New(), inspect.Certify(), character.New(), plot.New(), serve.New(), style.New(), sweep.New(), train.New())
	return root
}
