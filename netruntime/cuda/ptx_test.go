package cuda

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mannequin/internal/testing/must"
)

// TestPTX checks that the embedded PTX was made from the sources beside it.
func TestPTX(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.cu", "*.h"} {
		f, err := filepath.Glob(filepath.Join("kernels", pattern))
		if err != nil || len(f) == 0 {
			t.Fatal(pattern, err)
		}
		slices.Sort(f)
		files = append(files, f...)
	}
	sum := sha256.New()
	for _, f := range files {
		b := must.Get(os.ReadFile(f))(t)
		sum.Write(b)
	}
	want := fmt.Appendf(nil, "// sources: %x\n", sum.Sum(nil))
	for _, f := range []string{"sm_80.ptx", "sm_90.ptx"} {
		b := must.Get(os.ReadFile(filepath.Join("kernels", f)))(t)
		if !bytes.HasPrefix(b, want) {
			t.Errorf("%s is not of these sources: run make cuda", f)
		}
	}
}
