package feature

import (
	"fmt"
	"strings"
	"unsafe"

	"mannequin/engine/m3"
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
	var a, b, c, d float32 // zero, or NaN; four, so that no sum waits for the one before it
	for ; len(v) >= 4; v = v[4:] {
		a += 0 * v[0]
		b += 0 * v[1]
		c += 0 * v[2]
		d += 0 * v[3]
	}
	for _, x := range v {
		a += 0 * x
	}
	return a+b+c+d == 0
}

// AllFinite reports whether all vectors, rotations or places of v are finite.
func AllFinite[T m3.Vec3 | m3.Quat | Place](v []T) bool { // structs of float32s, without padding
	return Finite(unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))/4)))
}
