package command

import (
	"strings"
	"unicode"
)

// Plain returns s without characters that change the terminal or the direction of the text: names
// come from files of others. Line ends and tabs stay.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}
