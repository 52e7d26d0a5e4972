package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"mannequin/internal/command"
	"mannequin/internal/testing/testcli"
)

// A mistake in the command line is exit code 2 and one line; help is on
// standard output and no error.
func TestUsageErrors(t *testing.T) {
	for name, want := range map[string]string{"import": "want a motion file: mannequin import FILE... ", "inspect": "want a file or a model: mannequin inspect", "convert": "want a motion or a model: mannequin convert"} {
		if code, _, errs := mannequin(name); code != command.ExitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: code %d, %q, want %q", name, code, errs, want)
		}
	}
	for _, args := range [][]string{{"fly"}, {"doctor", "--wings"}, {"doctor", "extra"}, {"--wings"}} {
		code, out, errs := mannequin(args...)
		if code != command.ExitUsage || out != "" || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "mannequin: ") {
			t.Errorf("%v: code %d, stdout %q, stderr %q", args, code, out, errs)
		}
	}
	if code, out, errs := mannequin(); code != 0 || errs != "" || !strings.Contains(out, "doctor") {
		t.Errorf("no arguments: code %d, stdout %q, stderr %q", code, out, errs)
	}
}

// Every command shows examples and says what it is for.
func TestEveryCommandIsDocumented(t *testing.T) {
	for _, c := range newRoot().Commands() {
		if c.Short == "" || (c.Example == "" && !c.HasSubCommands()) {
			t.Errorf("%s lacks a description or an example", c.Name())
		}
	}
}

// The command lines in help and documentation have the flags and arguments of their commands.
func TestCommandLines(t *testing.T) {
	root := newRoot()
	check := func(from, line string) {
		t.Helper()
		// A profile's own file is read with the flag.
		c, rest, err := root.Find(words.FindAllString(ownProfile.ReplaceAllString(line, ""), -1))
		if err == nil && !slices.Contains(rest, "--help") {
			for i, w := range rest {
				rest[i] = strings.Trim(w, `'"`)
			}
			// A sentence may name a command with some of its flags only.
			if err = c.ParseFlags(rest); err == nil && c.Flags().NArg() > 0 {
				err = c.ValidateArgs(c.Flags().Args())
			}
		}
		if err != nil {
			t.Errorf("%s: mannequin %s: %v", from, line, err)
		}
	}
	var all func(c *cobra.Command)
	all = func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			if _, line, ok := strings.Cut(line, "mannequin "); ok {
				line, _, _ = strings.Cut(line, " | ")
				line, _, _ = strings.Cut(line, " > ")
				check(c.CommandPath(), line)
			}
		}
		for _, sub := range c.Commands() {
			all(sub)
		}
	}
	all(root)
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	lines := 0
	for _, file := range append(files, "../../README.md") {
		for _, m := range printed.FindAllStringSubmatch(testcli.Read(t, file), -1) {
			if !strings.ContainsAny(m[1], "[…*$<") && strings.Contains(m[1], " ") && !strings.HasSuffix(m[1], ".") {
				check(file, m[1])
				lines++
			}
		}
	}
	if lines < 50 {
		t.Errorf("only %d command lines in the documentation", lines)
	}
}

var (
	ownProfile = regexp.MustCompile(`--profile \S+\.toml`)
	words      = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)
	printed    = regexp.MustCompile("(?m)(?:^|`|\\$ |bin/)mannequin ([a-z][^`\n|;#>]*)")
)

// mannequin runs one command line as a user would.
func mannequin(args ...string) (code int, stdout, stderr string) {
	return testcli.Run(newRoot(), args...)
}
