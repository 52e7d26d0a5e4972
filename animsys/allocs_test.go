package animsys_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// mustNotAllocate fails the test where f, or what runs beside it, allocates. It looks at
// every stack that allocates, and leaves out what the run-time system needs to have
// goroutines wait for each other, sleep for the first time, and get threads: that comes
// of the scheduler's moving them between processors, and differs with how busy the
// machine is. Others in the process may allocate once: what f allocates is there in every
// one of three runs.
func mustNotAllocate(t *testing.T, f func()) {
	t.Helper()
	var lines []string
	for range 3 {
		if lines = allocations(f); len(lines) == 0 {
			return
		}
	}
	for _, line := range lines {
		t.Errorf("%s", line)
	}
}

// allocations returns a line for each stack that allocates in f. Values below 16 bytes
// share blocks, of which only the first is seen.
func allocations(f func()) []string {
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 1
	before := profile()
	f()
	var lines []string
	for stack, n := range profile() {
		if n -= before[stack]; n > 0 {
			if where := caller(stack); where != "" {
				lines = append(lines, fmt.Sprintf("%d allocations, %s", n, where))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// profile returns how many objects each stack has allocated.
func profile() map[[32]uintptr]int64 {
	runtime.GC() // a profile is as of the last collection
	records := make([]runtime.MemProfileRecord, 64)
	for {
		n, ok := runtime.MemProfile(records, true)
		if ok {
			records = records[:n]
			break
		}
		records = make([]runtime.MemProfileRecord, n+64)
	}
	objects := make(map[[32]uintptr]int64)
	for _, r := range records {
		objects[r.Stack0] += r.AllocObjects // by size too in the profile
	}
	return objects
}

// caller returns the functions of a stack outside the run-time system, or "" where it is
// that system's own, or profile's.
func caller(stack [32]uintptr) string {
	n := slices.Index(stack[:], 0)
	if n < 0 {
		n = len(stack)
	}
	var outside []string
	for frames, more := runtime.CallersFrames(stack[:n]), true; more; {
		var frame runtime.Frame
		switch frame, more = frames.Next(); frame.Function {
		case "runtime.acquireSudog", "runtime.allocm", "time.Sleep", "mannequin/animsys_test.profile":
			return ""
		}
		if !strings.HasPrefix(frame.Function, "runtime.") {
			outside = append(outside, fmt.Sprintf("%s:%d", frame.Function, frame.Line))
		}
	}
	return strings.Join(outside, " < ")
}

var allocated *[40]byte // on the heap

func TestAllocations(t *testing.T) {
	if lines := allocations(func() {
		for range 3 {
			allocated = new([40]byte)
		}
	}); len(lines) != 1 || !strings.HasPrefix(lines[0], "3 allocations, mannequin/animsys_test.TestAllocations") {
		t.Errorf("of three values: %q", lines)
	}
	// Goroutines that wait, more of them than have waited before.
	const many = 1000
	gate, out := make(chan struct{}), make(chan struct{})
	wait := func() { <-gate; out <- struct{}{} }
	if lines := allocations(func() {
		for range many {
			go wait()
		}
		for range many {
			gate <- struct{}{}
		}
		for range many {
			<-out
		}
	}); len(lines) != 0 {
		t.Errorf("of goroutines that wait: %q", lines)
	}
}
