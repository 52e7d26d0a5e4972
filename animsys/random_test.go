package animsys_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"

	"mannequin/internal/testing/apidrive"
	"mannequin/internal/testing/must"
)

// The public API is called at random, as apidrive.Drive says. $MANNEQUIN_RANDOM is how often, and
// $MANNEQUIN_SEED where to begin, such as at the seed that failed.
func TestRandomCalls(t *testing.T) {
	const each = 5000 // by one driver
	calls, seed := 3000, uint64(1)
	if s := os.Getenv("MANNEQUIN_RANDOM"); s != "" {
		calls = must.Get(strconv.Atoi(s))(t)
	}
	if s := os.Getenv("MANNEQUIN_SEED"); s != "" {
		seed = must.Get(strconv.ParseUint(s, 10, 64))(t)
	}
	kinds := must.Get(apidrive.Shipped())(t)
	sums := map[string]int{}
	var warm uint64
	for made := 0; made < calls; made += each {
		counts, err := apidrive.Drive(kinds, seed, min(each, calls-made))
		if err != nil {
			t.Fatal(err)
		}
		for what, n := range counts {
			sums[what] += n
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if made < 5*each { // by then all networks are packed
			warm = max(warm, m.HeapAlloc)
		}
		if m.HeapAlloc > warm+16<<20 {
			t.Fatalf("after seed %d the heap has %d MB, and at most %d MB at first", seed, m.HeapAlloc>>20, warm>>20)
		}
		if testing.Verbose() {
			fmt.Printf("seed %d: %d calls, heap %.1f MB, %d goroutines\n", seed, made+each, float64(m.HeapAlloc)/(1<<20), runtime.NumGoroutine())
		}
		seed++
	}
	for _, what := range []string{"Spawn", "Step", "Crowd.Close"} {
		if sums[what] == 0 {
			t.Errorf("%s was never called", what)
		}
	}
	t.Log(sums)
}
