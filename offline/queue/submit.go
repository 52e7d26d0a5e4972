package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Run queues the jobs of a batch that out does not have yet, and puts their outputs into out as
// workers finish them. It returns the jobs that failed. Jobs that are queued stay so if ctx ends:
// another call goes on. A job that failed for good before is tried again.
func (s *Server) Run(ctx context.Context, b *Batch, out *Folder, opt Options) (Progress, []Failure, error) {
	st := &state{opt: opt, p: Progress{Jobs: len(b.Jobs)}}
	open := map[string]*Job{} // jobs without an end
	for _, j := range b.Jobs {
		if out.Has(j) {
			st.end(j, Result{}, true)
			continue
		}
		open[j.Hash()] = j
	}
	if len(open) == 0 {
		return st.p, nil, nil
	}
	program, err := Program()
	if err != nil {
		return st.p, nil, err
	}
	for job, j := range open {
		if err := again(ctx, st.note, func(ctx context.Context) error { return s.queue(ctx, b, job, j, true) }); err != nil {
			return st.p, st.failures, err
		}
	}
	st.note("")
	var seen uint64
	for len(open) > 0 {
		before := len(open)
		if err := again(ctx, st.note, func(ctx context.Context) error { return s.collect(ctx, open, out, st, &seen) }); err != nil {
			return st.p, st.failures, err
		}
		if len(open) < before {
			continue
		}
		// Nothing came. A job may have left the queue just when it was to be queued again.
		for job, j := range open {
			if err := again(ctx, st.note, func(ctx context.Context) error { return s.queue(ctx, b, job, j, false) }); err != nil {
				return st.p, st.failures, err
			}
		}
		st.note(s.lack(ctx, program))
	}
	return st.p, st.failures, nil
}

// queue puts a job and its files on the server, unless the job is done or waits there. One that has failed for good
// is done, too, unless revive is set.
func (s *Server) queue(ctx context.Context, b *Batch, job string, j *Job, revive bool) error {
	switch r, known, err := s.result(ctx, job); {
	case err != nil:
		return err
	case known && r.Dead && revive:
		if err := s.results.Purge(ctx, job); err != nil {
			return err
		}
	case known && r.done():
		return nil
	}
	for _, f := range j.Files {
		if err := s.upload(ctx, f.Sum, b.local[f.Sum]); err != nil {
			return err
		}
	}
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if len(text) > maxText {
		return permanent{fmt.Errorf("a job of %d bytes: want fewer files or shorter names", len(text))}
	}
	_, err = s.js.Publish(ctx, s.subject("jobs", j.Program, job), text)
	if api := (*jetstream.APIError)(nil); errors.As(err, &api) && api.ErrorCode == perSubject {
		return nil // it waits already
	}
	return err
}

// collectFor is how long one watch for results lasts.
var collectFor = 10 * time.Second

// collect watches results for some time, puts the outputs of finished jobs into out, and takes these
// jobs out of open. It begins after the revision of the results that was seen last.
func (s *Server) collect(ctx context.Context, open map[string]*Job, out *Folder, st *state, seen *uint64) error {
	w, err := s.results.WatchAll(ctx, jetstream.IgnoreDeletes(), jetstream.ResumeFromRevision(*seen+1))
	if err != nil {
		return err
	}
	defer w.Stop()
	end := time.NewTimer(collectFor)
	defer end.Stop()
	for len(open) > 0 {
		var e jetstream.KeyValueEntry
		select {
		case e = <-w.Updates():
		case <-end.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
		if e == nil {
			continue // all that was there when the watch began
		}
		if j := open[e.Key()]; j != nil {
			r, err := readResult(e.Value())
			if err != nil {
				return permanent{err}
			}
			if r.done() {
				if err := s.take(ctx, j, r, out); err != nil {
					return err
				}
				delete(open, e.Key())
				st.end(j, r, false)
			}
		}
		*seen = e.Revision()
	}
	return nil
}

// take puts the outputs of a finished job into out.
func (s *Server) take(ctx context.Context, j *Job, r Result, out *Folder) error {
	if r.Dead {
		return nil
	}
	if err := out.Put(j, r.Outs, func(o File, w io.Writer) error { return s.write(ctx, w, o.Sum) }); err != nil {
		return err
	}
	if !out.Has(j) {
		return fmt.Errorf("the outputs of %s came in with other contents", j.In)
	}
	return nil
}

// lack says that nobody works, if so.
func (s *Server) lack(ctx context.Context, program string) string {
	ctx, stop := context.WithTimeout(ctx, callWait)
	defer stop()
	c, err := s.jobs.Consumer(ctx, "workers-"+program)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return "no worker of this build of mannequin has come yet"
	}
	if err != nil {
		return ""
	}
	if info, err := c.Info(ctx); err == nil && info.NumWaiting == 0 && info.NumAckPending == 0 {
		return "no worker of this build of mannequin is there"
	}
	return ""
}
