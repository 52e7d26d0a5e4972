// Package command is the base of the programs: it runs a command line, prints its errors, and
// returns an exit code.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes. A mistake in the command line has its own.
const (
	ExitFailure = 1
	ExitUsage   = 2
)

// usageError marks a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usage marks err as a mistake in the command line.
func Usage(err error) error { return usageError{err} }

// Usagef returns an error about a mistake in the command line.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// Main runs root with the program's arguments and ends the program. The first
// Ctrl-C cancels the command's context, a second one ends the program at once.
func Main(root *cobra.Command) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(Run(ctx, root, os.Args[1:], os.Stdout, os.Stderr))
}

// Run executes one command line of root and returns the exit code. Every error is one line on
// stderr.
func Run(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	root.SilenceUsage, root.SilenceErrors = true, true
	mark(root)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	msg := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
	if isUsage(err) {
		fmt.Fprintf(stderr, "%s: %s (see: %s --help)\n", root.Name(), msg, cmd.CommandPath())
		return ExitUsage
	}
	fmt.Fprintf(stderr, "%s: %s\n", root.Name(), msg)
	return ExitFailure
}

// Want returns a check for least to most arguments, or any number if most < 0. Its error describes
// them.
func Want(what string, least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if n := len(args); n >= least && (most < 0 || n <= most) {
			return nil
		}
		usage := c.Use
		if c.HasParent() {
			usage = c.Parent().CommandPath() + " " + usage
		}
		got := ""
		if len(args) > 0 {
			got = ", not " + strings.Join(args, " ")
		}
		return Usagef("want %s%s: %s", what, got, usage)
	}
}

// mark makes every flag and argument error of c and its subcommands a mistake in the command line.
func mark(c *cobra.Command) {
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return Usage(err) })
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return Usage(err)
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		mark(sub)
	}
}

func isUsage(err error) bool {
	var u usageError
	return errors.As(err, &u) ||
		// cobra has no types for these two errors.
		strings.HasPrefix(err.Error(), "unknown command") || strings.HasPrefix(err.Error(), "required flag")
}
