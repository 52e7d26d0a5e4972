package netruntime

// For the tests of other backends.
var (
	Arrays      = arrays
	Interpret   = interpret
	LongGraph   = longGraph
	RandomGraph = randomGraph
	Relative    = relative
)

// GraphCases returns the networks of graphCases with the multiples that their lengths must be.
func GraphCases() (names []string, nets []*Net, factors []int) {
	for _, c := range graphCases() {
		names, nets, factors = append(names, c.name), append(nets, c.net), append(factors, c.factor)
	}
	return names, nets, factors
}

// Test is a test, a benchmark or a *rapid.T.
type Test interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}
