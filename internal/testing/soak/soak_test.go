package soak

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"
)

// warm is the number of rounds before memory is watched: each scene has been open by then.
const warm = 8

// TestSoak runs rounds of random work and checks that memory, goroutines and open files stay the
// same. MANNEQUIN_SOAK is the time that it takes, such as 1h; without it there is one round.
func TestSoak(t *testing.T) {
	rounds, end := 1, time.Time{}
	if s := os.Getenv("MANNEQUIN_SOAK"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatalf("MANNEQUIN_SOAK: %v", err)
		}
		rounds, end = 1<<31, time.Now().Add(d)
	} else if testing.Short() {
		t.Skip("short")
	}
	parts := []struct {
		name string
		run  func(*round)
	}{
		{"crowd", newCrowd(t)},
		{"api", newCalls(t)},
		{"tape", tapes},
		{"training", newTraining(t)},
		{"files", files},
	}
	var all []state
	start, shown := time.Now(), time.Time{}
	t.Logf("%8s %6s %9s %9s %8s %8s %10s %6s", "time", "rounds", "ticks", "calls", "heap MB", "RSS MB", "goroutines", "files")
	ticks, calls := 0, 0
	for n := 0; n < rounds && (end.IsZero() || time.Now().Before(end)); n++ {
		for _, p := range parts {
			r := &round{T: t, n: n, rng: rand.New(rand.NewPCG(34, uint64(n))), what: fmt.Sprintf("round %d, %s", n, p.name)}
			p.run(r)
			ticks += r.ticks
			calls += r.calls
		}
		all = append(all, measure())
		if s := all[n]; time.Since(shown) > time.Minute || n == rounds-1 {
			shown = time.Now()
			t.Logf("%8s %6d %9d %9d %8.2f %8.1f %10d %6d", time.Since(start).Round(time.Second), n+1, ticks, calls, mb(s.heap), mb(s.rss), s.goroutines, s.files)
		}
	}
	flat(t, all)
}

// round is one run of each part.
type round struct {
	*testing.T
	n     int
	rng   *rand.Rand
	what  string
	ticks int
	calls int // of the public API, at random
}

func (r *round) check(err error) {
	r.Helper()
	if err != nil {
		r.Fatalf("%s: %v", r.what, err)
	}
}

// state is what the process holds after a round.
type state struct {
	heap, rss         int
	goroutines, files int
}

func measure() state {
	runtime.GC() // pools keep their contents for one collection
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return state{heap: int(m.HeapAlloc), rss: rss(), goroutines: runtime.NumGoroutine(), files: openFiles()}
}

func mb(bytes int) float64 { return float64(bytes) / (1 << 20) }

// flat compares the first quarter of the rounds with the last.
func flat(t *testing.T, all []state) {
	t.Helper()
	if len(all) <= warm {
		return
	}
	all = all[warm:]
	for i, s := range all {
		if s.goroutines != all[0].goroutines || s.files != all[0].files {
			t.Fatalf("round %d: %d goroutines and %d open files, %d and %d before", warm+i, s.goroutines, s.files, all[0].goroutines, all[0].files)
		}
	}
	quarter := max(len(all)/4, 1)
	first, last := all[:quarter], all[len(all)-quarter:]
	for _, what := range []struct {
		name string
		of   func(state) int
		more float64 // allowed
	}{
		{"heap", func(s state) int { return s.heap }, 0.01},
		{"RSS", func(s state) int { return s.rss }, 0.03},
	} {
		a, b := median(first, what.of), median(last, what.of)
		t.Logf("%s: %.2f MB in the first quarter of the rounds, %.2f MB in the last", what.name, mb(a), mb(b))
		if float64(b) > float64(a)*(1+what.more) {
			t.Errorf("%s grows", what.name)
		}
	}
}

func median(all []state, of func(state) int) int {
	var values []int
	for _, s := range all {
		values = append(values, of(s))
	}
	slices.Sort(values)
	return values[len(values)/2]
}
