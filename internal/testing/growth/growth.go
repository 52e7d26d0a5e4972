// Package growth checks that what readers allocate grows with their input, and not faster.
package growth

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Input is an input of any number of parts.
type Input struct {
	name    string
	make    func(n int) []byte
	refused bool
	want    string // in the error
}

// Accepted is an input that is read.
func Accepted(name string, make func(n int) []byte) Input { return Input{name, make, false, ""} }

// Refused is an input that is refused with an error that mentions want.
func Refused(name string, make func(n int) []byte, want string) Input {
	return Input{name, make, true, want}
}

const (
	parts = 1000    // of the smaller input
	times = 4       // as many of the larger one
	free  = 1 << 17 // bytes that any input may take
	slack = 1.5     // slices grow in steps
)

// Check reads each input twice, once four times as large. It fails the test if a read allocates, in all,
// more than perByte bytes for a byte of input, or if allocations grow faster than the input.
func Check(t *testing.T, perByte float64, read func(data []byte) error, inputs ...Input) {
	t.Helper()
	for _, in := range inputs {
		small, large := in.make(parts), in.make(times*parts)
		few, took, err := measure(read, small)
		many, tookMore, errMore := measure(read, large)
		for _, err := range []error{err, errMore} {
			if (err == nil) == in.refused || err != nil && !strings.Contains(err.Error(), in.want) {
				t.Errorf("%s: error %v, want %q", in.name, err, in.want)
			}
		}
		t.Logf("%-32s %8d bytes: %5.1f a byte, %v; %8d bytes: %5.1f a byte, %v", in.name,
			len(small), few/float64(len(small)), took, len(large), many/float64(len(large)), tookMore)
		if most := free + perByte*float64(len(large)); many > most {
			t.Errorf("%s: reading %d bytes allocates %.0f, at most %.0f are allowed", in.name, len(large), many, most)
		}
		if ratio := float64(len(large)) / float64(len(small)); many > free+slack*ratio*few {
			t.Errorf("%s: %.1f times as many bytes allocate %.1f times as much", in.name, ratio, many/few)
		}
	}
}

// measure returns the bytes that a read allocates and the time that it takes.
func measure(read func([]byte) error, data []byte) (bytes float64, took time.Duration, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	err = read(data)
	took = time.Since(start).Round(10 * time.Microsecond)
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc), took, err
}

// Repeat returns a function that makes n equal parts. @ stands for n, and in part for its number, from 0.
func Repeat(before, part, after string) func(n int) []byte {
	return func(n int) []byte {
		var b strings.Builder
		b.WriteString(strings.ReplaceAll(before, "@", strconv.Itoa(n)))
		for i := range n {
			b.WriteString(strings.ReplaceAll(part, "@", strconv.Itoa(i)))
		}
		b.WriteString(strings.ReplaceAll(after, "@", strconv.Itoa(n)))
		return []byte(b.String())
	}
}

// TOML returns texts that no reader of TOML files should take, which are hard for a decoder.
func TOML() []Input {
	return []Input{
		Refused("open brackets", Repeat("k=", "[", ""), ""),
		Refused("closed brackets", func(n int) []byte {
			return []byte("k=" + strings.Repeat("[", n) + strings.Repeat("]", n))
		}, ""),
		Refused("open braces", Repeat("k=", "{a=", ""), ""),
		Refused("dots in a key", Repeat("", "a.", "a=1"), ""),
		Refused("dots in a table", Repeat("[", "a.", "a]"), ""),
		Refused("dots in inline tables", Repeat("k={", "a.a={a.a=", ""), ""),
	}
}
