package skin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// patch changes parts of a JSON text and keeps every other byte: numbers, order, and what no reader
// knows. Its text is valid JSON. It works on the text because decoding and encoding would drop
// unknown members and print numbers anew.
type patch struct {
	text  []byte
	edits []edit
}

// span is a part of the text.
type span struct{ start, end int }

// edit replaces a part of the text.
type edit struct {
	span
	with []byte
}

// member is a name and its value in an object.
type member struct {
	name  string
	key   span // with its quotes
	value span
}

// root returns the place of the whole value.
func (p *patch) root() span {
	start := p.space(0)
	return span{start, p.skip(start)}
}

// of returns the text at s.
func (p *patch) of(s span) []byte { return p.text[s.start:s.end] }

// space returns the next place that is no white space.
func (p *patch) space(i int) int {
	for i < len(p.text) && (p.text[i] == ' ' || p.text[i] == '\t' || p.text[i] == '\n' || p.text[i] == '\r') {
		i++
	}
	return i
}

// skip returns the end of the value that begins at i.
func (p *patch) skip(i int) int {
	depth := 0
	for ; i < len(p.text); i++ {
		switch p.text[i] {
		case '"':
			for i++; i < len(p.text) && p.text[i] != '"'; i++ {
				if p.text[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return min(i+1, len(p.text))
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // after a number or a word
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return len(p.text)
}

// members returns the members of the object at s; none if it is no object.
func (p *patch) members(s span) (out []member) {
	if s.start >= s.end || p.text[s.start] != '{' {
		return nil
	}
	for i := p.space(s.start + 1); i < s.end && p.text[i] == '"'; {
		m := member{key: span{i, p.skip(i)}}
		_ = json.Unmarshal(p.of(m.key), &m.name) // the text is valid
		i = p.space(p.space(m.key.end) + 1)      // after the colon
		m.value = span{i, p.skip(i)}
		out = append(out, m)
		if i = p.space(m.value.end); i < s.end && p.text[i] == ',' {
			i = p.space(i + 1)
		}
	}
	return out
}

// items returns the values of the array at s; none if it is no array.
func (p *patch) items(s span) (out []span) {
	if s.start >= s.end || p.text[s.start] != '[' {
		return nil
	}
	for i := p.space(s.start + 1); i < s.end && p.text[i] != ']'; {
		v := span{i, p.skip(i)}
		out = append(out, v)
		if i = p.space(v.end); i < s.end && p.text[i] == ',' {
			i = p.space(i + 1)
		}
	}
	return out
}

// find returns the value called name of the object at s.
func (p *patch) find(s span, name string) (span, bool) {
	for _, m := range p.members(s) {
		if m.name == name {
			return m.value, true
		}
	}
	return span{}, false
}

// replace puts other text at s.
func (p *patch) replace(s span, with []byte) { p.edits = append(p.edits, edit{s, with}) }

// extend appends items to the array at s.
func (p *patch) extend(s span, items [][]byte) {
	text, at := bytes.Join(items, []byte(",")), s.start+1
	if old := p.items(s); len(old) > 0 {
		text, at = append([]byte(","), text...), old[len(old)-1].end
	}
	p.replace(span{at, at}, text)
}

// rebuild replaces the object at s by one without the members in drop, with the members in add at
// its end. The other members keep their text.
func (p *patch) rebuild(s span, drop []string, add ...string) {
	var parts [][]byte
	for _, m := range p.members(s) {
		if !slices.Contains(drop, m.name) {
			parts = append(parts, p.text[m.key.start:m.value.end])
		}
	}
	for _, a := range add {
		parts = append(parts, []byte(a))
	}
	p.replace(s, fmt.Appendf(nil, "{%s}", bytes.Join(parts, []byte(","))))
}

// extendMembers appends members, as text, to the object at s.
func (p *patch) extendMembers(s span, members []string) {
	if len(members) == 0 {
		return
	}
	var text []byte
	at := s.start + 1
	if old := p.members(s); len(old) > 0 {
		text, at = append(text, ','), old[len(old)-1].value.end
	}
	for i, m := range members {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, m...)
	}
	p.replace(span{at, at}, text)
}

// result returns the text after all edits, which do not overlap.
func (p *patch) result() []byte {
	slices.SortStableFunc(p.edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	var out []byte
	at := 0
	for _, e := range p.edits {
		if e.start < at {
			panic("skin: edits of a JSON overlap")
		}
		out = append(append(out, p.text[at:e.start]...), e.with...)
		at = e.end
	}
	return append(out, p.text[at:]...)
}
