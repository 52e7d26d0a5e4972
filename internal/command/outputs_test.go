package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A command runs only if none of its outputs is a file that it reads, whatever their names, or
// another output; with --force it may overwrite what it reads.
func TestOutputs(t *testing.T) {
	t.Chdir(t.TempDir())
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"take.bvh", "usual.bvh", "other.bvh", "skin.gltf", "skin.bin", "walk.amc", "body.asf", "data/a.BVH", "data/labels.json", "data/a.model"} {
		try(os.MkdirAll(filepath.Dir(name), 0o777))
		try(os.WriteFile(name, bytes.Repeat([]byte("x"), i), 0o666))
	}
	try(os.Symlink("take.bvh", "soft"))
	try(os.Link("data/a.BVH", "hard"))
	try(os.Symlink("data", "folder"))
	here, err := os.Getwd()
	try(err)
	for _, c := range []struct{ args, want string }{
		{"take.bvh --out new", ""},
		{"take.bvh --out data", ""},
		{"take.bvh --out other.bvh", ""},
		{"take.bvh --out none/new", ""},
		{"take.bvh --out -", ""},
		{"take.bvh --out take.bvh", "--out take.bvh is read and written: name another file, or add --force"},
		{"take.bvh --out take.bvh --force", ""},
		{"take.bvh --out ./data/../take.bvh", "--out ./data/../take.bvh is take.bvh, which is read: name another file, or add --force"},
		{"take.bvh --out " + here + "/take.bvh", "is take.bvh, which is read"},
		{"take.bvh --out soft", "is take.bvh, which is read"},
		{"soft --out take.bvh", "is soft, which is read"},
		{"data/a.BVH --out hard", "is data/a.BVH, which is read"},
		{"other.bvh --file take.bvh --out take.bvh", "is read"},
		{"other.bvh --file who=take.bvh --out take.bvh", "is read"},
		{"other.bvh --file take.bvh:angry --out take.bvh", "is read"},
		{"other.bvh --file take.bvh@1:2 --out take.bvh", "is read"},
		{"other.bvh --files data/a.model,take.bvh --out take.bvh", "is read"},
		{"skin.gltf --out skin.bin", "--out skin.bin is read and written"},
		{"skin.gltf --out new.bin", ""},
		{"walk.amc --out body.asf", "--out body.asf is read and written"},
		{"data --out data/a.BVH", "--out data/a.BVH is read and written"},
		{"data --out folder/a.BVH", "is data/a.BVH, which is read"},
		{"folder --out hard", "is folder/a.BVH, which is read"},
		{"data --out data/labels.json", "is read"},
		{"data --out data/a.model", ""},
		{"data --out data/new.model", ""},
		{"data --out folder/new.bvh", "--out folder/new.bvh would be read as a recording of data: name a file elsewhere, or add --force"},
		{"data --out folder/new.bvh --force", ""},
		{"take.bvh --out new --log new", "--log new and --out new are the same file: want two files"},
		{"take.bvh --out folder/new --log data/../data/new --force", "are the same file"},
		{"take.bvh --out soft --log take.bvh --force", "are the same file"},
		{"take.bvh --log data", "--log data: that is a folder, want a file"},
		{"take.bvh --drawings other.bvh", "--drawings other.bvh: that is not a folder"},
		{"usual.bvh --out new", "--usual usual.bvh is read and written: name another file, or add --force"},
		{"usual.bvh --out new --usual other", ""},
		{"take.bvh --out " + os.DevNull, "that is not a regular file"},
	} {
		ran := false
		cmd := &cobra.Command{Use: "tool", Args: cobra.ArbitraryArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			ran = true
			return nil
		}}
		var out, log, drawings, file string
		usual := "usual.bvh"
		var files []string
		Output(cmd, &out, "out", Either, "")
		Output(cmd, &log, "log", File, "")
		Output(cmd, &drawings, "drawings", Folder, "")
		Output(cmd, &usual, "usual", File, "")
		cmd.Flags().StringVar(&file, "file", "", "")
		cmd.Flags().StringSliceVar(&files, "files", nil, "")
		var errs bytes.Buffer
		code := Run(context.Background(), cmd, strings.Fields(c.args), &errs, &errs)
		if got := errs.String(); c.want == "" && (code != 0 || !ran) || c.want != "" && (code != ExitUsage || ran || !strings.Contains(got, c.want)) {
			t.Errorf("%s: exit %d, %q, want %q", c.args, code, got, c.want)
		}
	}
	// Files that only the command itself knows.
	for _, c := range []struct {
		writes, reads []string
		ok            bool
	}{
		{[]string{"new"}, []string{"other.bvh"}, true},
		{[]string{"other.bvh"}, []string{"other.bvh"}, false},
		{[]string{"data/new.bvh"}, []string{"folder"}, false},
		{[]string{"new", "data/../new"}, nil, false},
	} {
		if err := Check(&cobra.Command{}, c.writes, c.reads); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
