// Package must ends a test that cannot go on.
//
//	net := must.Get(models.Open("dog"))(t)
package must

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
