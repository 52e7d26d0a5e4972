package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"mannequin/netruntime"
	"mannequin/netruntime/remote/internal/inference"
	pb "mannequin/netruntime/remote/internal/inference/inferencepb"
)

// Options are the options of a server. The zero value is a good default.
type Options struct {
	Rows    int // most rows of a run; 0 is 1,024. Of networks over time it is fewer sequences
	Length  int // most frames of a sequence; 0 is 256
	Workers int // goroutines that compute a network; 0 is one for each core

	// Window is how long a request waits for requests of other clients, to be computed together. It
	// does not wait if every client that called in the last second has a request in the queue: one
	// client alone never waits. 0 is MaxWindow, which is also the most; negative is none.
	Window time.Duration

	Tokens []string    // one of which a client must send, except to ask whether the server lives; empty: no client needs one
	TLS    *tls.Config // nil is without encryption

	Open netruntime.Opener // what computes the networks; nil is the processor. A GPU's last bits are not the processor's
}

// MaxWindow is the longest window.
const MaxWindow = time.Millisecond

// maxArithmetics is the most combinations of BF16 and SkipBelow that clients can ask of a network.
const maxArithmetics = 4

// Model is a name with its networks. Clients choose one by its version, which is its
// netruntime.Net.Checksum. Without a version it is the first. The others are usually parts of it,
// which generators compute separately.
type Model struct {
	Name string
	Nets []*netruntime.Net
}

// Server serves networks.
type Server struct {
	opt     Options
	tokens  [][sha256.Size]byte
	names   map[string]*model // the first of each name
	models  map[string]*model // by version
	order   []*model
	grpc    *grpc.Server
	health  *health.Server
	metrics *metrics
	calls   sync.Pool // of *call
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
}

// model is a network that is served.
type model struct {
	name, version string
	versions      []string // of its name
	net           *netruntime.Net
	layout        *inference.Layout

	mu       sync.Mutex
	batchers map[arithmetic]*batcher
}

// arithmetic is what a client chooses of a session's options.
type arithmetic struct {
	bf16      bool
	skipBelow float32
}

// New returns a server of models. It opens a session of each network.
func New(models []Model, o Options) (*Server, error) {
	if o.Rows < 0 || o.Length < 0 || o.Workers < 0 || o.Window > MaxWindow {
		return nil, fmt.Errorf("server: %d rows, %d frames, %d workers and a window of %v: want none negative, and a window of at most %v",
			o.Rows, o.Length, o.Workers, o.Window, MaxWindow)
	}
	o.Rows, o.Length, o.Workers = cmp.Or(o.Rows, 1024), cmp.Or(o.Length, 256), cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	o.Window = max(0, cmp.Or(o.Window, MaxWindow))
	s := &Server{opt: o, names: map[string]*model{}, models: map[string]*model{}, metrics: newMetrics(), health: health.NewServer()}
	s.calls.New = func() any { return &call{request: &inference.Message{}} }
	for _, t := range o.Tokens {
		if t == "" {
			return nil, errors.New("server: an empty token")
		}
		s.tokens = append(s.tokens, sha256.Sum256([]byte(t)))
	}
	if len(models) == 0 {
		return nil, errors.New("server: no models")
	}
	for _, m := range models {
		if err := s.add(m); err != nil {
			s.close()
			return nil, err
		}
	}
	largest := 0
	for _, m := range s.order {
		largest = max(largest, m.largest(s.size(m)))
	}
	opts := []grpc.ServerOption{
		grpc.ForceServerCodecV2(inference.Codec{}), grpc.MaxRecvMsgSize(largest), grpc.MaxConcurrentStreams(256), grpc.MaxHeaderListSize(16 << 10),
		grpc.InitialWindowSize(4 << 20), grpc.InitialConnWindowSize(16 << 20), grpc.ReadBufferSize(256 << 10), grpc.WriteBufferSize(256 << 10),
		grpc.ConnectionTimeout(10 * time.Second), grpc.KeepaliveParams(keepalive.ServerParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
		grpc.InTapHandle(s.admit),
	}
	if o.TLS != nil {
		opts = append(opts, grpc.Creds(credentials.NewTLS(o.TLS)))
	}
	s.grpc = grpc.NewServer(opts...)
	s.grpc.RegisterService(service(), s)
	healthpb.RegisterHealthServer(s.grpc, s.health)
	reflection.Register(s.grpc)
	s.health.SetServingStatus(inference.Service, healthpb.HealthCheckResponse_SERVING)
	return s, nil
}

// service has the methods of the protocol. ModelInfer reads and writes our own messages.
func service() *grpc.ServiceDesc {
	return &grpc.ServiceDesc{ServiceName: inference.Service, HandlerType: (*any)(nil), Metadata: "inference.proto", Methods: []grpc.MethodDesc{
		method("ServerLive", (*Server).ServerLive), method("ServerReady", (*Server).ServerReady), method("ModelReady", (*Server).ModelReady),
		method("ServerMetadata", (*Server).ServerMetadata), method("ModelMetadata", (*Server).ModelMetadata),
		{MethodName: "ModelInfer", Handler: func(srv any, ctx context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			return srv.(*Server).infer(ctx, dec)
		}},
	}}
}

// method describes a method of the protocol that f answers.
func method[Q, A any](name string, f func(*Server, context.Context, *Q) (*A, error)) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: name, Handler: func(srv any, ctx context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		q := new(Q)
		if err := dec(q); err != nil {
			return nil, err
		}
		return f(srv.(*Server), ctx, q)
	}}
}

func (s *Server) add(in Model) error {
	if in.Name == "" || len(in.Nets) == 0 {
		return fmt.Errorf("server: model %q with %d networks: want a name and at least one", in.Name, len(in.Nets))
	}
	if s.names[in.Name] != nil {
		return fmt.Errorf("server: two models are called %q", in.Name)
	}
	var versions []string
	for _, n := range in.Nets {
		version, err := n.Checksum()
		if err != nil {
			return fmt.Errorf("server: model %q: %w", in.Name, err)
		}
		versions = append(versions, version)
	}
	for i, n := range in.Nets {
		m := s.models[versions[i]] // the same network under another name
		if m == nil {
			m = &model{name: in.Name, version: versions[i], versions: versions, net: n, layout: inference.NewLayout(n), batchers: map[arithmetic]*batcher{}}
			s.models[m.version] = m
			s.order = append(s.order, m)
			if _, err := s.open(m, arithmetic{}); err != nil {
				return fmt.Errorf("server: model %q: %w", in.Name, err)
			}
		}
		if i == 0 {
			s.names[in.Name] = m
		}
	}
	return nil
}

// maxFrames bounds the frames of a run of a network over time, for its memory.
const maxFrames = 16 << 10

// size returns the most sequences of a run, and the most frames of each.
func (s *Server) size(m *model) (batch, length int) {
	if m.layout.Flat {
		return s.opt.Rows, 1
	}
	return max(1, min(s.opt.Rows, maxFrames/s.opt.Length)), s.opt.Length
}

// most returns the most values of p in a run.
func most(p *inference.Port, batch, length int) (n int) {
	for k := length; k > 0 && n == 0; k-- { // the longest that can be halved
		n = p.Size(batch, k)
	}
	return n
}

// overhead is the most bytes of a request besides the values.
const overhead = 64 << 10

// largest returns the size of the largest request.
func (m *model) largest(batch, length int) int {
	n := overhead
	for i := range m.layout.Inputs {
		n += 4 * most(&m.layout.Inputs[i], batch, length)
	}
	return n
}

// open returns what computes m with an arithmetic.
func (s *Server) open(m *model, a arithmetic) (*batcher, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.batchers[a]; b != nil {
		return b, nil
	}
	if len(m.batchers) >= maxArithmetics {
		return nil, fmt.Errorf("%d combinations of bf16 and skip_below are in use, at most %d are allowed", len(m.batchers), maxArithmetics)
	}
	batch, length := s.size(m)
	session, err := s.opt.Open.Session(m.net, netruntime.SessionOptions{Batch: batch, Length: length, Workers: s.opt.Workers, BF16: a.bf16, SkipBelow: a.skipBelow})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		session.Close()
		return nil, errors.New("the server ends")
	}
	b := newBatcher(m, session, &s.opt, length, s.metrics)
	m.batchers[a] = b
	s.running.Go(b.run)
	return b, nil
}

// Serve serves connections of l until Shutdown.
func (s *Server) Serve(l net.Listener) error { return s.grpc.Serve(l) }

// Shutdown tells clients that the server ends, finishes their calls until ctx is done, and closes all
// connections.
func (s *Server) Shutdown(ctx context.Context) {
	s.health.Shutdown()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.grpc.GracefulStop()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		s.grpc.Stop()
		<-done
	}
	s.close()
}

func (s *Server) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, m := range s.order {
		m.mu.Lock()
		for _, b := range m.batchers {
			b.close()
		}
		m.mu.Unlock()
	}
	s.running.Wait()
}

// open methods answer without a token: whether the server lives is no secret.
var open = []string{
	"/" + inference.Service + "/ServerLive", "/" + inference.Service + "/ServerReady",
	healthpb.Health_Check_FullMethodName, healthpb.Health_Watch_FullMethodName, healthpb.Health_List_FullMethodName,
}

// admit refuses a call without a token before its message is read.
func (s *Server) admit(ctx context.Context, info *tap.Info) (context.Context, error) {
	if len(s.tokens) == 0 || slices.Contains(open, info.FullMethodName) || s.known(info.Header) {
		return ctx, nil
	}
	return nil, status.Error(codes.Unauthenticated, "want the header authorization: Bearer TOKEN, with a token that the server knows")
}

func (s *Server) known(h metadata.MD) bool {
	got := h.Get("authorization")
	if len(got) != 1 {
		return false
	}
	token, ok := strings.CutPrefix(got[0], "Bearer ")
	sum, found := sha256.Sum256([]byte(token)), 0
	for i := range s.tokens { // all, to take the same time for each
		found |= subtle.ConstantTimeCompare(sum[:], s.tokens[i][:])
	}
	return ok && found == 1
}

// find returns a model. A version identifies a network, whatever its name.
func (s *Server) find(name, version string) (*model, error) {
	m := s.names[name]
	if version != "" {
		m = s.models[version]
	}
	if m == nil {
		return nil, status.Errorf(codes.NotFound, "no model %.100q of version %.100q", name, version)
	}
	return m, nil
}

// ServerLive implements the protocol.
func (s *Server) ServerLive(context.Context, *pb.ServerLiveRequest) (*pb.ServerLiveResponse, error) {
	return &pb.ServerLiveResponse{Live: true}, nil
}

// ServerReady implements the protocol.
func (s *Server) ServerReady(context.Context, *pb.ServerReadyRequest) (*pb.ServerReadyResponse, error) {
	return &pb.ServerReadyResponse{Ready: true}, nil
}

// ModelReady implements the protocol.
func (s *Server) ModelReady(_ context.Context, r *pb.ModelReadyRequest) (*pb.ModelReadyResponse, error) {
	if _, err := s.find(r.Name, r.Version); err != nil {
		return nil, err
	}
	return &pb.ModelReadyResponse{Ready: true}, nil
}

// ServerMetadata implements the protocol.
func (s *Server) ServerMetadata(context.Context, *pb.ServerMetadataRequest) (*pb.ServerMetadataResponse, error) {
	return &pb.ServerMetadataResponse{Name: "mannequin", Version: netruntime.Format}, nil
}

// ModelMetadata implements the protocol.
func (s *Server) ModelMetadata(_ context.Context, r *pb.ModelMetadataRequest) (*pb.ModelMetadataResponse, error) {
	m, err := s.find(r.Name, r.Version)
	if err != nil {
		return nil, err
	}
	l := m.layout
	info := func(p *inference.Port) *pb.ModelMetadataResponse_TensorMetadata {
		return &pb.ModelMetadataResponse_TensorMetadata{Name: p.Name, Datatype: inference.FP32, Shape: l.Shape(p)}
	}
	out := &pb.ModelMetadataResponse{Name: m.name, Versions: m.versions, Platform: "mannequin"}
	for i := range l.Inputs {
		out.Inputs = append(out.Inputs, info(&l.Inputs[i]))
	}
	for i := range l.Outputs {
		out.Outputs = append(out.Outputs, info(&l.Outputs[i]))
	}
	if l.Gating != nil {
		out.Outputs = append(out.Outputs, info(l.Gating))
	}
	return out, nil
}

// infer is ModelInfer.
func (s *Server) infer(ctx context.Context, dec func(any) error) (any, error) {
	c := s.calls.Get().(*call)
	defer s.calls.Put(c)
	defer c.request.Free()
	*c = call{ctx: ctx, request: c.request, inputs: c.inputs[:0], outputs: c.outputs[:0]}
	name := "unknown"
	reply, err := func() (*inference.Encoded, error) {
		if err := dec(c.request); err != nil {
			return nil, err
		}
		if err := c.request.Err; err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		m, err := s.find(c.request.Model, c.request.Version)
		if err != nil {
			return nil, err
		}
		name = m.name
		if err := s.check(m, c); err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		b, err := s.open(m, arithmetic{c.request.BF16, float32(c.request.SkipBelow)})
		if err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		return b.infer(c)
	}()
	s.metrics.requests.WithLabelValues(name, status.Code(err).String()).Inc()
	if err != nil {
		return nil, err
	}
	return reply, nil
}

// check finds a call's batch and length, its inputs and the outputs that it requests.
func (s *Server) check(m *model, c *call) error {
	l, r := m.layout, c.request
	if len(r.Tensors) != len(l.Inputs) {
		return fmt.Errorf("%d inputs, the network has %d", len(r.Tensors), len(l.Inputs))
	}
	c.batch, c.length = -1, 1
	for i := range l.Inputs {
		p := &l.Inputs[i]
		t := slices.IndexFunc(r.Tensors, func(t inference.Tensor) bool { return t.Name == p.Name })
		if t < 0 {
			return fmt.Errorf("no input %q", p.Name)
		}
		c.inputs = append(c.inputs, t)
		shape := r.Tensors[t].Shape[:r.Tensors[t].Dims]
		if c.batch < 0 && len(shape) > 0 {
			c.batch = int(shape[0])
		}
		if !l.Flat && !p.Once() && len(shape) == 3 {
			c.length = int(shape[1])
		}
	}
	batch, length := s.size(m)
	if c.batch < 1 || c.batch > batch || c.length < 1 || c.length > length {
		return fmt.Errorf("%d sequences of %d frames: want 1 to %d of 1 to %d", c.batch, c.length, batch, length)
	}
	for i, t := range c.inputs {
		if !l.Is(&r.Tensors[t], &l.Inputs[i], c.batch, c.length) {
			return fmt.Errorf("input %q has the shape %v, want %v with one batch and one length for all inputs",
				l.Inputs[i].Name, r.Tensors[t].Shape[:r.Tensors[t].Dims], l.Shape(&l.Inputs[i]))
		}
	}
	if !l.Runs(c.length) {
		return fmt.Errorf("a length of %d cannot be halved as often as the network does", c.length)
	}
	return m.choose(c)
}

// choose finds the outputs that a call requests, all if it names none.
func (m *model) choose(c *call) error {
	l := m.layout
	for _, name := range c.request.Outputs {
		i := slices.IndexFunc(l.Outputs, func(p inference.Port) bool { return p.Name == name })
		if i < 0 && l.Gating != nil && name == inference.Gating {
			i = len(l.Outputs)
		}
		if i < 0 || slices.Contains(c.outputs, i) {
			return fmt.Errorf("no output %.100q, or it is requested twice", name)
		}
		c.outputs = append(c.outputs, i)
	}
	if len(c.request.Outputs) > 0 {
		return nil
	}
	for i := range l.Outputs {
		c.outputs = append(c.outputs, i)
	}
	if l.Gating != nil {
		c.outputs = append(c.outputs, len(l.Outputs))
	}
	return nil
}
