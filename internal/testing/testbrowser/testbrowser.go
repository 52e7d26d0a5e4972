// Package testbrowser opens pages in Chromium, for tests.
package testbrowser

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"mannequin/internal/testing/must"
)

// chromium finds the browser, or skips the test.
func chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("MANNEQUIN_WEB") != "" {
		t.Fatal("no Chromium: install the package chromium")
	}
	t.Skip("no Chromium: make test-web installs one and runs this test")
	return ""
}

// Tab is a page in a browser, and its complaints.
type Tab struct {
	context.Context
	t      testing.TB
	wrongs chan string
}

// Open starts a browser that draws in software. The test is skipped where there is none; with MANNEQUIN_WEB set it fails.
func Open(t testing.TB) *Tab {
	t.Helper()
	// Not the test's own folder: parts of the browser that outlive it for a moment write there.
	profile := must.Get(os.MkdirTemp("", "chromium"))(t)
	t.Cleanup(func() { os.RemoveAll(profile) })
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox,
		chromedp.WindowSize(960, 600), chromedp.UserDataDir(profile), chromedp.WSURLReadTimeout(time.Minute))
	for flag, value := range map[string]any{"disable-gpu": true, "use-angle": "swiftshader", "enable-unsafe-swiftshader": true, "disable-quic": true,
		"disable-component-update": true, "enable-unsafe-webgpu": true, "use-webgpu-adapter": "swiftshader"} {
		opts = append(opts, chromedp.Flag(flag, value))
	}
	ctx, end := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(end)
	ctx, end = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(end)
	ctx, end = chromedp.NewContext(ctx)
	t.Cleanup(end)
	b := &Tab{ctx, t, make(chan string, 100)}
	chromedp.ListenTarget(ctx, func(event any) {
		said := ""
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			said = e.ExceptionDetails.Error()
		case *log.EventEntryAdded: // WebGL's own complaints, and files that are missing
			// Without a graphics card Chromium itself reads canvases back, and complains.
			wrong := e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning
			// A test takes the graphics away itself.
			if wrong && !strings.Contains(e.Entry.Text, "GPU stall due to ReadPixels") && !strings.Contains(e.Entry.Text, "CONTEXT_LOST_WEBGL") {
				said = e.Entry.Text + " " + e.Entry.URL
			}
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning || e.Type == runtime.APITypeAssert {
				for _, a := range e.Args {
					said += string(a.Value) + a.Description + " "
				}
			}
		}
		if said != "" {
			select {
			case b.wrongs <- said:
			default:
			}
		}
	})
	return b
}

// Do runs actions.
func (b *Tab) Do(actions ...chromedp.Action) {
	b.t.Helper()
	must.Do(b.t, chromedp.Run(b, actions...))
}

// OnLoad runs a script in every page before the page's own.
func (b *Tab) OnLoad(script string) {
	b.t.Helper()
	b.Do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
		return err
	}))
}

// Picture writes a screenshot to the folder $MANNEQUIN_WEB_PICTURES, if set.
func (b *Tab) Picture(name string) {
	b.t.Helper()
	dir := os.Getenv("MANNEQUIN_WEB_PICTURES")
	if dir == "" {
		return
	}
	var png []byte
	b.Do(chromedp.FullScreenshot(&png, 100))
	must.Do(b.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o666))
}

// Fine fails the test if the page complained.
func (b *Tab) Fine() {
	b.t.Helper()
	for {
		select {
		case said := <-b.wrongs:
			b.t.Errorf("the browser's console says: %s", said)
		default:
			return
		}
	}
}
