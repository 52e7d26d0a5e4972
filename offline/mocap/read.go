package mocap

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

const (
	// maxValue is the largest magnitude of a number in a file. It keeps world
	// positions, sums over MaxDepth joints, and their squares finite in float32.
	maxValue = 1e9
	// A clip may take memFree + memPerByte·(file size) bytes. Joints without
	// channels cost memory but no text, so the text's size alone is no bound.
	memFree    = 16 << 20
	memPerByte = 64
	jointBytes = 28 // one Vec3 and one Quat
	maxNotes   = 20
	maxName    = 1024
	// Frame times outside of this range, in seconds, are mistakes.
	minFrameTime, maxFrameTime = 1e-6, 3600
)

// ReadBVH parses the text of a BVH file; name is for messages. It returns a *SyntaxError with the
// line for an incomplete file: an unknown keyword or channel, more than skel.MaxJoints joints or a
// depth of skel.MaxDepth, more or fewer frames than it says, numbers not finite or beyond ±1e9.
//
// Keywords may be in any case. Values are counted, not lines: Recording.Notes says if frames and lines
// do not match. A few lines of more or fewer values among many that are frames are an error. Open keeps
// the whole frames of a damaged file: see OpenOptions.
func ReadBVH(name string, data []byte) (b *Recording, err error) {
	return readBVH(name, data, OpenOptions{})
}

func readBVH(name string, data []byte, opt OpenOptions) (*Recording, error) {
	p := newParser(name, data)
	if err := p.hierarchy(); err != nil {
		return nil, err
	}
	b, err := p.motion(opt)
	if err != nil {
		return nil, err
	}
	b.plain = p.plain
	return b, nil
}

// newParser returns a parser at the first byte of a text, after a byte order mark.
func newParser(name string, data []byte) *parser {
	start := len(data) - len(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	return &parser{name: name, data: data, pos: start, eol: start, taken: map[string]int{}, roots: map[string]int{}}
}

// parser walks data from pos. It collects one entry per joint.
type parser struct {
	name string
	data []byte
	pos  int
	eol  int // the end of the current line, in formats that go by lines

	skel     skel.Skeleton
	channels [][]Channel
	taken    map[string]int // per joint name in use, the last number appended to it
	plain    []string       // per joint, its name as the file has it
	roots    map[string]int // per joint name in use, the first joint of its skeleton
	notes    []string
	nameless bool // a joint without a name was told
}

// fail returns a SyntaxError at the line of byte offset at. Lines end with \n, \r\n or \r.
func (p *parser) fail(at int, format string, args ...any) error {
	before := p.data[:min(at, len(p.data))]
	line := 1 + bytes.Count(before, []byte("\n")) + bytes.Count(before, []byte("\r")) - bytes.Count(before, []byte("\r\n"))
	return &SyntaxError{File: p.name, Line: line, Msg: fmt.Sprintf(format, args...)}
}

// space skips white space, and lines of comments that begin with # or //, as people write them into files.
func (p *parser) space() {
	for p.pos < len(p.data) {
		switch c := p.data[p.pos]; {
		case c <= ' ':
			p.pos++
		case (c == '#' || bytes.HasPrefix(p.data[p.pos:], []byte("//"))) && p.startsLine():
			if n := bytes.IndexAny(p.data[p.pos:], "\r\n"); n >= 0 {
				p.pos += n
			} else {
				p.pos = len(p.data)
			}
		default:
			return
		}
	}
}

// startsLine reports whether nothing but white space is before pos on its line.
func (p *parser) startsLine() bool {
	before := bytes.TrimRight(p.data[:p.pos], " \t")
	return len(before) == 0 || before[len(before)-1] == '\n' || before[len(before)-1] == '\r' || string(before) == "\xef\xbb\xbf"
}

// token returns the next word without taking it, and its offset. Braces and
// colons are words of their own. It is empty at the end of the file.
func (p *parser) token() (string, int) {
	p.space()
	i := p.pos
	for i < len(p.data) && p.data[i] > ' ' {
		if c := p.data[i]; c == '{' || c == '}' || c == ':' {
			if i == p.pos {
				i++
			}
			break
		}
		i++
	}
	return string(p.data[p.pos:i]), p.pos
}

// accept takes the next word if it is word, in any case.
func (p *parser) accept(word string) bool {
	t, _ := p.token()
	if !strings.EqualFold(t, word) {
		return false
	}
	p.pos += len(t)
	return true
}

// expect takes the next word, which must be word.
func (p *parser) expect(word, where string) error {
	if p.accept(word) {
		return nil
	}
	t, at := p.token()
	return p.fail(at, "expected %q%s, found %s", word, where, quote(t))
}

// quote shows a word of the file in a message, shortened.
func quote(t string) string {
	if t == "" {
		return "the end of the file"
	}
	return strconv.Quote(short40(t))
}

func short40(t string) string {
	if len(t) > 40 {
		t = t[:40] + "…"
	}
	return t
}

func (p *parser) number(what string) (float64, error) {
	p.space()
	v, n := scanNumber(p.data[p.pos:])
	if end := p.pos + n; n == 0 || end < len(p.data) && p.data[end] > ' ' && p.data[end] != '}' {
		t, at := p.token()
		return 0, p.fail(at, "expected %s, a number, found %s", what, quote(t))
	}
	if !(math.Abs(v) <= maxValue) {
		return 0, p.fail(p.pos, "%s is %s: beyond ±%g", what, short40(string(p.data[p.pos:p.pos+n])), float64(maxValue))
	}
	p.pos += n
	return v, nil
}

func (p *parser) hierarchy() error {
	if err := p.expect("HIERARCHY", " at the start of a BVH file"); err != nil {
		return err
	}
	for {
		t, at := p.token()
		switch strings.ToUpper(t) {
		case "ROOT":
			p.pos += len(t)
			if err := p.joint(-1, 0, at); err != nil {
				return err
			}
		case "HIERARCHY": // some exporters repeat it before every root
			p.pos += len(t)
		case "MOTION":
			if len(p.skel.Names) == 0 {
				return p.fail(at, "expected \"ROOT\", found \"MOTION\": the skeleton has no joints")
			}
			p.pos += len(t)
			return nil
		default:
			if len(p.skel.Names) == 0 || t != "}" && !p.stray(t, at) {
				return p.fail(at, "expected \"ROOT\" or \"MOTION\", found %s", quote(t))
			}
			p.note(t, at)
			p.pos += len(t)
		}
	}
}

// stray reports whether the word t at offset at is left over from a joint that was removed
// by hand: it is alone on its line and no brace. A misspelt keyword is never alone.
func (p *parser) stray(t string, at int) bool {
	return t != "" && t != "{" && t != "}" && p.alone(at, at+len(t))
}

// alone reports whether the text from start to end is on one line, and nothing else is.
func (p *parser) alone(start, end int) bool {
	isEnd := func(c byte) bool { return c == '\n' || c == '\r' }
	before, after := bytes.TrimRight(p.data[:start], " \t"), bytes.TrimLeft(p.data[end:], " \t")
	return len(before) > 0 && isEnd(before[len(before)-1]) && (len(after) == 0 || isEnd(after[0])) &&
		bytes.IndexByte(p.data[start:end], '\n') < 0 && bytes.IndexByte(p.data[start:end], '\r') < 0
}

// note adds a note that the word t was skipped.
func (p *parser) note(t string, at int) {
	if len(p.notes) < maxNotes {
		p.notes = append(p.notes, p.fail(at, "skipped a stray %s", quote(t)).Error())
	}
}

// jointName takes the rest of the line, up to an opening brace: names may hold
// spaces. Control characters and bytes that are not UTF-8 become "?".
func (p *parser) jointName() string {
	end := bytes.IndexAny(p.data[p.pos:], "\r\n{")
	if end < 0 {
		end = len(p.data) - p.pos
	}
	s := bytes.TrimFunc(p.data[p.pos:p.pos+end], isSpace)
	p.pos += end
	return cleanName(string(s))
}

// cleanName returns s as a joint's name that can be printed and written into a BVH.
func cleanName(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) || r == utf8.RuneError || r == '{' {
			return '?'
		}
		return r
	}, s)
}

func isSpace(r rune) bool { return r <= ' ' }

func (p *parser) add(name string, parent, depth, at int, end bool) (int, error) {
	i := len(p.skel.Names)
	if i >= skel.MaxJoints {
		return 0, p.fail(at, "more than %d joints", skel.MaxJoints)
	}
	if depth >= skel.MaxDepth {
		return 0, p.fail(at, "joint %s is nested deeper than %d", quote(name), skel.MaxDepth)
	}
	unique := name
	for p.taken[unique] > 0 {
		p.taken[name]++
		unique = fmt.Sprintf("%s_%d", name, p.taken[name])
	}
	if len(unique) > maxName {
		return 0, p.fail(at, "a joint name of %d bytes, at most %d are allowed", len(unique), maxName)
	}
	root := i
	if parent >= 0 {
		root = p.roots[p.skel.Names[parent]]
	}
	if unique != name && !end && p.roots[name] == root && len(p.notes) < maxNotes {
		p.notes = append(p.notes, p.fail(at, "a second joint %s is called %s here", quote(name), unique).Error())
	}
	p.taken[unique], p.roots[unique] = 1, root
	p.plain = append(p.plain, name)
	p.skel.Names = append(p.skel.Names, unique)
	p.skel.Parents = append(p.skel.Parents, int16(parent))
	p.skel.Offsets = append(p.skel.Offsets, m3.Vec3{})
	p.skel.EndSite = append(p.skel.EndSite, end)
	p.channels = append(p.channels, nil)
	return i, nil
}

// joint parses a joint from after its ROOT or JOINT, at offset at, to its closing brace.
func (p *parser) joint(parent, depth, at int) error {
	name := p.jointName()
	if name == "" { // as in files of programs that number joints
		name = fmt.Sprintf("joint%d", len(p.skel.Names))
		if !p.nameless && len(p.notes) < maxNotes {
			p.notes = append(p.notes, p.fail(at, "a joint without a name is called %s here, by its index, and so are others", name).Error())
		}
		p.nameless = true
	}
	i, err := p.add(name, parent, depth, at, false)
	if err != nil {
		return err
	}
	where := " of joint " + quote(name)
	if err := p.expect("{", where); err != nil {
		return err
	}
	hasOffset, hasChannels, hasChild := false, false, false
	for {
		t, at := p.token()
		p.pos += len(t)
		switch strings.ToUpper(t) {
		case "OFFSET":
			if hasOffset {
				return p.fail(at, "a second OFFSET%s", where)
			}
			hasOffset = true
			if err := p.offset(i, where); err != nil {
				return err
			}
		case "CHANNELS":
			if hasChannels || hasChild {
				return p.fail(at, "CHANNELS%s: expected once, before its children", where)
			}
			hasChannels = true
			if p.channels[i], err = p.channelList(where); err != nil {
				return err
			}
		case "JOINT":
			hasChild = true
			if err := p.joint(i, depth+1, at); err != nil {
				return err
			}
		case "END":
			hasChild = true
			if err := p.endSite(i, depth+1, at); err != nil {
				return err
			}
		case "}":
			if !hasOffset {
				return p.fail(at, "expected OFFSET%s before its end", where)
			}
			return nil
		default:
			if p.stray(t, at) {
				p.note(t, at)
				continue
			}
			return p.fail(at, "expected OFFSET, CHANNELS, JOINT, End Site or \"}\"%s, found %s", where, quote(t))
		}
	}
}

// endSite parses an End Site from after the word End.
func (p *parser) endSite(parent, depth, at int) error {
	p.jointName() // "Site", and any name after it
	i, err := p.add(p.skel.Names[parent]+"Site", parent, depth, at, true)
	if err == nil {
		p.plain[i] = p.plain[parent] + "Site"
	}
	if err != nil {
		return err
	}
	where := " of the End Site of " + quote(p.skel.Names[parent])
	if err := p.expect("{", where); err != nil {
		return err
	}
	if err := p.expect("OFFSET", where); err != nil {
		return err
	}
	if err := p.offset(i, where); err != nil {
		return err
	}
	return p.expect("}", where)
}

func (p *parser) offset(i int, where string) error {
	var v [3]float32
	for k := range v {
		p.space()
		at := p.pos
		f, err := p.number(string("XYZ"[k]) + " of the OFFSET" + where)
		if err != nil {
			return err
		}
		v[k] = toFloat32(f, p.data[at:p.pos])
	}
	p.skel.Offsets[i] = m3.V(v[0], v[1], v[2])
	return nil
}

func (p *parser) channelList(where string) ([]Channel, error) {
	t, at := p.token()
	n, err := strconv.Atoi(t)
	if err == nil && n > len(channelNames) && n <= 9 {
		return nil, p.fail(at, "%d CHANNELS%s: those of scale are not read: export without scale", n, where)
	}
	if err != nil || n < 0 || n > len(channelNames) {
		return nil, p.fail(at, "expected the number of CHANNELS%s, 0 to %d, found %s", where, len(channelNames), quote(t))
	}
	p.pos += len(t)
	list := make([]Channel, 0, n)
	for k := range n {
		t, at := p.token()
		i := slices.IndexFunc(channelNames[:], func(name string) bool { return strings.EqualFold(t, name) })
		c := Channel(i)
		switch {
		case i < 0:
			return nil, p.fail(at, "expected channel %d of %d%s, one of %s, found %s",
				k+1, n, where, strings.Join(channelNames[:], " "), quote(t))
		case slices.Contains(list, c):
			return nil, p.fail(at, "channel %s%s is listed twice", c, where)
		}
		list = append(list, c)
		p.pos += len(t)
	}
	return list, nil
}
