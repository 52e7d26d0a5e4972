//go:build !js

package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// noVectors makes a browser one that has no vectors in WebAssembly.
func (b *tab) noVectors() {
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(`WebAssembly.validate = () => false`).Do(ctx)
		return err
	}))
}

// BenchmarkBrowser reports the time of a tick, apart from drawing: the median of what
// the page says for some seconds. Of many dogs, those far away are saved trouble where
// ticks take long.
func BenchmarkBrowser(b *testing.B) {
	site := httptest.NewServer(http.FileServer(http.Dir(build(b))))
	defer site.Close()
	for _, scene := range []string{"scene=quadruped&agents=0", "scene=quadruped&agents=19", "scene=strnn&agents=12"} {
		for _, kernels := range []string{"generic", "simd128"} {
			b.Run(scene+"/kernels="+kernels, func(b *testing.B) {
				in := browse(b)
				if kernels == "generic" {
					in.noVectors()
				}
				in.do(chromedp.EmulateViewport(160, 120))
				in.play(site.URL + "#" + scene)
				time.Sleep(4 * time.Second)
				var times []float64
				var first, last state
				for range 30 {
					if last = in.state(); len(times) == 0 {
						first = last
					}
					times = append(times, last.TickMs)
					time.Sleep(200 * time.Millisecond)
				}
				slices.Sort(times)
				b.ReportMetric(times[len(times)/2], "ms/tick")
				b.ReportMetric(float64(last.Ticks-first.Ticks)/6, "ticks/s")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
