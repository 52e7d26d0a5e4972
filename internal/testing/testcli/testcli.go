package testcli

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"mannequin/internal/command"
)

// Root returns a program with some commands of mannequin.
func Root(commands ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{Use: "mannequin"}
	root.AddCommand(commands...)
	return root
}

// Run runs one command line as a user would.
func Run(root *cobra.Command, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = command.Run(context.Background(), root, args, &out, &errs)
	return code, out.String(), errs.String()
}

// PNG reads a picture.
func PNG(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// WriteFile writes text to a file in dir and returns its path.
func WriteFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Read returns a file's text.
func Read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
