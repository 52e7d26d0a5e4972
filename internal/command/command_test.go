package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/spf13/cobra"
)

func TestRun(t *testing.T) {
	root := func() *cobra.Command {
		c := &cobra.Command{Use: "tool", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
		sub := &cobra.Command{Use: "do WHAT", Args: Want("one thing to do", 1, 1), RunE: func(_ *cobra.Command, args []string) error {
			switch args[0] {
			case "fail":
				return errors.New("it broke\nin two lines")
			case "miss":
				_, err := os.Open("comand.go")
				return err
			case "misuse":
				return fmt.Errorf("do: %w", Usagef("cannot do %q", args[0]))
			}
			return nil
		}}
		sub.Flags().Int("wing", 2, "")
		sub.Flags().Bool("fast", false, "")
		c.AddCommand(sub)
		return c
	}
	for _, c := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{[]string{"do", "it"}, 0, ""},
		{[]string{"do", "fail"}, ExitFailure, "tool: it broke; in two lines\n"},
		{[]string{"do", "misuse"}, ExitUsage, "tool: do: cannot do \"misuse\" (see: tool do --help)\n"},
		{[]string{"do"}, ExitUsage, "tool: want one thing to do: tool do WHAT (see: tool do --help)\n"},
		{[]string{"do", "this", "that"}, ExitUsage, "tool: want one thing to do, not this that: tool do WHAT (see: tool do --help)\n"},
		{[]string{"do", "miss"}, ExitFailure, "tool: open comand.go: no such file or directory; did you mean command.go?\n"},
		{[]string{"do", "--wings"}, ExitUsage, "tool: unknown flag: --wings; did you mean --wing? (see: tool do --help)\n"},
		{[]string{"do", "--feathers"}, ExitUsage, "tool: unknown flag: --feathers (see: tool do --help)\n"},
		{[]string{"do", "--fast=perhaps"}, ExitUsage, "tool: --fast is \"perhaps\", want true or false (see: tool do --help)\n"},
		{[]string{"od"}, ExitUsage, "tool: unknown command \"od\" for \"tool\"; did you mean do? (see: tool --help)\n"},
		{[]string{"fly"}, ExitUsage, "tool: unknown command \"fly\" for \"tool\" (see: tool --help)\n"},
	} {
		var out, errs bytes.Buffer
		if code := Run(context.Background(), root(), c.args, &out, &errs); code != c.code || errs.String() != c.stderr {
			t.Errorf("%v: code %d, %q, want %d, %q", c.args, code, errs.String(), c.code, c.stderr)
		}
	}
}

// Names in messages do not change the terminal.
func TestPlain(t *testing.T) {
	if got := Plain("a\x1b[2Jb\u202ec\u200bd\te\n\u00a0é"); got != "a[2Jbcd\te\n\u00a0é" {
		t.Errorf("%q", got)
	}
}

// A number that is 0 only because it is too small is refused.
func TestNumberOfZero(t *testing.T) {
	var wide float64
	var narrow float32
	for text, ok := range map[string]bool{"0": true, "0.000": true, "0e9": true, "-0": true, "1e-40": true, "1e-60": false, "-1e-60": false, "0.5E-400": false} {
		c := &cobra.Command{Use: "tool"}
		Number(c, &wide, "wide", 1, -1, 1, "")
		Number(c, &narrow, "narrow", 1, -1, 1, "")
		if err := c.Flags().Set("narrow", text); (err == nil) != ok || ok && (narrow > 1e-39 || narrow == 1) {
			t.Errorf("float32 %s: %g, %v", text, narrow, err)
		}
		if err := c.Flags().Set("wide", text); (err == nil) != (text != "0.5E-400") || err == nil && wide == 1 {
			t.Errorf("float64 %s: %g, %v", text, wide, err)
		}
	}
}
