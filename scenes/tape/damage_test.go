package tape

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"mannequin/scenes"
)

// made returns a tape of 130 ticks, three blocks, without a scene.
func made(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, Header{Setup: setup("herd", 5), Machine: "amd64 avx2", Kernels: []string{"avx2"}, Parts: []Part{{"dog", "sha256:00"}}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 130 {
		if err := w.Tick(input(i), uint64(i)<<40); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ticks reads a tape to its end.
func ticks(file []byte) (int64, error) {
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		return 0, err
	}
	return Length(r)
}

// Whatever a program that was killed leaves behind can be played up to its last whole
// block, and says where it ends.
func TestCut(t *testing.T) {
	file := made(t)
	if n, err := ticks(file); n != 130 || err != nil {
		t.Fatalf("%d ticks, %v", n, err)
	}
	seen := map[int64]bool{}
	for size := range file {
		n, err := ticks(file[:size])
		var cut *CutError
		var format *FormatError
		switch {
		case errors.As(err, &cut):
			if cut.Ticks != n || cut.Offset > int64(size) || n%blockTicks > 0 && n != 130 {
				t.Fatalf("%d of %d bytes: %d ticks, %v", size, len(file), n, err)
			}
			seen[n] = true
		case errors.As(err, &format):
			if n > 0 || len(seen) > 0 || format.Offset > int64(size) {
				t.Fatalf("%d of %d bytes: %d ticks, %v", size, len(file), n, err)
			}
		default:
			t.Fatalf("%d of %d bytes: %v", size, len(file), err)
		}
	}
	if len(seen) != 4 {
		t.Errorf("cut tapes have %v ticks", seen)
	}
}

// A flipped bit is found, wherever it is.
func TestFlipped(t *testing.T) {
	file := made(t)
	for i := range file {
		bad := bytes.Clone(file)
		bad[i] ^= 1 << (i % 8)
		n, err := ticks(bad)
		var format *FormatError
		if !errors.As(err, &format) || format.Offset > int64(i) || n%blockTicks > 0 && n != 130 {
			t.Fatalf("byte %d: %d ticks, %v", i, n, err)
		}
	}
}

// Tapes whose sums are right, but nothing else.
func TestWrong(t *testing.T) {
	file := made(t)
	begin := []byte(magic + version + "\n")
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	_, head, err := (&Reader{r: bufio.NewReader(bytes.NewReader(file[len(begin):]))}).read()
	if err != nil {
		t.Fatal(err)
	}
	good := appendBlock(bytes.Clone(begin), kindHeader, head)
	block := func(contents ...byte) []byte { return appendBlock(bytes.Clone(good), kindTicks, contents) }
	header := func(oldAndNew ...string) []byte {
		for i := 0; i < len(oldAndNew); i += 2 {
			if !strings.Contains(string(head), oldAndNew[i]) {
				t.Fatalf("%s has no %s", head, oldAndNew[i])
			}
		}
		return appendBlock(bytes.Clone(begin), kindHeader, []byte(strings.NewReplacer(oldAndNew...).Replace(string(head))))
	}
	packed := func(inputs ...byte) []byte { // a tick of these inputs
		var b bytes.Buffer
		w, err := NewWriter(&b, r.Header)
		if err != nil {
			t.Fatal(err)
		}
		w.inputs, w.hashes, w.ticks = inputs, make([]byte, 8), 1
		w.flush()
		return b.Bytes()
	}
	huge := appendBlock(bytes.Clone(good), kindTicks, make([]byte, maxBlock+1))
	most := binary.AppendUvarint(nil, 1<<40)
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"nothing":            {nil, "no tape"},
		"another file":       {[]byte("GIF89a"), "no tape"},
		"another version":    {[]byte("mannequin tape 2\n"), `version "2"`},
		"a cut first line":   {begin[:len(begin)-2], "the file ends within its first line: it was cut"},
		"a cut header":       {begin[:len(begin):len(begin)], "the file ends within its header: it was cut"},
		"half a header":      {good[:len(good)/2], "the file ends within its header: it was cut"},
		"ticks at once":      {appendBlock(bytes.Clone(begin), kindTicks, nil), "header should be here"},
		"no JSON":            {appendBlock(bytes.Clone(begin), kindHeader, []byte("{")), "header"},
		"more JSON":          {appendBlock(bytes.Clone(begin), kindHeader, append(bytes.Clone(head), "{}"...)), "more than one"},
		"no setup":           {appendBlock(bytes.Clone(begin), kindHeader, []byte("{}")), "header"},
		"unknown key":        {header(`"rate"`, `"rats"`), "rats"},
		"unknown setup":      {header(`"seed"`, `"seat"`), "seat"},
		"another scene":      {header(`"herd"`, `"moon"`), "moon"},
		"too many":           {header(`"agents":5`, `"agents":99999`), "99999"},
		"another rate":       {header(`"rate":60`, `"rate":50`), "50 ticks"},
		"older steering":     {header(`"herd"`, `"strnn"`), "version 2 of its steering, this program has version 3"},
		"newer steering":     {header(`"steering":2`, `"steering":3`), "version 3 of its steering, this program has version 2"},
		"unknown input":      {header(`"Forward"`, `"Upward"`), "Upward"},
		"an input twice":     {header(`"Side"`, `"Turn"`), "twice"},
		"two headers":        {appendBlock(bytes.Clone(good), kindHeader, head), "kind 'h'"},
		"a huge block":       {huge, "bytes: at most"},
		"no ticks":           {block(0, 0), "block of 0 ticks"},
		"too many ticks":     {block(append([]byte{0}, most...)...), "block of 1099511627776 ticks"},
		"another first":      {block(7, 1), "begins with tick 7"},
		"no hashes":          {block(0, 1, 1, 2, 3), "unexpected EOF"},
		"no inputs":          {block(0, 1, 1, 2, 3, 4, 5, 6, 7, 8), "unexpected EOF"},
		"no numbers":         {block(), "unexpected EOF"},
		"a value too many":   {packed(binary.AppendUvarint(nil, 1<<len(values))...), "more than"},
		"a flag of 2":        {packed(1<<4, 2), "Sit cannot be 0x2"},
		"a gait of 256":      {packed(1<<3, 0x80, 2), "Gait cannot be 0x100"},
		"inputs that go on":  {packed(0, 0), "after the last input"},
		"inputs that end":    {packed(1), "unexpected EOF"},
		"the end is another": {appendBlock(bytes.Clone(good), kindEnd, []byte{5}), "5 ticks should"},
		"after the end":      {append(bytes.Clone(file), 0), "after its end"},
	} {
		_, err := ticks(c.file)
		var format *FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), fmt.Sprint("offset ", format.Offset)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// People do not avoid each other on a tape from before they did.
	if r, err := NewReader(bytes.NewReader(header(`"herd"`, `"people"`, `,"steering":2`, ""))); err != nil || !r.Header.Setup.NoAvoidance {
		t.Errorf("%+v, %v", r, err)
	}
	// What an old tape does not say is the default.
	r, err = NewReader(bytes.NewReader(header(`"manifold":"human",`, "")))
	if err != nil || r.Header.Setup.Manifold != "human" || !reflect.DeepEqual(r.Header.Setup, setup("herd", 5)) {
		t.Errorf("%+v, %v", r, err)
	}
}

// Reading fails where the file does.
func TestUnreadable(t *testing.T) {
	broken := errors.New("broken")
	file := made(t)
	for _, n := range []int{0, 5, 40, len(file) / 2, len(file) - 1} {
		r, err := NewReader(io.MultiReader(bytes.NewReader(file[:n]), reader(func([]byte) (int, error) { return 0, broken })))
		if err == nil {
			_, err = Length(r)
		}
		if !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

type reader func(b []byte) (int, error)

func (r reader) Read(b []byte) (int, error) { return r(b) }

// No bytes make the reader panic or take more memory than it may, and what it reads can
// be written and read again.
func FuzzReader(f *testing.F) {
	file := made(f)
	f.Add(file, false)
	f.Add(file[:len(file)/2], false)
	f.Add([]byte(magic+version+"\n"), false)
	end := []byte(`"` + values[len(values)-1].name + `"]}`) // of the header
	at := bytes.Index(file, end) + len(end) + 4 + headSize
	f.Add(file[at:at+int(binary.LittleEndian.Uint32(file[at-headSize+1:]))], true)
	f.Add([]byte{0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 0, 0xfd, 0xff, 0x10, 0x02, 3, 0}, true) // one tick, stored
	whole := file[:at-headSize]
	f.Fuzz(func(t *testing.T, b []byte, sealed bool) {
		if sealed { // the contents of a block of ticks, with right sums
			if len(b) > maxBlock {
				return
			}
			b = appendBlock(bytes.Clone(whole), kindTicks, b)
		}
		r, err := NewReader(bytes.NewReader(b))
		if err != nil {
			return
		}
		var out bytes.Buffer
		w, err := NewWriter(&out, r.Header)
		if err != nil {
			t.Fatal(err)
		}
		var all []Tick
		for {
			x, err := r.Next()
			if err != nil {
				break
			}
			all = append(all, x)
			if err := w.Tick(x.Input, x.Hash); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err = NewReader(&out)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			x, err := r.Next()
			if err != nil || x.Hash != all[i].Hash || bits(x.Input) != bits(all[i].Input) {
				t.Fatalf("tick %d: %+v came back as %+v, %v", i, all[i], x, err)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatal(err)
		}
	})
}

// bits makes inputs comparable: NaN is not itself.
func bits(in scenes.Input) (out [maxValues]uint64) {
	for i := range values {
		out[i] = values[i].get(&in)
	}
	return out
}
