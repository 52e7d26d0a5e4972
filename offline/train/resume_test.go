package train

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// A run that is interrupted at any step and resumed has the same weights, moments, curve and model
// as one without interruption.
func TestResumeIsExact(t *testing.T) {
	whole := newToy(t)
	want := whole.outcome(t, whole.run(t, context.Background()))
	for stop := 1; stop < 3*toySteps; stop++ {
		y := newToy(t)
		y.interrupt(t, stop)
		z := newToy(t) // a new process
		z.job.Checkpoint, z.job.Resume = y.job.Checkpoint, true
		if got := z.outcome(t, z.run(t, context.Background())); got != want {
			t.Fatalf("interrupted after step %d, the run ends elsewhere:\n%s\nwant\n%s", stop, got, want)
		}
	}
}

// interrupt runs until ctx is cancelled after the given step.
func (y *toy) interrupt(t *testing.T, stop int) *Report {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	steps := 0
	y.job.Progress = func(Progress) {
		if steps++; steps == stop {
			cancel()
		}
	}
	rep := y.run(t, ctx)
	if rep.Ended != EndInterrupted || rep.Steps != int64(stop) {
		t.Fatalf("interrupted after step %d: ended by %q after %d steps", stop, rep.Ended, rep.Steps)
	}
	return rep
}

// A killed run leaves the last periodic checkpoint. A resumed run repeats the steps after it and
// has the same result.
func TestResumeAfterKill(t *testing.T) {
	whole := newToy(t)
	want := whole.outcome(t, whole.run(t, context.Background()))
	y := newToy(t)
	y.job.Every = 5 * time.Second
	var files [][]byte
	y.job.Progress = func(Progress) {
		y.clock = y.clock.Add(time.Second)
		if b, err := os.ReadFile(y.job.Checkpoint); err == nil && (len(files) == 0 || !slices.Equal(b, files[len(files)-1])) {
			files = append(files, b)
		}
	}
	y.run(t, context.Background())
	if len(files) < 4 {
		t.Fatalf("%d checkpoints in %d steps of a second, want one every 5", len(files), 5*toySteps)
	}
	for i, b := range files {
		z := newToy(t)
		z.job.Resume = true
		if err := os.WriteFile(z.job.Checkpoint, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if got := z.outcome(t, z.run(t, context.Background())); got != want {
			t.Errorf("continued from checkpoint %d, the run ends elsewhere", i)
		}
	}
}

func TestResumeWithoutCheckpointStartsAnew(t *testing.T) {
	a, b := newToy(t), newToy(t)
	b.job.Resume = true
	if b.outcome(t, b.run(t, context.Background())) != a.outcome(t, a.run(t, context.Background())) {
		t.Error("a resumed run without a checkpoint differs from a new one")
	}
}

func TestUnfinishedRunIsKept(t *testing.T) {
	y := newToy(t)
	y.interrupt(t, 10)
	before, err := os.ReadFile(y.job.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	z := newToy(t)
	z.job.Checkpoint = y.job.Checkpoint
	if _, err := z.try(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("starting over an unfinished run: %v", err)
	}
	if after, _ := os.ReadFile(y.job.Checkpoint); !slices.Equal(before, after) {
		t.Error("the refused run changed the checkpoint")
	}
	// The checkpoint of a finished run may be replaced.
	z.job.Resume = true
	z.run(t, context.Background())
	z.job.Resume = false
	z.run(t, context.Background())
}
