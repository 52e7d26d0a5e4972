package feature

import (
	"fmt"
	"math"
	"strings"
)

// SchemaError lists what in a model file differs from what a package can use.
type SchemaError struct {
	Package string // that was to use it, such as "mann"
	Model   string
	Diff    []string
}

func (e *SchemaError) Error() string {
	const most = 8
	diff, more := e.Diff, ""
	if len(diff) > most {
		diff, more = diff[:most], fmt.Sprintf("; and %d more", len(e.Diff)-most)
	}
	return fmt.Sprintf("%s: model %q does not fit: %s%s", e.Package, e.Model, strings.Join(diff, "; "), more)
}

// Within reports whether all values are closer to zero than limit. NaN is not.
func Within(v []float32, limit float32) bool {
	for _, x := range v {
		if !(x > -limit && x < limit) {
			return false
		}
	}
	return true
}

// Finite reports whether no value is NaN or infinite.
func Finite(v []float32) bool {
	const exponent, one = 0x7f800000, 0x00800000
	var full uint32 // bit 31 of it: an exponent is all ones
	for _, x := range v {
		full |= math.Float32bits(x)&exponent + one
	}
	return full>>31 == 0
}
