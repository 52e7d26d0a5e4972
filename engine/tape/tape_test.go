package tape

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"mannequin/internal/testing/growth"
	"mannequin/internal/testing/must"
)

// input returns the input of a tick: often the one before, sometimes none, sometimes long.
func input(tick int) []byte {
	switch tick = tick / 3 * 3; {
	case tick%30 == 0:
		return nil
	case tick%77 == 0:
		return bytes.Repeat([]byte{byte(tick)}, MaxInput)
	}
	return []byte(fmt.Sprint("keys of tick ", tick))
}

func record(t testing.TB, ticks int) []byte {
	var b bytes.Buffer
	w := must.Get(NewWriter(&b, []byte("level 3")))(t)
	for i := range ticks {
		must.Do(t, w.Tick(input(i), uint64(i)<<40))
	}
	must.Do(t, w.Close())
	return b.Bytes()
}

// read reads a tape to its end, and checks its inputs.
func read(t testing.TB, tape []byte) (int64, error) {
	r, err := NewReader(bytes.NewReader(tape))
	if err != nil {
		return 0, err
	}
	if string(r.Header) != "level 3" {
		t.Fatalf("the header is %q", r.Header)
	}
	tick := 0
	return Verify(r, func(in []byte) (uint64, error) {
		if !bytes.Equal(in, input(tick)) {
			t.Fatalf("tick %d: %q", tick, in)
		}
		tick++
		return uint64(tick-1) << 40, nil
	})
}

func TestTape(t *testing.T) {
	for _, n := range []int{0, 1, 60, 200} {
		if got, err := read(t, record(t, n)); got != int64(n) || err != nil {
			t.Errorf("%d ticks: %d, %v", n, got, err)
		}
	}
	// The first tick that differs.
	r := must.Get(NewReader(bytes.NewReader(record(t, 100))))(t)
	ticks, n := int64(0), 0
	ticks, err := Verify(r, func([]byte) (uint64, error) {
		if n++; n > 71 {
			return 1, nil
		}
		return uint64(n-1) << 40, nil
	})
	var mismatch *MismatchError
	if !errors.As(err, &mismatch) || ticks != 71 || mismatch.Tick != 71 || mismatch.Want != 71<<40 || mismatch.Got != 1 {
		t.Errorf("%d, %v", ticks, err)
	}
}

// A tape that was cut is played up to its last whole block; a flipped bit is found, wherever it is.
func TestDamage(t *testing.T) {
	tape := record(t, 70)
	for size := 0; size < len(tape); size += 1 + len(tape)/500 {
		n, err := read(t, tape[:size])
		var cut *CutError
		var format *FormatError
		if !errors.As(err, &cut) && (!errors.As(err, &format) || n > 0) {
			t.Fatalf("%d bytes: %d ticks, %v", size, n, err)
		}
	}
	for i := 0; i < len(tape); i += 1 + len(tape)/500 {
		bad := slices.Clone(tape)
		bad[i] ^= 1 << (i % 8)
		var format *FormatError
		if _, err := read(t, bad); !errors.As(err, &format) {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
	if _, err := read(t, append(tape, 0)); err == nil {
		t.Error("a tape that goes on")
	}
}

func TestWriter(t *testing.T) {
	w := must.Get(NewWriter(io.Discard, nil))(t)
	if w.Tick(make([]byte, MaxInput+1), 0) == nil {
		t.Error("a long input is taken")
	}
	in := []byte("keys")
	for i := range 200 {
		in[0] = byte(i)
		must.Do(t, w.Tick(in, 1))
	}
	if n := testing.AllocsPerRun(200, func() { in[0]++; w.Tick(in, 1) }); n != 0 {
		t.Errorf("%g allocations for each tick", n)
	}
	if must.Do(t, w.Close()); w.Tick(nil, 0) == nil {
		t.Error("a closed writer writes")
	}
	broken := errors.New("broken")
	if _, err := NewWriter(writer(func([]byte) (int, error) { return 0, broken }), nil); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// The reader allocates little, however long the tape is.
func TestGrowth(t *testing.T) {
	growth.Check(t, 60, func(b []byte) error { _, err := read(t, b); return err },
		growth.Accepted("ticks", func(n int) []byte { return record(t, n) }))
}

func FuzzReader(f *testing.F) {
	f.Add(record(f, 20), false)
	f.Add([]byte{0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 2, 'a'}, true)
	f.Fuzz(func(t *testing.T, b []byte, sealed bool) {
		if sealed { // the contents of a block of ticks, with right sums
			var file bytes.Buffer
			w := must.Get(NewWriter(&file, nil))(t)
			w.write('t', b)
			b = file.Bytes()
		}
		r, err := NewReader(bytes.NewReader(b))
		for err == nil {
			_, _, err = r.Next()
		}
	})
}
