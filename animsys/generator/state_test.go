package generator

import (
	"bytes"
	"errors"
	"testing"
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
	// Padding is not written.
	s.Reset()
	if padding.Visit(&s, &rows[1].p); len(s.Data) != 1+4+2*(1+8) {
		t.Errorf("a struct takes %d bytes", len(s.Data))
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
