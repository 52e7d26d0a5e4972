package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mannequin/internal/testing/must"
)

// started serves a new site and returns its address, and how to end it.
func started(t *testing.T, lim limits) (dir, at string, end func()) {
	t.Helper()
	dir = newSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	told, tell := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- serve(ctx, "localhost:0", dir, lim, tell) }()
	line := make([]byte, 1000)
	n := must.Get(told.Read(line))(t)
	_, at, _ = strings.Cut(string(line[:n]), "http://")
	at, _, _ = strings.Cut(at, "/")
	return dir, at, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// The ways of slow clients to hold a connection. Each begins on its own connection.
var slow = []struct {
	name  string
	begin string
	drip  string // sent again and again
}{
	{"half a header", "GET / HTTP/1.1\r\n", "X: y\r\n"},
	{"reads nothing", "GET /large HTTP/1.1\r\nHost: x\r\n\r\n", ""},
	{"idle", "GET /page.js HTTP/1.1\r\nHost: x\r\n\r\n", ""},
	{"silent", "", ""},
	{"a body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n", "z"},
}

// hold keeps n slow clients connected until stop is closed. A client that is cut comes again.
func hold(t *testing.T, at string, n int, stop <-chan struct{}) (wait func()) {
	var all, begun sync.WaitGroup
	for i := range n {
		kind := slow[i%len(slow)]
		begun.Add(1)
		all.Go(func() {
			for first := true; ; first = false {
				c, err := net.Dial("tcp", at)
				if first {
					begun.Done()
				}
				for err == nil {
					if kind.begin != "" {
						_, err = io.WriteString(c, kind.begin)
						kind.begin = ""
					} else {
						_, err = io.WriteString(c, kind.drip)
					}
					select {
					case <-stop:
						c.Close()
						return
					case <-time.After(200 * time.Millisecond):
					}
				}
				if c != nil {
					c.Close()
				}
				select {
				case <-stop:
					return
				case <-time.After(200 * time.Millisecond):
				}
				kind = slow[i%len(slow)]
			}
		})
	}
	begun.Wait()
	return all.Wait
}

// An honest client gets its file while slow clients hold more connections than the server has. With
// MANNEQUIN_LOAD=1 it is 500 of them, for ten seconds.
func TestSlowClients(t *testing.T) {
	clients, lim, asks := 60, defaultLimits(), 30
	lim.conns, lim.stall, lim.drain = 20, 100*time.Millisecond, 200*time.Millisecond
	if os.Getenv("MANNEQUIN_LOAD") != "" {
		clients, lim, asks = 500, defaultLimits(), 200
	}
	dir, at, end := started(t, lim)
	large, medium := bytes.Repeat([]byte("large"), 4<<20), bytes.Repeat([]byte("medium"), 1<<18)
	must.Do(t, os.WriteFile(filepath.Join(dir, "large"), large, 0o666))
	must.Do(t, os.WriteFile(filepath.Join(dir, "medium"), medium, 0o666))
	stop := make(chan struct{})
	wait := hold(t, at, clients, stop)
	time.Sleep(300 * time.Millisecond)
	honest := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	var took []time.Duration
	refused := 0
	for range asks {
		from := time.Now()
		for {
			r, err := honest.Get("http://" + at + "/medium")
			if err == nil && r.StatusCode == http.StatusServiceUnavailable {
				r.Body.Close()
			}
			if err != nil || r.StatusCode != http.StatusOK { // no place: try again, as a browser does
				if refused++; time.Since(from) > 5*time.Second {
					t.Fatalf("after %d answers: %v", len(took), err)
				}
				time.Sleep(20 * time.Millisecond)
				continue
			}
			b, err := io.ReadAll(r.Body)
			r.Body.Close()
			if err != nil || !bytes.Equal(b, medium) {
				t.Fatalf("after %d answers: %d of %d bytes, %v", len(took), len(b), len(medium), err)
			}
			break
		}
		took = append(took, time.Since(from))
		if clients == 500 {
			time.Sleep(50 * time.Millisecond)
		}
	}
	slices.Sort(took)
	p50, p99 := took[len(took)/2], took[len(took)*99/100]
	t.Logf("%d slow clients: %d files of %.1f MB, p50 %v, p99 %v, %d times refused", clients, len(took), float64(len(medium))/1e6, p50, p99, refused)
	if p99 > 2*time.Second {
		t.Errorf("an honest client waits %v", p99)
	}
	from := time.Now()
	end() // with all of the slow clients on it
	if d := time.Since(from); d > 5*time.Second {
		t.Errorf("the server ends after %v", d)
	}
	close(stop)
	wait()
}

// Idle clients and those that read nothing are cut; one that reads slowly gets the whole file.
func TestTimeouts(t *testing.T) {
	lim := defaultLimits()
	lim.header, lim.idle, lim.write = 300*time.Millisecond, 200*time.Millisecond, 400*time.Millisecond
	dir, at, end := started(t, lim)
	defer end()
	large := bytes.Repeat([]byte("large"), 4<<20)
	must.Do(t, os.WriteFile(filepath.Join(dir, "large"), large, 0o666))
	var all sync.WaitGroup
	for _, kind := range slow {
		all.Go(func() {
			c := must.Get(net.Dial("tcp", at))(t)
			defer c.Close()
			io.WriteString(c, kind.begin)
			time.Sleep(1500 * time.Millisecond)
			c.SetReadDeadline(time.Now().Add(time.Second))
			n, err := io.Copy(io.Discard, c)
			if e, ok := err.(net.Error); ok && e.Timeout() || n >= int64(len(large)) {
				t.Errorf("%s: still connected after %d bytes", kind.name, n)
			}
		})
	}
	all.Go(func() {
		c := must.Get(net.Dial("tcp", at))(t)
		defer c.Close()
		c.(*net.TCPConn).SetReadBuffer(64 << 10)
		io.WriteString(c, "GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		from, n := time.Now(), 0
		for b := make([]byte, 1<<20); ; {
			k, err := io.ReadFull(c, b)
			n += k
			if err != nil {
				break
			}
			time.Sleep(60 * time.Millisecond)
		}
		if n < len(large) || time.Since(from) < 2*lim.write {
			t.Errorf("a slow reader got %d of %d bytes in %v", n, len(large), time.Since(from))
		}
	})
	all.Wait()
}

// A pipe, a socket, a device or a folder is no file, and none of them holds up a request.
func TestOnlyRegularFiles(t *testing.T) {
	dir, at, end := started(t, defaultLimits())
	defer end()
	must.Do(t, syscall.Mkfifo(filepath.Join(dir, "pipe.js"), 0o666))
	must.Do(t, syscall.Mkfifo(filepath.Join(dir, "page.js.gz"), 0o666))
	must.Do(t, os.Symlink("/dev/zero", filepath.Join(dir, "device")))
	must.Do(t, os.Mkdir(filepath.Join(dir, "folder"), 0o777))
	if l, err := net.Listen("unix", filepath.Join(dir, "socket")); err == nil { // the path may be too long
		defer l.Close()
	}
	client := &http.Client{Timeout: 2 * time.Second}
	for _, name := range []string{"pipe.js", "device", "folder", "socket"} {
		r, err := client.Get("http://" + at + "/" + name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r.Body.Close()
		if r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", name, r.Status)
		}
	}
	r := must.Get(client.Get("http://" + at + "/page.js"))(t)
	defer r.Body.Close()
	if b, err := io.ReadAll(r.Body); string(b) != "'use strict'" || err != nil {
		t.Errorf("a file whose compressed twin is a pipe: %q, %v", b, err)
	}
	for _, need := range []string{"index.html", "mannequin.wasm"} {
		dir := newSite(t)
		must.Do(t, os.Remove(filepath.Join(dir, need)))
		must.Do(t, os.Mkdir(filepath.Join(dir, need), 0o777))
		if _, err := openSite(dir); err == nil || !strings.Contains(err.Error(), need+" in ") {
			t.Errorf("%s is a folder: %v", need, err)
		}
	}
}

// A header is bounded.
func TestLargeHeader(t *testing.T) {
	_, at, end := started(t, defaultLimits())
	defer end()
	req := must.Get(http.NewRequest("GET", "http://"+at+"/", nil))(t)
	for i := range 100 {
		req.Header.Set(fmt.Sprint("X-", i), strings.Repeat("x", 1000))
	}
	r := must.Get(http.DefaultClient.Do(req))(t)
	r.Body.Close()
	if r.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Error(r.Status)
	}
}
