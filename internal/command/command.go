// Package command is shared by the programs: it runs a command line, prints its error with the name
// that a mistyped one may mean, and chooses the exit code.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mannequin/internal/closest"
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
	msg := Plain(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
	if isUsage(err) {
		fmt.Fprintf(stderr, "%s: %s (see: %s --help)\n", root.Name(), msg, cmd.CommandPath())
		return ExitUsage
	}
	fmt.Fprintf(stderr, "%s: %s%s\n", root.Name(), msg, closest.FileHint(missingFile(err)))
	return ExitFailure
}

// missingFile returns the path of the file whose absence is the error, or "".
func missingFile(err error) string {
	var ours interface{ MissingFile() string } // of package boundedfile
	if errors.As(err, &ours) {
		return ours.MissingFile()
	}
	var file *fs.PathError
	if errors.As(err, &file) && errors.Is(err, fs.ErrNotExist) {
		return file.Path
	}
	return ""
}

// Want returns the check that a command has least to most arguments. Its error says what they are.
// If most is negative there is no upper limit.
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

// mark makes every flag and argument error of c and its subcommands a mistake in the command line,
// adds what a mistyped name may mean, and guards the files that commands read.
func mark(c *cobra.Command) {
	c.SuggestionsMinimumDistance = 2
	c.SetFlagErrorFunc(flagError)
	guard(c)
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err == nil {
				return nil
			}
			if cmd.HasSubCommands() && len(args) > 0 {
				if names := cmd.SuggestionsFor(args[0]); len(names) > 0 {
					return Usagef("%w; did you mean %s?", err, strings.Join(names, " or "))
				}
			}
			return Usage(err)
		}
	}
	for _, sub := range c.Commands() {
		mark(sub)
	}
}

// flagError words an error in a flag.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var bad *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if name := closest.Name(unknown.GetSpecifiedName(), names); name != "" {
			return Usagef("%w; did you mean --%s?", err, name)
		}
		return Usage(err)
	case errors.As(err, &bad):
		value, why := bad.GetValue(), errors.Unwrap(bad).Error()
		switch bad.GetFlag().Value.Type() {
		case "int", "int64", "uint64", "float64":
		default:
			value = strconv.Quote(value)
		}
		switch {
		case bad.GetValue() == "":
			value = "empty"
		case bad.GetFlag().Value.Type() == "bool":
			why = "want true or false"
		}
		if strings.HasPrefix(why, "want ") {
			return Usagef("--%s is %s, %s", bad.GetFlag().Name, value, why)
		}
		return Usagef("--%s is %s: %s", bad.GetFlag().Name, value, why)
	}
	return Usage(err)
}

func isUsage(err error) bool {
	var u usageError
	return errors.As(err, &u) ||
		// cobra has no types for these two errors.
		strings.HasPrefix(err.Error(), "unknown command") || strings.HasPrefix(err.Error(), "required flag")
}
