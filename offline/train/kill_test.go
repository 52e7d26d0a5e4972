package train

import (
	"bufio"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestTrainUntilKilled is the process that TestKill starts. It writes a checkpoint after each step.
func TestTrainUntilKilled(t *testing.T) {
	dir := os.Getenv("TRAIN_KILL_TEST")
	if dir == "" {
		t.Skip("only as a process of TestKill")
	}
	y := newToy(t)
	y.filesIn(dir)
	y.job.Resume, y.job.Every, y.job.Now = true, 1, time.Now
	said := false
	y.job.Progress = func(Progress) {
		if !said {
			os.Stdout.WriteString("training\n")
			said = true
		}
	}
	y.run(t, context.Background())
}

// A run that is killed again and again, at any time, always has a whole checkpoint, and in the end
// the result of a run that never was. Nothing is left of the killed ones. MANNEQUIN_KILLS sets how
// many processes are killed.
func TestKill(t *testing.T) {
	kills := 12
	if n, err := strconv.Atoi(os.Getenv("MANNEQUIN_KILLS")); err == nil {
		kills = n
	}
	whole := newToy(t)
	want := whole.outcome(t, whole.run(t, context.Background()))
	dir, tmp := t.TempDir(), t.TempDir() // tmp is for what killed processes leave
	finish := func() {
		t.Helper()
		y := newToy(t)
		y.filesIn(dir)
		y.job.Resume = true
		if y.outcome(t, y.run(t, context.Background())) != want {
			t.Fatal("the killed run ends elsewhere")
		}
		if left := names(t, dir); !slices.Equal(left, toyFiles) {
			t.Fatalf("left behind: %q", left)
		}
	}
	left, runs, none := 0, 0, true
	for i := range kills {
		c := exec.Command(os.Args[0], "-test.run=^TestTrainUntilKilled$")
		c.Env = append(os.Environ(), "TRAIN_KILL_TEST="+dir, "TMPDIR="+tmp, "GOTMPDIR="+tmp)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for in := bufio.NewScanner(out); in.Scan() && in.Text() != "training"; {
		}
		time.Sleep(time.Duration(rand.ExpFloat64() * float64(40*time.Millisecond))) // an epoch's end takes longest
		c.Process.Kill()
		c.Wait()
		y := newToy(t)
		f, err := os.Open(filepath.Join(dir, "toy.ckpt"))
		if none && os.IsNotExist(err) {
			continue // killed before the first checkpoint
		} else if err != nil {
			t.Fatal(err)
		}
		none = false
		info, _ := f.Stat()
		s := newState(y.job.Params, y.job.Optimizer)
		if err := s.decode(f, info.Size(), y.job); err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
		f.Close()
		temps, _ := filepath.Glob(filepath.Join(dir, ".*.tmp*"))
		if len(temps) > len(toyFiles) {
			t.Fatalf("kill %d: left behind: %q", i, temps)
		}
		left += len(temps)
		if s.Ended != "" || i == kills-1 {
			runs, none = runs+1, true
			finish()
			for _, name := range toyFiles {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	t.Logf("%d kills in %d runs, temporary files that were there after kills: %d", kills, runs, left)
}
