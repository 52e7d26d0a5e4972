package tape

import (
	"bytes"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/scenes"
	"mannequin/scenes/open"
)

// leaves calls f for every number in v.
func leaves(v reflect.Value, name string, f func(v reflect.Value, name string)) {
	if v.Kind() != reflect.Struct {
		f(v, name)
		return
	}
	for i := range v.NumField() {
		leaves(v.Field(i), strings.TrimPrefix(name+"."+v.Type().Field(i).Name, "."), f)
	}
}

// Every field of an input comes back to the bit, and nothing else changes. A field that
// values lacks fails here.
func TestEveryField(t *testing.T) {
	var all []scenes.Input
	var names []string
	leaves(reflect.ValueOf(scenes.Input{}), "", func(_ reflect.Value, name string) { names = append(names, name) })
	for _, name := range names {
		for k := range 4 {
			var in scenes.Input
			leaves(reflect.ValueOf(&in).Elem(), "", func(v reflect.Value, at string) {
				if at != name {
					return
				}
				switch v.Kind() {
				case reflect.Float32:
					*v.Addr().Interface().(*float32) = []float32{1.1, float32(math.Inf(-1)), math.Float32frombits(0x7fa00001), float32(math.Copysign(0, -1))}[k]
				case reflect.Bool:
					v.SetBool(k%2 == 0)
				case reflect.Int:
					v.SetInt([]int64{1, -1, math.MaxInt, math.MinInt}[k])
				case reflect.Uint8:
					v.SetUint([]uint64{1, 255, 128, 65}[k])
				default:
					t.Fatalf("%s is a %v: values, and this test, need that", at, v.Kind())
				}
			})
			all = append(all, in)
		}
	}
	var b bytes.Buffer
	w, err := NewWriter(&b, Header{Setup: open.Default("crowd")})
	if err != nil {
		t.Fatal(err)
	}
	for i, in := range all {
		if err := w.Tick(in, uint64(i)*0x9e3779b97f4a7c15); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	for i, in := range all {
		x, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		same := x.Hash == uint64(i)*0x9e3779b97f4a7c15
		leaves(reflect.ValueOf(&in).Elem(), "", func(v reflect.Value, at string) {
			got := reflect.ValueOf(&x.Input).Elem()
			for _, n := range strings.Split(at, ".") {
				got = got.FieldByName(n)
			}
			if v.Kind() == reflect.Float32 {
				a, b := v.Addr().Interface().(*float32), got.Addr().Interface().(*float32)
				same = same && math.Float32bits(*a) == math.Float32bits(*b)
			} else {
				same = same && got.Equal(v)
			}
		})
		if !same {
			t.Errorf("%+v came back as %+v", in, x.Input)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("after the last: %v", err)
	}
}

// A minute of play is a small file. Who watches may move all the time.
func TestSize(t *testing.T) {
	const ticks = 60 * scenes.TickRate
	for name, c := range map[string]struct {
		in   func(tick int) scenes.Input
		most int
	}{
		"keys": {func(i int) scenes.Input { return scenes.Input{Forward: 1, Turn: float32(i / 50 % 3), Jump: i%200 < 20} }, 34 << 10},
		"a camera that moves": {func(i int) scenes.Input {
			s, c := m3.Sin(float32(i)*0.003), m3.Cos(float32(i)*0.003)
			return scenes.Input{Forward: 1, Watched: true, Eye: m3.V(20*s, 1.7+0.1*c, 20*c), Ahead: m3.V(c, -0.2*s, s)}
		}, 110 << 10},
	} {
		var b bytes.Buffer
		w, err := NewWriter(&b, Header{Setup: open.Default("crowd")})
		if err != nil {
			t.Fatal(err)
		}
		hash := uint64(1)
		for i := range ticks {
			hash *= 0x9e3779b97f4a7c15
			if err := w.Tick(c.in(i), hash^hash>>32); err != nil {
				t.Fatal(err)
			}
		}
		w.Close()
		t.Logf("%s: %d KiB", name, b.Len()>>10)
		if b.Len() > c.most {
			t.Errorf("%s: %d bytes, want at most %d", name, b.Len(), c.most)
		}
	}
}

// Recording allocates nothing.
func TestRecordingDoesNotAllocate(t *testing.T) {
	w, err := NewWriter(io.Discard, Header{Setup: open.Default("crowd")})
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	tick := func() {
		for range 2 * blockTicks {
			w.Tick(input(i), uint64(i))
			i++
		}
	}
	tick()
	if n := testing.AllocsPerRun(3, tick); n > 0 {
		t.Errorf("%g allocations in %d ticks", n, 2*blockTicks)
	}
}

// What cannot be written is told by the tick that cannot, and by all after it.
func TestFull(t *testing.T) {
	full := errors.New("disk full")
	room := 1 << 10
	w, err := NewWriter(writer(func(b []byte) (int, error) {
		if room -= len(b); room < 0 {
			return 0, full
		}
		return len(b), nil
	}), Header{Setup: open.Default("crowd")})
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		err = w.Tick(scenes.Input{}, 1<<60)
	}
	if err != full || w.Close() != full {
		t.Errorf("%v", err)
	}
}

type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
