//go:build simd128

package kernel

import (
	"encoding/binary"
	"os"
	"testing"

	"mannequin/internal/testing/must"
)

// Without the kernels, tests of all families would test plain Go alone.
func TestSIMD128IsLinked(t *testing.T) {
	if Best() != SIMD128 || unfused != (os.Getenv("SIMD128") == "simd128.wasm") {
		t.Fatal("the kernels are not linked: run the tests with simd128/exec.js")
	}
}

// TestSIMD128HasNoData checks that the kernels have no data of their own, which would be written
// into Go's memory.
func TestSIMD128HasNoData(t *testing.T) {
	for _, name := range []string{"simd128.wasm", "simd128fma.wasm"} {
		b := must.Get(os.ReadFile("simd128/" + name))(t)
		const data = 11
		seen := 0
		for b = b[8:]; len(b) > 0; seen++ { // id, length, content
			size, n := binary.Uvarint(b[1:])
			if b[0] == data {
				t.Errorf("%s: %d bytes of data", name, size)
			}
			b = b[1+n+int(size):]
		}
		if seen < 5 {
			t.Errorf("%s: %d sections", name, seen)
		}
	}
}
