package remote

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"mannequin/netruntime"
	"mannequin/netruntime/internal/reserve"
	"mannequin/netruntime/remote/internal/inference"
)

const (
	mostLate   = 3                      // late answers in a row, after which runs are local
	steady     = 60                     // runs, after which a server that was lost counts as good again
	firstPause = 100 * time.Millisecond // before a trial; doubles with each, up to lastPause
	lastPause  = 2 * time.Second
	// trialTime is the longest wait in a trial, which may have to connect.
	trialTime = 2 * time.Second
)

// session computes runs on a server, and on the processor when the server does not answer in time.
type session struct {
	reserve.Session
	client        *Client
	layout        *inference.Layout
	opt           netruntime.SessionOptions
	name, version string

	request, response inference.Message
	pool              inference.Pool
	calls             []grpc.CallOption

	remote atomic.Bool    // runs are remote
	gates  bool           // the server puts out the experts' weights; set before remote
	trials sync.WaitGroup // the goroutine that sends trials, while runs are local
	stop   context.CancelFunc
	ctx    context.Context
	pause  time.Duration // before the next trial
	late   int           // in a row
	good   int           // runs since the last change
}

func newSession(c *Client, n *netruntime.Net, o netruntime.SessionOptions, local netruntime.Session, name, version string) *session {
	s := &session{client: c, layout: inference.NewLayout(n), opt: o, name: name, version: version, pause: firstPause}
	s.Open("remote", "remote", s, n, local, o, &c.local)
	s.opt.Length = max(1, o.Length)
	s.ctx, s.stop = context.WithCancel(c.ctx)
	most := 64 << 10 // an answer's names and shapes
	for _, p := range s.answers(true) {
		for length := s.opt.Length; length > 0; length-- {
			if size := p.Size(o.Batch, length); size > 0 {
				most += 4 * size
				break
			}
		}
	}
	s.calls = []grpc.CallOption{grpc.MaxCallRecvMsgSize(most), grpc.MaxCallSendMsgSize(1 << 30)}
	s.request = s.newRequest(&s.pool)
	s.response.Response = true
	return s
}

func (s *session) newRequest(pool *inference.Pool) inference.Message {
	return inference.Message{Model: s.name, Version: s.version, BF16: s.opt.BF16, SkipBelow: float64(s.opt.SkipBelow), Pool: pool}
}

// answers returns the outputs that runs ask for.
func (s *session) answers(gates bool) []*inference.Port {
	var all []*inference.Port
	for i := range s.layout.Outputs {
		all = append(all, &s.layout.Outputs[i])
	}
	if gates && s.layout.Gating != nil {
		all = append(all, s.layout.Gating)
	}
	return all
}

func (s *session) Ready() bool { return s.remote.Load() }

func (s *session) Fits(out, in [][]float32, batch, length int) bool {
	l := s.layout
	if len(in) != len(l.Inputs) || len(out) != len(l.Outputs) || !l.Runs(length) {
		return false
	}
	for i := range l.Inputs {
		p := &l.Inputs[i]
		if len(in[i]) < p.Size(batch, length) || l.Flat && p.Once() && length > 1 {
			return false
		}
	}
	for i := range l.Outputs {
		if len(out[i]) < l.Outputs[i].Size(batch, length) {
			return false
		}
	}
	return true
}

func (s *session) Compute(out, in [][]float32, batch, length int) error {
	if err := s.infer(out, in, batch, length); err != nil {
		return err
	}
	s.client.remote.Add(1)
	s.late = 0
	if s.good++; s.good >= steady {
		s.pause = firstPause
	}
	return nil
}

// infer computes a run on the server. out is written only if it succeeds.
func (s *session) infer(out, in [][]float32, batch, length int) error {
	l := s.layout
	if l.Flat { // frames are rows
		batch, length = batch*length, 1
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.client.opt.Deadline)
	defer cancel()
	s.request.Tensors = s.request.Tensors[:0]
	for i := range l.Inputs {
		s.request.Tensors = append(s.request.Tensors, inference.Tensor{})
		l.Tensor(&s.request.Tensors[i], &l.Inputs[i], batch, length, in[i][:l.Inputs[i].Size(batch, length)])
	}
	err := s.call(ctx, &s.request, &s.response)
	for i := range s.request.Tensors {
		s.request.Tensors[i].Values = nil
	}
	defer s.response.Free()
	if err != nil {
		return err
	}
	if err := s.check(&s.response, batch, length); err != nil {
		return err
	}
	for i := range l.Outputs {
		s.answer(&s.response, &l.Outputs[i]).Copy(out[i][:l.Outputs[i].Size(batch, length)])
	}
	if s.gates {
		n := l.Gating.Size(batch, length)
		if cap(s.Gates) < n {
			s.Gates = make([]float32, max(n, s.opt.Batch*l.Gating.Channels))
		}
		s.Gates = s.Gates[:n]
		s.answer(&s.response, l.Gating).Copy(s.Gates)
	}
	return nil
}

func (s *session) call(ctx context.Context, request, response *inference.Message) error {
	if err := s.client.conn.Invoke(ctx, inference.ModelInfer, request, response, s.calls...); err != nil {
		return err
	}
	return response.Err
}

// answer returns the output p of an answer, or nil.
func (s *session) answer(m *inference.Message, p *inference.Port) *inference.Tensor {
	for i := range m.Tensors {
		if m.Tensors[i].Name == p.Name {
			return &m.Tensors[i]
		}
	}
	return nil
}

// check returns an error unless an answer has all outputs of a run.
func (s *session) check(m *inference.Message, batch, length int) error {
	for i := range s.layout.Outputs {
		if err := s.checkOutput(m, &s.layout.Outputs[i], batch, length); err != nil {
			return err
		}
	}
	if s.gates {
		return s.checkOutput(m, s.layout.Gating, batch, length)
	}
	return nil
}

func (s *session) checkOutput(m *inference.Message, p *inference.Port, batch, length int) error {
	if t := s.answer(m, p); t == nil || !s.layout.Is(t, p, batch, length) {
		return status.Errorf(codes.FailedPrecondition, "the server's answer has no output %q of the network's shape", p.Name)
	}
	return nil
}

// Failed counts a failed call. The server counts as lost after a few late answers, and after any other
// error at once.
func (s *session) Failed(err error, _ [][]float32) {
	if status.Code(err) == codes.DeadlineExceeded {
		s.client.late.Add(1)
		if s.late++; s.late < mostLate {
			return
		}
	} else {
		s.client.failed.Add(1)
	}
	s.client.lost.Add(1)
	s.remote.Store(false)
	s.try(err)
}

// refused reports whether a later call will hardly do better.
func refused(err error) bool {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.NotFound, codes.Unauthenticated, codes.PermissionDenied, codes.Unimplemented, codes.FailedPrecondition:
		return true
	}
	return false
}

// try starts a goroutine that sends trials until one succeeds. lost is why runs are no longer remote, or
// nil if they have not been yet.
func (s *session) try(lost error) {
	log := s.client.opt.Log.With("server", s.client.address, "model", s.name)
	if lost != nil {
		log.Warn("the processor computes a network, the server does not", "err", lost)
		if refused(lost) {
			s.pause = lastPause
		}
	}
	s.late, s.good = 0, 0
	s.trials.Go(func() {
		for first := lost == nil; ; first = false {
			if !first && !s.sleep() {
				return
			}
			gates, err := s.trial()
			if err == nil {
				s.gates = gates
				s.request.Outputs = s.request.Outputs[:0]
				for _, p := range s.answers(gates) {
					s.request.Outputs = append(s.request.Outputs, p.Name)
				}
				log.Info("the server computes a network")
				s.remote.Store(true)
				return
			}
			if s.ctx.Err() != nil {
				return
			}
			if first {
				log.Warn("the processor computes a network, the server does not", "err", err)
			}
		}
	})
}

// sleep waits before a trial. It returns false if there is to be none.
func (s *session) sleep() bool {
	t := time.NewTimer(s.pause)
	defer t.Stop()
	s.pause = min(2*s.pause, lastPause)
	select {
	case <-t.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// trial asks for the model's metadata and computes a sequence of zeros, and again before the deadline.
// It returns whether the server puts out the experts' weights.
func (s *session) trial() (gates bool, err error) {
	ctx, cancel := context.WithTimeout(s.ctx, trialTime)
	defer cancel()
	var meta inference.Metadata
	ask := &inference.MetadataRequest{Model: s.name, Version: s.version}
	if err := s.client.conn.Invoke(ctx, inference.ModelMetadata, ask, &meta, s.calls...); err != nil {
		return false, err
	}
	l := s.layout
	ok, gates := meta.Fits(l)
	if !ok {
		return false, status.Error(codes.FailedPrecondition, "the server's model has other inputs or outputs than the network")
	}
	length := s.shortest()
	request := s.newRequest(&inference.Pool{})
	for i := range l.Inputs {
		request.Tensors = append(request.Tensors, inference.Tensor{})
		p := &l.Inputs[i]
		l.Tensor(&request.Tensors[i], p, 1, length, make([]float32, p.Size(1, length)))
	}
	for _, p := range s.answers(gates) {
		request.Outputs = append(request.Outputs, p.Name)
	}
	for _, limit := range []time.Duration{trialTime, s.client.opt.Deadline} {
		response := inference.Message{Response: true}
		err := func() error {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			return s.call(ctx, &request, &response)
		}()
		for _, p := range s.answers(gates) {
			if err == nil {
				err = s.checkOutput(&response, p, 1, length)
			}
		}
		response.Free()
		if err != nil {
			return false, err
		}
	}
	return gates, nil
}

// shortest returns the shortest length of a run.
func (s *session) shortest() int {
	for length := 1; length <= s.opt.Length; length *= 2 {
		if s.layout.Runs(length) {
			return length
		}
	}
	return s.opt.Length
}

// Free ends the session. The server's part needs no closing.
func (s *session) Free() {
	s.stop()
	s.trials.Wait()
	s.remote.Store(false)
	s.client.forget(s)
}
