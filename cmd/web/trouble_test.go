//go:build !js

package main

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"mannequin/internal/testing/must"
)

// site serves the page, and can cut a file off.
type site struct {
	*httptest.Server
	cut atomic.Pointer[string] // how its name ends
}

func serve(t *testing.T) *site {
	t.Helper()
	files := http.FileServer(http.Dir(build(t)))
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cut := s.cut.Load(); cut == nil || !strings.HasSuffix(r.URL.Path, *cut) {
			files.ServeHTTP(w, r)
			return
		}
		if strings.HasSuffix(r.URL.Path, ".wasm") {
			w.Header().Set("Content-Type", "application/wasm")
		}
		w.Header().Set("Content-Length", "2000000")
		w.Write(make([]byte, 1000000))
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(s.Close)
	return s
}

// refuses opens an address that cannot be played, and checks the message.
func (b *tab) refuses(address, want string) {
	b.t.Helper()
	var said string
	b.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(address), chromedp.WaitVisible("#card.wrong"), chromedp.Text("#message", &said))
	if !strings.Contains(said, want) {
		b.t.Errorf("%s: the page says %q, want %q", address, said, want)
	}
}

// pictures waits for some.
func (b *tab) pictures(n int) {
	b.t.Helper()
	b.until("more pictures", fmt.Sprintf("mannequin.state().pictures > %d", b.state().Pictures+n))
}

// turn is how far the eye moved around the focus, m.
func turn(a, b state) float64 {
	return math.Hypot(b.Eye[0]-b.Focus[0]-a.Eye[0]+a.Focus[0], b.Eye[2]-b.Focus[2]-a.Eye[2]+a.Focus[2])
}

// touch drags a finger over the scene, which turns the camera, pulls two apart, which
// brings it nearer, and has a button in place of a key move the dog.
func (b *tab) touch() {
	b.t.Helper()
	put := func(kind input.TouchType, points ...*input.TouchPoint) {
		b.t.Helper()
		b.Do(input.DispatchTouchEvent(kind, points))
		b.pictures(1)
	}
	at := func(id, x, y float64) *input.TouchPoint { return &input.TouchPoint{ID: id, X: x, Y: y} }
	before := b.state()
	put(input.TouchStart, at(1, 300, 250))
	put(input.TouchMove, at(1, 480, 250))
	put(input.TouchEnd)
	turned := b.state()
	if moved := turn(before, turned); moved < 0.5*away(before) {
		b.t.Errorf("a finger moved the eye %.2f m at a distance of %.2f", moved, away(before))
	}
	put(input.TouchStart, at(1, 300, 250))
	put(input.TouchStart, at(1, 300, 250), at(2, 340, 250))
	put(input.TouchMove, at(1, 260, 250), at(2, 380, 250))
	put(input.TouchEnd)
	b.pictures(3)
	if near := b.state(); away(near) > 0.7*away(turned) {
		b.t.Errorf("two fingers took the eye from %.2f m to %.2f", away(turned), away(near))
	}
	// The finger that stays turns nothing.
	b.Do(chromedp.Evaluate(`addEventListener("pointerdown", (e) => { if (e.isPrimary) window.firstFinger = e.pointerId; }, true)`, nil))
	put(input.TouchStart, at(1, 300, 250))
	put(input.TouchStart, at(1, 300, 250), at(2, 600, 250))
	// Chromium's protocol lifts all fingers or none.
	b.Do(chromedp.Evaluate(`document.getElementById("stage").dispatchEvent(new PointerEvent("pointerup", { pointerId: firstFinger }))`, nil))
	b.pictures(1)
	still := b.state()
	put(input.TouchMove, at(1, 300, 250), at(2, 500, 250))
	b.pictures(2)
	if moved := turn(still, b.state()); moved > 0.3*away(still) {
		b.t.Errorf("the finger that stayed moved the eye %.2f m at a distance of %.2f", moved, away(still))
	}
	put(input.TouchEnd)
	b.Do(chromedp.WaitVisible("#touch"))
	from := b.state()
	var x, y float64
	b.Do(chromedp.Evaluate(`window.ahead = document.querySelector('[data-code="ArrowUp"]').getBoundingClientRect(); ahead.x + 20`, &x), chromedp.Evaluate(`ahead.y + 20`, &y))
	b.Do(input.DispatchTouchEvent(input.TouchStart, []*input.TouchPoint{at(1, x, y)}))
	b.until("the dog's walk by a finger", fmt.Sprintf(`Math.hypot(mannequin.state().focus[0] - %g, mannequin.state().focus[2] - %g) > 0.5`, from.Focus[0], from.Focus[2]))
	b.Picture("touch")
	b.Do(input.DispatchTouchEvent(input.TouchEnd, nil))
}

// touchEarly touches the page before it knows that the scene steers no character: no buttons.
func (b *tab) touchEarly(address string) {
	b.t.Helper()
	b.OnLoad(`addEventListener("DOMContentLoaded", () => dispatchEvent(new PointerEvent("pointerdown", { pointerType: "touch" })))`)
	b.refuses(address+"#scene=cutscene&seed=no", "seed=no")
	var right bool
	if b.Do(chromedp.Evaluate(`page.touched && document.getElementById("touch").hidden`, &right)); !right {
		b.t.Error("a cutscene has buttons, of a page that was touched early")
	}
}

// resize shrinks the canvas to nothing, and restores it.
func (b *tab) resize() {
	b.t.Helper()
	b.Do(chromedp.Evaluate(`document.getElementById("stage").style.cssText = "width: 0; height: 0"; 0`, nil))
	b.until("the smallest picture", `document.getElementById("stage").width === 16 && document.getElementById("stage").height === 16`)
	b.pictures(2)
	b.Do(chromedp.Evaluate(`document.getElementById("stage").style.cssText = ""; 0`, nil))
	b.until("the picture in full", `document.getElementById("stage").width > 16`)
	b.pictures(2)
}

// lose takes the graphics away and gives them back: the scene continues.
func (b *tab) lose() {
	b.t.Helper()
	b.Do(chromedp.Evaluate(`window.graphics = document.getElementById("stage").getContext("webgl2").getExtension("WEBGL_lose_context"); graphics.loseContext()`, nil))
	b.until("word of it", `!document.getElementById("card").hidden && document.getElementById("message").textContent.includes("taken the graphics away")`)
	b.Picture("lost")
	before := b.state()
	b.Do(chromedp.Evaluate(`graphics.restoreContext()`, nil))
	b.until("the scene", fmt.Sprintf(`document.getElementById("card").hidden && mannequin.state().pictures > %d`, before.Pictures+3))
	if after := b.state(); after.Ticks <= before.Ticks {
		b.t.Errorf("%d ticks after the graphics came back, %d before", after.Ticks, before.Ticks)
	}
	b.Picture("found")
	b.lit()
}

// loseUnseen takes the graphics away and gives them back between two pictures.
func (b *tab) loseUnseen() {
	b.t.Helper()
	b.Do(chromedp.Evaluate(`{
		const canvas = document.getElementById("stage"), ask = requestAnimationFrame, once = { once: true };
		window.requestAnimationFrame = (f) => {
			window.requestAnimationFrame = ask;
			canvas.addEventListener("webglcontextlost", () => setTimeout(() => graphics.restoreContext()), once);
			canvas.addEventListener("webglcontextrestored", () => {
				window.unseen = mannequin.state().pictures;
				ask(f);
			}, once);
			graphics.loseContext();
		};
		0;
	}`, nil))
	b.until("the scene after graphics that were away between pictures", `window.unseen !== undefined && mannequin.state().pictures > unseen + 3`)
	b.Picture("unseen")
	b.lit()
}

// loseForGood takes the graphics away, again as soon as they are back, and then gives them
// back to a browser that does without: the page says why it cannot go on.
func (b *tab) loseForGood() {
	b.t.Helper()
	b.Do(chromedp.Evaluate(`{
		const canvas = document.getElementById("stage"), context = canvas.getContext("webgl2");
		window.opened = 0;
		canvas.getContext = () => {
			if (++opened > 1) return null;
			graphics.loseContext();
			return context;
		};
		canvas.addEventListener("webglcontextlost", () => setTimeout(() => graphics.restoreContext()));
		graphics.loseContext();
	}`, nil))
	var said string
	var opened int
	b.Do(chromedp.WaitVisible("#card.wrong"), chromedp.Text("#message", &said), chromedp.Evaluate("opened", &opened))
	if !strings.Contains(said, "no WebGL 2") || opened != 2 {
		b.t.Errorf("graphics that are lost and of no use then: the page says %q after %d tries, want 2", said, opened)
	}
	// The page no longer asks the program, which has ended, for its speed each second.
	b.Do(chromedp.Evaluate(`document.dispatchEvent(new Event("visibilitychange"))`, nil), chromedp.Sleep(1500*time.Millisecond))
}

// hide stops animation frames for a minute, as of a hidden page: the scene does not catch up.
func (b *tab) hide() {
	b.t.Helper()
	b.Do(chromedp.Evaluate(`{
		const ask = requestAnimationFrame;
		window.requestAnimationFrame = (f) => ask((t) => {
			const before = mannequin.state().ticks;
			f(t + 60000);
			window.madeUp ??= mannequin.state().ticks - before;
		});
		0;
	}`, nil))
	b.until("the picture a minute later", `window.madeUp !== undefined`)
	var ticks int
	if b.Do(chromedp.Evaluate(`madeUp`, &ticks)); ticks < 1 || ticks > 4 {
		b.t.Errorf("%d ticks after a minute without a picture, want 1 to 4", ticks)
	}
}

// lit fails the test if the lower middle of the page is dark.
func (b *tab) lit() {
	b.t.Helper()
	var shot []byte
	b.Do(chromedp.CaptureScreenshot(&shot))
	img := must.Get(png.Decode(bytes.NewReader(shot)))(b.t)
	const n = 16
	mean := 0.0 // brightness, 0 to 255
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	for i := range n * n {
		_, g, _, _ := img.At(w/4+i%n*w/2/n, h/2+i/n*h/4/n).RGBA()
		mean += float64(g>>8) / (n * n)
	}
	if mean < 60 {
		b.t.Errorf("the picture's lower middle has a brightness of %.0f", mean)
	}
}

// cutOff lets files end early: the page names the file, and its button tries again.
func (b *tab) cutOff(s *site) {
	b.t.Helper()
	for _, file := range []string{program, "dog.safetensors"} {
		s.cut.Store(&file)
		b.refuses(s.URL, file+": cut off after")
	}
	b.Picture("cut-off")
	s.cut.Store(nil)
	b.Do(chromedp.Click("#again"))
	b.until("the second try", `!!window.mannequin && mannequin.state().pictures > 1`)
}

// program is what the page loads first.
const program = "mannequin.wasm"

// withoutWebGL opens the page in a browser that has none.
func (b *tab) withoutWebGL(address string) {
	b.t.Helper()
	b.OnLoad(`HTMLCanvasElement.prototype.getContext = () => null`)
	b.refuses(address, "no WebGL 2")
	b.Picture("no-webgl")
}

// Pictures of each scene, in a large window and on a phone, if the environment names a folder.
func TestPictures(t *testing.T) {
	if os.Getenv("MANNEQUIN_WEB_PICTURES") == "" {
		t.Skip("MANNEQUIN_WEB_PICTURES names no folder")
	}
	s := serve(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			b := browse(t)
			b.Do(chromedp.EmulateViewport(1100, 700))
			b.play(s.URL + "#scene=" + name)
			b.pictures(8)
			b.Picture("scene-" + name)
			b.Do(chromedp.EmulateViewport(390, 780, chromedp.EmulateTouch), chromedp.Evaluate(`document.getElementById("help").hidden = true`, nil))
			b.Do(input.DispatchTouchEvent(input.TouchStart, []*input.TouchPoint{{X: 200, Y: 500}}), input.DispatchTouchEvent(input.TouchEnd, nil))
			b.pictures(4)
			b.Picture("phone-" + name)
			b.Fine()
		})
	}
}
