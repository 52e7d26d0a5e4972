// Package boundedtoml decodes TOML of bounded depth, in linear time. The decoder's time and memory
// grow with the square of the depth: 60 kB of dots would take a minute and 33 GB.
package boundedtoml

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/BurntSushi/toml"

	"mannequin/internal/closest"
)

// The largest number of brackets around a value, and of dots in a key.
const maxDepth, maxDots = 5, 3

// Decode fills dst from the text of the file called name. Keys that dst lacks are refused, with the
// key that may be meant. Errors name the file and the line, if it is known.
func Decode(name string, text []byte, dst any) error {
	if line := deep(text); line > 0 {
		return fmt.Errorf("%s:%d: nested too deeply", name, line)
	}
	meta, err := toml.Decode(string(text), dst)
	var at toml.ParseError
	switch {
	case errors.As(err, &at):
		return fmt.Errorf("%s:%d: not TOML: %.200s", name, at.Position.Line, printable(at.Message))
	case err != nil: // a value of another type: "toml: line 2 (last key "a"): …"
		text := strings.TrimPrefix(printable(err.Error()), "toml: ")
		if rest, ok := strings.CutPrefix(text, "line "); ok {
			line, rest, _ := strings.Cut(rest, " ")
			return fmt.Errorf("%s:%s: %.200s", name, line, rest)
		}
		return fmt.Errorf("%s: %.200s", name, text)
	}
	for _, k := range meta.Undecoded() {
		hint := closest.KeyHint(k, dst)
		if hint == "" {
			continue // a value of type any has it
		}
		var lines []int
		for i, line := range strings.Split(string(text), "\n") {
			if key, _, _ := strings.Cut(line, "="); strings.TrimSpace(key) == k[len(k)-1] {
				lines = append(lines, i+1)
			}
		}
		if len(lines) == 1 { // elsewhere it may be a known key of another table
			name = fmt.Sprintf("%s:%d", name, lines[0])
		}
		return fmt.Errorf("%s: unknown key %.60q%s", name, k.String(), hint)
	}
	return nil
}

// printable returns a message in one line: it may quote the text.
func printable(message string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, message)
}

// deep returns the first line that nests too deeply, or 0.
func deep(text []byte) int {
	depth, dots := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '#':
			i += length(text[i:], "\n") - 1
		case '"', '\'':
			i = afterString(text, i) - 1
		case '[', '{':
			depth++
			dots = 0
		case ']', '}':
			depth = max(depth-1, 0)
			dots = 0
		case '\n', ',', '=':
			dots = 0
		case '.':
			dots++
		}
		if depth > maxDepth || dots > maxDots {
			return 1 + bytes.Count(text[:i], []byte("\n"))
		}
	}
	return 0
}

// length returns the number of bytes before end, or all.
func length(text []byte, end string) int {
	if n := bytes.Index(text, []byte(end)); n >= 0 {
		return n
	}
	return len(text)
}

// afterString returns the index after the string that begins at i. In text that is not TOML it may
// be in the middle of one.
func afterString(text []byte, i int) int {
	quote := text[i : i+1]
	long := bytes.Repeat(quote, 3)
	if bytes.HasPrefix(text[i:], long) {
		quote = long
	}
	for i += len(quote); i < len(text); i++ {
		switch {
		case bytes.HasPrefix(text[i:], quote):
			// Quotes before the last three belong to the string.
			for i += len(quote); len(quote) == 3 && i < len(text) && text[i] == quote[0]; i++ {
			}
			return i
		case text[i] == '\\' && quote[0] == '"':
			i++
		case text[i] == '\n' && len(quote) == 1:
			return i // not TOML
		}
	}
	return i
}
