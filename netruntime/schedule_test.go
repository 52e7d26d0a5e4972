package netruntime

import "testing"

// TestTurnedTasks checks that the other order has every task once, and that
// either half begins where it ended.
func TestTurnedTasks(t *testing.T) {
	for n := 1; n < 20; n++ {
		seen := make([]bool, n)
		for i := range n {
			j := turned(i, n)
			if seen[j] {
				t.Fatalf("%d tasks: task %d twice", n, j)
			}
			seen[j] = true
			if (i < n/2) != (j < n/2) {
				t.Fatalf("%d tasks: task %d becomes %d, of the other half", n, i, j)
			}
		}
		if n > 1 && (turned(0, n) != n/2-1 || turned(n-1, n) != n/2) {
			t.Fatalf("%d tasks: the ends become %d and %d", n, turned(0, n), turned(n-1, n))
		}
	}
}
