package cli

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"mannequin/internal/command"
	"mannequin/internal/testing/testcli"
)

// said is a report of text.
type said struct {
	Text string `json:"text"`
}

func (s said) Print(w io.Writer) error {
	_, err := io.WriteString(w, s.Text+"\n")
	return err
}

// sample is a command with a flag of each kind.
func sample() (c *cobra.Command, values *struct {
	n            int
	big          uint64
	share, small float32
	long         float64
	kind, out    string
}) {
	values = new(struct {
		n            int
		big          uint64
		share, small float32
		long         float64
		kind, out    string
	})
	c = &cobra.Command{Use: "sample", Args: cobra.NoArgs}
	Reports(c, func(*cobra.Command, []string) (Report, error) { return said{"done"}, nil })
	command.Number(c, &values.n, "count", 8, 1, 16, "things")
	command.Number(c, &values.big, "big", 1, 0, math.MaxUint64, "a seed")
	command.Number(c, &values.share, "share", 0.5, 0, 1, "a share")
	command.Number(c, &values.small, "small", 0.5, command.Positive, 1, "a rate")
	command.Number(c, &values.long, "long", 0, 0.1, math.Inf(1), "a time")
	command.Choice(c, &values.kind, "kind", "sheet", []string{"sheet", "top"}, "drawing")
	command.Out(c, &values.out, command.File, "`file` to write")
	return c, values
}

func TestFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--count 0", "--count is 0, want 1 to 16"},
		{"--count 17", "--count is 17, want 1 to 16"},
		{"--count x", "--count is x, want 1 to 16"},
		{"--count 1.5", "--count is 1.5, want 1 to 16"},
		{"--big -1", "--big is -1, want 0 or more"},
		{"--share NaN", "--share is NaN, want 0 to 1"},
		{"--share 1.1", "--share is 1.1, want 0 to 1"},
		{"--small 0", "--small is 0, want above 0, up to 1"},
		{"--long 0", "--long is 0, want 0.1 or more"},
		{"--kind shet", `--kind is "shet", want sheet, top; did you mean sheet?`},
		{"--kind=", "--kind is empty, want sheet, top"},
		{"--out=", "--out is empty, want a path"},
		{"", `required flag(s) "out" not set`},
		{"--cuont 3", "unknown flag: --cuont; did you mean --count?"},
	} {
		cmd, _ := sample()
		code, _, errs := testcli.Run(testcli.Root(cmd), append([]string{"sample"}, strings.Fields(c.args)...)...)
		if want := "mannequin: " + c.want + " (see: mannequin sample --help)\n"; code != command.ExitUsage || errs != want {
			t.Errorf("%q: exit %d, %q, want %q", c.args, code, errs, want)
		}
	}
	cmd, v := sample()
	code, out, errs := testcli.Run(testcli.Root(cmd), "sample", "--count", "16", "--big", "18446744073709551615", "--share", "0", "--small", "1e-3", "--long", "1e9", "--kind", "Top", "-o", "x", "--json")
	if code != 0 || v.n != 16 || v.big != math.MaxUint64 || v.share != 0 || v.small != 1e-3 || v.long != 1e9 || v.kind != "top" || v.out != "x" || out != "{\n  \"text\": \"done\"\n}\n" {
		t.Errorf("exit %d, %+v: %s%s", code, v, out, errs)
	}
	cmd, _ = sample()
	_, help, _ := testcli.Run(testcli.Root(cmd), "sample", "--help")
	for _, want := range []string{"--count int", "things [1 to 16] (default 8)", "a seed [0 or more] (default 1)", "--share float", "a rate [above 0, up to 1] (default 0.5)", "a time [0.1 or more]\n", "drawing: sheet, top (default sheet)", "--out file"} {
		if !strings.Contains(help, want) {
			t.Errorf("no %q in\n%s", want, help)
		}
	}
}

// A command that converts several files writes into a folder, and reports on each.
func TestConverts(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) (int, string, string) {
		c := &cobra.Command{Use: "sample FILE..."}
		Converts(c, "a file", ".up", func(_ *cobra.Command, in, out string) (Report, error) {
			if strings.HasSuffix(in, "bad") {
				return nil, errors.New("it is bad")
			}
			return said{in + " to " + out}, nil
		})
		return testcli.Run(testcli.Root(c), append([]string{"sample"}, args...)...)
	}
	one, folder := filepath.Join(dir, "one.up"), filepath.Join(dir, "many")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{0, "a.txt to " + one + "\n", []string{"a.txt", "--out", one}},
		{0, "x/a.txt to " + filepath.Join(dir, "a.up") + "\n", []string{"x/a.txt", "--out", dir}},
		{0, "a.txt to " + filepath.Join(folder, "a.up") + "\n\nb to " + filepath.Join(folder, "b.up") + "\n\n", []string{"a.txt", "b", "--out", folder}},
		{0, "\"files\": [\n", []string{"a.txt", "b", "--out", folder, "--json"}},
		{1, "1 of 2 files failed: it is bad", []string{"a.txt", "bad", "--out", folder}},
		{1, "mannequin: it is bad\n", []string{"bad", "--out", one}},
		{2, "2 files are read, want a folder", []string{"a.txt", "b", "--out", one}},
		{2, "a.txt and x/a.bvh would both be written to", []string{"a.txt", "x/a.bvh", "--out", folder}},
		{2, "want a file: mannequin sample FILE...", []string{"--out", one}},
	} {
		code, out, errs := run(c.args...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%q: exit %d: %s%s", c.args, code, out, errs)
		}
	}
	if st, err := os.Stat(folder); err != nil || !st.IsDir() {
		t.Error(err)
	}
}
