package script

import "strings"

// lines has the lines of a TOML document's top-level keys, and of the tables of its arrays of
// tables with their keys. Package toml knows only the last of them.
type lines struct {
	keys   map[string]int     // top-level keys and tables → line
	tables map[string][]entry // arrays of tables, in order
}

// entry is a table of an array.
type entry struct {
	line int
	keys map[string]int
}

// find indexes a valid document.
func find(doc string) *lines {
	l := &lines{keys: map[string]int{}, tables: map[string][]entry{}}
	here := l.keys
	line, i := 1, 0
	for i < len(doc) {
		switch c := doc[i]; {
		case c == '\n':
			line++
			i++
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == '#':
			i = until(doc, i, "\n")
		case c == '[':
			end := until(doc, i, "\n")
			name, _, _ := strings.Cut(strings.TrimLeft(doc[i:end], "["), "]")
			here = map[string]int{}
			if strings.HasPrefix(doc[i:], "[[") {
				name = unquote(name)
				l.tables[name] = append(l.tables[name], entry{line, here})
			} else {
				note(l.keys, name, line)
			}
			i = end
		default:
			end := until(doc, i, "=\n")
			note(here, doc[i:end], line)
			i = value(doc, end, &line)
		}
	}
	return l
}

// value skips the value that begins at i, and the rest of its line.
func value(doc string, i int, line *int) int {
	depth := 0
	for i < len(doc) {
		switch c := doc[i]; c {
		case '\n':
			if depth == 0 {
				return i
			}
			*line++
		case '#':
			i = until(doc, i, "\n")
			continue
		case '"', '\'':
			i = text(doc, i, line)
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		}
		i++
	}
	return i
}

// text returns the end of the string that begins at i.
func text(doc string, i int, line *int) int {
	quote := doc[i : i+1]
	long := strings.Repeat(quote, 3)
	if strings.HasPrefix(doc[i:], long) {
		quote = long
	}
	for i += len(quote); i < len(doc); i++ {
		switch {
		case strings.HasPrefix(doc[i:], quote):
			return i + len(quote)
		case doc[i] == '\\' && quote[0] == '"':
			i++
			if i < len(doc) && doc[i] == '\n' {
				*line++
			}
		case doc[i] == '\n':
			if len(quote) == 1 {
				return i // not TOML
			}
			*line++
		}
	}
	return i
}

// note records the first line of a key.
func note(keys map[string]int, key string, line int) {
	key, _, _ = strings.Cut(key, ".")
	if key = unquote(key); keys[key] == 0 {
		keys[key] = line
	}
}

func unquote(key string) string { return strings.Trim(key, " \t\r\"'") }

// until returns the first place from i on that has one of chars, or the end of doc.
func until(doc string, i int, chars string) int {
	if n := strings.IndexAny(doc[i:], chars); n >= 0 {
		return i + n
	}
	return len(doc)
}
