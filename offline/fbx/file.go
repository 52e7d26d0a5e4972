package fbx

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// file is a document: a tree of records. Their values stay in the file's bytes until they are asked for.
type file struct {
	name    string
	data    []byte
	ascii   bool
	version int
	root    record
	records int
	room    int // bytes that arrays may still be unpacked to
}

// record is a name, a list of values, and records below it.
type record struct {
	name   string
	at     int    // its offset in the file
	values []byte // binary: the values; ASCII: their text
	count  int    // of the values; ASCII: −1, not counted
	below  []record
}

// value is one value of a record.
type value struct {
	kind  byte // 's' text, 'r' bytes, 'n' number, 'a' array
	text  string
	num   float64
	whole int64  // of a number without a fraction
	data  []byte // of an array: packed or not
	elem  byte   // of an array: f, d, i, l, b, c
	n     int    // elements
	zip   bool
}

const binaryMagic = "Kaydara FBX Binary  \x00"

// IsFBX reports whether a file that begins with data is an FBX.
func IsFBX(data []byte) bool {
	if bytes.HasPrefix(data, []byte(binaryMagic)) {
		return true
	}
	// ASCII: a comment with the name, before anything else but a byte order mark.
	data = withoutMark(data)
	head := data[:min(len(data), 512)]
	if i := bytes.IndexByte(head, '\n'); i >= 0 {
		head = head[:i]
	}
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte(";")) && bytes.Contains(head, []byte("FBX"))
}

func withoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }

func newFile(name string, data []byte) (*file, error) {
	f := &file{name: name, data: data, room: max(16*len(data), 1<<22)}
	if len(data) > MaxFile {
		return nil, f.errorf(-1, "has %d bytes, at most %d are read", len(data), MaxFile)
	}
	f.root.name = name
	var err error
	switch {
	case bytes.HasPrefix(data, []byte(binaryMagic)):
		err = f.readBinary()
	case IsFBX(data):
		f.ascii, f.data = true, withoutMark(data)
		err = f.readASCII()
	default:
		return nil, f.errorf(-1, "is not an FBX file")
	}
	if err == nil {
		err = f.checkVersion()
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (f *file) checkVersion() error {
	if f.version < 6000 || f.version >= 8000 {
		return f.errorf(-1, "has FBX version %d: versions 6000 to 7999 are read; export it as FBX 2013 or newer", f.version)
	}
	return nil
}

func (f *file) where(at int) string {
	if f.ascii {
		return fmt.Sprintf("line %d", 1+bytes.Count(f.data[:min(at, len(f.data))], []byte{'\n'}))
	}
	return fmt.Sprintf("byte %d", at)
}

// take counts a record.
func (f *file) take(at, depth int) error {
	if f.records++; f.records > MaxNodes {
		return f.errorf(at, "more than %d records", MaxNodes)
	}
	if depth > MaxDepth {
		return f.errorf(at, "records are nested more than %d deep", MaxDepth)
	}
	return nil
}

// readBinary reads the records of a binary file.
func (f *file) readBinary() error {
	const head = 27
	if len(f.data) < head {
		return f.errorf(len(f.data), "the file is cut off")
	}
	if f.data[22] != 0 {
		return f.errorf(22, "is big-endian, which is not read")
	}
	f.version = int(binary.LittleEndian.Uint32(f.data[23:]))
	if err := f.checkVersion(); err != nil {
		return err
	}
	_, err := f.binaryRecords(&f.root, head, len(f.data), 0)
	return err
}

// binaryRecords reads records from at to end, or up to an empty one, and returns where they end.
func (f *file) binaryRecords(into *record, at, end, depth int) (int, error) {
	size := 4
	if f.version >= 7500 {
		size = 8
	}
	for at < end {
		if end-at < 3*size+1 {
			return at, f.errorf(at, "the file is cut off")
		}
		var head [3]uint64
		for i := range head {
			if size == 8 {
				head[i] = binary.LittleEndian.Uint64(f.data[at+8*i:])
			} else {
				head[i] = uint64(binary.LittleEndian.Uint32(f.data[at+4*i:]))
			}
		}
		start := at
		at += 3*size + 1
		named := int(f.data[at-1])
		if head[0] == 0 && head[1] == 0 && head[2] == 0 && named == 0 {
			return at, nil
		}
		if err := f.take(start, depth); err != nil {
			return at, err
		}
		if head[0] > uint64(end) || head[0] < uint64(at+named) || head[2] > head[0]-uint64(at+named) || head[1] > head[2] {
			return at, f.errorf(start, "a record ends at byte %d and has %d values in %d bytes: the file is damaged or cut off", head[0], head[1], head[2])
		}
		stop := int(head[0])
		r := record{name: string(f.data[at : at+named]), at: start, count: int(head[1])}
		at += named
		r.values = f.data[at : at+int(head[2])]
		at += int(head[2])
		if at < stop {
			if _, err := f.binaryRecords(&r, at, stop, depth+1); err != nil {
				return at, err
			}
		}
		at = stop
		into.below = append(into.below, r)
	}
	return at, nil
}

// all returns the values of a record, at most most.
func (f *file) all(r *record, most int) (out []value, err error) {
	err = f.each(r, func(v *value) bool {
		out = append(out, *v)
		return len(out) < most
	})
	return out, err
}

// each calls use for the values of a record until it returns false. The value is valid in the call.
func (f *file) each(r *record, use func(v *value) bool) error {
	if f.ascii {
		return f.eachASCII(r, use)
	}
	b := r.values
	var v value
	for i := range r.count {
		v = value{}
		if len(b) == 0 {
			return f.errorf(r.at, "%s has %d values, and room for %d", r.name, r.count, i)
		}
		kind := b[0]
		b = b[1:]
		short := func(n int) bool { return len(b) < n }
		cut := f.errorf(r.at, "%s: value %d is cut off", r.name, i+1)
		switch kind {
		case 'C', 'B':
			if short(1) {
				return cut
			}
			v.kind, v.whole = 'n', int64(b[0])
			v.num, b = float64(v.whole), b[1:]
		case 'Y':
			if short(2) {
				return cut
			}
			v.kind, v.whole = 'n', int64(int16(binary.LittleEndian.Uint16(b)))
			v.num, b = float64(v.whole), b[2:]
		case 'I':
			if short(4) {
				return cut
			}
			v.kind, v.whole = 'n', int64(int32(binary.LittleEndian.Uint32(b)))
			v.num, b = float64(v.whole), b[4:]
		case 'L':
			if short(8) {
				return cut
			}
			v.kind, v.whole = 'n', int64(binary.LittleEndian.Uint64(b))
			v.num, b = float64(v.whole), b[8:]
		case 'F':
			if short(4) {
				return cut
			}
			v.kind, v.num = 'n', float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
			v.whole, b = toWhole(v.num), b[4:]
		case 'D':
			if short(8) {
				return cut
			}
			v.kind, v.num = 'n', math.Float64frombits(binary.LittleEndian.Uint64(b))
			v.whole, b = toWhole(v.num), b[8:]
		case 'S', 'R':
			if short(4) {
				return cut
			}
			n := binary.LittleEndian.Uint32(b)
			if b = b[4:]; uint64(n) > uint64(len(b)) {
				return cut
			}
			v.kind, v.text = 's', string(b[:n])
			if kind == 'R' {
				v.kind = 'r'
			}
			b = b[n:]
		case 'f', 'd', 'i', 'l', 'b', 'c':
			if short(12) {
				return cut
			}
			n, packed, size := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
			b = b[12:]
			v.kind, v.elem, v.n, v.zip = 'a', kind, int(n), packed == 1
			if packed > 1 {
				return f.errorf(r.at, "%s: an array is packed in the unknown way %d", r.name, packed)
			}
			if packed == 0 {
				size = 0
				if wide := uint64(n) * uint64(v.width()); wide <= uint64(len(b)) {
					size = uint32(wide)
				} else {
					return cut
				}
			}
			if uint64(size) > uint64(len(b)) {
				return cut
			}
			v.data, b = b[:size], b[size:]
		default:
			return f.errorf(r.at, "%s: value %d has the unknown type %q", r.name, i+1, kind)
		}
		if !use(&v) {
			return nil
		}
	}
	return nil
}

func toWhole(x float64) int64 {
	if x >= -1<<62 && x <= 1<<62 {
		return int64(x)
	}
	return 0
}

// width returns the bytes of an array's element.
func (v *value) width() int {
	switch v.elem {
	case 'd', 'l':
		return 8
	case 'f', 'i':
		return 4
	}
	return 1
}

// unpack returns the bytes of an array.
func (f *file) unpack(r *record, v *value) ([]byte, error) {
	size := v.n * v.width()
	if !v.zip {
		return v.data, nil
	}
	// zlib packs to a thousandth at best.
	if size > MaxArray || size > 1040*len(v.data)+64 {
		return nil, f.errorf(r.at, "%s: an array of %d elements in %d bytes is not plausible", r.name, v.n, len(v.data))
	}
	if f.room -= size; f.room < 0 {
		return nil, f.errorf(r.at, "%s: the arrays of the file take too much memory", r.name)
	}
	z, err := zlib.NewReader(bytes.NewReader(v.data))
	if err != nil {
		return nil, f.errorf(r.at, "%s: an array cannot be unpacked: %v", r.name, err)
	}
	out := make([]byte, size)
	if _, err := io.ReadFull(z, out); err != nil {
		return nil, f.errorf(r.at, "%s: an array cannot be unpacked: %v", r.name, err)
	}
	return out, nil
}

// numbers returns the numbers of a record: of its first value, if that is an array, else all of them.
func (f *file) numbers(r *record, most int) ([]float64, error) {
	values, ints, err := f.list(r, most, false)
	if err != nil || ints == nil {
		return values, err
	}
	for _, x := range ints {
		values = append(values, float64(x))
	}
	return values, nil
}

// wholes is numbers for whole ones, which a float64 may not hold.
func (f *file) wholes(r *record, most int) ([]int64, error) {
	values, ints, err := f.list(r, most, true)
	if err != nil || ints != nil {
		return ints, err
	}
	for _, x := range values {
		ints = append(ints, toWhole(x))
	}
	return ints, nil
}

// list returns numbers, in ints if they are whole numbers.
func (f *file) list(r *record, most int, whole bool) (values []float64, ints []int64, err error) {
	if f.ascii {
		text := r.values
		if len(r.below) == 1 && r.below[0].name == "a" {
			text = r.below[0].values
		}
		return f.asciiNumbers(r, text, most, whole)
	}
	var v *value
	wrong := false
	err = f.each(r, func(one *value) bool {
		switch {
		case one.kind == 'a' && len(values)+len(ints) == 0:
			array := *one
			v = &array
			return false
		case one.kind != 'n':
			wrong = true
			return false
		case whole:
			ints = append(ints, one.whole)
		default:
			values = append(values, one.num)
		}
		return len(values)+len(ints) < most
	})
	switch {
	case err != nil:
		return nil, nil, err
	case wrong:
		return nil, nil, f.errorf(r.at, "%s: want numbers", r.name)
	case v == nil:
		return values, ints, nil
	}
	if v.n > most {
		return nil, nil, f.errorf(r.at, "%s: has %d elements, at most %d are read", r.name, v.n, most)
	}
	b, err := f.unpack(r, v)
	if err != nil {
		return nil, nil, err
	}
	for i := range v.n {
		switch v.elem {
		case 'f':
			values = append(values, float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))))
		case 'd':
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		case 'i':
			ints = append(ints, int64(int32(binary.LittleEndian.Uint32(b[4*i:]))))
		case 'l':
			ints = append(ints, int64(binary.LittleEndian.Uint64(b[8*i:])))
		default:
			ints = append(ints, int64(b[i]))
		}
	}
	return values, ints, nil
}

// child returns the first record below r with that name, or nil.
func (r *record) child(name string) *record {
	if r == nil {
		return nil
	}
	for i := range r.below {
		if r.below[i].name == name {
			return &r.below[i]
		}
	}
	return nil
}

// text returns the i-th value if it is a text.
func text(values []value, i int) string {
	if i < len(values) && values[i].kind == 's' {
		return values[i].text
	}
	return ""
}

// number returns the i-th value if it is a number.
func number(values []value, i int) (float64, bool) {
	if i < len(values) && values[i].kind == 'n' {
		return values[i].num, true
	}
	return 0, false
}

// cleanName returns a name without the class that FBX puts before or behind it.
func cleanName(s string) string {
	if i := strings.Index(s, "\x00\x01"); i >= 0 {
		s = s[:i]
	}
	if i := strings.Index(s, "::"); i >= 0 {
		switch s[:i] {
		case "Model", "AnimStack", "AnimLayer", "AnimCurveNode", "AnimCurve", "NodeAttribute", "SubDeformer", "Deformer", "Geometry", "Pose", "Material", "Texture", "Video":
			s = s[i+2:]
		}
	}
	return s
}

// readASCII reads the records of a text file.
func (f *file) readASCII() error {
	at, err := f.asciiRecords(&f.root, 0, 0)
	if err != nil {
		return err
	}
	if at < len(f.data) {
		return f.errorf(at, "a } without its {")
	}
	if v := f.root.child("FBXHeaderExtension").child("FBXVersion"); v != nil {
		n, err := f.numbers(v, 1)
		if err != nil {
			return err
		}
		if len(n) == 1 && n[0] > 0 && n[0] < 1e6 {
			f.version = int(n[0])
		}
	}
	return nil
}

// space returns the offset of what follows blanks, line ends and comments.
func (f *file) space(at int) int {
	for at < len(f.data) {
		switch c := f.data[at]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			at++
		case c == ';':
			n := bytes.IndexByte(f.data[at:], '\n')
			if n < 0 {
				return len(f.data)
			}
			at += n + 1
		default:
			return at
		}
	}
	return at
}

// asciiRecords reads records up to a closing brace or the end, and returns where it is.
func (f *file) asciiRecords(into *record, at, depth int) (int, error) {
	for {
		at = f.space(at)
		if at >= len(f.data) || f.data[at] == '}' {
			return at, nil
		}
		start := at
		for at < len(f.data) && isWord(f.data[at]) {
			at++
		}
		if at == start || at >= len(f.data) || f.data[at] != ':' {
			return at, f.errorf(start, "want a name with a colon")
		}
		if err := f.take(start, depth); err != nil {
			return at, err
		}
		r := record{name: string(f.data[start:at]), at: start, count: -1}
		at++
		from := at
		at = f.valuesEnd(at)
		r.values = f.data[from:at]
		if at < len(f.data) && f.data[at] == '{' {
			var err error
			if at, err = f.asciiRecords(&r, at+1, depth+1); err != nil {
				return at, err
			}
			if at >= len(f.data) {
				return at, f.errorf(start, "%s: its } is missing: the file is cut off", r.name)
			}
			at++
		}
		into.below = append(into.below, r)
	}
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '|' || c == '-'
}

// valuesEnd returns where the values that begin at at end: at a brace, or at a line's end that no
// comma precedes and no number follows in place of the first value.
func (f *file) valuesEnd(at int) int {
	comma, none := false, true
	for at < len(f.data) {
		switch c := f.data[at]; c {
		case '"':
			n := bytes.IndexByte(f.data[at+1:], '"')
			if n < 0 {
				return len(f.data)
			}
			at += n + 1
			comma, none = false, false
		case ',':
			comma = true
		case '{', '}':
			return at
		case ';':
			n := bytes.IndexByte(f.data[at:], '\n')
			if n < 0 {
				return len(f.data)
			}
			at += n - 1
		case '\n':
			if !comma {
				// A list may go on with a comma on the next line.
				next := f.space(at)
				if next >= len(f.data) || f.data[next] != ',' && !(none && (f.data[next] == '-' || f.data[next] >= '0' && f.data[next] <= '9')) {
					return at
				}
				at = next - 1
			}
		case ' ', '\t', '\r':
		default:
			comma, none = false, false
		}
		at++
	}
	return at
}

// eachASCII is each for a text file.
func (f *file) eachASCII(r *record, use func(v *value) bool) error {
	b := r.values
	var v value
	for {
		b = bytes.TrimLeft(b, " \t\r\n,")
		if len(b) == 0 {
			return nil
		}
		v = value{}
		if b[0] == '"' {
			n := bytes.IndexByte(b[1:], '"')
			if n < 0 {
				return f.errorf(r.at, "%s: a quotation mark is missing", r.name)
			}
			v = value{kind: 's', text: strings.ReplaceAll(string(b[1:n+1]), "&quot;", `"`)}
			b = b[n+2:]
		} else {
			n := bytes.IndexAny(b, ", \t\r\n")
			if n < 0 {
				n = len(b)
			}
			word := string(b[:n])
			b = b[n:]
			if strings.HasPrefix(word, "*") { // the length of an array
				continue
			}
			if x, err := strconv.ParseFloat(word, 64); err == nil {
				whole, err := strconv.ParseInt(word, 10, 64)
				if err != nil {
					whole = toWhole(x)
				}
				v = value{kind: 'n', num: x, whole: whole}
			} else {
				v = value{kind: 's', text: word}
			}
		}
		if !use(&v) {
			return nil
		}
	}
}

// asciiNumbers parses a list of numbers.
func (f *file) asciiNumbers(r *record, b []byte, most int, whole bool) (values []float64, ints []int64, err error) {
	for {
		b = bytes.TrimLeft(b, " \t\r\n,")
		if len(b) == 0 {
			return values, ints, nil
		}
		n := bytes.IndexAny(b, ", \t\r\n")
		if n < 0 {
			n = len(b)
		}
		word := string(b[:n])
		if b = b[n:]; strings.HasPrefix(word, "*") {
			continue
		}
		if len(values)+len(ints) >= most {
			return nil, nil, f.errorf(r.at, "%s: has more than %d elements", r.name, most)
		}
		if whole {
			x, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				return nil, nil, f.errorf(r.at, "%s: %.40q is no whole number", r.name, word)
			}
			ints = append(ints, x)
			continue
		}
		x, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, nil, f.errorf(r.at, "%s: %.40q is no number", r.name, word)
		}
		values = append(values, x)
	}
}
