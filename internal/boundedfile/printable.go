package boundedfile

import (
	"strings"
	"unicode"
)

// Printable returns a name that a file contains, with question marks for characters that cannot be
// printed.
func Printable(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, name)
}
