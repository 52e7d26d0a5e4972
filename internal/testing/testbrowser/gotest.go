package testbrowser

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"mannequin/internal/testing/must"
)

// testPage runs a program of tests, and keeps what it writes.
const testPage = `<!doctype html>
<title>tests</title>
<link rel="icon" href="data:,">
<script src="wasm_exec.js"></script>
<script src="simd128.js"></script>
<script>
// The tests' thread is this one: what is said must leave before they go on.
const tell = (where, what) => {
	const message = new XMLHttpRequest();
	message.open("POST", where, false);
	message.send(what);
};
fs.writeSync = (file, bytes) => { tell("said", bytes); return bytes.length; };
fs.write = (file, bytes, from, n, at, done) => done(null, fs.writeSync(file, bytes.subarray(from, from + n)));
(async () => {
	const go = new Go();
	go.argv = ["test"].concat(JSON.parse(decodeURIComponent(location.hash.slice(1))));
	go.exit = (code) => tell("ended", String(code));
	const kernels = await Promise.all(["simd128fma.wasm", "simd128.wasm"].map(async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer())));
	const link = simd128(go.importObject, kernels);
	const { instance } = await WebAssembly.instantiateStreaming(fetch("test.wasm"), go.importObject);
	await link(instance);
	await go.run(instance);
})().catch((e) => tell("ended", String(e)));
</script>
`

// GoTest runs tests of a package in the browser, with its vector kernels, and returns what they write. They
// have no files. kernels is the folder of simd128.js.
func GoTest(t *testing.T, kernels, pkg, tags string, args ...string) string {
	t.Helper()
	b := Open(t)
	dir := t.TempDir()
	build := exec.Command("go", "test", "-c", "-tags", "simd128,"+tags, "-ldflags=-s -w", "-o", filepath.Join(dir, "test.wasm"), pkg)
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root := strings.TrimSpace(string(must.Get(exec.Command("go", "env", "GOROOT").Output())(t)))
	for _, file := range []string{filepath.Join(root, "lib/wasm/wasm_exec.js"), filepath.Join(kernels, "simd128.js"), filepath.Join(kernels, "simd128.wasm"), filepath.Join(kernels, "simd128fma.wasm")} {
		must.Do(t, os.WriteFile(filepath.Join(dir, filepath.Base(file)), must.Get(os.ReadFile(file))(t), 0o666))
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "index.html"), []byte(testPage), 0o666))

	var mu sync.Mutex
	var said strings.Builder
	ended := make(chan string, 1)
	var mux http.ServeMux
	mux.Handle("/", http.FileServer(http.Dir(dir)))
	mux.HandleFunc("/said", func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		io.Copy(&said, r.Body)
	})
	mux.HandleFunc("/ended", func(_ http.ResponseWriter, r *http.Request) {
		how, _ := io.ReadAll(r.Body)
		ended <- string(how)
	})
	site := httptest.NewServer(&mux)
	defer site.Close()
	b.Do(chromedp.Navigate(site.URL + "#" + string(must.Get(json.Marshal(args))(t))))
	how := "the browser ended, or took too long"
	select {
	case how = <-ended:
	case <-b.Done():
	}
	mu.Lock()
	defer mu.Unlock()
	if how != "0" {
		t.Errorf("the tests of %s: %s\n%s", pkg, how, &said)
	}
	return said.String()
}
