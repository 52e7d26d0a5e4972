package must

import (
	"fmt"
	"strings"
	"testing"
)

// Panic reports an error of the test unless f panics with want in its message.
func Panic(t testing.TB, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if e := recover(); e == nil || !strings.Contains(fmt.Sprint(e), want) {
			t.Errorf("panic %v, want one with %q", e, want)
		}
	}()
	f()
}
