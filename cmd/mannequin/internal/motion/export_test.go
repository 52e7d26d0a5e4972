package motion

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/command"
	"mannequin/internal/testing/testcli"
)

func TestExport(t *testing.T) {
	model, dir := testcli.Dog(t), t.TempDir()
	file, other := filepath.Join(dir, "test.onnx"), filepath.Join(dir, "other.onnx")
	code, out, errs := mannequin("export", model, "--out", file)
	if code != 0 || !strings.Contains(out, file) {
		t.Fatalf("code %d: %s%s", code, out, errs)
	}
	if code, _, errs := mannequin("export", model, "--out", other, "--form", "blend=inputs"); code != 0 {
		t.Fatalf("code %d: %s", code, errs)
	}
	a, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(a, b) || !bytes.Contains(a, []byte("testdog")) {
		t.Error("both formulations are the same file, or the name is missing")
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{model}, command.ExitUsage, `"out" not set`},
		{[]string{"--out", file}, command.ExitUsage, "want one model"},
		{[]string{model, "--out", file, "--form", "blend=soup"}, command.ExitUsage, "soup"},
		{[]string{model, "--out", file, "--form", "soup"}, command.ExitUsage, "soup"},
		{[]string{other, "--out", file}, command.ExitFailure, "not a valid model"},
		{[]string{model, "--out", model}, command.ExitUsage, "is read and written"},
		{[]string{"no-such-model", "--out", file}, command.ExitFailure, "no-such-model"},
		{[]string{model, "--out", filepath.Join(dir, "no", "f.onnx")}, command.ExitFailure, "cannot write"},
		{[]string{model, "--out", dir}, command.ExitUsage, "that is a folder, want a file"},
	} {
		if code, _, errs := mannequin(append([]string{"export"}, c.args...)...); code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%v: code %d, %s", c.args, code, errs)
		}
	}
	if names, _ := os.ReadDir(dir); len(names) != 2 {
		t.Errorf("left behind: %v", names)
	}
}

// The folder of models has the layout of Triton's, beside models that are there already.
func TestExportTriton(t *testing.T) {
	model, dir := testcli.Dog(t), filepath.Join(t.TempDir(), "repository")
	for range 2 { // the second replaces the first
		if code, out, errs := mannequin("export", model, "--triton", "--out", dir); code != 0 || !strings.Contains(out, filepath.Join(dir, "testdog", "1", "model.onnx")) {
			t.Fatalf("code %d: %s%s", code, out, errs)
		}
	}
	plain := filepath.Join(t.TempDir(), "plain.onnx")
	if code, _, errs := mannequin("export", model, "--out", plain); code != 0 {
		t.Fatal(errs)
	}
	a, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "testdog", "1", "model.onnx")); err != nil || !bytes.Equal(a, b) {
		t.Errorf("another model than without --triton, %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "testdog", "config.pbtxt")); err != nil || !bytes.Contains(b, []byte("name: \"testdog\"")) {
		t.Errorf("%s, %v", b, err)
	}
	if code, _, errs := mannequin("export", model, "--triton", "--out", plain); code == 0 {
		t.Errorf("a file as the folder: %s", errs)
	}
}
