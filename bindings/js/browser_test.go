package js

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testbrowser"
	"mannequin/internal/testing/testlib"
)

// The page shows dogs, and arrow keys steer the first.
func TestPage(t *testing.T) {
	b := testbrowser.Open(t)
	site := httptest.NewServer(http.FileServer(http.Dir(testlib.Wasm(t))))
	defer site.Close()
	type state struct {
		Frames  int
		Spent   float64
		Kernels string
		Roots   [][3]float64
	}
	until := func(what string, ok func(s state) bool) state {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			var text, said string
			b.Do(chromedp.Evaluate(`JSON.stringify(window.dogs ?? {})`, &text), chromedp.Text("#say", &said))
			var s state
			must.Do(t, json.Unmarshal([]byte(text), &s))
			if ok(s) {
				return s
			}
			if time.Now().After(end) {
				b.Fine()
				t.Fatalf("%s did not happen; the page says %q, %+v", what, said, s)
			}
		}
	}
	b.Do(chromedp.Navigate(site.URL + "/js/dogs.html"))
	until("ten pictures", func(s state) bool { return s.Frames > 10 })
	b.Do(input.DispatchKeyEvent(input.KeyDown).WithKey("ArrowUp"))
	until("the walk ahead", func(s state) bool { return s.Roots[0][2] > 2 })
	b.Do(input.DispatchKeyEvent(input.KeyUp).WithKey("ArrowUp"), input.DispatchKeyEvent(input.KeyDown).WithKey("ArrowLeft"))
	s := until("the walk to the left", func(s state) bool { return s.Roots[0][0] > 1 }) // +X is left
	b.Picture("dogs")
	b.Fine()
	if s.Kernels != "simd128" || len(s.Roots) != 9 {
		t.Errorf("%d dogs, %s kernels", len(s.Roots), s.Kernels)
	}
	t.Logf("%d frames, %.1f ms each without drawing", s.Frames, s.Spent)

	// A worker has the library of its own.
	var kernels string
	b.Do(chromedp.Evaluate(`new Promise((done, fail) => {
		const text = 'import { load, kernels, World } from "' + location.origin + '/js/mannequin.mjs"; await load(); new World().tick(); postMessage(kernels());';
		const worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })), { type: "module" });
		worker.onmessage = (e) => done(e.data);
		worker.onerror = (e) => fail(e.message);
	})`, &kernels, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if kernels != "simd128" {
		t.Errorf("a worker has %s kernels", kernels)
	}
	b.Fine()

	b.Do(chromedp.Navigate(site.URL+"/js/dogs.html?model=none"), chromedp.Poll(`document.getElementById("say").textContent.includes("404")`, nil))
	b.Do(chromedp.Navigate(site.URL + "/js/dogs.html?dogs=0"))
	var said string
	b.Do(chromedp.Poll(`document.getElementById("say").textContent !== "loading"`, nil), chromedp.Text("#say", &said))
	if want := "the capacity is 0: want 1 to 65536"; said != want {
		t.Errorf("the page says %q, want %q", said, want)
	}
}
