//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mannequin/internal/testing/must"
)

// A recording on a disk that gets full ends with an error that names the tape, which can be played
// as far as it was written. A second process records under the limit, because the test's own process
// has other files to write.
func TestTapeOnFullDisk(t *testing.T) {
	const name = "MANNEQUIN_FULL_DISK"
	if tape := os.Getenv(name); tape != "" {
		full := syscall.Rlimit{Cur: 4000, Max: 4000}
		must.Do(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full))
		code, _, stderr := demo(t, "--model", os.Getenv(name+"_MODEL"), "--no-render", "--seconds", "0.2", "--record", tape)
		if code != 1 || !strings.Contains(stderr, tape+": "+syscall.EFBIG.Error()) {
			t.Errorf("exit %d, %s", code, stderr)
		}
		return
	}
	tape := filepath.Join(t.TempDir(), "walk.tape")
	c := exec.Command(os.Args[0], "-test.run=^TestTapeOnFullDisk$", "-test.v")
	c.Env = append(os.Environ(), name+"="+tape, name+"_MODEL="+modelFile(t))
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestTapeOnFullDisk") {
		t.Fatalf("%v\n%s", err, out)
	}
	code, stdout, stderr := demo(t, "--replay", tape, "--verify")
	if code != 0 || !strings.Contains(stdout, "all as recorded") || !strings.Contains(stderr, "the tape's end is missing") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}
