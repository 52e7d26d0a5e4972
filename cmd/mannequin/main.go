// Command mannequin is the workshop: it imports, trains, measures, drives and
// draws. Run it without arguments for the list of its commands.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes: a mistake in the command line is told apart from a failure.
const (
	exitFailure = 1
	exitUsage   = 2
)

// usageError marks a mistake in the command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	// One line, whatever the cause.
	msg := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
	if isUsage(err) {
		fmt.Fprintf(stderr, "mannequin: %s (see: %s --help)\n", msg, cmd.CommandPath())
		return exitUsage
	}
	fmt.Fprintln(stderr, "mannequin:", msg)
	return exitFailure
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "mannequin",
		Short:         "Animate characters with neural networks, and train those networks from motion capture",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		newBench(),
		newDoctor(),
		newEval(),
		newImport(),
		newInspect(),
		newPlot(),
		newRollout(),
		newTrain(),
	)
	markUsage(root)
	return root
}

// markUsage makes every flag and argument error a usageError.
func markUsage(c *cobra.Command) {
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usageError{err}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		markUsage(sub)
	}
}

func isUsage(err error) bool {
	var u usageError
	return errors.As(err, &u) ||
		// cobra has no types for these two.
		strings.HasPrefix(err.Error(), "unknown command") || strings.HasPrefix(err.Error(), "required flag")
}

// printJSON writes v as one indented object.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
