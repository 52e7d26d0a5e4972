// Command mannequin is the workshop: it imports, trains, measures, drives and
// draws. Run it without arguments for the list of its commands.
package main

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"mannequin/internal/command"
)

func main() { command.Main(newRoot()) }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "mannequin",
		Short: "Animate characters with neural networks, and train those networks from motion capture",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		newBench(),
		newConvert(),
		newDoctor(),
		newEdit(),
		newEval(),
		newExport(),
		newImport(),
		newInbetween(), newPredict(),
		newInspect(),
		newPlot(),
		newProcgen(),
		newRollout(), newServe(), newStyle(), newStylize(), newSynth(),
		newTrain(),
	)
	return root
}

// printJSON writes v as one indented object.
// printReport prints a report, as one JSON object if that is asked for.
func printReport(w io.Writer, r interface{ print(io.Writer) error }, asJSON bool) error {
	if asJSON {
		return printJSON(w, r)
	}
	return r.print(w)
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
