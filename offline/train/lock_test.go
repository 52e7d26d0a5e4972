package train

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestHoldLock is the process that TestLock starts. It trains until it is killed.
func TestHoldLock(t *testing.T) {
	path := os.Getenv("TRAIN_LOCK_TEST")
	if path == "" {
		t.Skip("only as a process of TestLock")
	}
	y := newToy(t)
	y.job.Checkpoint = path
	y.job.Progress = func(p Progress) {
		if p.Step == 3 {
			os.Stdout.WriteString("training\n")
			time.Sleep(time.Hour) // without a timer the runtime would end a process that waits
		}
	}
	y.run(t, context.Background())
}

// A second run on a checkpoint, in this process or another, is refused until the first ends, even
// by SIGKILL.
func TestLock(t *testing.T) {
	y := newToy(t)
	c := exec.Command(os.Args[0], "-test.run=^TestHoldLock$")
	tmp := t.TempDir() // for what the killed process leaves
	c.Env = append(os.Environ(), "TRAIN_LOCK_TEST="+y.job.Checkpoint, "TMPDIR="+tmp, "GOTMPDIR="+tmp)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	for in := bufio.NewScanner(out); in.Scan() && in.Text() != "training"; {
	}
	_, err = y.try(context.Background(), 1)
	if err == nil || !strings.Contains(err.Error(), "another run") || !strings.Contains(err.Error(), "process ") {
		t.Errorf("beside another process: %v", err)
	}
	c.Process.Kill()
	c.Wait()
	if _, err := os.Stat(y.job.Checkpoint + ".lock"); err != nil {
		t.Errorf("the killed process left no lock file: %v", err)
	}
	link := y.job.Checkpoint + ".link"
	if err := os.Symlink(y.job.Checkpoint, link); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(filepath.Dir(link), ".toy.ckpt.tmp12345")
	if err := os.WriteFile(half, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	y.run(t, context.Background()) // takes over the dead one's
	if _, err := os.Stat(half); err == nil {
		t.Error("half a checkpoint of a killed process is still there")
	}
	y.job.Progress = func(p Progress) {
		if p.Epoch > 0 || p.Step != 1 {
			return
		}
		for _, path := range []string{y.job.Checkpoint, link} {
			z := newToy(t)
			z.job.Checkpoint = path
			if _, err := z.try(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "another run") {
				t.Errorf("beside a run of the same process, as %s: %v", path, err)
			}
		}
	}
	y.run(t, context.Background())
	if _, err := os.Stat(y.job.Checkpoint + ".lock"); err == nil {
		t.Error("a finished run leaves its lock file")
	}
}
