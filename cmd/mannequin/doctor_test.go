package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/command"
)

// cli runs one command line as a user would.
func cli(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = command.Run(context.Background(), newRoot(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestDoctor(t *testing.T) {
	code, out, _ := cli("doctor", "--json")
	var r doctorReport
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || len(r.Findings) == 0 {
		t.Fatalf("code %d, %v:\n%s", code, err, out)
	}
	for _, f := range r.Findings {
		if f.Name == "" || f.Detail == "" || (!f.OK && f.Remedy == "") {
			t.Errorf("incomplete line %+v", f)
		}
	}
}

func TestDoctorFindsALibrary(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LD_LIBRARY_PATH", dir)
	if f := library("x", "libnothere.so.9", "get it"); f.OK || f.Remedy != "get it" {
		t.Errorf("found what is not there: %+v", f)
	}
	if err := os.WriteFile(filepath.Join(dir, "libnothere.so.9"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if f := library("x", "libnothere.so.9", "get it"); !f.OK || f.Remedy != "" {
		t.Errorf("missed what is there: %+v", f)
	}
}

// A mistake in the command line is exit code 2 and one line; help is on
// standard output and no error.
func TestUsageErrors(t *testing.T) {
	for name, want := range map[string]string{"import": "want a motion file: mannequin import FILE... ", "inspect": "want a file or a model: mannequin inspect", "convert": "want a motion or a model, and the file to write: mannequin convert"} {
		if code, _, errs := cli(name); code != command.ExitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: code %d, %q, want %q", name, code, errs, want)
		}
	}
	for _, args := range [][]string{{"fly"}, {"doctor", "--wings"}, {"doctor", "extra"}, {"--wings"}} {
		code, out, errs := cli(args...)
		if code != command.ExitUsage || out != "" || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "mannequin: ") {
			t.Errorf("%v: code %d, stdout %q, stderr %q", args, code, out, errs)
		}
	}
	if code, out, errs := cli(); code != 0 || errs != "" || !strings.Contains(out, "doctor") {
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
