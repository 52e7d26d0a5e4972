package cuda_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"mannequin/internal/testing/must"
)

// multiprocessors have these limits, by compute capability: CUDA C++ Programming Guide, table of technical specifications.
var multiprocessors = []struct {
	architecture    string
	threads, shared int // bytes, of which each block takes 1 KB more than it asks for
}{{"sm_80", 2048, 164 << 10}, {"sm_86", 1536, 100 << 10}, {"sm_89", 1536, 100 << 10}, {"sm_90", 2048, 228 << 10}}

const registers = 65536 // of a multiprocessor

var (
	compiled = regexp.MustCompile(`entry function '(\w+)'`)
	spilled  = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores`)
	used     = regexp.MustCompile(`Used (\d+) registers`)
)

// TestPTXAS compiles the PTX for each architecture with NVIDIA's assembler, where that is installed: no kernel spills registers, and
// as many blocks share a multiprocessor as the sources say.
func TestPTXAS(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("no ptxas, which is in Debian's nvidia-cuda-toolkit")
	}
	together := map[string]int{"large": 1, "medium": 2, "small": 3}
	for _, m := range multiprocessors {
		file := "sm_80.ptx"
		if m.architecture == "sm_90" {
			file = "sm_90.ptx"
		}
		out, err := exec.Command(ptxas, "-v", "-arch="+m.architecture, filepath.Join("kernels", file), "-o", filepath.Join(t.TempDir(), "kernels.cubin")).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		names, frames, counts := compiled.FindAllSubmatch(out, -1), spilled.FindAllSubmatch(out, -1), used.FindAllSubmatch(out, -1)
		if len(names) != 1+len(units) || len(frames) != len(names) || len(counts) != len(names) {
			t.Fatalf("%d kernels\n%s", len(names), out)
		}
		for i := range names {
			name, n := string(names[i][1]), must.Get(strconv.Atoi(string(counts[i][1])))(t)
			if string(frames[i][1]) != "0" || string(frames[i][2]) != "0" {
				t.Errorf("%s: %s: %s", m.architecture, name, frames[i][0])
			}
			threads, shared, want := lightThreads, 0, 1
			for _, u := range units {
				if name == "product_"+u.name {
					threads, shared, want = u.threads, stages*(u.m+u.n)*stepBytes, together[u.name[len("bf16_"):]]
				}
			}
			// A warp has registers in pieces of 256.
			by := map[string]int{"registers": registers / (roundTo(n*32, 256) * threads / 32), "threads": m.threads / threads, "memory": m.shared / (shared + 1<<10)}
			blocks, limit := 32, "blocks"
			for what, most := range by {
				if most < blocks || most == blocks && what < limit {
					blocks, limit = most, what
				}
			}
			t.Logf("| %s | %s | %d | %d | %d | %.0f %% |", m.architecture, name, n, shared>>10, blocks, 100*float64(blocks*threads)/float64(m.threads))
			if blocks < 1 || limit == "registers" && blocks < want {
				t.Errorf("%s: %s: %d blocks share a multiprocessor, by its %s, want %d", m.architecture, name, blocks, limit, want)
			}
		}
	}
}
