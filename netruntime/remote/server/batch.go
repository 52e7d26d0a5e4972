package server

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"mannequin/netruntime"
	"mannequin/netruntime/remote/internal/inference"
)

// maxQueue is the most calls that wait for a batcher.
const maxQueue = 1024

// clientLasts is how long after its last call a client still counts as one that may call again.
const clientLasts = time.Second

// call is a request in a batcher's queue.
type call struct {
	ctx           context.Context
	request       *inference.Message
	inputs        []int // of the network → tensor of the request
	outputs       []int // requested outputs of the layout; its length is the gating weights
	batch, length int
	since         time.Time

	taken bool // by the goroutine that computes; the batcher's lock guards it
	done  chan struct{}
	reply *inference.Encoded
	err   error
}

// batcher computes calls of one network and one arithmetic together.
type batcher struct {
	model   *model
	session netruntime.Session
	rows    int // most sequences of a run
	window  time.Duration
	metrics *metrics

	mu      sync.Mutex
	queue   []*call
	clients map[netip.AddrPort]time.Time // their last calls
	closed  bool
	wake    chan struct{} // something is in the queue, or closed; holds one

	// Of the goroutine that computes.
	calls   []*call
	in, out [][]float32
	message inference.Message
	pool    inference.Pool
}

func newBatcher(m *model, s netruntime.Session, o *Options, length int, all *metrics) *batcher {
	b := &batcher{model: m, session: s, rows: s.MaxRows(), window: o.Window, metrics: all,
		clients: map[netip.AddrPort]time.Time{}, wake: make(chan struct{}, 1)}
	l := m.layout
	for i := range l.Inputs {
		b.in = append(b.in, make([]float32, most(&l.Inputs[i], b.rows, length)))
	}
	for i := range l.Outputs {
		b.out = append(b.out, make([]float32, most(&l.Outputs[i], b.rows, length)))
	}
	b.message = inference.Message{Response: true, Model: m.name, Version: m.version}
	return b
}

// infer waits until a call is computed, or its client has gone.
func (b *batcher) infer(c *call) (*inference.Encoded, error) {
	c.since, c.done = time.Now(), make(chan struct{})
	b.mu.Lock()
	switch {
	case b.closed:
		b.mu.Unlock()
		return nil, status.Error(codes.Unavailable, "the server ends")
	case len(b.queue) >= maxQueue:
		b.mu.Unlock()
		return nil, status.Errorf(codes.ResourceExhausted, "%d calls wait already", maxQueue)
	}
	b.queue = append(b.queue, c)
	b.clients[address(c.ctx)] = c.since
	b.mu.Unlock()
	b.signal()
	select {
	case <-c.done:
	case <-c.ctx.Done():
		b.mu.Lock()
		taken := c.taken
		if !taken {
			b.queue = slices.DeleteFunc(b.queue, func(q *call) bool { return q == c })
		}
		b.mu.Unlock()
		if !taken {
			return nil, status.FromContextError(c.ctx.Err()).Err()
		}
		<-c.done // it reads the request
	}
	return c.reply, c.err
}

func (b *batcher) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// address returns the address of a call's client, or zero if it has none.
func address(ctx context.Context) netip.AddrPort {
	if p, ok := peer.FromContext(ctx); ok {
		if a, ok := p.Addr.(*net.TCPAddr); ok {
			return a.AddrPort()
		}
	}
	return netip.AddrPort{}
}

func (b *batcher) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.signal()
}

// run computes batches until close, and all calls that are in the queue then.
func (b *batcher) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer b.session.Close()
	for {
		wait, ok := b.next(time.Now())
		switch {
		case !ok:
			return
		case len(b.calls) > 0:
			b.compute()
			clear(b.calls)
			b.calls = b.calls[:0]
		case wait > 0:
			timer.Reset(wait)
			select {
			case <-b.wake:
			case <-timer.C:
			}
		default:
			<-b.wake
		}
	}
}

// next takes the calls of the next batch. If it takes none, it returns how long to wait for more, or 0
// if there are none at all, and false if there will be none.
func (b *batcher) next(now time.Time) (time.Duration, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return 0, !b.closed
	}
	first := b.queue[0]
	rows, full := 0, false
	for _, c := range b.queue {
		if c.length == first.length {
			rows += c.batch
			full = full || rows >= b.rows
		}
	}
	left := b.window - now.Sub(first.since)
	if !full && !b.closed && left > 0 && len(b.queue) < b.expected(now) {
		return left, true
	}
	rows = 0
	b.queue = slices.DeleteFunc(b.queue, func(c *call) bool {
		if c.length != first.length || rows+c.batch > b.rows {
			return false
		}
		rows += c.batch
		c.taken = true
		b.calls = append(b.calls, c)
		return true
	})
	return 0, true
}

// expected returns the number of clients that have called lately: more calls than that are not worth
// waiting for.
func (b *batcher) expected(now time.Time) int {
	for a, last := range b.clients {
		if now.Sub(last) > clientLasts {
			delete(b.clients, a)
		}
	}
	return len(b.clients)
}

// compute computes the taken calls and wakes them.
func (b *batcher) compute() {
	l, length, start := b.model.layout, b.calls[0].length, time.Now()
	rows := 0
	for _, c := range b.calls {
		if c.ctx.Err() != nil { // nobody waits for it
			c.err = status.FromContextError(c.ctx.Err()).Err()
			continue
		}
		for i, t := range c.inputs {
			n := l.Inputs[i].Size(1, length)
			c.request.Tensors[t].Copy(b.in[i][rows*n : (rows+c.batch)*n])
		}
		rows += c.batch
		b.metrics.waited.WithLabelValues(b.model.name).Observe(start.Sub(c.since).Seconds())
	}
	var err error
	if rows > 0 {
		from := time.Now()
		if err = b.session.RunSequences(b.out, b.in, rows, length); err != nil {
			err = status.Error(codes.InvalidArgument, err.Error())
		}
		b.metrics.computed.WithLabelValues(b.model.name).Observe(time.Since(from).Seconds())
		b.metrics.batch.WithLabelValues(b.model.name).Observe(float64(rows))
		b.metrics.rows.WithLabelValues(b.model.name).Add(float64(rows))
	}
	rows = 0
	for _, c := range b.calls {
		if c.err == nil {
			if c.err = err; err == nil {
				c.reply = b.encode(c, rows)
			}
			rows += c.batch
		}
		close(c.done)
	}
}

// encode returns the response to a call whose rows begin at a row of the batch.
func (b *batcher) encode(c *call, row int) *inference.Encoded {
	l, m := b.model.layout, &b.message
	m.Model, m.Version, m.ID, m.Tensors = c.request.Model, b.model.version, c.request.ID, m.Tensors[:0]
	for _, o := range c.outputs {
		p, values := l.Gating, []float32(nil)
		if o < len(l.Outputs) {
			p, values = &l.Outputs[o], b.out[o]
		} else {
			values = b.session.Gating()
		}
		n := p.Size(1, c.length)
		m.Tensors = append(m.Tensors, inference.Tensor{})
		l.Tensor(&m.Tensors[len(m.Tensors)-1], p, c.batch, c.length, values[row*n:(row+c.batch)*n])
	}
	bytes := b.pool.Get(0)
	*bytes = m.Append((*bytes)[:0])
	return &inference.Encoded{Bytes: bytes, Pool: &b.pool}
}
