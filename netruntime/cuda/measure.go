//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"mannequin/netruntime"
	"mannequin/netruntime/internal/program"
)

// Measure times the parts of runs of s, a session of this package, on pinned memory. The times do
// not depend on the values.
func Measure(s netruntime.Session, batch, length, repeats int) (Timing, error) {
	c, ok := s.(*session)
	switch {
	case !ok || c.Closed || state.Lost.Load():
		return Timing{}, errors.New("cuda: the session does not run on a GPU")
	case batch < 1 || batch > c.opt.Batch || length < 1 || length > c.opt.Length || repeats < 1:
		return Timing{}, fmt.Errorf("cuda: %d sequences of %d frames, %d times: the session holds 1 to %d of 1 to %d",
			batch, length, repeats, c.opt.Batch, c.opt.Length)
	}
	if err := c.device.enter(); err != nil {
		return Timing{}, err
	}
	defer runtime.UnlockOSThread()
	if err := c.layOut(length); err != nil {
		return Timing{}, err
	}
	timer, err := newTimer(c.opt.Timeout)
	if err != nil {
		return Timing{}, err
	}
	defer timer.close()
	// Chunk after chunk through one lane, with the lane's own copies as source and destination.
	l := &c.lanes[0]
	defer func() { l.n = 0 }()
	each := func(f func() error) (float64, error) {
		return timer.median(l.stream, repeats, func() error {
			for from := 0; from < batch; from += c.most {
				l.from, l.n = 0, min(c.most, batch-from)
				if err := f(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var t Timing
	for _, part := range []struct {
		to *float64
		f  func() error
	}{
		{&t.Send, func() error { return c.exchange(l, c.plan.Inputs, l.in, l.put) }},
		{&t.Chains, func() error { return c.compute(l, chains) }},
		{&t.Products, func() error { return c.compute(l, products) }},
		{&t.Receive, func() error { return c.exchange(l, c.plan.Outputs, l.out, l.fetch) }},
	} {
		if *part.to, err = each(part.f); err != nil {
			lose(c.opt.Log, err)
			return Timing{}, err
		}
	}
	return t, nil
}

// exchange copies a chunk's values between a lane and its copies.
func (s *session) exchange(l *lane, at []int, host [][]float32, copyOne func(x []float32, offset int64) error) error {
	for i, v := range at {
		if err := copyOne(host[i][:l.n*s.layout.Floats(v)], s.layout.At[v][program.Plain]); err != nil {
			return err
		}
	}
	return nil
}

// timer measures the work of a stream with two events.
type timer struct {
	begin, end cu.Event
	limit      time.Duration // of a wait
}

func newTimer(limit time.Duration) (t *timer, err error) {
	t = &timer{limit: limit}
	if t.begin, err = cu.MakeEvent(cu.DefaultEvent); err != nil {
		return nil, fmt.Errorf("cuda: event: %w", err)
	}
	if t.end, err = cu.MakeEvent(cu.DefaultEvent); err != nil {
		_ = cu.DestroyEvent(&t.begin)
		return nil, fmt.Errorf("cuda: event: %w", err)
	}
	return t, nil
}

func (t *timer) close() {
	_ = cu.DestroyEvent(&t.begin)
	_ = cu.DestroyEvent(&t.end)
}

// median returns the seconds that the work submitted by f takes, after a warm-up.
func (t *timer) median(stream cu.Stream, repeats int, f func() error) (float64, error) {
	var seconds []float64
	for i := range repeats + 1 {
		if err := wrap(t.begin.Record(stream), "event"); err != nil {
			return 0, err
		}
		if err := f(); err != nil {
			return 0, err
		}
		if err := wrap(t.end.Record(stream), "event"); err != nil {
			return 0, err
		}
		if err := wait(stream, t.limit); err != nil {
			return 0, err
		}
		ms, err := t.begin.Elapsed(t.end)
		if err != nil {
			return 0, wrap(err, "event")
		}
		if i > 0 {
			seconds = append(seconds, ms/1e3)
		}
	}
	slices.Sort(seconds)
	return (seconds[(len(seconds)-1)/2] + seconds[len(seconds)/2]) / 2, nil
}

const (
	peakCopy    = 256 << 20 // bytes
	peakSize    = 8192      // of square matrices
	peakRepeats = 9
)

// MeasurePeaks measures the GPU that sessions run on: copies of pinned memory, and products of
// large matrices by cuBLAS if the machine has it.
func MeasurePeaks(p Precision) (Peaks, error) {
	d, err := theDevice()
	if err != nil {
		return Peaks{}, err
	}
	if state.Lost.Load() {
		return Peaks{}, errLost
	}
	var peaks Peaks
	err = within(startTimeout, func() (err error) {
		if err = d.enter(); err == nil {
			peaks, err = measurePeaks(p)
			runtime.UnlockOSThread()
		}
		return err
	})
	if err != nil {
		return Peaks{}, err
	}
	return peaks, nil
}

func measurePeaks(p Precision) (peaks Peaks, err error) {
	stream, err := cu.MakeStream(cu.NonBlocking)
	if err != nil {
		return peaks, fmt.Errorf("cuda: stream: %w", err)
	}
	defer stream.Destroy()
	t, err := newTimer(defaultTimeout)
	if err != nil {
		return peaks, err
	}
	defer t.close()
	size := int64(max(peakCopy, 3*4*peakSize*peakSize))
	memory, err := cu.MemAlloc(size)
	if err != nil {
		return peaks, fmt.Errorf("cuda: %d bytes: %w", size, err)
	}
	defer cu.MemFree(memory)
	host, err := pinned(peakCopy / 4)
	if err != nil {
		return peaks, err
	}
	defer unpin(host)
	seconds, err := t.median(stream, peakRepeats, func() error {
		return cu.MemcpyHtoDAsync(memory, unsafe.Pointer(&host[0]), peakCopy, stream)
	})
	if err != nil {
		return peaks, err
	}
	peaks.Send = peakCopy / seconds
	if seconds, err = t.median(stream, peakRepeats, func() error {
		return cu.MemcpyDtoHAsync(unsafe.Pointer(&host[0]), memory, peakCopy, stream)
	}); err != nil {
		return peaks, err
	}
	peaks.Receive = peakCopy / seconds
	blas, err := openBLAS()
	if err != nil {
		return peaks, nil // FLOPS stays 0
	}
	defer blas.close()
	if err := fillRandom(memory, host, size); err != nil {
		return peaks, err
	}
	if seconds, err = t.median(stream, peakRepeats, func() error { return blas.square(p, peakSize, memory, stream) }); err != nil {
		return peaks, err
	}
	peaks.FLOPS = 2 * peakSize * peakSize * peakSize / seconds
	return peaks, nil
}

// fillRandom fills device memory with bytes that are random numbers in every type, because matrix
// units run faster on zeros.
func fillRandom(memory cu.DevicePtr, host []float32, size int64) error {
	u := uint32(1)
	for i := range host {
		u = u*1664525 + 1013904223
		// Two bfloat16 of magnitude 0.5 to 1, which together are a float32 of the same magnitude.
		v := u>>16&0x807f | 0x3f00
		w := u&0x807f | 0x3f00
		*(*uint32)(unsafe.Pointer(&host[i])) = v<<16 | w
	}
	for at := int64(0); at < size; at += int64(4 * len(host)) {
		n := min(int64(4*len(host)), size-at)
		if err := cu.MemcpyHtoD(memory+cu.DevicePtr(at), unsafe.Pointer(&host[0]), n); err != nil {
			return fmt.Errorf("cuda: copy: %w", err)
		}
	}
	return nil
}
