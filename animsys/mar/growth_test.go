package mar

import (
	"bytes"
	"testing"

	"mannequin/internal/testing/growth"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// The reader of styles allocates a multiple of the file.
func TestGrowth(t *testing.T) {
	growth.Check(t, 100, func(b []byte) error { _, err := Decode(b); return err },
		growth.Accepted("frames", func(n int) []byte {
			cycles := float64(n) / 1000
			db := must.Get(NewDatabase([]*Take{plain.take("walk", 0, cycles, 1), old.take("walk", 0, cycles, 1)}, map[string]float64{"walk": 60}))(t)
			return encoded(t, db, false)
		}),
		growth.Refused("takes", func(n int) []byte {
			var b bytes.Buffer
			meta := netruntime.Meta{Arch: Arch, Extra: map[string]string{keyTakes: string(growth.Repeat(`{"takes":[{}`, ",{}", "]}")(n))}}
			must.Do(t, netruntime.EncodeArrays(&b, meta, nil, nil))
			return b.Bytes()
		}, "skeleton"),
	)
}
