package train

import (
	"bytes"
	"encoding/binary"
	"testing"

	"mannequin/internal/testing/growth"
	"mannequin/internal/testing/must"
)

// The reader of checkpoints allocates a multiple of their header, for odd ones, too.
func TestGrowth(t *testing.T) {
	y := newToy(t)
	epochs := func(n int) []byte {
		s := newState(y.job.Params, y.job.Optimizer)
		s.History = make([]Point, n)
		var b bytes.Buffer
		must.Do(t, s.encode(&b, y.job))
		return b.Bytes()
	}
	header := func(make func(n int) []byte) func(n int) []byte {
		return func(n int) []byte {
			text := make(n)
			b := binary.LittleEndian.AppendUint16([]byte(magic), version)
			return append(binary.LittleEndian.AppendUint32(b, uint32(len(text))), text...)
		}
	}
	growth.Check(t, 100, func(b []byte) error {
		return newState(y.job.Params, y.job.Optimizer).decode(bytes.NewReader(b), int64(len(b)), y.job)
	},
		growth.Accepted("epochs", epochs),
		growth.Refused("other epochs", header(growth.Repeat(`{"history":[{}`, ",{}", "]}")), "another network"),
		growth.Refused("tensors", header(growth.Repeat(`{"tensors":[{}`, ",{}", "]}")), "another network"),
		growth.Refused("open brackets", header(growth.Repeat(`{"history":`, "[", "")), "header"),
		growth.Refused("numbers", header(growth.Repeat(`{"x":[1`, ",1", "]}")), "another network"),
	)
}
