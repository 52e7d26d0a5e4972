package registration

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mannequin/internal/boundedfile"
	"mannequin/internal/boundedtoml"
)

// The largest sizes in bytes of a table, and of a pattern in it: 1 MB of stars would take a minute.
const maxTable, maxGlob = 1 << 20, 512

// Table labels recordings with action, style and content. It is written in TOML:
//
//	# The first pattern that fits a file labels it. Patterns are a shell's: * is any
//	# run of characters and ? any one, neither a slash, and [a-d] one of a few. A
//	# pattern with a slash is compared with folder/file, else with the file alone,
//	# both without extension. $1, $2, … are the text of its first, second, … star,
//	# question mark or bracket.
//	[[pattern]]
//	files   = "walk_*_*"
//	action  = "walk"
//	style   = "$1"
//	content = "straight" # optional: the action
//	cyclic  = true       # optional: found out
//
//	# One recording, by file or by folder/file. Its keys replace the pattern's.
//	[clip.walk_old_07]
//	style = "tired"
//
//	[clip."monday/walk_old_08"]
//	skip = true # leave it out
type Table struct {
	name     string
	patterns []pattern
	clips    map[string]clipRow
}

type pattern struct {
	patternRow
	match *regexp.Regexp
	slash bool
}

type patternRow struct {
	Files   string `toml:"files"`
	Action  string `toml:"action"`
	Style   string `toml:"style"`
	Content string `toml:"content"`
	Cyclic  *bool  `toml:"cyclic"`
}

type clipRow struct {
	Action  string `toml:"action"`
	Style   string `toml:"style"`
	Content string `toml:"content"`
	Cyclic  *bool  `toml:"cyclic"`
	Skip    bool   `toml:"skip"`
}

// OpenTable reads the table in the TOML file at path. Errors name the file, and line or key.
func OpenTable(path string) (*Table, error) {
	b, err := boundedfile.Read(path, maxTable)
	if err != nil {
		return nil, fmt.Errorf("registration: %w", err)
	}
	return ReadTable(path, b)
}

// ReadTable reads a table from the text of the file called name: see OpenTable.
func ReadTable(name string, text []byte) (*Table, error) {
	fail := func(format string, args ...any) (*Table, error) {
		return nil, fmt.Errorf("registration: %s: %w", name, fmt.Errorf(format, args...))
	}
	if len(text) > maxTable {
		return fail("%d bytes, at most %d are read", len(text), maxTable)
	}
	var rows struct {
		Pattern []patternRow       `toml:"pattern"`
		Clip    map[string]clipRow `toml:"clip"`
	}
	meta, err := boundedtoml.Decode(name, text, &rows)
	if err != nil {
		return nil, fmt.Errorf("registration: %w", err)
	}
	if k := meta.Undecoded(); len(k) > 0 {
		return fail("unknown key %.60q: want pattern with files, action, style, content, cyclic, and clip with action, style, content, cyclic, skip", k[0].String())
	}
	if len(rows.Pattern) == 0 && len(rows.Clip) == 0 {
		return fail("it is empty: want [[pattern]] with files, action and style")
	}
	t := &Table{name: name, clips: rows.Clip}
	for i, row := range rows.Pattern {
		key := fmt.Sprintf("pattern %d", i+1)
		if row.Files == "" {
			return fail("%s: files is missing: want a pattern of file names such as walk_*", key)
		}
		if len(row.Files) > maxGlob {
			return fail("%s: files has %d bytes, at most %d are read", key, len(row.Files), maxGlob)
		}
		match, holes, err := glob(row.Files)
		if err != nil {
			return fail("%s: files %.60q: %w", key, row.Files, err)
		}
		for _, f := range []struct{ name, value string }{{"action", row.Action}, {"style", row.Style}, {"content", row.Content}} {
			if f.value == "" && f.name != "content" {
				return fail("%s (%.60q): %s is missing", key, row.Files, f.name)
			}
			if _, err := fill(f.value, make([]string, holes+1)); err != nil {
				return fail("%s (%.60q): %s: %w", key, row.Files, f.name, err)
			}
		}
		t.patterns = append(t.patterns, pattern{patternRow: row, match: match, slash: strings.Contains(row.Files, "/")})
	}
	for _, k := range slices.Sorted(maps.Keys(rows.Clip)) {
		if k == "" {
			return fail("clip: a name is empty")
		}
		if c := rows.Clip[k]; c == (clipRow{}) {
			return fail("clip.%.60q is empty: want action, style, content, cyclic or skip", k)
		}
	}
	return t, nil
}

// glob returns the regular expression of a shell's pattern, with a group for each hole (star,
// question mark or bracket), and the number of holes.
func glob(p string) (*regexp.Regexp, int, error) {
	if _, err := path.Match(p, ""); err != nil {
		return nil, 0, fmt.Errorf("%w: a bracket is open", err)
	}
	var re strings.Builder
	re.WriteString(`^(?s:`)
	holes := 0
	for i := 0; i < len(p); {
		c := p[i]
		switch {
		case c == '*' || c == '?':
			re.WriteString(map[byte]string{'*': `([^/]*?)`, '?': `([^/])`}[c])
			holes++
			i++
		case c == '[':
			end := i + 1
			if end < len(p) && p[end] == '^' {
				end++
			}
			for first := true; end < len(p) && (first || p[end] != ']'); first = false {
				if p[end] == '\\' {
					end++
				}
				end++
			}
			class := p[min(i+1, len(p)):min(end, len(p))]
			re.WriteString(`([` + strings.ReplaceAll(class, "[", `\[`) + `])`)
			holes++
			i = end + 1
		case c == '\\' && i+1 < len(p):
			re.WriteString(regexp.QuoteMeta(p[i+1 : i+2]))
			i += 2
		default:
			end := i + 1
			for end < len(p) && !strings.ContainsRune(`*?[\`, rune(p[end])) {
				end++
			}
			re.WriteString(regexp.QuoteMeta(p[i:end]))
			i = end
		}
	}
	re.WriteString(`)$`)
	r, err := regexp.Compile(re.String())
	if err != nil {
		return nil, 0, fmt.Errorf("it is no pattern: %.100s", err)
	}
	return r, holes, nil
}

// fill replaces $1, $2, … by the holes' texts; held[0] is not used.
func fill(s string, held []string) (string, error) {
	var err error
	out := reference.ReplaceAllStringFunc(s, func(ref string) string {
		n, e := strconv.Atoi(ref[1:])
		if e != nil || n < 1 || n >= len(held) {
			err = fmt.Errorf("%.20s: files has %d stars, question marks and brackets", ref, len(held)-1)
			return ref
		}
		return held[n]
	})
	return out, err
}

var reference = regexp.MustCompile(`\$[0-9]+`)

// Label returns the label of a recording called folder/file, without extension, and whether
// to skip it. ok is false if the table does not have it.
func (t *Table) Label(name string) (l Label, skip, ok bool, err error) {
	file := path.Base(name)
	for _, p := range t.patterns {
		what := file
		if p.slash {
			what = name
		}
		held := p.match.FindStringSubmatch(what)
		if held == nil {
			continue
		}
		ok = true
		l.Action, _ = fill(p.Action, held) // ReadTable has checked it
		l.Style, _ = fill(p.Style, held)
		l.Content, _ = fill(p.Content, held)
		l.Cyclic = cyclicOf(p.Cyclic)
		break
	}
	for _, key := range []string{file, name} {
		c, there := t.clips[key]
		if !there {
			continue
		}
		ok = true
		skip = skip || c.Skip
		l.Action, l.Style, l.Content = cmp.Or(c.Action, l.Action), cmp.Or(c.Style, l.Style), cmp.Or(c.Content, l.Content)
		if c.Cyclic != nil {
			l.Cyclic = cyclicOf(c.Cyclic)
		}
	}
	if ok && !skip && (l.Action == "" || l.Style == "") {
		return l, skip, ok, fmt.Errorf("registration: %s: %s has action %q and style %q: both are needed", t.name, name, l.Action, l.Style)
	}
	l.Content = cmp.Or(l.Content, l.Action)
	return l, skip, ok, nil
}

func cyclicOf(b *bool) Cyclic {
	switch {
	case b == nil:
		return Unknown
	case *b:
		return Repeats
	}
	return Once
}
