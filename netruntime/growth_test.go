package netruntime

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"

	"mannequin/internal/testing/growth"
	"mannequin/internal/testing/must"
)

// Readers of model files allocate a multiple of the file, for odd files, too.
func TestGrowth(t *testing.T) {
	arrays := func(meta func(n int) Meta, arrays func(n int) []Tensor) func(n int) []byte {
		return func(n int) []byte {
			var b bytes.Buffer
			must.Do(t, EncodeArrays(&b, meta(n), arrays(n), nil))
			return b.Bytes()
		}
	}
	usual := func(int) Meta { return Meta{Arch: "motion"} }
	one := func(n int) []Tensor { return []Tensor{{"a", []int{n, 10}, make([]float32, 10*n)}} }
	growth.Check(t, 60, func(b []byte) error { _, _, err := DecodeArrays(b); return err },
		growth.Accepted("an array", arrays(usual, one)),
		growth.Accepted("arrays", arrays(usual, func(n int) (ts []Tensor) {
			for i := range n {
				ts = append(ts, Tensor{fmt.Sprint(i), []int{1}, []float32{1}})
			}
			return ts
		})),
		growth.Accepted("metadata", arrays(func(n int) Meta {
			m := Meta{Arch: "motion", Extra: map[string]string{}}
			for i := range n {
				m.Extra[fmt.Sprint(i)] = "a"
			}
			return m
		}, one)),
		growth.Refused("open brackets", func(n int) []byte { return file(`{"a":`+string(bytes.Repeat([]byte("["), n)), 0) }, ""),
		growth.Refused("axes", func(n int) []byte {
			return file(`{"a":{"dtype":"F32","shape":[1`+string(bytes.Repeat([]byte(",1"), n))+`],"data_offsets":[0,4]}}`, 4)
		}, ""),
		growth.Refused("gaps", func(n int) []byte { return file("{"+string(bytes.Repeat([]byte(" "), n)), 0) }, ""),
	)
	growth.Check(t, 60, func(b []byte) error { _, err := Decode(b); return err },
		growth.Accepted("a network", func(n int) []byte {
			z := tiny
			z.h0 = n
			return encoded(t, z.net(t, 1))
		}),
		growth.Accepted("a graph", func(n int) []byte {
			nodes := growth.Repeat(`{"inputs":[{"name":"x","channels":2}],"nodes":[{"name":"n","op":"act","in":["x"],"act":"relu"}`,
				`,{"name":"n@","op":"act","in":["n"],"act":"relu"}`, `],"outputs":["n"]}`)(n)
			return file(`{"__metadata__":{"format":"mannequin/1","arch":"graph","graph":`+strconv.Quote(string(nodes))+`}}`, 0)
		}),
	)
}
