package scenes

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 dogs", 1: "1 dog", 2: "2 dogs"} {
		if got := Count(n, "dog", "dogs"); got != want {
			t.Errorf("%d are %q", n, got)
		}
	}
}
