// Package closest finds the name that a mistyped one was meant to be.
package closest

import (
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// Name returns the name in names that is most like name, or "" if none is. Alike are names of which
// at most a third of the letters differ, and names that begin with name.
func Name(name string, names []string) string {
	if len(name) < 2 {
		return ""
	}
	best, least := "", max(1, len(name)/3)+1
	for _, n := range names {
		d := distance([]rune(strings.ToLower(name)), []rune(strings.ToLower(n)))
		if len(name) > 2 && strings.HasPrefix(strings.ToLower(n), strings.ToLower(name)) {
			d = min(d, 1)
		}
		if n != name && d < least {
			best, least = n, d
		}
	}
	return best
}

// Hint returns "; did you mean …?" with the name that is most like name, or "".
func Hint(name string, names []string) string {
	if n := Name(name, names); n != "" {
		return "; did you mean " + n + "?"
	}
	return ""
}

// FileHint is Hint for the path of a file that does not exist. The names are those in its folder.
func FileHint(path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || path == "" {
		return ""
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	if n := Name(filepath.Base(path), names); n != "" {
		return "; did you mean " + filepath.Join(filepath.Dir(path), n) + "?"
	}
	return ""
}

// KeyHint returns ": want …" with the known keys beside a key that is unknown, and Hint. Key is the
// path of names from value, into which TOML or JSON was decoded.
func KeyHint(key []string, value any) string {
	t := reflect.TypeOf(value)
	for i := 0; i < len(key); {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			t = t.Elem()
			continue
		case reflect.Map:
			t = t.Elem()
		case reflect.Struct:
			var names []string
			var inside reflect.Type
			for k := range t.NumField() {
				f := t.Field(k)
				name, _, _ := strings.Cut(cmp.Or(f.Tag.Get("toml"), f.Tag.Get("json"), strings.ToLower(f.Name)), ",")
				if strings.EqualFold(name, key[i]) {
					inside = f.Type
				}
				names = append(names, name)
			}
			if inside == nil {
				return ": want " + strings.Join(names, ", ") + Hint(key[i], names)
			}
			t = inside
		default:
			return ""
		}
		i++
	}
	return ""
}

// distance returns how many letters have to be inserted, removed, replaced or swapped with the next
// to turn a into b (optimal string alignment).
func distance(a, b []rune) int {
	// Rows of the table for the last two letters of a, and for this one.
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range b {
			replace := last[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(replace, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
