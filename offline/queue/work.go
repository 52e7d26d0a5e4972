package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// fetchWait is how long a worker waits for a job before it asks again.
const fetchWait = 5 * time.Second

// Event is what a worker tells of a job.
type Event struct {
	Job   *Job
	Error string // why it failed; empty: it is done
	Fails int    // how often it has failed
	Dead  bool   // it is not tried again
	Took  time.Duration
}

// WorkOptions are those of a worker.
type WorkOptions struct {
	Slots   int // jobs at a time, at least 1
	Tries   int // of a job that fails
	Backoff time.Duration
	Event   func(Event)      // called by one goroutine at a time; nil: nobody listens
	Note    func(why string) // why the worker waits
}

// Work takes jobs of this program from the server until ctx ends, and runs them. A job is at least
// once run and its result written once: a worker that vanishes loses its jobs to others after some
// seconds, and outputs go by their contents. A job that fails is tried again later, by any worker. One
// that fails too often goes to the dead-letter stream NAME-dead with its error.
func (s *Server) Work(ctx context.Context, r *Runner, o WorkOptions) error {
	program, err := Program()
	if err != nil {
		return err
	}
	r.clean()
	host, _ := os.Hostname()
	w := &worker{s: s, r: r, o: o, program: program, name: fmt.Sprintf("%s:%d", host, os.Getpid())}
	if w.o.Note == nil {
		w.o.Note = func(string) {}
	}
	var wg sync.WaitGroup
	errs := make([]error, max(o.Slots, 1))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for i := range errs {
		wg.Go(func() {
			errs[i] = w.loop(ctx)
			stop()
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

type worker struct {
	s             *Server
	r             *Runner
	o             WorkOptions
	program, name string
	mu            sync.Mutex
}

func (w *worker) event(e Event) {
	if w.o.Event != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.o.Event(e)
	}
}

func (w *worker) note(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.o.Note(why)
}

// loop takes one job after the other.
func (w *worker) loop(ctx context.Context) error {
	for ctx.Err() == nil {
		err := again(ctx, w.note, func(call context.Context) error {
			c, err := w.s.consumer(call, w.program)
			if err != nil {
				return err
			}
			wait, stop := context.WithTimeout(ctx, fetchWait)
			defer stop()
			got, err := c.Fetch(1, jetstream.FetchContext(wait))
			if err != nil {
				return err
			}
			for m := range got.Messages() {
				if ctx.Err() != nil {
					m.Nak()
					continue
				}
				w.take(ctx, m)
			}
			if wait.Err() != nil {
				return nil // no job came
			}
			return got.Error()
		})
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// take runs the job of a message, and answers the message.
func (w *worker) take(ctx context.Context, m jetstream.Msg) {
	alive, rest := context.WithCancel(ctx)
	defer rest()
	go func() {
		tick := time.NewTicker(ackWait / 4)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				m.InProgress()
			case <-alive.Done():
				return
			}
		}
	}()
	answer, err := w.do(ctx, m)
	switch { // the server gives a job to another worker, soon if it hears of it
	case err == nil:
		answer() // also if ctx has just ended: the result is there
	case ctx.Err() != nil:
		m.Nak()
	default:
		w.note("puts a job back: " + err.Error())
		m.NakWithDelay(time.Second)
	}
}

// do runs the job of a message and returns the answer to it. Its error is none of the job's.
func (w *worker) do(ctx context.Context, m jetstream.Msg) (answer func() error, err error) {
	meta, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	j, err := ReadJob(m.Data())
	if err == nil && (j.Program != w.program || w.s.subject("jobs", j.Program, j.Hash()) != m.Subject()) {
		err = errors.New("queue: a job under another job's name")
	}
	if err != nil {
		return m.Term, w.bury(ctx, m, Result{Error: err.Error(), Dead: true, Worker: w.name})
	}
	job := j.Hash()
	was, _, err := w.s.result(ctx, job)
	if err != nil {
		return nil, err
	}
	if was.Dead || len(was.Outs) > 0 {
		return m.Ack, nil
	}
	if lost := int(meta.NumDelivered) - 1 - was.Fails; lost >= mostLost {
		was.Error, was.Dead = fmt.Sprintf("it was given to workers %d times and none ended it: they were lost, or it ends them", meta.NumDelivered), true
		w.event(Event{Job: j, Error: was.Error, Dead: true})
		return m.Term, errors.Join(w.bury(ctx, m, was), w.s.putResult(ctx, job, was))
	}
	start := time.Now()
	res := Result{Fails: was.Fails, Worker: w.name}
	var server error
	err = w.r.Run(ctx, j, func(ctx context.Context, sum, to string) error {
		server = w.s.fetch(ctx, sum, to)
		return server
	}, func(dir string) (err error) {
		if res.Outs, err = filesOf(dir); err != nil {
			return err
		}
		for _, o := range res.Outs {
			if server = w.s.upload(ctx, o.Sum, filepath.Join(dir, filepath.FromSlash(o.Name))); server != nil {
				return server
			}
		}
		return nil
	})
	took := time.Since(start)
	res.Seconds = took.Seconds()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case server != nil:
		return nil, server
	case err == nil:
		w.event(Event{Job: j, Took: took})
		return m.Ack, w.s.putResult(ctx, job, res)
	}
	res.Outs, res.Error, res.Fails = nil, err.Error(), was.Fails+1
	res.Dead = res.Fails >= w.o.Tries || errors.As(err, new(permanent))
	w.event(Event{Job: j, Error: res.Error, Fails: res.Fails, Dead: res.Dead, Took: took})
	if res.Dead {
		return m.Term, errors.Join(w.bury(ctx, m, res), w.s.putResult(ctx, job, res))
	}
	wait := backoff(w.o.Backoff, res.Fails)
	return func() error { return m.NakWithDelay(wait) }, w.s.putResult(ctx, job, res)
}

// Dead is a message of the dead-letter stream.
type Dead struct {
	Job    json.RawMessage `json:"job"`
	Result Result          `json:"result"`
}

// bury puts a job into the dead-letter stream.
func (w *worker) bury(ctx context.Context, m jetstream.Msg, r Result) error {
	d := Dead{m.Data(), r}
	if !json.Valid(d.Job) {
		d.Job, _ = json.Marshal(string(m.Data()))
	}
	b, err := json.Marshal(d)
	if err != nil {
		return err
	}
	subject := w.s.subject("dead", w.program, m.Subject()[len(w.s.subject("jobs", w.program, "")):])
	_, err = w.s.js.Publish(ctx, subject, b)
	return err
}
