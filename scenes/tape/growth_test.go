package tape

import (
	"bytes"
	"testing"

	"mannequin/internal/testing/growth"
	"mannequin/internal/testing/must"
	"mannequin/scenes"
)

// The reader of tapes allocates little, however long the tape is.
func TestGrowth(t *testing.T) {
	ticked := func(input func(i int) scenes.Input) func(n int) []byte {
		return func(n int) []byte {
			var b bytes.Buffer
			w := must.Get(NewWriter(&b, Header{Setup: setup("herd", 5)}))(t)
			for i := range n {
				must.Do(t, w.Tick(input(i), uint64(i)))
			}
			must.Do(t, w.Close())
			return b.Bytes()
		}
	}
	growth.Check(t, 60, func(b []byte) error { _, err := ticks(b); return err },
		growth.Accepted("ticks", ticked(input)),
		growth.Accepted("equal ticks", ticked(func(int) scenes.Input { return scenes.Input{} })),
		growth.Refused("a header of brackets", func(n int) []byte {
			return appendBlock([]byte(magic+version+"\n"), kindHeader, bytes.Repeat([]byte("["), n))
		}, "header"),
		growth.Refused("a header of commas", func(n int) []byte {
			return appendBlock([]byte(magic+version+"\n"), kindHeader, growth.Repeat(`{"setup":[1`, ",1", "]}")(n))
		}, "header"),
	)
}
