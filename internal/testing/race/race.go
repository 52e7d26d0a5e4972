// Package race marks tests that the race detector only slows down.
package race

import "testing"

// Single skips a test that is slow with the race detector and shows it nothing new: it is arithmetic on one
// goroutine, or other tests of its package have the same goroutines meet. make test runs it without.
func Single(t testing.TB) {
	if Enabled {
		t.Helper()
		t.Skip("without the race detector only")
	}
}
