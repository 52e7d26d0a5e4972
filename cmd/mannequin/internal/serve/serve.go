// Package serve has the command that serves the scenes to a browser, or networks to other programs.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mannequin/internal/command"
)

// New returns the command serve.
func New() *cobra.Command {
	var addr, dir string
	var nets networks
	c := &cobra.Command{
		Use:   "serve [--grpc HOST:PORT [MODEL ...]]",
		Short: "Serve the scenes, as built by make web, to a browser, or networks to other programs",
		Long: `Serve the scenes, as built by make web, to a browser. With --grpc, serve networks instead: shipped
models and characters by name or their files, all shipped ones if none is named. Programs reach them
through package netruntime/remote, or any client of the Open Inference Protocol version 2.`,
		Example: `  mannequin serve
  mannequin serve --addr localhost:9000
  mannequin serve --addr :8080 --dir out/web
  mannequin serve --grpc localhost:8001 dog hero mine.safetensors
  mannequin serve --grpc :8001 --metrics :8002 --tls-cert cert.pem --tls-key key.pem --tokens tokens.txt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := nets.check(cmd, args); err != nil {
				return err
			}
			if nets.grpc != "" {
				return nets.serve(cmd.Context(), args, cmd.OutOrStdout())
			}
			if _, _, err := net.SplitHostPort(addr); err != nil {
				return command.Usagef("--addr %q: want HOST:PORT, as localhost:8080", addr)
			}
			return serve(cmd.Context(), addr, dir, defaultLimits(), cmd.OutOrStdout())
		},
	}
	c.Flags().StringVar(&addr, "addr", "localhost:8080", "address to listen at, `HOST:PORT`; without HOST the whole network can connect")
	c.Flags().StringVar(&dir, "dir", filepath.Join("out", "web"), "`folder` that make web wrote")
	nets.flags(c)
	return c
}

// limits bound what clients can take. None of them bounds the size of a file or the time for it.
type limits struct {
	conns  int           // connections at a time
	header time.Duration // for a request
	idle   time.Duration // between two requests
	write  time.Duration // for a part of an answer, at most 32 KiB
	stall  time.Duration // for a request or a part of an answer, if another client needs the place
	drain  time.Duration // for running answers when the server ends
}

// maxHeader bounds the header of a request in bytes. Go adds 4 KiB.
const maxHeader = 16 << 10

// A client's request takes three descriptors: its connection, a file and the folder. The program
// itself needs fewer than spareFiles.
const (
	filesPerConn = 3
	spareFiles   = 24
)

func defaultLimits() limits {
	return limits{conns: max(1, min(1000, (maxFiles()-spareFiles)/filesPerConn)), header: 10 * time.Second, idle: 30 * time.Second,
		write: 30 * time.Second, stall: 2 * time.Second, drain: 2 * time.Second}
}

// serve serves the folder until ctx ends.
func serve(ctx context.Context, addr, dir string, lim limits, stdout io.Writer) error {
	site, err := openSite(dir)
	if err != nil {
		return err
	}
	l, err := listen(ctx, addr, "addr")
	if err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(addr)
	if host == "" {
		host = "localhost"
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	fmt.Fprintf(stdout, "serving %s at http://%s/ until Ctrl-C\n", dir, net.JoinHostPort(host, port))
	srv := &http.Server{Handler: site, ReadHeaderTimeout: lim.header, IdleTimeout: lim.idle, MaxHeaderBytes: maxHeader,
		ConnState: func(c net.Conn, state http.ConnState) { c.(*conn).enter(state) }}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(newGate(l, lim)) }()
	select {
	case err := <-done:
		return fmt.Errorf("%s: %w", addr, err)
	case <-ctx.Done():
	}
	// Downloads get a moment to finish.
	late, cancel := context.WithTimeout(context.Background(), lim.drain)
	defer cancel()
	if srv.Shutdown(late) != nil {
		srv.Close()
	}
	return nil
}

// listen listens at an address, which is the value of a flag.
func listen(ctx context.Context, addr, flag string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is taken by another program: choose another port with --%s", addr, flag)
	} else if err != nil {
		return nil, fmt.Errorf("cannot listen at %s: %w", addr, err)
	}
	return l, nil
}

// site serves the folder of a build, and no file outside it. make web may replace the folder.
type site struct{ dir string }

func openSite(dir string) (*site, error) {
	for _, need := range []string{"index.html", "mannequin.wasm"} {
		if info, err := os.Stat(filepath.Join(dir, need)); err != nil {
			return nil, fmt.Errorf("no %s in %s: run make web first, or name the folder of a build with --dir", need, dir)
		} else if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s in %s is not a regular file: run make web again, or name the folder of a build with --dir", need, dir)
		}
	}
	return &site{dir}, nil
}

// kinds are the content types of files that not every system knows.
var kinds = map[string]string{
	".wasm": "application/wasm", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8",
	".json": "application/json", ".md": "text/plain; charset=utf-8", ".safetensors": "application/octet-stream",
}

// ServeHTTP serves files, not folders, and nothing whose name or folder begins with a dot. Browsers
// that can unpack gzip get the compressed twin of a file, if there is one.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	if r.ContentLength != 0 {
		refuse(w, "a request with a body", http.StatusBadRequest)
		return
	}
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	if name == "" {
		name = "index.html"
	}
	f, at, err := s.open(name)
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many open files", http.StatusServiceUnavailable)
		return
	} else if err != nil {
		http.NotFound(w, r)
		return
	}
	defer func() { f.Close() }()
	h := w.Header()
	h.Set("Cache-Control", "no-cache") // cached, and checked for changes
	h.Set("X-Content-Type-Options", "nosniff")
	kind, ok := kinds[path.Ext(name)]
	if !ok {
		kind = mime.TypeByExtension(path.Ext(name))
	}
	if kind == "" {
		kind = "application/octet-stream"
	}
	h.Set("Content-Type", kind)
	if small, when, err := s.open(name + ".gz"); err == nil {
		h.Set("Vary", "Accept-Encoding")
		if takesGzip(r) {
			h.Set("Content-Encoding", "gzip")
			f, small, at = small, f, when
		}
		small.Close() // the other one
	}
	http.ServeContent(w, r, name, at, f)
}

// refuse answers with an error and closes the connection. What the client still sends is not read.
func refuse(w http.ResponseWriter, why string, status int) {
	w.Header().Set("Connection", "close")
	http.NewResponseController(w).SetReadDeadline(time.Now())
	http.Error(w, why, status)
}

// open opens a regular file and returns when it was written. A pipe would wait for a writer: no
// open here waits.
func (s *site) open(name string) (*os.File, time.Time, error) {
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part[0] == '.' {
			return nil, time.Time{}, fs.ErrNotExist
		}
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, time.Time{}, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		f.Close()
		return nil, time.Time{}, err
	}
	return f, info.ModTime(), nil
}

// takesGzip reports whether the browser can unpack gzip.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if coding, weight, _ := strings.Cut(part, ";"); strings.TrimSpace(coding) == "gzip" {
			_, q, _ := strings.Cut(weight, "=")
			v, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
			return err != nil || v > 0 // not refused
		}
	}
	return false
}
