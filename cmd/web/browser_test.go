//go:build !js

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testbrowser"
)

// build builds the page, into a folder that the test leaves.
func build(t testing.TB) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "web")
	if out, err := exec.Command("sh", "../../scripts/web.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("scripts/web.sh: %v\n%s", err, out)
	}
	return dir
}

// tab is the page in a browser.
type tab struct {
	*testbrowser.Tab
	t testing.TB
}

func browse(t testing.TB) *tab { return &tab{testbrowser.Open(t), t} }

// state is what cmd/web reports about itself.
type state struct {
	Pictures, Ticks   int
	TickMs, PictureMs float64
	GapMs             float64 // longest time between two pictures since the last call of state
	Focus, Eye        [3]float64
	Driver, Kernels   string
	GPU               string // that computes the networks
}

func (b *tab) state() (s state) {
	b.t.Helper()
	var text string
	b.Do(chromedp.Evaluate(`JSON.stringify(mannequin.state())`, &text))
	must.Do(b.t, json.Unmarshal([]byte(text), &s))
	return s
}

// until waits for a condition of the page, which may still be loading.
func (b *tab) until(what, condition string) {
	b.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		var ok bool
		var card string
		err := chromedp.Run(b, chromedp.Evaluate(condition, &ok),
			chromedp.Evaluate(`document.getElementById("card").className + document.getElementById("message").textContent`, &card))
		if ok {
			return
		}
		if b.Err() != nil || strings.HasPrefix(card, "wrong") || time.Now().After(deadline) {
			b.Fine()
			b.t.Fatalf("%s did not happen: %v; the page says: %s", what, err, card)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// drag drags the mouse from one place of the window to another.
func (b *tab) drag(x0, y0, x1, y1 float64) {
	b.t.Helper()
	for i, at := range [][2]float64{{x0, y0}, {x0, y0}, {x1, y1}, {x1, y1}} {
		kind := []input.MouseType{input.MouseMoved, input.MousePressed, input.MouseMoved, input.MouseReleased}[i]
		n := b.state().Pictures
		b.Do(input.DispatchMouseEvent(kind, at[0], at[1]).WithButton(input.Left).WithClickCount(1))
		b.until("two pictures", fmt.Sprintf("mannequin.state().pictures > %d", n+1))
	}
}

func away(s state) float64 { return math.Hypot(s.Eye[0]-s.Focus[0], s.Eye[2]-s.Focus[2]) }

// play opens a scene and waits for its first pictures.
func (b *tab) play(address string) {
	b.t.Helper()
	b.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(address))
	b.until("playing "+address, `!!window.mannequin && mannequin.state().pictures > 3`)
}

// hold presses a key, named by its place, until a condition of the page holds.
func (b *tab) hold(code, what, condition string) {
	b.t.Helper()
	b.Do(input.DispatchKeyEvent(input.KeyDown).WithCode(code))
	b.until(what, condition)
	b.Do(input.DispatchKeyEvent(input.KeyUp).WithCode(code))
}

// A player steers the person over the course: it walks up to the stairs, goes aside and jumps.
func TestBrowserPerson(t *testing.T) {
	b := browse(t)
	site := serve(t)
	b.play(site.URL + "#scene=person")
	b.Picture("person")
	from := b.state().Focus
	gone := func(m float64) string {
		return fmt.Sprintf(`Math.hypot(mannequin.state().focus[0] - %g, mannequin.state().focus[2] - %g) > %g`, from[0], from[2], m)
	}
	b.hold("KeyW", "the person's walk", gone(1.5))
	b.Picture("person-walking")
	from = b.state().Focus
	b.hold("KeyA", "the person's steps aside", gone(1))
	b.hold("Space", "the person's jump", fmt.Sprintf("mannequin.state().ticks > %d", b.state().Ticks+30))
	b.Picture("person-jumping")
	s := b.state()
	t.Logf("%+v", s)
	b.Fine()
}

// A GPU computes the dog's networks, until it is lost. The scene goes on.
func TestBrowserGPU(t *testing.T) {
	b := browse(t)
	b.OnLoad(`if (window.GPUAdapter) {
		const request = GPUAdapter.prototype.requestDevice;
		GPUAdapter.prototype.requestDevice = async function (...args) { return window.theDevice = await request.apply(this, args); };
	}`)
	site := serve(t)
	b.play(site.URL + "#scene=quadruped&agents=0&backend=webgpu")
	if b.state().GPU == "" {
		t.Skip("no WebGPU in this browser")
	}
	b.hold("KeyW", "the dog's walk", `Math.hypot(mannequin.state().focus[0], mannequin.state().focus[2]) > 0.5`)
	s := b.state()
	if s.GPU == "" {
		t.Error("the GPU was lost")
	}
	b.Picture("gpu")
	t.Logf("%+v", s)
	b.Do(chromedp.Evaluate(`theDevice.destroy()`, nil))
	b.until("the end of the GPU", `mannequin.state().gpu === ""`)
	b.until("ticks after it", fmt.Sprintf("mannequin.state().ticks > %d", b.state().Ticks+30))
	b.Picture("gpu-lost")
	b.Fine()
}

func TestBrowser(t *testing.T) {
	b := browse(t)
	site := serve(t)

	b.play(site.URL)
	before := b.state()
	if before.Kernels != "simd128" {
		t.Errorf("%s kernels compute the networks", before.Kernels)
	}
	b.Picture("quadruped")

	// The mouse moves the camera, by about 1.2 radians and then nearer.
	b.drag(300, 200, 500, 200)
	turned := b.state()
	if moved := math.Hypot(turned.Eye[0]-before.Eye[0], turned.Eye[2]-before.Eye[2]); moved < 0.5*away(before) {
		t.Errorf("dragging moved the eye %.2f m at a distance of %.2f", moved, away(before))
	}
	b.Do(input.DispatchMouseEvent(input.MouseWheel, 400, 300).WithDeltaX(0).WithDeltaY(-300))
	b.until("three pictures", fmt.Sprintf("mannequin.state().pictures > %d", turned.Pictures+3))
	if near := b.state(); away(near) > 0.9*away(turned) {
		t.Errorf("the wheel took the eye from %.2f m to %.2f", away(turned), away(near))
	}
	// The picture keeps to the window's size.
	b.Do(chromedp.EmulateViewport(700, 500))
	b.until("the smaller picture", `document.getElementById("stage").width === 700`)
	b.Picture("smaller")

	before = b.state()
	b.hold("KeyW", "the dog's walk", `Math.hypot(mannequin.state().focus[0], mannequin.state().focus[2]) > 0.5`)
	after := b.state()
	b.Picture("quadruped-walking")
	if after.Pictures < before.Pictures+3 || after.Ticks < before.Ticks+20 {
		t.Errorf("the dog walked in %d ticks and %d pictures", after.Ticks-before.Ticks, after.Pictures-before.Pictures)
	}
	t.Logf("%+v", after)

	b.touch()

	// So does a gamepad, laid out as browsers do.
	b.Do(chromedp.Evaluate(`navigator.getGamepads = () => [null, {
		id: "a gamepad", mapping: "standard", axes: [0, -1, 0, 0],
		buttons: Array.from({ length: 17 }, () => ({ pressed: false, value: 0 })),
	}]`, nil))
	b.until("the dog's walk by gamepad", fmt.Sprintf(`Math.hypot(mannequin.state().focus[0] - %g, mannequin.state().focus[2] - %g) > 0.7`, after.Focus[0], after.Focus[2]))
	b.until("help for gamepads", `document.getElementById("keys").textContent.includes("left stick")`)
	b.Picture("gamepad")

	// Another scene, by the address alone.
	b.Do(chromedp.Evaluate(`location.hash = "scene=latent"`, nil))
	b.until("the scene latent", `!!window.mannequin && document.getElementById("scene")?.value === "latent" && mannequin.state().pictures > 3`)
	b.Picture("latent")
	b.resize()
	b.lose()
	b.loseUnseen()
	b.hide()
	b.loseForGood()
	b.Fine()

	// A browser without vectors plays too.
	b.noVectors()
	b.play(site.URL + "#scene=herd&agents=1")
	if s := b.state(); s.Kernels != "generic" {
		t.Errorf("without vectors %s kernels compute the networks", s.Kernels)
	}
	b.Fine()

	// The page reports what it cannot play.
	for address, want := range map[string]string{
		"#scene=ballet": `no scene "ballet"`, "#model=nothing": "cannot fetch models/nothing.safetensors: 404",
	} {
		b.refuses(site.URL+address, want)
		b.Picture("wrong")
	}
	b.touchEarly(site.URL)
	b.cutOff(site)
	b.withoutWebGL(site.URL)
}
