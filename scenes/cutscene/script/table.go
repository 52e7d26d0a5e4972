package script

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mannequin/engine/m3"
	"mannequin/internal/closest"
)

// maxErrors is the largest number of errors that are reported.
const maxErrors = 10

// reader collects the errors of a script.
type reader struct {
	name string
	errs []lineError
}

type lineError struct {
	line int
	text string
}

func (r *reader) fail(line int, format string, args ...any) {
	r.errs = append(r.errs, lineError{line, fmt.Sprintf(format, args...)})
}

// err returns the errors in the order of lines, or nil.
func (r *reader) err() error {
	if len(r.errs) == 0 {
		return nil
	}
	slices.SortStableFunc(r.errs, func(a, b lineError) int { return a.line - b.line })
	var out []string
	for _, e := range r.errs[:min(len(r.errs), maxErrors)] {
		out = append(out, fmt.Sprintf("%s:%d: %s", r.name, e.line, e.text))
	}
	if more := len(r.errs) - maxErrors; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return errors.New(strings.Join(out, "\n"))
}

// table reads the keys of one table. It reports missing and wrong values to the reader and returns
// their zero value.
type table struct {
	*reader
	values map[string]any
	line   int // of the table
	keys   map[string]int
	asked  map[string]bool
}

// at returns the line of a key.
func (t *table) at(key string) int {
	if n := t.keys[key]; n > 0 {
		return n
	}
	return t.line
}

// get returns a key's value. If a required key is missing it is an error.
func (t *table) get(key string, required bool) (any, bool) {
	t.asked[key] = true
	v, ok := t.values[key]
	if !ok && required {
		t.fail(t.line, "%s is missing", key)
	}
	return v, ok
}

// has reports whether the table has a key.
func (t *table) has(key string) bool { _, ok := t.get(key, false); return ok }

// unknown reports keys that were not read.
func (t *table) unknown() {
	for key := range t.values {
		if !t.asked[key] {
			t.fail(t.at(key), "unknown key %q: want %s%s", key, names(t.asked), hint(key, t.asked))
		}
	}
}

// names lists the keys of a map.
func names[V any](of map[string]V) string { return strings.Join(slices.Sorted(maps.Keys(of)), ", ") }

// hint returns closest.Hint for the keys of a map.
func hint[V any](name string, of map[string]V) string {
	return closest.Hint(name, slices.Sorted(maps.Keys(of)))
}

// text returns a string of limited length, def if it is missing.
func (t *table) text(key, def string, most int, required bool) string {
	v, ok := t.get(key, required)
	if !ok {
		return def
	}
	s, ok := v.(string)
	switch {
	case !ok:
		t.fail(t.at(key), "%s = %v: want a text in quotes", key, brief(v))
	case s == "" || len([]rune(s)) > most:
		t.fail(t.at(key), "%s has %d letters: want 1 to %d", key, len([]rune(s)), most)
	default:
		return s
	}
	return def
}

// oneOf returns one of some words, def if it is missing.
func (t *table) oneOf(key, def string, required bool, words ...string) string {
	s := t.text(key, def, 100, required)
	if s != "" && !slices.Contains(words, s) {
		t.fail(t.at(key), "%s = %q: want %s%s", key, s, strings.Join(words, ", "), closest.Hint(s, words))
		return def
	}
	return s
}

// number returns a number from lo to hi, def if it is missing.
func (t *table) number(key string, def, lo, hi float32, required bool) float32 {
	v, ok := t.get(key, required)
	if !ok {
		return def
	}
	if n, ok := t.value(key, v, lo, hi); ok {
		return n
	}
	return def
}

// value returns the number v of a key.
func (t *table) value(key string, v any, lo, hi float32) (float32, bool) {
	var x float64
	switch n := v.(type) {
	case int64:
		x = float64(n)
	case float64:
		x = n
	default:
		t.fail(t.at(key), "%s = %v: want a number", key, brief(v))
		return 0, false
	}
	if !(x >= float64(lo) && x <= float64(hi)) {
		t.fail(t.at(key), "%s = %v: want %g to %g", key, x, lo, hi)
		return 0, false
	}
	return float32(x), true
}

// numbers returns a list of n numbers from lo to hi.
func (t *table) numbers(key string, v any, n int, lo, hi float32) ([]float32, bool) {
	list, ok := v.([]any)
	switch {
	case !ok:
		t.fail(t.at(key), "%s = %v: want a list of numbers in [ ]", key, brief(v))
		return nil, false
	case len(list) != n:
		t.fail(t.at(key), "%s: %v has %d numbers, want %d", key, brief(v), len(list), n)
		return nil, false
	}
	out := make([]float32, len(list))
	for i, v := range list {
		if out[i], ok = t.value(key, v, lo, hi); !ok {
			return nil, false
		}
	}
	return out, true
}

// ground returns the place [x, z] on the ground.
func (t *table) ground(key string, v any) m3.Vec3 {
	n, ok := t.numbers(key, v, 2, -MaxPlace, MaxPlace)
	if !ok {
		return m3.Vec3{}
	}
	return m3.V(n[0], 0, n[1])
}

// point returns the place [x, y, z].
func (t *table) point(key string, v any) m3.Vec3 {
	n, ok := t.numbers(key, v, 3, -MaxPlace, MaxPlace)
	if !ok {
		return m3.Vec3{}
	}
	return m3.V(n[0], n[1], n[2])
}

// list converts v to 1 to MaxPoints places with each. A single place counts as a list of one.
func (t *table) list(key string, v any, each func(key string, v any) m3.Vec3) []m3.Vec3 {
	all, ok := v.([]any)
	if !ok {
		t.fail(t.at(key), "%s = %v: want a list of places in [ ]", key, brief(v))
		return nil
	}
	if len(all) > 0 {
		if _, nested := all[0].([]any); !nested {
			return []m3.Vec3{each(key, v)}
		}
	}
	if len(all) == 0 || len(all) > MaxPoints {
		t.fail(t.at(key), "%s has %d places: want 1 to %d", key, len(all), MaxPoints)
		return nil
	}
	out := make([]m3.Vec3, len(all))
	for i, v := range all {
		out[i] = each(key, v)
	}
	return out
}

// colour returns the linear colour of #rrggbb.
func (t *table) colour(key string) (c [3]float32, ok bool) {
	s := t.text(key, "", 100, false)
	if s == "" {
		return c, false
	}
	var rgb [3]uint8
	if n, err := fmt.Sscanf(s, "#%02x%02x%02x", &rgb[0], &rgb[1], &rgb[2]); n != 3 || err != nil || len(s) != 7 {
		t.fail(t.at(key), "%s = %q: want a colour as #c04030", key, s)
		return c, false
	}
	for i, v := range rgb {
		c[i] = float32(math.Pow(float64(v)/255, 2.2))
	}
	return c, true
}

// brief returns a short text of a value, for errors.
func brief(v any) string {
	s := fmt.Sprint(v)
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return s
}
