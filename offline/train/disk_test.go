package train

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mannequin/internal/atomicfile"
)

// filesIn makes y write all of its files in dir.
func (y *toy) filesIn(dir string) {
	y.job.Checkpoint, y.job.Curves = filepath.Join(dir, "toy.ckpt"), filepath.Join(dir, "toy.loss")
	save := y.job.Save
	y.job.Save = func(best [][]float32, r *Report) error {
		save(best, r)
		return atomicfile.Write(filepath.Join(dir, "toy.model"), func(w io.Writer) error { return writeFloats(w, best[0]) })
	}
}

// toyFiles are the names of what a run leaves.
var toyFiles = []string{"toy.ckpt", "toy.loss.csv", "toy.loss.png", "toy.model"}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// If the disk fails, at any step of a write, the run goes on, warns, and reports the user's paths in
// the end. The old files stay, and a run on a good disk continues from them to the same result.
func TestDiskFails(t *testing.T) {
	defer func() { atomicfile.Fault = nil }()
	fresh := func() *toy {
		y := newToy(t)
		y.job.Epochs = 2
		return y
	}
	whole := fresh()
	want := whole.outcome(t, whole.run(t, context.Background()))
	for _, c := range []struct {
		step  string
		cause error
	}{
		{"create", syscall.EMFILE}, {"create", syscall.EROFS}, {"write", syscall.ENOSPC},
		{"sync", syscall.EIO}, {"close", syscall.EDQUOT}, {"rename", syscall.EACCES},
	} {
		dir := t.TempDir()
		before := fresh()
		before.filesIn(dir)
		before.job.Curves = "" // to draw them takes long
		before.interrupt(t, toySteps+3)
		old := map[string]string{}
		for _, name := range toyFiles {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if errors.Is(err, fs.ErrNotExist) {
				err = os.WriteFile(filepath.Join(dir, name), nil, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			old[name] = string(b)
		}

		var log bytes.Buffer
		y := fresh()
		y.filesIn(dir)
		y.job.Resume, y.job.Every, y.job.Log = true, 2*time.Second, slog.New(slog.NewTextHandler(&log, nil))
		y.job.Progress = func(Progress) { y.clock = y.clock.Add(time.Second) }
		attempts := 0
		atomicfile.Fault = func(step, path string) error {
			if step == c.step {
				if path == y.job.Checkpoint {
					attempts++
				}
				return c.cause
			}
			return nil
		}
		rep, err := y.try(context.Background(), 1)
		atomicfile.Fault = nil
		if rep == nil || rep.Ended != EndEpochs || !errors.Is(err, c.cause) {
			t.Fatalf("%s, %v: report %+v, error %v", c.step, c.cause, rep, err)
		}
		if warnings := strings.Count(log.String(), "checkpoint not written"); attempts < 2 || warnings != min(attempts, mostWarnings) {
			t.Errorf("%s, %v: %d warnings in %d attempts to write a checkpoint", c.step, c.cause, warnings, attempts)
		}
		for _, name := range []string{"toy.ckpt", "toy.loss.csv", "toy.model"} {
			if text := "cannot write " + filepath.Join(dir, name) + ": " + c.cause.Error(); !strings.Contains(err.Error(), text) || !strings.Contains(log.String(), text) {
				t.Errorf("%s, %v: the error or the log does not say %q: %v", c.step, c.cause, text, err)
			}
		}
		if strings.Contains(err.Error()+log.String(), ".tmp") {
			t.Errorf("%s, %v: a temporary name in %v\n%s", c.step, c.cause, err, &log)
		}
		for name, text := range old {
			if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != text {
				t.Errorf("%s, %v: %s has changed: %v", c.step, c.cause, name, err)
			}
		}
		if left := names(t, dir); !slices.Equal(left, toyFiles) {
			t.Errorf("%s, %v: left behind: %q", c.step, c.cause, left)
		}

		z := fresh()
		z.job.Checkpoint, z.job.Resume = y.job.Checkpoint, true
		if z.outcome(t, z.run(t, context.Background())) != want {
			t.Errorf("%s, %v: the run continues to another result", c.step, c.cause)
		}
	}
}

// If the clock is set back by an hour again and again, checkpoints come as often as before, and time
// and progress do not fall.
func TestClockSetBackOften(t *testing.T) {
	defer func() { atomicfile.Fault = nil }()
	y := newToy(t)
	y.job.Every = 5 * time.Second
	saved, steps := 0, 0
	atomicfile.Fault = func(step, _ string) error {
		if step == "rename" {
			saved++
		}
		return nil
	}
	var last Progress
	y.job.Progress = func(p Progress) {
		if p.Elapsed < last.Elapsed || p.Left < 0 || p.Left > time.Minute || p.Done < last.Done || p.Done > 1 {
			t.Errorf("after %d steps: %+v, before %+v", steps, p, last)
		}
		last = p
		if y.clock = y.clock.Add(time.Second); steps%10 == 5 {
			y.clock = y.clock.Add(-time.Hour)
		}
		steps++
	}
	rep := y.run(t, context.Background())
	// A second in which the clock is set back is not counted.
	if want := float64(5*toySteps - 4); rep.Seconds != want {
		t.Errorf("%g s, want %g", rep.Seconds, want)
	}
	if saved < 5*toySteps/6 {
		t.Errorf("%d checkpoints in %g s, want one every 5", saved, rep.Seconds)
	}
}
