package main

import (
	"strings"
	"testing"

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

// mannequin runs one command line as a user would.
func mannequin(args ...string) (code int, stdout, stderr string) {
	return testcli.Run(newRoot(), args...)
}
