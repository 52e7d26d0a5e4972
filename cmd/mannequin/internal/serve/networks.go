package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys/latent"
	"mannequin/animsys/manifold"
	"mannequin/animsys/strnn"
	"mannequin/internal/backend"
	"mannequin/internal/boundedfile"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/netruntime/remote/server"
)

// networks are the flags of serve that are about networks.
type networks struct {
	grpc, metrics, cert, key, tokens, backend string
	batch, length, threads                    int
	window                                    time.Duration
}

func (n *networks) flags(c *cobra.Command) {
	c.Flags().StringVar(&n.grpc, "grpc", "", "serve networks, not scenes, at this `HOST:PORT` over the Open Inference Protocol")
	c.Flags().StringVar(&n.metrics, "metrics", "", "`HOST:PORT` at which Prometheus finds /metrics")
	command.Path(c, &n.cert, "tls-cert", "`file` of the certificate, as PEM; with --tls-key")
	command.Path(c, &n.key, "tls-key", "`file` of the certificate's key, as PEM")
	command.Path(c, &n.tokens, "tokens", "`file` of tokens, one a line, of which clients must send one")
	command.Choice(c, &n.backend, "backend", backend.CPU, backend.Names, "what computes")
	command.Number(c, &n.batch, "batch", 1024, 1, 1<<16, "most rows that are computed together; of networks over time, fewer sequences")
	command.Number(c, &n.length, "length", 256, 1, 1<<14, "most frames of a sequence")
	command.Number(c, &n.threads, "threads", 0, 0, 1024, "threads of each network; 0 is one for each core")
	c.Flags().DurationVar(&n.window, "window", server.MaxWindow, "longest `wait` for rows of other clients, at most 1ms; 0 is none")
}

// only are the flags of networks: without --grpc they are mistakes.
var only = []string{"metrics", "tls-cert", "tls-key", "tokens", "backend", "batch", "length", "threads", "window"}

// check refuses flags and arguments that do not go together.
func (n *networks) check(c *cobra.Command, names []string) error {
	if n.grpc == "" {
		for _, flag := range only {
			if c.Flags().Changed(flag) {
				return command.Usagef("--%s is for networks: name their address with --grpc", flag)
			}
		}
		if len(names) > 0 {
			return command.Usagef("%q: models are for --grpc HOST:PORT", names[0])
		}
		return nil
	}
	for _, flag := range []string{"addr", "dir"} {
		if c.Flags().Changed(flag) {
			return command.Usagef("--%s is for scenes, --grpc for networks: run two servers", flag)
		}
	}
	for flag, at := range map[string]string{"grpc": n.grpc, "metrics": n.metrics} {
		if _, _, err := net.SplitHostPort(at); err != nil && at != "" {
			return command.Usagef("--%s %q: want HOST:PORT, as localhost:8001", flag, at)
		}
	}
	if (n.cert == "") != (n.key == "") {
		return command.Usagef("--tls-cert and --tls-key go together")
	}
	if n.window < 0 || n.window > server.MaxWindow {
		return command.Usagef("--window %v: want 0 to %v", n.window, server.MaxWindow)
	}
	return nil
}

// maxSecret bounds the files of certificates, keys and tokens.
const maxSecret = 1 << 20

// options reads the files that the flags name.
func (n *networks) options() (o server.Options, err error) {
	o = server.Options{Rows: n.batch, Length: n.length, Workers: cmp.Or(n.threads, runtime.GOMAXPROCS(0)), Window: cmp.Or(n.window, -1)}
	if o.Open, err = backend.Open(n.backend, nil); err != nil {
		return o, command.Usagef("--backend: %w", err)
	}
	if n.tokens != "" {
		b, err := boundedfile.Read(n.tokens, maxSecret)
		if err != nil {
			return o, err
		}
		if o.Tokens = strings.Fields(string(b)); len(o.Tokens) == 0 {
			return o, fmt.Errorf("%s: no token in it", n.tokens)
		}
	}
	if n.cert == "" {
		return o, nil
	}
	cert, err := boundedfile.Read(n.cert, maxSecret)
	if err != nil {
		return o, err
	}
	key, err := boundedfile.Read(n.key, maxSecret)
	if err != nil {
		return o, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return o, fmt.Errorf("%s and %s: %w", n.cert, n.key, err)
	}
	o.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	return o, nil
}

// openModels opens networks, all shipped ones if none is named.
func openModels(names []string) (all []server.Model, err error) {
	if len(names) == 0 {
		names = append(models.Names(), models.Characters()...)
	}
	for _, name := range names {
		called, nets, err := models.OpenNets(name)
		if err != nil {
			return nil, err
		}
		m := server.Model{Name: called}
		for _, n := range nets {
			m.Nets = append(m.Nets, withParts(n)...)
		}
		all = append(all, m)
	}
	return all, nil
}

// withParts returns a network, and those that generators make of it: parts, and the product of a
// decoder that edits use.
func withParts(n *netruntime.Net) []*netruntime.Net {
	nets := []*netruntime.Net{n}
	record := func(part *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
		nets = append(nets, part)
		return part.NewSession(o)
	}
	if m, err := latent.NewModel(n); err == nil {
		nets = append(nets, m.Encoder, m.Decoder)
	}
	if m, err := manifold.NewModel(n); err == nil {
		nets = append(nets, m.Encoder, m.Decoder)
		if e, err := m.NewEditor(manifold.EditorOptions{Batch: 1, Length: 2, Workers: 1, Open: record}); err == nil {
			e.Close()
		}
	}
	if m, err := strnn.NewModel(n); err == nil {
		if p, err := m.NewPredictor(strnn.PredictorOptions{Batch: 1, Workers: 1, Open: record}); err == nil {
			p.Close()
		}
	}
	return nets
}

// drain is how long running requests may take when the server ends.
const drain = 2 * time.Second

// serve serves networks until ctx ends.
func (n *networks) serve(ctx context.Context, names []string, stdout io.Writer) error {
	o, err := n.options()
	if err != nil {
		return err
	}
	all, err := openModels(names)
	if err != nil {
		return err
	}
	s, err := server.New(all, o)
	if err != nil {
		return err
	}
	defer func() {
		late, cancel := context.WithTimeout(context.Background(), drain)
		defer cancel()
		s.Shutdown(late)
	}()
	l, err := listen(ctx, n.grpc, "grpc")
	if err != nil {
		return err
	}
	done := make(chan error, 2)
	if n.metrics != "" {
		at, err := listen(ctx, n.metrics, "metrics")
		if err != nil {
			l.Close()
			return err
		}
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", s.Metrics())
		h := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: maxHeader}
		defer h.Close()
		go func() { done <- h.Serve(at) }()
		fmt.Fprintf(stdout, "metrics at http://%s/metrics\n", at.Addr())
	}
	go func() { done <- s.Serve(l) }()
	for _, m := range all {
		fmt.Fprintf(stdout, "%s\n", m.Name)
	}
	fmt.Fprintf(stdout, "serving %d models at %s until Ctrl-C\n", len(all), l.Addr())
	select {
	case err := <-done:
		return fmt.Errorf("%s: %w", n.grpc, cmp.Or(err, errors.New("the server has ended")))
	case <-ctx.Done():
		return nil
	}
}
