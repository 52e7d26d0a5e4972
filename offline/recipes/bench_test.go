package recipes

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/dataset"
	"mannequin/offline/train"
)

// noise returns rows of random numbers with the columns of the authors' dog.
func noise(rows int) *dataset.MANN {
	l := feature.Dog()
	s := &skel.Skeleton{Names: l.Joints}
	for j := range l.Joints {
		s.Parents, s.Offsets, s.EndSite = append(s.Parents, int16(j-1)), append(s.Offsets, m3.Vec3{}), append(s.EndSite, false)
	}
	m := &dataset.MANN{Layout: l, Skeleton: s, Rows: rows, Clips: []string{"noise"}, Clip: make([]int32, rows), Frame: make([]int32, rows)}
	fill := func(n int, key uint64) []float32 {
		x := make([]float32, n)
		uniform(x, 1.7, key)
		return x
	}
	ones := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = 1
		}
		return x
	}
	in, out := l.Inputs(), l.Outputs()
	m.X, m.Y = fill(rows*in, 1), fill(rows*out, 2)
	m.XMean, m.XStd, m.YMean, m.YStd = make([]float32, in), ones(in), make([]float32, out), ones(out)
	for r := range rows {
		m.Order = append(m.Order, int32(r))
		m.Frame[r] = int32(r)
	}
	return m
}

// steps trains the dog's network on noise and calls each after every step until each returns false.
func steps(tb testing.TB, set *dataset.MANN, batch int, each func() bool) {
	m := PaperMANN()
	m.Train, m.HeldOut = set, noise(8)
	m.Batch, m.Epochs, m.Threads = batch, 1<<20, 2
	dir := tb.TempDir()
	m.Checkpoint, m.Out, m.Every = filepath.Join(dir, "m.ckpt"), filepath.Join(dir, "m.safetensors"), time.Hour
	m.Log, m.Now = slog.New(slog.DiscardHandler), func() time.Time { return time.Time{} }
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m.Progress = func(train.Progress) {
		if !each() {
			cancel()
		}
	}
	if _, err := m.Run(ctx); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkStep measures a step of the dog's training: normalisation of the batch, forward,
// backward, update. The metric best is that of the fastest five steps in a row.
func BenchmarkStep(b *testing.B) {
	set := noise(20000)
	for _, batch := range []int{32, 128} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			const warm, block = 20, 5
			var start, since time.Time
			var best time.Duration
			n := 0
			steps(b, set, batch, func() bool {
				n++
				switch done := n - warm; {
				case done == 0:
					b.ResetTimer()
					start = time.Now()
					since = start
				case done > 0 && done%block == 0:
					now := time.Now()
					if took := now.Sub(since); best == 0 || took < best {
						best = took
					}
					since = now
				}
				return n < warm+b.N
			})
			b.ReportMetric(float64(batch*b.N)/time.Since(start).Seconds(), "samples/s")
			if best > 0 {
				b.ReportMetric(block*float64(batch)/best.Seconds(), "best-samples/s")
			}
		})
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	// The Go runtime itself allocates sometimes, so the minimum of several parts counts.
	const part, parts = 3, 15
	var m runtime.MemStats
	var last uint64
	least := uint64(math.MaxUint64)
	n := 0
	steps(t, noise(640), 32, func() bool {
		if n++; n%part == 0 {
			runtime.ReadMemStats(&m)
			if n > part {
				least = min(least, m.Mallocs-last)
			}
			last = m.Mallocs
		}
		return n < part*(parts+1)
	})
	if least != 0 {
		t.Errorf("%d steps allocate %d times", part, least)
	}
}

func TestMANNStep(t *testing.T) {
	step, end, err := NewMANNStep(4, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	for range 2 {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := NewMANNStep(0, 1, 1); err == nil {
		t.Error("a batch of 0 is accepted")
	}
}
