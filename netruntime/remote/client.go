package remote

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"

	"mannequin/netruntime"
	"mannequin/netruntime/remote/internal/inference"
)

// Options are the options of a client. The zero value is a good default.
type Options struct {
	// Deadline is the longest wait for an answer, after which the processor computes the run. Leave
	// time for that in the tick. 0 is 5 ms.
	Deadline time.Duration
	TLS      *tls.Config // nil is without encryption
	// Token is what the server knows the client by. Without TLS it is an error, except for a server
	// on this machine.
	Token string
	Log   *slog.Logger // receives a line when runs become local or remote; nil is slog.Default()

	// Model returns the server's name of a network, and its version. An empty version leaves the
	// choice to the server, which then may compute another network. Nil is the name in the model
	// file, and the network's checksum.
	Model func(n *netruntime.Net) (name, version string)
}

const defaultDeadline = 5 * time.Millisecond

// Stats counts the runs of a client's sessions.
type Stats struct {
	Remote int64 // computed by the server
	Local  int64 // computed by the processor, for whatever reason
	Late   int64 // of these: the answer did not come before the deadline
	Failed int64 // of these: the call failed otherwise
	Lost   int64 // times that a session became local after it had been remote
}

// Client is a connection to a server, or to a proxy of several. It is safe to share.
type Client struct {
	address string
	opt     Options
	conn    *grpc.ClientConn
	ctx     context.Context // ends with the client; carries the token
	cancel  context.CancelFunc

	remote, local, late, failed, lost atomic.Int64

	mu       sync.Mutex
	sessions []*session
}

// Dial returns a client of the server at an address, HOST:PORT or a target of gRPC such as
// dns:///inference:8001 or unix:/run/inference. It does not wait for a connection.
func Dial(address string, o Options) (*Client, error) {
	o.Deadline, o.Log = cmp.Or(o.Deadline, defaultDeadline), cmp.Or(o.Log, slog.Default())
	if o.Deadline < 0 {
		return nil, fmt.Errorf("remote: a deadline of %v", o.Deadline)
	}
	if o.Token != "" && o.TLS == nil && !here(address) {
		return nil, errors.New("remote: a token for another machine needs TLS: others could read it")
	}
	creds := insecure.NewCredentials()
	if o.TLS != nil {
		creds = credentials.NewTLS(o.TLS)
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(creds), grpc.WithDisableRetry(), grpc.WithDisableServiceConfig(),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(inference.Codec{})),
		// Whole messages fit the windows and the buffers.
		grpc.WithInitialWindowSize(4<<20), grpc.WithInitialConnWindowSize(16<<20), grpc.WithReadBufferSize(256<<10), grpc.WithWriteBufferSize(256<<10),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: firstPause, Multiplier: 1.6, Jitter: 0.2, MaxDelay: lastPause}, MinConnectTimeout: 2 * time.Second}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 2 * time.Second, PermitWithoutStream: true}))
	if err != nil {
		return nil, fmt.Errorf("remote: %w", err)
	}
	c := &Client{address: address, opt: o, conn: conn}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if o.Token != "" {
		c.ctx = metadata.AppendToOutgoingContext(c.ctx, "authorization", "Bearer "+o.Token)
	}
	return c, nil
}

// here reports whether an address is on this machine.
func here(address string) bool {
	if strings.HasPrefix(address, "unix:") {
		return true
	}
	for _, scheme := range []string{"dns:///", "passthrough:///"} {
		address = strings.TrimPrefix(address, scheme)
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Open opens a session of n, which is also a session on the processor: it is a netruntime.Opener.
// Runs are local until the server has answered a trial.
func (c *Client) Open(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
	name := n.Meta().Name
	var version string
	if c.opt.Model != nil {
		name, version = c.opt.Model(n)
	} else {
		var err error
		if version, err = n.Checksum(); err != nil {
			return nil, err
		}
	}
	local, err := n.NewSession(o)
	if err != nil {
		return nil, err
	}
	s := newSession(c, n, o, local, name, version)
	c.mu.Lock()
	c.sessions = append(c.sessions, s)
	c.mu.Unlock()
	s.try(nil)
	return s, nil
}

// forget removes a closed session.
func (c *Client) forget(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions = slices.DeleteFunc(c.sessions, func(o *session) bool { return o == s })
}

// Stats returns the counters.
func (c *Client) Stats() Stats {
	return Stats{Remote: c.remote.Load(), Local: c.local.Load(), Late: c.late.Load(), Failed: c.failed.Load(), Lost: c.lost.Load()}
}

// Ready reports whether the runs of all open sessions are remote.
func (c *Client) Ready() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sessions {
		if !s.remote.Load() {
			return false
		}
	}
	return true
}

// Wait waits until Ready, or returns the error of ctx. A program need not wait: the processor
// computes until then.
func (c *Client) Wait(ctx context.Context) error {
	t := time.NewTicker(2 * time.Millisecond)
	defer t.Stop()
	for !c.Ready() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	}
	return nil
}

// Close closes the connection. Runs of sessions that are open still are local from then on.
func (c *Client) Close() error {
	c.cancel() // ends the sessions' trials, too
	return c.conn.Close()
}
