package server

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testnet"
	"mannequin/netruntime"
	pb "mannequin/netruntime/remote/internal/inference/inferencepb"
)

// conv is a network over time, with two inputs.
func conv(t testing.TB, seed uint64) *netruntime.Net {
	rng := rand.New(rand.NewPCG(seed, 0))
	return must.Get(netruntime.New(netruntime.Meta{Name: "conv", Arch: "graph", Graph: &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: "x", Channels: 3}, {Name: "z", Channels: 2}},
		Nodes: []netruntime.Node{{Name: "both", Op: netruntime.OpConcat, In: []string{"x", "z"}}, {Name: "c", Op: netruntime.OpConv, In: []string{"both"}},
			{Name: "y", Op: netruntime.OpMaxPool, In: []string{"c"}}},
		Outputs: []string{"y", "both"},
	}}, []netruntime.Tensor{testnet.Random(rng, 0.2, "c.weight", 4, 5, 3), testnet.Random(rng, 0.2, "c.bias", 4)}))(t)
}

// connect serves models and returns a connection to them.
func connect(t testing.TB, models []Model, o Options) (*Server, *grpc.ClientConn) {
	t.Helper()
	s := must.Get(New(models, o))(t)
	l := must.Get(net.Listen("tcp", "localhost:0"))(t)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	c := must.Get(grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials())))(t)
	t.Cleanup(func() {
		c.Close()
		s.Shutdown(context.Background())
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s, c
}

// client calls the protocol's methods with generated messages, as any other program.
type client struct{ conn *grpc.ClientConn }

func ask[A any](ctx context.Context, c client, method string, q any) (*A, error) {
	a := new(A)
	if err := c.conn.Invoke(ctx, "/inference.GRPCInferenceService/"+method, q, a); err != nil {
		return nil, err
	}
	return a, nil
}

func (c client) ServerLive(ctx context.Context, q *pb.ServerLiveRequest) (*pb.ServerLiveResponse, error) {
	return ask[pb.ServerLiveResponse](ctx, c, "ServerLive", q)
}

func (c client) ServerReady(ctx context.Context, q *pb.ServerReadyRequest) (*pb.ServerReadyResponse, error) {
	return ask[pb.ServerReadyResponse](ctx, c, "ServerReady", q)
}

func (c client) ModelReady(ctx context.Context, q *pb.ModelReadyRequest) (*pb.ModelReadyResponse, error) {
	return ask[pb.ModelReadyResponse](ctx, c, "ModelReady", q)
}

func (c client) ServerMetadata(ctx context.Context, q *pb.ServerMetadataRequest) (*pb.ServerMetadataResponse, error) {
	return ask[pb.ServerMetadataResponse](ctx, c, "ServerMetadata", q)
}

func (c client) ModelMetadata(ctx context.Context, q *pb.ModelMetadataRequest) (*pb.ModelMetadataResponse, error) {
	return ask[pb.ModelMetadataResponse](ctx, c, "ModelMetadata", q)
}

func (c client) ModelInfer(ctx context.Context, q *pb.ModelInferRequest) (*pb.ModelInferResponse, error) {
	return ask[pb.ModelInferResponse](ctx, c, "ModelInfer", q)
}

func floats(x ...float32) (b []byte) {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func input(name string, shape ...int64) *pb.ModelInferRequest_InferInputTensor {
	return &pb.ModelInferRequest_InferInputTensor{Name: name, Datatype: "FP32", Shape: shape}
}

// A client with generated messages gets every answer of the protocol.
func TestForeignClient(t *testing.T) {
	n := conv(t, 1)
	version := must.Get(n.Checksum())(t)
	_, conn := connect(t, []Model{{Name: "conv", Nets: []*netruntime.Net{n}}}, Options{})
	c, ctx := client{conn}, t.Context()
	if !must.Get(c.ServerLive(ctx, &pb.ServerLiveRequest{}))(t).Live || !must.Get(c.ServerReady(ctx, &pb.ServerReadyRequest{}))(t).Ready ||
		!must.Get(c.ModelReady(ctx, &pb.ModelReadyRequest{Name: "conv"}))(t).Ready ||
		!must.Get(c.ModelReady(ctx, &pb.ModelReadyRequest{Name: "any", Version: version}))(t).Ready {
		t.Error("the server is not ready")
	}
	for _, r := range []*pb.ModelReadyRequest{{Name: "other"}, {Name: "conv", Version: "1"}, {}} {
		if _, err := c.ModelReady(ctx, r); status.Code(err) != codes.NotFound {
			t.Errorf("%v: %v", r, err)
		}
	}
	if got := must.Get(c.ServerMetadata(ctx, &pb.ServerMetadataRequest{}))(t); got.Name != "mannequin" || got.Version == "" {
		t.Error(got)
	}
	meta := must.Get(c.ModelMetadata(ctx, &pb.ModelMetadataRequest{Name: "conv"}))(t)
	shapes := ""
	for _, m := range append(meta.Inputs, meta.Outputs...) {
		shapes += m.Name + " " + m.Datatype
		for _, d := range m.Shape {
			shapes += " " + string(rune('0'+d))
		}
		shapes += "; "
	}
	if want := "x FP32 / / 3; z FP32 / / 2; y FP32 / / 4; both FP32 / / 5; "; shapes != want || meta.Name != "conv" || len(meta.Versions) != 1 || meta.Versions[0] != version {
		t.Errorf("%v with %q, want %q", meta, shapes, want)
	}

	// Inputs in another order, one of them inside its tensor; outputs are all, or those requested.
	x, z := make([]float32, 2*4*3), make([]float32, 2*4*2)
	for i := range x {
		x[i] = float32(i)
	}
	for i := range z {
		z[i] = float32(-i)
	}
	y, both := make([]float32, 2*2*4), make([]float32, 2*4*5)
	s := must.Get(n.NewSession(netruntime.SessionOptions{Batch: 2, Length: 4, Workers: 1}))(t)
	must.Do(t, s.RunSequences([][]float32{y, both}, [][]float32{x, z}, 2, 4))
	request := &pb.ModelInferRequest{ModelName: "conv", Id: "an id", Inputs: []*pb.ModelInferRequest_InferInputTensor{input("z", 2, 4, 2), input("x", 2, 4, 3)}}
	request.Inputs[0].Contents, request.Inputs[1].Contents = &pb.InferTensorContents{Fp32Contents: z}, &pb.InferTensorContents{Fp32Contents: x}
	got := must.Get(c.ModelInfer(ctx, request))(t)
	if got.ModelName != "conv" || got.ModelVersion != version || got.Id != "an id" || len(got.Outputs) != 2 || got.Outputs[0].Name != "y" || got.Outputs[1].Name != "both" {
		t.Error(got)
	}
	if string(got.RawOutputContents[0]) != string(floats(y...)) || string(got.RawOutputContents[1]) != string(floats(both...)) {
		t.Error("other values than a session's")
	}
	request.Inputs[0].Contents, request.Inputs[1].Contents = nil, nil
	request.RawInputContents = [][]byte{floats(z...), floats(x...)}
	request.Outputs = []*pb.ModelInferRequest_InferRequestedOutputTensor{{Name: "both"}}
	got = must.Get(c.ModelInfer(ctx, request))(t)
	if len(got.Outputs) != 1 || string(got.RawOutputContents[0]) != string(floats(both...)) {
		t.Error(got)
	}
}

// Requests that a network cannot compute are refused, and counted.
func TestRefusals(t *testing.T) {
	s, conn := connect(t, []Model{{Name: "conv", Nets: []*netruntime.Net{conv(t, 1)}}}, Options{Rows: 4, Length: 8})
	c, ctx := client{conn}, t.Context()
	ask := func(zs, xs []int64) *pb.ModelInferRequest {
		r := &pb.ModelInferRequest{ModelName: "conv", Inputs: []*pb.ModelInferRequest_InferInputTensor{input("x", xs...), input("z", zs...)}}
		for _, in := range r.Inputs {
			n := int64(1)
			for _, d := range in.Shape {
				n *= d
			}
			r.RawInputContents = append(r.RawInputContents, make([]byte, 4*max(0, n)))
		}
		return r
	}
	good := func() *pb.ModelInferRequest { return ask([]int64{1, 2, 2}, []int64{1, 2, 3}) }
	must.Get(c.ModelInfer(ctx, good()))(t)
	change := func(f func(r *pb.ModelInferRequest)) *pb.ModelInferRequest {
		r := good()
		f(r)
		return r
	}
	type want struct {
		r    *pb.ModelInferRequest
		code codes.Code
		text string
	}
	for name, w := range map[string]want{
		"no sequence":    {ask([]int64{0, 2, 2}, []int64{0, 2, 3}), codes.InvalidArgument, "0 sequences"},
		"five sequences": {ask([]int64{5, 2, 2}, []int64{5, 2, 3}), codes.InvalidArgument, "5 sequences"},
		"ten frames":     {ask([]int64{1, 10, 2}, []int64{1, 10, 3}), codes.InvalidArgument, "10 frames"},
		"an odd length":  {ask([]int64{1, 3, 2}, []int64{1, 3, 3}), codes.InvalidArgument, "halved"},
		"two batches":    {ask([]int64{1, 2, 2}, []int64{2, 2, 3}), codes.InvalidArgument, "shape"},
		"two lengths":    {ask([]int64{1, 2, 2}, []int64{1, 4, 3}), codes.InvalidArgument, "shape"},
		"channels":       {ask([]int64{1, 2, 2}, []int64{1, 2, 4}), codes.InvalidArgument, "shape"},
		"dimensions":     {ask([]int64{2, 2}, []int64{2, 3}), codes.InvalidArgument, "shape"},
		"no dimensions":  {ask(nil, nil), codes.InvalidArgument, "sequences"},
		"one input":      {change(func(r *pb.ModelInferRequest) { r.Inputs, r.RawInputContents = r.Inputs[:1], r.RawInputContents[:1] }), codes.InvalidArgument, "1 inputs"},
		"the same input": {change(func(r *pb.ModelInferRequest) {
			r.Inputs[1] = r.Inputs[0]
			r.RawInputContents[1] = r.RawInputContents[0]
		}), codes.InvalidArgument, `no input "z"`},
		"no values":    {change(func(r *pb.ModelInferRequest) { r.RawInputContents = nil }), codes.InvalidArgument, "0 bytes"},
		"another type": {change(func(r *pb.ModelInferRequest) { r.Inputs[0].Datatype = "FP16" }), codes.InvalidArgument, "FP16"},
		"an unknown output": {change(func(r *pb.ModelInferRequest) {
			r.Outputs = []*pb.ModelInferRequest_InferRequestedOutputTensor{{Name: "q"}}
		}), codes.InvalidArgument, `"q"`},
		"the same output": {change(func(r *pb.ModelInferRequest) {
			r.Outputs = []*pb.ModelInferRequest_InferRequestedOutputTensor{{Name: "y"}, {Name: "y"}}
		}), codes.InvalidArgument, "twice"},
		"skip_below": {change(func(r *pb.ModelInferRequest) {
			r.Parameters = map[string]*pb.InferParameter{"skip_below": {ParameterChoice: &pb.InferParameter_DoubleParam{DoubleParam: math.NaN()}}}
		}), codes.InvalidArgument, "SkipBelow"},
		"another model":   {change(func(r *pb.ModelInferRequest) { r.ModelName = "x" }), codes.NotFound, "no model"},
		"a large message": {change(func(r *pb.ModelInferRequest) { r.RawInputContents[0] = make([]byte, 1<<20) }), codes.ResourceExhausted, "larger than max"},
	} {
		if _, err := c.ModelInfer(ctx, w.r); status.Code(err) != w.code || !strings.Contains(status.Convert(err).Message(), w.text) {
			t.Errorf("%s: %v, want %v with %q", name, err, w.code, w.text)
		}
	}
	must.Get(c.ModelInfer(ctx, good()))(t)
	w := httptest.NewRecorder()
	s.Metrics().ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	for _, line := range []string{`requests_total{code="InvalidArgument",model="conv"} 14`, `requests_total{code="InvalidArgument",model="unknown"} 2`,
		`requests_total{code="OK",model="conv"} 2`, `rows_total{model="conv"} 2`, "go_goroutines"} {
		if !strings.Contains(w.Body.String(), line) {
			t.Errorf("no %s in\n%s", line, w.Body)
		}
	}
}

// A bytes-only client that claims a large message is refused without memory for it.
func TestLargeClaim(t *testing.T) {
	_, conn := connect(t, []Model{{Name: "conv", Nets: []*netruntime.Net{conv(t, 1)}}}, Options{Rows: 4, Length: 8})
	c := client{conn}
	large := &pb.ModelInferRequest{ModelName: "conv", RawInputContents: [][]byte{make([]byte, 200<<20)}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 3 {
		if _, err := c.ModelInfer(t.Context(), large); status.Code(err) != codes.ResourceExhausted {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	// The client in this process encodes the message, once each time.
	if got := after.TotalAlloc - before.TotalAlloc; got > 3*(200<<20)+100<<20 {
		t.Errorf("%d MB for three messages of 200 MB that are refused", got>>20)
	}
}

// Without a token only the questions whether the server lives are answered.
func TestToken(t *testing.T) {
	_, conn := connect(t, []Model{{Name: "conv", Nets: []*netruntime.Net{conv(t, 1)}}}, Options{Tokens: []string{"right"}})
	c, health, reflection := client{conn}, healthpb.NewHealthClient(conn), reflectionpb.NewServerReflectionClient(conn)
	services := func(ctx context.Context) error {
		stream := must.Get(reflection.ServerReflectionInfo(ctx))(t)
		if err := stream.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}); err != nil {
			t.Log(err) // the answer says why
		}
		r, err := stream.Recv()
		if err != nil {
			return err
		}
		names := r.GetListServicesResponse().String()
		for _, want := range []string{"inference.GRPCInferenceService", "grpc.health.v1.Health"} {
			if !strings.Contains(names, want) {
				t.Errorf("no service %s in %s", want, names)
			}
		}
		return nil
	}
	for _, token := range []string{"", "Bearer wrong", "right", "Bearer right"} {
		ctx := t.Context()
		if token != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", token)
		}
		for _, service := range []string{"", "inference.GRPCInferenceService"} {
			if r := must.Get(health.Check(ctx, &healthpb.HealthCheckRequest{Service: service}))(t); r.Status != healthpb.HealthCheckResponse_SERVING {
				t.Error(r)
			}
		}
		must.Get(c.ServerLive(ctx, &pb.ServerLiveRequest{}))(t)
		must.Get(c.ServerReady(ctx, &pb.ServerReadyRequest{}))(t)
		_, model := c.ModelMetadata(ctx, &pb.ModelMetadataRequest{Name: "conv"})
		_, infer := c.ModelInfer(ctx, &pb.ModelInferRequest{ModelName: "x"})
		want := codes.Unauthenticated
		if token == "Bearer right" {
			want = codes.OK
		}
		if list := services(ctx); status.Code(model) != want || status.Code(list) != want {
			t.Errorf("token %q: %v, %v", token, model, list)
		}
		if (status.Code(infer) == codes.Unauthenticated) != (want != codes.OK) {
			t.Errorf("token %q: %v", token, infer)
		}
	}
}

// waiting is a session that a test holds up.
type waiting struct {
	netruntime.Session
	begun, go_ chan struct{}
	runs       *atomic.Int64
}

func (w waiting) RunSequences(out, in [][]float32, batch, length int) error {
	w.begun <- struct{}{}
	<-w.go_
	w.runs.Add(int64(batch))
	return w.Session.RunSequences(out, in, batch, length)
}

// A call whose client has gone is not computed.
func TestGoneClients(t *testing.T) {
	w := waiting{begun: make(chan struct{}), go_: make(chan struct{}), runs: new(atomic.Int64)}
	_, conn := connect(t, []Model{{Name: "conv", Nets: []*netruntime.Net{conv(t, 1)}}}, Options{Window: -1,
		Open: func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
			s, err := n.NewSession(o)
			w.Session = s
			return w, err
		}})
	c := client{conn}
	r := &pb.ModelInferRequest{ModelName: "conv", Inputs: []*pb.ModelInferRequest_InferInputTensor{input("x", 1, 2, 3), input("z", 1, 2, 2)},
		RawInputContents: [][]byte{make([]byte, 24), make([]byte, 16)}}
	errs := make(chan error, 2)
	infer := func(ctx context.Context) {
		_, err := c.ModelInfer(ctx, r)
		errs <- err
	}
	go infer(t.Context())
	<-w.begun
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	go infer(ctx) // waits behind the first
	if err := <-errs; status.Code(err) != codes.DeadlineExceeded {
		t.Error(err)
	}
	time.Sleep(50 * time.Millisecond) // the server hears of it
	w.go_ <- struct{}{}
	if err := <-errs; err != nil {
		t.Error(err)
	}
	go infer(t.Context())
	<-w.begun
	w.go_ <- struct{}{}
	if err := <-errs; err != nil || w.runs.Load() != 2 {
		t.Errorf("%v, %d sequences computed, want 2", err, w.runs.Load())
	}
}

// Options that make no sense are errors.
func TestOptions(t *testing.T) {
	n := []*netruntime.Net{conv(t, 1)}
	for _, c := range []struct {
		models []Model
		o      Options
		want   string
	}{
		{nil, Options{}, "no models"}, {[]Model{{"", n}}, Options{}, "name"}, {[]Model{{"a", nil}}, Options{}, "at least one"},
		{[]Model{{"a", n}, {"a", n}}, Options{}, "two models"}, {[]Model{{"a", n}}, Options{Rows: -1}, "-1 rows"},
		{[]Model{{"a", n}}, Options{Window: 2 * time.Millisecond}, "window"}, {[]Model{{"a", n}}, Options{Tokens: []string{""}}, "empty token"},
		{[]Model{{"a", n}}, Options{Length: 1}, "halved"},
	} {
		must.Fail(New(c.models, c.o))(t, c.want)
	}
	// The same network under two names is one.
	_, conn := connect(t, []Model{{"a", n}, {"b", n}}, Options{})
	for _, name := range []string{"a", "b"} {
		must.Get(client{conn}.ModelReady(t.Context(), &pb.ModelReadyRequest{Name: name}))(t)
	}
}
