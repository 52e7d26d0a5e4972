package testcli

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"mannequin/internal/command"
	"mannequin/internal/testing/must"
)

// Root returns a program with some commands of mannequin.
func Root(commands ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{Use: "mannequin"}
	root.AddCommand(commands...)
	return root
}

// Run runs one command line.
func Run(root *cobra.Command, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = command.Run(context.Background(), root, args, &out, &errs)
	return code, out.String(), errs.String()
}

// Report runs a command line with --json that must succeed without a word on stderr, and returns its
// report.
func Report[R any](t *testing.T, run func(args ...string) (code int, stdout, stderr string), args ...string) (r R) {
	t.Helper()
	code, stdout, stderr := run(args...)
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	must.Do(t, json.Unmarshal([]byte(stdout), &r))
	return r
}

// PNG reads a picture.
func PNG(t *testing.T, path string) image.Image {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	return must.Get(png.Decode(f))(t)
}

// WriteFile writes text to a file in dir and returns its path.
func WriteFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// Read returns a file's text.
func Read(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(path))(t))
}
