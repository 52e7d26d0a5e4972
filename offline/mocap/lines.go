package mocap

import (
	"bytes"
	"math"
)

// nextLine moves to the first word of the next line that is not empty. A # at the start of
// a word begins a comment, up to the end of the line.
func (p *parser) nextLine() bool {
	for p.pos = p.eol; ; p.pos = p.eol {
		p.space()
		p.eol = len(p.data)
		if n := bytes.IndexAny(p.data[p.pos:], "\r\n"); n >= 0 {
			p.eol = p.pos + n
		}
		if p.pos == len(p.data) {
			return false
		}
		if p.data[p.pos] != '#' {
			return true
		}
	}
}

// word takes the next word of the line, empty at its end, and returns it with its offset.
func (p *parser) word() ([]byte, int) {
	for p.pos < p.eol && p.data[p.pos] <= ' ' {
		p.pos++
	}
	at := p.pos
	if at < p.eol && p.data[at] == '#' {
		p.pos = p.eol
		return nil, at
	}
	for p.pos < p.eol && p.data[p.pos] > ' ' {
		p.pos++
	}
	return p.data[at:p.pos], at
}

// lineNumber takes the next word of the line, a number within ±maxValue; name is for messages.
func (p *parser) lineNumber(name string) (float64, error) {
	w, at := p.word()
	v, n := scanNumber(w)
	if n == 0 || n < len(w) {
		return 0, p.fail(at, "expected %s, a number, found %s", name, quoteWord(w))
	}
	if !(math.Abs(v) <= maxValue) {
		return 0, p.fail(at, "%s is %s: beyond ±%g", name, short40(string(w)), float64(maxValue))
	}
	return v, nil
}

func (p *parser) endLine(after string) error {
	if w, at := p.word(); len(w) > 0 {
		return p.fail(at, "expected the end of the line after %s, found %s", after, quoteWord(w))
	}
	return nil
}

// quoteWord shows a word of a line in a message, shortened.
func quoteWord(w []byte) string {
	if len(w) == 0 {
		return "the end of the line"
	}
	return quote(string(w))
}
