// Package must ends a test that cannot go on.
//
//	net := must.Get(models.Open("dog"))(t)
package must

import "testing"

// Get returns v. The test ends if err is not nil.
func Get[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Do ends the test if err is not nil.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
