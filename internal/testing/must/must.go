// Package must checks errors in tests: Get and Do end a test that cannot continue.
//
//	net := must.Get(models.Open("dog"))(t)
package must

import (
	"strings"
	"testing"
)

// tester is a test, a benchmark or a *rapid.T.
type tester interface {
	Helper()
	Fatal(args ...any)
}

// Get returns v. The test ends if err is not nil.
func Get[T any](v T, err error) func(tester) T {
	return func(t tester) T {
		t.Helper()
		Do(t, err)
		return v
	}
}

// Get2 is Get for two values.
func Get2[A, B any](a A, b B, err error) func(tester) (A, B) {
	return func(t tester) (A, B) {
		t.Helper()
		Do(t, err)
		return a, b
	}
}

// Do ends the test if err is not nil.
func Do(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Fail reports an error of the test unless err mentions want.
//
//	must.Fail(models.Open("unicorn"))(t, "unknown model")
func Fail[T any](_ T, err error) func(t testing.TB, want string) {
	return func(t testing.TB, want string) {
		t.Helper()
		FailWith(t, err, want)
	}
}

// FailWith is Fail for an error alone.
func FailWith(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q in it", err, want)
	}
}
