package serve

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mannequin/internal/testing/must"
)

// newSite returns a folder as make web writes it, with a secret beside it.
func newSite(t *testing.T) (dir string) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "web")
	var small bytes.Buffer
	z := gzip.NewWriter(&small)
	io.WriteString(z, "\x00asm, a program")
	z.Close()
	for name, content := range map[string]string{
		"secret": "secret", "web/index.html": "<!doctype html>", "web/mannequin.wasm": "\x00asm, a program", "web/mannequin.wasm.gz": small.String(),
		"web/page.js": "'use strict'", "web/style.css": "p {}", "web/sizes.json": "{}", "web/LICENSES.md": "# Licences", "web/models/dog.safetensors": "weights",
	} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret", filepath.Join(dir, "way-out")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestServeFiles(t *testing.T) {
	dir := newSite(t)
	s, err := openSite(dir)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path string, header ...string) *http.Response {
		r := httptest.NewRequest(method, "/", nil)
		r.URL.Path = path
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Result()
	}
	for path, kind := range map[string]string{
		"/": "text/html; charset=utf-8", "/index.html": "text/html; charset=utf-8", "/mannequin.wasm": "application/wasm", "/page.js": "text/javascript; charset=utf-8",
		"/style.css": "text/css; charset=utf-8", "/sizes.json": "application/json", "/LICENSES.md": "text/plain; charset=utf-8",
		"/models/dog.safetensors": "application/octet-stream", "/models/../page.js": "text/javascript; charset=utf-8",
	} {
		if r := ask("GET", path); r.StatusCode != 200 || r.Header.Get("Content-Type") != kind {
			t.Errorf("%s: %s, %s, want %s", path, r.Status, r.Header.Get("Content-Type"), kind)
		}
	}
	for _, path := range []string{"/models", "/models/", "/nothing", "/../secret", "/models/../../secret", "/way-out", "/page.js\x00", `/..\secret`} {
		if r := ask("GET", path); r.StatusCode != 404 {
			body, _ := io.ReadAll(r.Body)
			t.Errorf("%q: %s: %q", path, r.Status, body)
		}
	}
	for _, name := range []string{".env", ".git/config", "models/.cache/weights"} {
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("secret"), 0o666))
		if r := ask("GET", "/"+name); r.StatusCode != 404 {
			t.Errorf("%s: %s", name, r.Status)
		}
	}
	if r := ask("POST", "/"); r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s", r.Status)
	}
	for accept, packed := range map[string]bool{"": false, "gzip": true, "br, gzip;q=0.5": true, "gzip; q=0": false, "gzip;q=0.0, br": false, "deflate": false} {
		r := ask("GET", "/mannequin.wasm", "Accept-Encoding", accept)
		var body io.Reader = r.Body
		if got := r.Header.Get("Content-Encoding") == "gzip"; got != packed {
			t.Errorf("Accept-Encoding %q: packed %v", accept, got)
		} else if got {
			if body, err = gzip.NewReader(body); err != nil {
				t.Fatal(err)
			}
		}
		if b, err := io.ReadAll(body); err != nil || string(b) != "\x00asm, a program" || r.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: %q, %v", accept, b, err)
		}
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(newSite(t), dir); err != nil {
		t.Fatal(err)
	}
	first := ask("GET", "/models/dog.safetensors")
	if first.StatusCode != 200 {
		t.Errorf("after another build: %s", first.Status)
	}
	if r := ask("GET", "/models/dog.safetensors", "If-Modified-Since", first.Header.Get("Last-Modified")); r.StatusCode != http.StatusNotModified {
		t.Errorf("what has not changed is sent again: %s", r.Status)
	}
}

// It serves until it is told to end, and says what is wrong where it cannot.
func TestServe(t *testing.T) {
	dir := newSite(t)
	ctx, end := context.WithCancel(t.Context())
	told, tell := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- serve(ctx, "localhost:0", dir, defaultLimits(), tell) }()
	line := make([]byte, 1000)
	n, err := told.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	_, at, _ := strings.Cut(string(line[:n]), "http://")
	at, _, _ = strings.Cut(at, "/")
	r, err := http.Get("http://" + at)
	if err != nil {
		t.Fatalf("%s: %v", line[:n], err)
	}
	r.Body.Close()
	if r.StatusCode != 200 {
		t.Error(r.Status)
	}
	if err := serve(ctx, at, dir, defaultLimits(), io.Discard); err == nil || !strings.Contains(err.Error(), "taken by another program") {
		t.Errorf("a port that is taken: %v", err)
	}
	end()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
	if l, err := net.Listen("tcp", at); err != nil {
		t.Errorf("the port is not free again: %v", err)
	} else {
		l.Close()
	}
	if err := serve(t.Context(), "localhost:0", t.TempDir(), defaultLimits(), io.Discard); err == nil || !strings.Contains(err.Error(), "make web") {
		t.Errorf("a folder without a build: %v", err)
	}
	if err := serve(t.Context(), "no.such.host.invalid:1", dir, defaultLimits(), io.Discard); err == nil || !strings.Contains(err.Error(), "cannot listen") {
		t.Errorf("no such host: %v", err)
	}
}
