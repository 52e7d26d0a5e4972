package remote_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testnet"
	"mannequin/models/dog"
	"mannequin/netruntime"
	"mannequin/netruntime/remote"
	"mannequin/netruntime/remote/server"
)

// flat is a network without operations over time.
func flat(t testing.TB, seed uint64) *netruntime.Net {
	rng := rand.New(rand.NewPCG(seed, 0))
	return must.Get(netruntime.New(netruntime.Meta{Name: "flat", Arch: "graph", Graph: &netruntime.Graph{
		Inputs:  []netruntime.Input{{Name: "x", Channels: 40}},
		Nodes:   []netruntime.Node{{Name: "h", Op: netruntime.OpDense, In: []string{"x"}, Act: "elu"}, {Name: "y", Op: netruntime.OpDense, In: []string{"h"}}},
		Outputs: []string{"y"},
	}}, []netruntime.Tensor{
		testnet.Random(rng, 0.2, "h.weight", 64, 40), testnet.Random(rng, 0.2, "h.bias", 64),
		testnet.Random(rng, 0.2, "y.weight", 31, 64), testnet.Random(rng, 0.2, "y.bias", 31),
	}))(t)
}

// blend is a network of experts.
func blend(t testing.TB) *netruntime.Net {
	rng := rand.New(rand.NewPCG(2, 0))
	return must.Get(netruntime.New(netruntime.Meta{Name: "blend", Arch: "graph", Graph: &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: "x", Channels: 20}},
		Nodes: []netruntime.Node{{Name: "g", Op: netruntime.OpDense, In: []string{"x"}}, {Name: "omega", Op: netruntime.OpSoftmax, In: []string{"g"}},
			{Name: "y", Op: netruntime.OpBlend, In: []string{"x", "omega"}}},
		Outputs: []string{"y"},
	}}, []netruntime.Tensor{
		testnet.Random(rng, 0.5, "g.weight", 4, 20), testnet.Random(rng, 0.2, "g.bias", 4),
		testnet.Random(rng, 0.2, "y.weight", 4, 17, 20), testnet.Random(rng, 0.2, "y.bias", 4, 17),
	}))(t)
}

// sequences is a network over time of two inputs, one of which is a state, and three outputs.
func sequences(t testing.TB) *netruntime.Net {
	rng := rand.New(rand.NewPCG(3, 0))
	return must.Get(netruntime.New(netruntime.Meta{Name: "sequences", Arch: "graph", Graph: &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: "x", Channels: 6}, {Name: "h", Channels: 5, Once: true}, {Name: "c", Channels: 5, Once: true}},
		Nodes: []netruntime.Node{{Name: "conv", Op: netruntime.OpConv, In: []string{"x"}, Act: "relu"}, {Name: "half", Op: netruntime.OpMaxPool, In: []string{"conv"}},
			{Name: "lstm", Op: netruntime.OpLSTM, In: []string{"half", "h", "c"}}, {Name: "y", Op: netruntime.OpDepool, In: []string{"lstm"}}},
		Outputs: []string{"half", "y", "lstm.h"},
	}}, []netruntime.Tensor{
		testnet.Random(rng, 0.2, "conv.weight", 7, 6, 3), testnet.Random(rng, 0.2, "conv.bias", 7),
		testnet.Random(rng, 0.2, "lstm.weight", 20, 7), testnet.Random(rng, 0.2, "lstm.recurrent", 20, 5), testnet.Random(rng, 0.2, "lstm.bias", 20),
	}))(t)
}

func served(nets ...*netruntime.Net) (all []server.Model) {
	for _, n := range nets {
		all = append(all, server.Model{Name: n.Meta().Name, Nets: []*netruntime.Net{n}})
	}
	return all
}

// serve serves until stop, which may be called more than once.
func serve(t testing.TB, address string, m []server.Model, o server.Options) (s *server.Server, at string, stop func()) {
	t.Helper()
	s = must.Get(server.New(m, o))(t)
	var l net.Listener
	for range 100 { // the port of a server that has just ended may still be taken
		var err error
		if l, err = net.Listen("tcp", address); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if l == nil {
		t.Fatalf("cannot listen at %s", address)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // at once
		s.Shutdown(ctx)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return s, l.Addr().String(), stop
}

// logged is a log with its lines.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logged) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Split(strings.TrimSpace(l.b.String()), "\n")
}

// dial connects with a long deadline, unless o has one, and a log.
func dial(t testing.TB, at string, o remote.Options) (*remote.Client, *logged) {
	t.Helper()
	var log logged
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	if o.Deadline == 0 {
		o.Deadline = 5 * time.Second // a busy machine is not what these tests are about
	}
	c := must.Get(remote.Dial(at, o))(t)
	t.Cleanup(func() { c.Close() })
	return c, &log
}

func wait(t testing.TB, c *remote.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := c.Wait(ctx); err != nil {
		t.Fatalf("no trial succeeds: %v", err)
	}
}

func random(seed uint64, n int) []float32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// pair is a remote session and a local one of the same network.
type pair struct {
	remote, local netruntime.Session
	net           *netruntime.Net
}

func pairOf(t testing.TB, c *remote.Client, n *netruntime.Net, o netruntime.SessionOptions) *pair {
	t.Helper()
	p := &pair{must.Get(c.Open(n, o))(t), must.Get(n.NewSession(o))(t), n}
	t.Cleanup(func() { p.remote.Close(); p.local.Close() })
	return p
}

// run computes the same run twice and compares the bits.
func (p *pair) run(t testing.TB, seed uint64, batch, length int) {
	t.Helper()
	values := map[string]netruntime.Value{}
	for _, v := range p.net.Values() {
		values[v.Name] = v
	}
	size := func(name string) int { return batch * values[name].Length(length) * values[name].Channels }
	var in, out, want [][]float32
	for i, v := range p.net.Graph().Inputs {
		in = append(in, random(seed*100+uint64(i), size(v.Name)))
	}
	for _, name := range p.net.Graph().Outputs {
		out, want = append(out, make([]float32, size(name))), append(want, make([]float32, size(name)))
	}
	must.Do(t, p.local.RunSequences(want, in, batch, length))
	must.Do(t, p.remote.RunSequences(out, in, batch, length))
	for i := range want {
		if !sameBits(out[i], want[i]) {
			t.Fatalf("%d sequences of %d frames: output %d differs from the local session's", batch, length, i)
		}
	}
	if !sameBits(p.remote.Gating(), p.local.Gating()) {
		t.Fatalf("%d sequences of %d frames: the gating weights differ", batch, length)
	}
}

// A remote session's results are the local one's to the bit: for all shapes and arithmetics.
func TestSameBits(t *testing.T) {
	nets := []*netruntime.Net{flat(t, 1), blend(t), sequences(t)}
	_, at, _ := serve(t, "localhost:0", served(nets...), server.Options{Workers: 2})
	c, _ := dial(t, at, remote.Options{})
	runs := int64(0)
	for _, n := range nets {
		for _, o := range []netruntime.SessionOptions{{}, {BF16: true}, {SkipBelow: 0.2}} {
			o.Batch, o.Length, o.Workers = 33, 12, 1
			p := pairOf(t, c, n, o)
			wait(t, c)
			if p.remote.Kernel() != "remote" || p.remote.MaxRows() != 33 {
				t.Errorf("%s: kernel %q, %d rows", n.Meta().Name, p.remote.Kernel(), p.remote.MaxRows())
			}
			for i, batch := range []int{1, 2, 17, 33} {
				for k, length := range []int{2, 8, 12} {
					p.run(t, uint64(10*i+k), batch, length)
					runs++
				}
			}
		}
	}
	if got := c.Stats(); got != (remote.Stats{Remote: runs}) {
		t.Errorf("%+v, want %d remote runs alone", got, runs)
	}
}

// A remote session keeps the contract of sessions for bad arguments and at its end.
func TestContract(t *testing.T) {
	n := flat(t, 1)
	_, at, _ := serve(t, "localhost:0", served(n), server.Options{})
	c, _ := dial(t, at, remote.Options{})
	s := must.Get(c.Open(n, netruntime.SessionOptions{Batch: 4, Workers: 1}))(t)
	wait(t, c)
	x, y := random(1, 4*40), make([]float32, 4*31)
	for _, bad := range []error{s.Run(y, x, 5), s.Run(y, x, -1), s.Run(y, x[1:], 4), s.Run(y[1:], x, 4),
		s.RunSequences(nil, [][]float32{x}, 4, 1), s.RunSequences([][]float32{y}, [][]float32{x}, 4, 2)} {
		if bad == nil {
			t.Error("a run with bad arguments succeeds")
		}
	}
	must.Do(t, s.Run(y, x, 0))
	must.Do(t, s.Run(y, x, 4))
	must.Do(t, s.Close())
	must.Do(t, s.Close())
	if s.Run(y, x, 4) == nil {
		t.Error("a closed session runs")
	}
	must.Fail(c.Open(n, netruntime.SessionOptions{}))(t, "at least 1")
	must.Fail(remote.Dial("x:1", remote.Options{Deadline: -1}))(t, "deadline")
	s = must.Get(c.Open(n, netruntime.SessionOptions{Batch: 4, Workers: 1}))(t)
	wait(t, c)
	must.Do(t, c.Close())
	must.Do(t, s.Run(y, x, 4)) // by the processor
	must.Do(t, s.Close())
}

// metric returns the value of a metric of a server.
func metric(t testing.TB, s *server.Server, name string) float64 {
	t.Helper()
	w := httptest.NewRecorder()
	s.Metrics().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(w.Body.String())
	if m == nil {
		t.Fatalf("no metric %s in\n%s", name, w.Body)
	}
	return must.Get(strconv.ParseFloat(m[1], 64))(t)
}

// Rows of several clients that come at the same time are computed together, each with its own bits.
func TestClientsShareRuns(t *testing.T) {
	const clients, rounds = 8, 30
	n := blend(t)
	s, at, _ := serve(t, "localhost:0", served(n), server.Options{})
	var all [clients]*pair
	for i := range all {
		c, _ := dial(t, at, remote.Options{})
		all[i] = pairOf(t, c, n, netruntime.SessionOptions{Batch: 9, Workers: 1})
		wait(t, c)
	}
	before := metric(t, s, `mannequin_inference_batch_rows_count{model="blend"}`)
	for round := range rounds {
		var group sync.WaitGroup
		for i, p := range all {
			group.Go(func() { p.run(t, uint64(round*clients+i), 1+(i+round)%9, 1) })
		}
		group.Wait()
	}
	runs := metric(t, s, `mannequin_inference_batch_rows_count{model="blend"}`) - before
	t.Logf("%d requests in %.0f runs", clients*rounds, runs)
	if runs > clients*rounds/2 {
		t.Errorf("%d requests of %d clients in %.0f runs", clients*rounds, clients, runs)
	}
	if got := metric(t, s, `mannequin_inference_requests_total{code="OK",model="blend"}`); got < clients*rounds {
		t.Errorf("%v requests counted, want at least %d", got, clients*rounds)
	}
}

// slow opens sessions that take their time while wait is not 0.
func slow(wait *atomic.Int64) netruntime.Opener {
	return func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
		s, err := n.NewSession(o)
		return slowed{s, wait}, err
	}
}

type slowed struct {
	netruntime.Session
	wait *atomic.Int64
}

func (s slowed) RunSequences(out, in [][]float32, batch, length int) error {
	time.Sleep(time.Duration(s.wait.Load()))
	return s.Session.RunSequences(out, in, batch, length)
}

// If the server does not answer in time, the same run is computed here. It is counted, and logged once.
func TestDeadline(t *testing.T) {
	n := blend(t)
	var delay atomic.Int64
	_, at, _ := serve(t, "localhost:0", served(n), server.Options{Open: slow(&delay)})
	const deadline = 150 * time.Millisecond
	c, log := dial(t, at, remote.Options{Deadline: deadline})
	p := pairOf(t, c, n, netruntime.SessionOptions{Batch: 16, Workers: 1})
	wait(t, c)
	p.run(t, 1, 16, 1)
	delay.Store(int64(600 * time.Millisecond))
	for i := range 10 {
		from := time.Now()
		p.run(t, uint64(i), 16, 1)
		if d := time.Since(from); d > 3*deadline {
			t.Errorf("run %d takes %v", i, d)
		}
	}
	if got, want := c.Stats(), (remote.Stats{Remote: 1, Local: 10, Late: 3, Lost: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	delay.Store(0)
	wait(t, c)
	p.run(t, 20, 16, 1)
	if got := c.Stats(); got.Remote != 2 {
		t.Errorf("%+v after the server is fast again", got)
	}
	if lines := log.lines(); len(lines) != 3 || !strings.Contains(lines[0], "the server computes") ||
		!strings.Contains(lines[1], "DeadlineExceeded") || !strings.Contains(lines[2], "the server computes") {
		t.Errorf("want a line for each of three changes, got\n%s", strings.Join(lines, "\n"))
	}
}

// A late answer of an earlier run never becomes the result of a later one.
func TestLateAnswers(t *testing.T) {
	n := flat(t, 1)
	var delay atomic.Int64
	_, at, _ := serve(t, "localhost:0", served(n), server.Options{Open: slow(&delay)})
	c, _ := dial(t, at, remote.Options{Deadline: 20 * time.Millisecond})
	p := pairOf(t, c, n, netruntime.SessionOptions{Batch: 64, Workers: 1})
	wait(t, c)
	for i := range 100 {
		delay.Store(int64(i%2) * int64(20*time.Millisecond))
		p.run(t, uint64(i), 64, 1)
	}
	got := c.Stats()
	if got.Late == 0 || got.Remote == 0 || got.Remote+got.Local != 100 {
		t.Errorf("%+v: want a hundred runs, some late and some not", got)
	}
}

// A server that is killed and started again costs nothing but a change of who computes.
func TestRestart(t *testing.T) {
	n := blend(t)
	_, at, stop := serve(t, "localhost:0", served(n), server.Options{})
	c, log := dial(t, at, remote.Options{})
	p := pairOf(t, c, n, netruntime.SessionOptions{Batch: 16, Workers: 1})
	wait(t, c)
	kill := make(chan struct{})
	go func() { <-kill; stop() }()
	for i := range 300 {
		if i == 100 {
			close(kill)
		}
		p.run(t, uint64(i), 1+i%16, 1)
		if i > 100 {
			time.Sleep(time.Millisecond)
		}
	}
	if got := c.Stats(); got.Lost != 1 || got.Remote < 100 || got.Remote+got.Local != 300 {
		t.Errorf("%+v after the server was killed once", got)
	}
	serve(t, at, served(n), server.Options{})
	wait(t, c)
	before := c.Stats()
	for i := range 50 {
		p.run(t, uint64(i), 16, 1)
	}
	if got := c.Stats(); got.Remote != before.Remote+50 || got.Lost != 1 {
		t.Errorf("%+v after the restart, %+v before its runs", got, before)
	}
	if lines := log.lines(); len(lines) != 3 {
		t.Errorf("want a line for each of three changes, got\n%s", strings.Join(lines, "\n"))
	}
}

// local fails the test if a run is not local, or if the log does not say why.
func local(t *testing.T, c *remote.Client, log *logged, n *netruntime.Net, why string) {
	t.Helper()
	p := pairOf(t, c, n, netruntime.SessionOptions{Batch: 3, Workers: 1})
	for end := time.Now().Add(10 * time.Second); log.lines()[0] == "" && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	p.run(t, 1, 3, 1)
	if got := c.Stats(); got != (remote.Stats{Local: 1}) {
		t.Errorf("%+v, want a local run", got)
	}
	if lines := log.lines(); len(lines) != 1 || !strings.Contains(lines[0], why) {
		t.Errorf("want one line with %q, got\n%s", why, strings.Join(lines, "\n"))
	}
}

// A network that the server does not have is computed here: also one of the same name with other weights.
func TestOtherNetworks(t *testing.T) {
	_, at, _ := serve(t, "localhost:0", served(flat(t, 1)), server.Options{})
	c, log := dial(t, at, remote.Options{})
	local(t, c, log, blend(t), "NotFound")
	c, log = dial(t, at, remote.Options{})
	local(t, c, log, flat(t, 2), "NotFound")
	named := func(*netruntime.Net) (string, string) { return "flat", "" }
	c, log = dial(t, at, remote.Options{Model: named}) // which is for any server's choice, but not of any shape
	local(t, c, log, blend(t), "other inputs or outputs")
	c, _ = dial(t, at, remote.Options{Model: named})
	p := pairOf(t, c, flat(t, 1), netruntime.SessionOptions{Batch: 3, Workers: 1})
	wait(t, c)
	p.run(t, 1, 3, 1)
	if got := c.Stats(); got.Remote != 1 {
		t.Errorf("%+v of a network by name alone", got)
	}
}

// A server may serve a network and its parts under one name.
func TestParts(t *testing.T) {
	n := sequences(t)
	part := must.Get(n.Part([]string{"x"}, []string{"half"}))(t)
	_, at, _ := serve(t, "localhost:0", []server.Model{{Name: "sequences", Nets: []*netruntime.Net{n, part}}}, server.Options{})
	c, _ := dial(t, at, remote.Options{})
	p := pairOf(t, c, part, netruntime.SessionOptions{Batch: 3, Length: 8, Workers: 1})
	q := pairOf(t, c, n, netruntime.SessionOptions{Batch: 3, Length: 8, Workers: 1})
	wait(t, c)
	p.run(t, 1, 3, 8)
	q.run(t, 1, 3, 8)
	if got := c.Stats(); got != (remote.Stats{Remote: 2}) {
		t.Errorf("%+v", got)
	}
}

// A run that the server refuses, as one of too many rows, is local.
func TestTooManyRows(t *testing.T) {
	n := flat(t, 1)
	_, at, _ := serve(t, "localhost:0", served(n), server.Options{Rows: 8})
	c, _ := dial(t, at, remote.Options{})
	p := pairOf(t, c, n, netruntime.SessionOptions{Batch: 2000, Workers: 1})
	wait(t, c)
	p.run(t, 1, 8, 1)
	p.run(t, 1, 9, 1)
	if got := c.Stats(); got != (remote.Stats{Remote: 1, Local: 1, Failed: 1, Lost: 1}) {
		t.Errorf("%+v after nine rows", got)
	}
	wait(t, c)
	p.run(t, 1, 2000, 1) // more bytes than the server reads
	if got := c.Stats(); got != (remote.Stats{Remote: 1, Local: 2, Failed: 2, Lost: 2}) {
		t.Errorf("%+v after 2,000 rows", got)
	}
}

// certificate returns a certificate for localhost and who trusts it.
func certificate(t testing.TB) (tls.Certificate, *x509.CertPool) {
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), crand.Reader))(t)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der := must.Get(x509.CreateCertificate(crand.Reader, c, c, &key.PublicKey, key))(t)
	pool := x509.NewCertPool()
	pool.AddCert(must.Get(x509.ParseCertificate(der))(t))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// Tokens and TLS: whoever lacks one computes alone.
func TestTokensAndTLS(t *testing.T) {
	n := flat(t, 1)
	_, at, _ := serve(t, "127.0.0.1:0", served(n), server.Options{Tokens: []string{"one", "two"}})
	for _, token := range []string{"", "three", "one "} {
		c, log := dial(t, at, remote.Options{Token: token})
		local(t, c, log, n, "Unauthenticated")
	}
	for _, token := range []string{"one", "two"} {
		c, _ := dial(t, at, remote.Options{Token: token})
		p := pairOf(t, c, n, netruntime.SessionOptions{Batch: 3, Workers: 1})
		wait(t, c)
		p.run(t, 1, 3, 1)
	}

	cert, pool := certificate(t)
	_, at, _ = serve(t, "127.0.0.1:0", served(n), server.Options{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}, Tokens: []string{"one"}})
	c, _ := dial(t, at, remote.Options{TLS: &tls.Config{RootCAs: pool}, Token: "one"})
	p := pairOf(t, c, n, netruntime.SessionOptions{Batch: 3, Workers: 1})
	wait(t, c)
	p.run(t, 1, 3, 1)
	c, log := dial(t, at, remote.Options{TLS: &tls.Config{}, Token: "one"})
	local(t, c, log, n, "certificate")
	c, log = dial(t, at, remote.Options{})
	local(t, c, log, n, "Unavailable")
	must.Fail(remote.Dial("inference:8001", remote.Options{Token: "one"}))(t, "TLS")
	must.Fail(remote.Dial("dns:///10.0.0.1:8001", remote.Options{Token: "one"}))(t, "TLS")
}

// Without a server, the processor computes.
func TestNoServer(t *testing.T) {
	l := must.Get(net.Listen("tcp", "localhost:0"))(t)
	must.Do(t, l.Close())
	c, log := dial(t, l.Addr().String(), remote.Options{})
	local(t, c, log, flat(t, 1), "connection refused")
}

// BenchmarkLoopback times runs of 64 rows by a server in the same process: of a network of no work, and of
// one that takes long. "local" is the same without a server.
func BenchmarkLoopback(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 0))
	light := must.Get(netruntime.New(netruntime.Meta{Name: "light", Arch: "graph", Graph: &netruntime.Graph{
		Inputs:  []netruntime.Input{{Name: "x", Channels: 488}},
		Nodes:   []netruntime.Node{{Name: "y", Op: netruntime.OpSelect, In: []string{"x"}, Columns: rng.Perm(488)[:371]}},
		Outputs: []string{"y"},
	}}, nil))(b)
	for _, n := range []*netruntime.Net{light, must.Get(dog.Open())(b)} {
		_, at, _ := serve(b, "localhost:0", served(n), server.Options{})
		c, _ := dial(b, at, remote.Options{})
		p := pairOf(b, c, n, netruntime.SessionOptions{Batch: 64, Workers: 2})
		wait(b, c)
		const rows = 64
		x, y := random(1, rows*n.Inputs()), make([]float32, rows*n.Outputs())
		for _, s := range []netruntime.Session{p.local, p.remote} {
			name := "local"
			if s == p.remote {
				name = "remote"
			}
			b.Run(fmt.Sprintf("net=%s/%s", n.Meta().Name, name), func(b *testing.B) {
				b.ReportAllocs()
				var took []time.Duration
				for b.Loop() {
					from := time.Now()
					must.Do(b, s.Run(y, x, rows))
					took = append(took, time.Since(from))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1e3, "p99-ms")
			})
		}
		if got := c.Stats(); got.Local > 0 {
			b.Errorf("%+v", got)
		}
	}
}
