package serve

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// gate is a listener with a limited number of connections. When all are taken, it closes one for a new
// client: an idle connection first, then one with an unfinished request, then one whose client reads
// its answer too slowly. If there is none of these, the new client gets the status 503.
type gate struct {
	net.Listener
	limits

	mu   sync.Mutex
	open map[*conn]bool
}

// conn is a connection that a gate holds. The gate's lock guards its fields.
type conn struct {
	net.Conn
	gate  *gate
	state http.ConnState
	since time.Time // of the last change of state or part of an answer
}

func newGate(l net.Listener, lim limits) *gate {
	return &gate{Listener: l, limits: lim, open: map[*conn]bool{}}
}

// Accept waits for the next client that finds a place.
func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if in := g.admit(c); in != nil {
			return in, nil
		}
		c.SetWriteDeadline(time.Now().Add(time.Second))
		c.Write([]byte("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n"))
		c.Close()
	}
}

// admit returns the place of a new client, or nil if there is none.
func (g *gate) admit(c net.Conn) *conn {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if len(g.open) >= g.conns {
		out := g.waiting(now)
		if out == nil {
			return nil
		}
		delete(g.open, out)
		out.Conn.Close()
	}
	in := &conn{Conn: c, gate: g, state: http.StateNew, since: now}
	g.open[in] = true
	return in
}

// waiting returns the connection that gives up its place, or nil if all are busy.
func (g *gate) waiting(now time.Time) (out *conn) {
	order := map[http.ConnState]int{http.StateIdle: 3, http.StateNew: 2, http.StateActive: 1}
	for c := range g.open {
		switch {
		case c.state != http.StateIdle && now.Sub(c.since) < g.stall: // busy
		case out == nil, order[c.state] > order[out.state], c.state == out.state && c.since.Before(out.since):
			out = c
		}
	}
	return out
}

// enter notes a connection's state.
func (c *conn) enter(state http.ConnState) {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	c.state, c.since = state, time.Now()
}

// Write sends a part of an answer. A client may take as long as it needs for a file, if it reads
// part after part in time.
func (c *conn) Write(b []byte) (int, error) {
	c.SetWriteDeadline(time.Now().Add(c.gate.write))
	n, err := c.Conn.Write(b)
	c.enter(http.StateActive)
	return n, err
}

// Close gives up the place.
func (c *conn) Close() error {
	c.gate.mu.Lock()
	delete(c.gate.open, c)
	c.gate.mu.Unlock()
	return c.Conn.Close()
}
