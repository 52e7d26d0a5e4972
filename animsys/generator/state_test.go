package generator

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
	"unsafe"
)

// word is an asset.
type word struct{ text string }

func (w *word) AppendBinary(b []byte) ([]byte, error) { return append(b, w.text...), nil }

func (w *word) UnmarshalBinary(b []byte) error {
	if bytes.HasPrefix(b, []byte("bad")) {
		return errors.New("a bad word")
	}
	w.text = string(b)
	return nil
}

// padded is a struct with padding between its fields, and bools.
type padded struct {
	a bool
	b float32
	c [2]struct {
		d uint8
		e int64
	}
}

// row is a row with everything that a state can hold.
type row struct {
	n     int
	flag  bool
	list  [3]float32
	p     padded
	words [3]*word
}

var padding = StructOf[padded]()

func (r *row) visit(s *State) {
	s.Kind("row", len(r.list))
	s.Int(&r.n)
	s.Bool(&r.flag)
	Values(s, r.list[:])
	padding.Visit(s, &r.p)
	for i := range r.words {
		Asset(s, &r.words[i])
	}
}

func TestState(t *testing.T) {
	hello, again, world := &word{"hello"}, &word{"hello"}, &word{"world, and more than that"}
	rows := []row{
		{n: -5, flag: true, list: [3]float32{1, 2, 3}, words: [3]*word{hello, nil, again}},
		{n: 1 << 40, p: padded{a: true, b: 7}, words: [3]*word{world, hello, world}},
	}
	rows[1].p.c[1].d, rows[1].p.c[1].e = 9, -1
	var s, other State
	write := func() {
		s.Reset()
		for i := range rows {
			rows[i].visit(&s)
		}
	}
	read := func(s *State) (got [2]row) {
		s.Rewind()
		for i := range got {
			got[i].visit(s)
		}
		if err := s.Err(); err != nil || s.Read() != len(s.Data) {
			t.Fatalf("%v, %d of %d bytes", err, s.Read(), len(s.Data))
		}
		return got
	}
	write()
	rows[0].words[2] = hello // equal contents are one
	if got := read(&s); got != [2]row(rows) {
		t.Errorf("%+v came back as %+v", rows, got)
	}
	if n := bytes.Count(s.Data, []byte("hello")); n != 1 {
		t.Errorf("a word is written %d times", n)
	}
	// Another buffer allocates each word once.
	other.Data = s.Data
	got := read(&other)
	if w := got[0].words[0]; w == hello || w.text != "hello" || got[1].words[1] != w || got[1].words[0].text != world.text {
		t.Errorf("%+v", got)
	}
	if read(&other) != got {
		t.Error("words are made again for each reading")
	}
	if n := testing.AllocsPerRun(10, func() { write(); s.Rewind(); rows[0].visit(&s); rows[1].visit(&s) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
	// Padding is written as zeros, and not what is zero at the end.
	s.Reset()
	dirty := rows[1].p
	memory := bytesOf(unsafe.Slice(&dirty, 1))
	memory[1], memory[len(memory)-15] = 255, 255 // behind a and the last d
	padding.Visit(&s, &dirty)
	n := len(s.Data)
	padding.Visit(&s, &rows[1].p)
	if !bytes.Equal(s.Data[:n], s.Data[n:]) || n != 2+len(memory) {
		t.Errorf("a struct takes %d bytes: % x", n, s.Data)
	}
	dirty.c[1].d, dirty.c[1].e = 0, 0
	s.Reset()
	if padding.Visit(&s, &dirty); len(s.Data) != 2+8 {
		t.Errorf("the beginning of a struct takes %d bytes", len(s.Data))
	}
	back := rows[1].p
	s.Rewind()
	if padding.Visit(&s, &back); back != dirty || s.Err() != nil {
		t.Errorf("it comes back as %+v, %v", back, s.Err())
	}
}

// What is copied later, in parts of any length, is what is copied at once.
func TestLater(t *testing.T) {
	type agent struct {
		n     int32
		some  [3]int16
		more  uint8
		long  [7]float32
		bytes [13]uint8
		last  int32
	}
	wrong := errors.New("is wrong")
	visit := func(s *State, agents []agent, check func(int) error) {
		part := func(s *State, i int) {
			Values(s, agents[i].some[:])
			if Value(s, &agents[i].more); agents[i].more > 0 { // a part of another length
				Value(s, &agents[i].n)
			}
		}
		for i := range agents {
			a := &agents[i]
			Value(s, &a.n)
			s.Part(i, part)
			Block(s, a.long[:])
			Block(s, a.bytes[:])
			Block(s, a.bytes[:0])
			Value(s, &a.last)
			s.Check(i, check)
		}
	}
	var was [5]agent
	for i := range was {
		was[i].n, was[i].last, was[i].some, was[i].more = int32(i), -int32(i), [3]int16{int16(i), 7, 8}, uint8(i%2)
		for k := range was[i].long {
			was[i].long[k] = float32(10*i + k)
		}
		for k := range was[i].bytes {
			was[i].bytes[k] = uint8(i + k)
		}
	}
	var once, scratch State
	visit(&once, was[:], nil)
	for part := 1; part <= len(once.Data); part++ {
		later := State{Later: true}
		for range 2 { // the second time in memory that was used
			later.Reset()
			visit(&later, was[:], nil)
			for from := 0; from < len(later.Data); from += part {
				if err := later.Finish(&scratch, from, min(from+part, len(later.Data))); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(later.Data, once.Data) {
				t.Fatalf("parts of %d bytes: other bytes", part)
			}
		}
		var is [5]agent
		checked := 0
		later.Rewind()
		visit(&later, is[:], func(row int) error {
			if checked++; is[row] != was[row] {
				t.Errorf("parts of %d bytes: row %d is checked before it is read", part, row)
			}
			if row == 3 {
				return wrong
			}
			return nil
		})
		if later.Err() != nil || later.Read() != len(later.Data) {
			t.Fatal(later.Err(), later.Read())
		}
		var err error
		for from := 0; from < len(later.Data); from += part {
			err = errors.Join(err, later.Finish(&scratch, from, min(from+part, len(later.Data))))
		}
		if is != was || !errors.Is(err, wrong) {
			t.Fatalf("parts of %d bytes: %v, %v", part, is, err)
		}
		if part < 60 && checked != 5 { // no part ends two rows
			t.Errorf("parts of %d bytes: %d rows were checked", part, checked)
		}
	}
	// So is a part that has another length than it should have, when it is visited.
	for _, later := range []bool{false, true} {
		s := State{Data: slices.Clone(once.Data), Later: later}
		s.Data[4]++ // the length of the first part
		s.Rewind()
		visit(&s, make([]agent, 5), nil)
		if err := s.Finish(&scratch, 0, len(s.Data)); s.Err() == nil && err == nil {
			t.Error("a part of a wrong length is read")
		}
	}
	// A state that ends early is refused at once.
	cut := State{Data: once.Data[:20], Later: true}
	cut.Rewind()
	if visit(&cut, make([]agent, 5), nil); cut.Err() == nil {
		t.Error("a state that ends early is read")
	}
}

// No bytes make reading panic, and what is read can be written and read again.
func FuzzState(f *testing.F) {
	var s State
	r := row{words: [3]*word{{"a"}, {"b"}, nil}}
	r.visit(&s)
	r.visit(&s)
	f.Add(s.Data)
	f.Fuzz(func(t *testing.T, b []byte) {
		s := State{Data: b}
		s.Rewind()
		var a, c [2]row
		for i := range a {
			a[i].visit(&s)
		}
		if s.Err() != nil {
			return
		}
		var again State
		for i := range a {
			a[i].visit(&again)
		}
		again.Rewind()
		for i := range c {
			c[i].visit(&again)
		}
		if again.Err() != nil {
			t.Fatal(again.Err())
		}
		for i := range c {
			for k, w := range c[i].words {
				if was := a[i].words[k]; (w == nil) != (was == nil) || w != nil && w.text != was.text {
					t.Fatalf("%v came back as %v", was, w)
				}
			}
		}
	})
}

// A twin with the bits of the other is a byte long, and comes back with the sign of its zeros.
func TestTwin(t *testing.T) {
	minus := float32(math.Copysign(0, -1))
	for _, k := range []struct {
		twin  []float32
		bytes int
	}{{[]float32{1, 0, 3}, 1}, {[]float32{1, minus, 3}, 13}, {nil, 1}} {
		of := []float32{1, 0, 3}[:len(k.twin)]
		visit := func(v []float32) func(*State, int) { return func(s *State, _ int) { Twin(s, v, of) } }
		var s State
		s.Part(0, visit(k.twin))
		if n := len(s.Data) - 4; n != k.bytes { // after its size
			t.Errorf("%v has %d bytes, want %d", k.twin, n, k.bytes)
		}
		s.Rewind()
		back := make([]float32, len(k.twin))
		if s.Part(0, visit(back)); s.Err() != nil {
			t.Fatal(s.Err())
		}
		for i := range back {
			if math.Float32bits(back[i]) != math.Float32bits(k.twin[i]) {
				t.Errorf("%v came back as %v", k.twin, back)
			}
		}
	}
}
