//go:build !js && !webgpu

package webgpu

import (
	"os"
	"strings"
	"testing"

	"mannequin/internal/testing/testbrowser"
)

// TestBrowser runs this package's tests in a browser, and those of networks and of agents.
func TestBrowser(t *testing.T) {
	if os.Getenv("MANNEQUIN_WEB") == "" {
		t.Skip("make test-web runs these tests")
	}
	for _, c := range []struct{ name, pkg, run string }{{"sessions", "mannequin/netruntime/webgpu", "."}, {"networks", "mannequin/netruntime", "WebGPU"}, {"agents", "mannequin/animsys", "WebGPU"},
		{"controllers", "mannequin/animsys/mann", "Shader"}, {"resident agents", "mannequin/animsys/resident", "Test"}} {
		t.Run(c.name, func(t *testing.T) {
			said := testbrowser.GoTest(t, "../internal/kernel/simd128", c.pkg, "webgpu", "-test.v", "-test.run="+c.run)
			if strings.Contains(said, "no GPU, and no software driver of one") {
				t.Skip(said)
			}
			t.Log(said)
		})
	}
}
