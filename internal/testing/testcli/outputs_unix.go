//go:build unix

package testcli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mannequin/internal/command"
	"mannequin/internal/testing/must"
)

// written matches the usage of a flag that names what a command writes.
var written = regexp.MustCompile(`to write|to record to|write a|for the (drawings|pictures|videos)|checkpoint`)

// Outputs tests that no command of a program overwrites what it reads: for each flag of an output, a
// file that is read, by its name, by a link and as a recording in a folder, and a pipe are refused
// at once, and nothing is changed.
func Outputs(t *testing.T, newRoot func() *cobra.Command) {
	t.Helper()
	flags := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			switch {
			case f.Value.Type() == "output":
				flags++
				outputRefused(t, newRoot, c, f.Name)
			case written.MatchString(f.Usage) && f.Value.Type() != "float64" && f.Value.Type() != "bool":
				t.Errorf("%s: --%s names what is written and is not made by command.Output", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	if flags == 0 {
		t.Error("no command has an output")
	}
}

// outputRefused tests a flag of a command.
func outputRefused(t *testing.T, newRoot func() *cobra.Command, c *cobra.Command, flag string) {
	t.Helper()
	dir, data := t.TempDir(), t.TempDir()
	in, take := WriteFile(t, dir, "in.bvh", TinyBVH), WriteFile(t, data, "take.bvh", TinyBVH)
	hard, soft, pipe := filepath.Join(dir, "hard"), filepath.Join(dir, "soft"), filepath.Join(dir, "pipe")
	must.Do(t, os.Link(take, hard))
	must.Do(t, os.Symlink(in, soft))
	must.Do(t, syscall.Mkfifo(pipe, 0o666))
	for _, k := range []struct{ read, out, want string }{
		{in, in, "is read and written"},
		{in, filepath.Join(dir, ".", "..", filepath.Base(dir), "in.bvh"), "is read"},
		{in, soft, "which is read"},
		{data, hard, "which is read"},
		{data, take, "is read and written"},
		{in, pipe, "not a regular file"},
	} {
		root := newRoot()
		words := strings.Fields(c.CommandPath())[1:]
		c, _, err := root.Find(words)
		must.Do(t, err)
		args := append(words, "--"+flag, k.out)
		given := []string{flag}
		set := func(name, value string) {
			args, given = append(args, "--"+name, value), append(given, name)
		}
		if c.Args == nil || c.Args(c, []string{k.read}) == nil {
			args = append(args, k.read)
		} else if name := reads(c); name != "" {
			set(name, k.read)
		} else if k.out != pipe {
			continue // the command reads nothing
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if _, required := f.Annotations[cobra.BashCompOneRequiredFlag]; required && !slices.Contains(given, f.Name) {
				set(f.Name, filepath.Join(dir, f.Name))
			}
		})
		code, _, stderr := Run(root, args...)
		folder := strings.Contains(stderr, "not a folder") // which is not a file that is read
		if code != command.ExitUsage || !strings.Contains(stderr, k.want) && !folder {
			t.Errorf("%q: exit %d, %q, want %q", args, code, stderr, k.want)
		}
		if c.Flags().Lookup("force") == nil && !folder {
			t.Errorf("%s has no --force", c.CommandPath())
		}
	}
	if Read(t, in) != TinyBVH || Read(t, take) != TinyBVH {
		t.Errorf("%s --%s: a file was overwritten", c.CommandPath(), flag)
	}
}

// reads returns the name of a flag that may name a file that c reads.
func reads(c *cobra.Command) (name string) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if t := f.Value.Type(); name == "" && (t == "string" || t == "path" || t == "stringArray") {
			name = f.Name
		}
	})
	return name
}
