package queue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"mannequin/internal/boundedfile"
)

// Progress is how far a batch is.
type Progress struct {
	Jobs, Done, Failed int
	Had                int    // of Done, those that were done before
	Note               string // what a person should know, such as that no worker is there
}

// Failure is a job that failed for good.
type Failure struct {
	Job    *Job
	Result Result
}

// Options are those of running a batch.
type Options struct {
	Tries    int            // of a job that fails, at least 1
	Backoff  time.Duration  // before the second try; it doubles from try to try
	Progress func(Progress) // called by one goroutine at a time; nil: nobody looks
}

// state counts what has ended.
type state struct {
	mu       sync.Mutex
	opt      Options
	p        Progress
	failures []Failure
}

func (s *state) end(j *Job, r Result, had bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Error != "" {
		s.p.Failed++
		s.failures = append(s.failures, Failure{j, r})
	} else {
		s.p.Done++
		if had {
			s.p.Had++
		}
	}
	s.show()
}

func (s *state) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.p.Note != text {
		s.p.Note = text
		s.show()
	}
}

func (s *state) show() {
	if s.opt.Progress != nil {
		s.opt.Progress(s.p)
	}
}

// backoff returns the time before a job is tried again after it failed fails times.
func backoff(first time.Duration, fails int) time.Duration {
	return min(first<<min(fails-1, 16), 5*time.Minute)
}

// permanent is an error that another try would not change.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// RunLocal runs the jobs of a batch that out does not have yet, workers at a time, on this machine.
// It returns the jobs that failed. An error is one of the whole batch, as if ctx ended.
func (b *Batch) RunLocal(ctx context.Context, r *Runner, workers int, out *Folder, opt Options) (Progress, []Failure, error) {
	r.clean()
	s := &state{opt: opt, p: Progress{Jobs: len(b.Jobs)}}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	jobs := make(chan *Job)
	var wg sync.WaitGroup
	for range max(workers, 1) {
		wg.Go(func() {
			for j := range jobs {
				if out.Has(j) {
					s.end(j, Result{}, true)
					continue
				}
				res, err := b.try(ctx, r, j, out, opt)
				if err != nil {
					stop(err)
					return
				}
				s.end(j, res, false)
			}
		})
	}
feed:
	for _, j := range b.Jobs {
		select {
		case jobs <- j:
		case <-ctx.Done():
			break feed
		}
	}
	close(jobs)
	wg.Wait()
	return s.p, s.failures, context.Cause(ctx)
}

// try runs a job until it succeeds or has failed often enough. Its error is not the job's.
func (b *Batch) try(ctx context.Context, r *Runner, j *Job, out *Folder, opt Options) (Result, error) {
	var res Result
	for {
		start := time.Now()
		var outErr error
		err := r.Run(ctx, j, b.copy, func(dir string) error {
			files, err := filesOf(dir)
			if err == nil {
				outErr = out.Put(j, files, func(o File, w io.Writer) error { return copyFrom(w, filepath.Join(dir, filepath.FromSlash(o.Name))) })
				err = outErr
			}
			return err
		})
		res.Seconds = time.Since(start).Seconds()
		switch {
		case ctx.Err() != nil:
			return res, context.Cause(ctx)
		case outErr != nil:
			return res, outErr
		case err == nil:
			res.Error = ""
			return res, nil
		}
		res.Error = err.Error()
		res.Fails++
		if res.Dead = res.Fails >= opt.Tries || errors.As(err, new(permanent)); res.Dead {
			return res, nil
		}
		select {
		case <-time.After(backoff(opt.Backoff, res.Fails)):
		case <-ctx.Done():
			return res, context.Cause(ctx)
		}
	}
}

// copy puts a file of this machine into a job's folder, and makes sure that it is still the same.
func (b *Batch) copy(_ context.Context, sum, to string) error {
	from, err := filepath.Abs(b.local[sum])
	if err != nil {
		return err
	}
	if err := fill(to, func(w io.Writer) error { return copyFrom(w, from) }); err != nil {
		return err
	}
	if got, err := Sum(to); err != nil || got != sum {
		return errors.Join(err, fmt.Errorf("%s: it was changed after the batch began", from))
	}
	return nil
}

func copyFrom(w io.Writer, file string) error {
	f, err := boundedfile.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
