//go:build !js

package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// noVectors makes a browser report that WebAssembly has no vectors.
func (b *tab) noVectors() {
	b.OnLoad(`WebAssembly.validate = () => false`)
}

// BenchmarkBrowser reports the duration of a tick without drawing: the median over some seconds of
// what the page reports. It also reports the longest interval between pictures, per fifth of a
// second and overall. If ticks take long, distant dogs update less often.
func BenchmarkBrowser(b *testing.B) {
	site := httptest.NewServer(http.FileServer(http.Dir(build(b))))
	defer site.Close()
	for _, scene := range []string{"scene=quadruped&agents=0", "scene=quadruped&agents=19", "scene=strnn&agents=12", "scene=people&agents=12", "scene=latent&agents=12", "scene=crowd&agents=12"} {
		for _, kernels := range []string{"generic", "simd128"} {
			b.Run(scene+"/kernels="+kernels, func(b *testing.B) {
				in := browse(b)
				if kernels == "generic" {
					in.noVectors()
				}
				in.Do(chromedp.EmulateViewport(160, 120))
				in.play(site.URL + "#" + scene)
				time.Sleep(4 * time.Second)
				var times, gaps []float64
				var first, last state
				for range 30 {
					if last = in.state(); len(times) == 0 {
						first = last
					}
					times, gaps = append(times, last.TickMs), append(gaps, last.GapMs)
					time.Sleep(200 * time.Millisecond)
				}
				slices.Sort(times)
				gaps = gaps[1:] // the first is since the scene was loaded
				slices.Sort(gaps)
				b.ReportMetric(times[len(times)/2], "ms/tick")
				b.ReportMetric(float64(last.Ticks-first.Ticks)/6, "ticks/s")
				b.ReportMetric(gaps[len(gaps)*3/4], "ms/gap")
				b.ReportMetric(gaps[len(gaps)-1], "ms/longest-gap")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
