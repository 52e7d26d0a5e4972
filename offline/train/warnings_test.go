package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime/grad"
)

// warned runs the toy and returns its report and the warnings in its log.
func (y *toy) warned(t *testing.T) (*Report, string) {
	t.Helper()
	var log bytes.Buffer
	y.job.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return y.run(t, context.Background()), log.String()
}

// scale multiplies the loss of the samples in rows, from the given epoch on. If rows is nil it is that
// of all held-out samples.
func (y *toy) scale(from int, by float32, rows ...int32) {
	epoch, loss := 0, y.job.Loss
	y.job.Begin = func(e int) { epoch = e }
	y.job.Loss = func(t *grad.Tape, batch []int32, heldOut bool, key uint64) *grad.Mat {
		l := loss(t, batch, heldOut, key)
		hit := slices.ContainsFunc(batch, func(r int32) bool { return slices.Contains(rows, r) })
		if epoch >= from && (heldOut && rows == nil || !heldOut && hit) {
			l.Val[0] *= by
		}
		return l
	}
}

// Each kind of bad run is told, with what helps to find the reason; a good run has no warning.
func TestWarnings(t *testing.T) {
	r := &run{Job: newToy(t).job}
	r.shuffle(2)
	far := r.perm[5*toyBatch+3] // in step 6 of epoch 3
	for _, c := range []struct {
		name  string
		spoil func(y *toy)
		want  []string // in the log
		least int      // warnings
	}{
		{"a good run", func(y *toy) {}, nil, 0},
		{"a sample far from the others", func(y *toy) {
			y.job.Name = func(row int32, heldOut bool) string { return fmt.Sprintf("walk frame %d", row) }
			y.scale(2, 1e6, far)
		}, []string{"the loss of a step explodes", "epoch=3 step=6", fmt.Sprintf("worst_sample=\"%d (walk frame %d)\"", far, far)}, 1},
		{"a rate that is too high", func(y *toy) {
			a := y.job.Optimizer.(AdamW)
			a.Rate = 30
			y.job.Optimizer = a
		}, []string{"the held-out loss explodes", "best_epoch=0", "training has not helped"}, 2},
		{"a held-out loss that explodes", func(y *toy) { y.scale(3, 50) }, []string{"the held-out loss explodes", "epoch=4"}, 1},
		{"a rate that does nothing", func(y *toy) {
			y.job.Optimizer, y.job.Schedule = AdamW{Rate: 1e-30, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}, Constant{}
		}, []string{"training has not helped", "held_out_before="}, 1},
	} {
		y := newToy(t)
		c.spoil(y)
		rep, log := y.warned(t)
		for _, w := range c.want {
			if !strings.Contains(log, w) {
				t.Errorf("%s: the log lacks %q:\n%s", c.name, w, log)
			}
		}
		if rep.Warnings < c.least || c.want == nil && log != "" || rep.Warnings == 0 != (log == "") {
			t.Errorf("%s: %d warnings:\n%s", c.name, rep.Warnings, log)
		}
	}
}

// A warning changes nothing of the run.
func TestWarningsChangeNothing(t *testing.T) {
	var got [2]string
	for i, names := range []bool{false, true} {
		y := newToy(t)
		y.scale(2, 1e6, 3, 7, 30)
		if !names {
			y.job.Warnings = NewWarnings(slog.New(slog.DiscardHandler))
			y.job.Warnings.count[WarnLoss] = mostWarnings // no sample is looked for
		}
		rep, log := y.warned(t)
		if (log != "") != names {
			t.Errorf("log %q", log)
		}
		got[i] = y.outcome(t, rep)
	}
	if got[0] != got[1] {
		t.Error("a run that names samples ends elsewhere")
	}
}

// A million warnings of a kind are a few lines and a count. Those about the data count, too.
func TestWarningsAreBounded(t *testing.T) {
	var log bytes.Buffer
	y := newToy(t)
	y.job.Warnings = NewWarnings(slog.New(slog.NewTextHandler(&log, nil)))
	for i := range 1_000_000 {
		y.job.Warnings.Add("motion", "a fault", "frame", i)
	}
	y.job.Warnings.Add("label", "another fault")
	if rep := y.run(t, context.Background()); rep.Warnings != 1_000_001 {
		t.Errorf("%d warnings", rep.Warnings)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != mostWarnings+2 || !strings.Contains(lines[len(lines)-1], "kind=motion more=999995") {
		t.Errorf("log:\n%s", log.String())
	}
}

// A model that could not be written when it was found is written in the end, if it can be. Failures
// are warnings like others.
func TestModelIsWrittenInTheEnd(t *testing.T) {
	y := newToy(t)
	save, calls := y.job.Save, 0
	good := newToy(t)
	bests := good.run(t, context.Background())
	y.job.Save = func(best [][]float32, r *Report) error {
		if calls++; calls <= len(good.saves) {
			return errors.New("disk full")
		}
		return save(best, r)
	}
	rep, log := y.warned(t)
	if len(y.saves) != 1 || y.saves[0] != bests.Best {
		t.Errorf("saved %v, want %v", y.saves, bests.Best)
	}
	if rep.Warnings != len(good.saves) || strings.Count(log, "disk full") != min(len(good.saves), mostWarnings) {
		t.Errorf("%d warnings, log:\n%s", rep.Warnings, log)
	}
}

// A term of the loss that overflows costs neither the checkpoint nor the curves.
func TestTermOverflows(t *testing.T) {
	y := newToy(t)
	n := 0
	y.job.Losses = func() map[string]float64 {
		n++
		return map[string]float64{"good": 1, "odd": []float64{math.Inf(1), math.NaN(), 2}[n%3]}
	}
	y.job.Curves = filepath.Join(t.TempDir(), "loss")
	rep := y.run(t, context.Background())
	y.outcome(t, rep) // reads the checkpoint
	csv := string(must.Get(os.ReadFile(y.job.Curves + ".csv"))(t))
	if !strings.Contains(csv, ",1,0\n") || !strings.Contains(csv, ",1,2\n") {
		t.Errorf("curves:\n%s", csv)
	}
}
