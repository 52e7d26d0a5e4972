package meshopt

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"mannequin/internal/testing/must"
)

// vector is a view as the reference library meshoptimizer packs and unpacks it.
type vector struct {
	Name string
	View
	Packed, Want []byte
}

func vectors(t testing.TB) (all []vector) {
	t.Helper()
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("testdata/vectors.json"))(t), &all))
	return all
}

// Views are decoded as by the reference library; filters to one unit in the last place.
func TestDecode(t *testing.T) {
	for _, v := range vectors(t) {
		got := must.Get(v.Decode(v.Packed))(t)
		if len(got) != len(v.Want) {
			t.Fatalf("%s: %d bytes, want %d", v.Name, len(got), len(v.Want))
		}
		size := 0 // of a component that a filter rounds
		switch {
		case v.Filter == "OCTAHEDRAL" || v.Filter == "QUATERNION":
			size = v.Stride / 4
		case !bytes.Equal(got, v.Want):
			t.Errorf("%s: other bytes", v.Name)
		}
		for i := 0; size > 0 && i < len(got); i += size {
			a, b := int(int8(got[i])), int(int8(v.Want[i]))
			if size == 2 {
				a, b = int(int16(uint16(got[i])|uint16(got[i+1])<<8)), int(int16(uint16(v.Want[i])|uint16(v.Want[i+1])<<8))
			}
			if a-b > 1 || b-a > 1 {
				t.Fatalf("%s: byte %d is of %d, want %d", v.Name, i, a, b)
			}
		}
	}
}

// Whatever is cut off or wrong is an error.
func TestDecodeErrors(t *testing.T) {
	for _, v := range vectors(t) {
		if v.Filter != "NONE" {
			continue
		}
		for n := range v.Packed {
			if _, err := v.Decode(v.Packed[:n]); err == nil && v.Mode != "INDICES" {
				t.Fatalf("%s: its first %d of %d bytes are taken for all", v.Name, n, len(v.Packed))
			}
		}
		bad := bytes.Clone(v.Packed)
		bad[0]++
		must.Fail(v.Decode(bad))(t, "begins with")
	}
	for want, v := range map[string]View{
		`mode is "STRIPS"`:                       {Mode: "STRIPS", Count: 3, Stride: 4},
		"count is -3":                            {Mode: "INDICES", Count: -3, Stride: 4},
		"count is 16777217":                      {Mode: "INDICES", Count: maxElements + 1, Stride: 4},
		"count is 4, want a whole number of":     {Mode: "TRIANGLES", Count: 4, Stride: 4},
		"byteStride is 3, want 2 or 4":           {Mode: "TRIANGLES", Count: 3, Stride: 3},
		"byteStride is 6, want a multiple of 4":  {Mode: "ATTRIBUTES", Count: 3, Stride: 6},
		"byteStride is 12, want 8 for QUATERN":   {Mode: "ATTRIBUTES", Filter: "QUATERNION", Count: 3, Stride: 12},
		"byteStride is 12, want 4 or 8 for OCT":  {Mode: "ATTRIBUTES", Filter: "OCTAHEDRAL", Count: 3, Stride: 12},
		`filter is "ZIP"`:                        {Mode: "ATTRIBUTES", Filter: "ZIP", Count: 3, Stride: 12},
		`filter is "EXPONENTIAL", want none for`: {Mode: "INDICES", Filter: "EXPONENTIAL", Count: 3, Stride: 4},
		"1000000 elements in 100 bytes":          {Mode: "ATTRIBUTES", Count: 1e6, Stride: 16},
		"3000 elements in 100 bytes: they take":  {Mode: "TRIANGLES", Count: 3000, Stride: 4},
		"96 elements in 100 bytes: they take":    {Mode: "INDICES", Count: 96, Stride: 4},
	} {
		must.Fail(v.Decode(make([]byte, 100)))(t, want)
	}
}

// Whatever the bytes are, decoding ends with an error or with the size that was said.
func FuzzDecode(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(v.Mode, v.Filter, v.Count, v.Stride, v.Packed)
	}
	f.Fuzz(func(t *testing.T, mode, filter string, count, stride int, data []byte) {
		v := View{Mode: mode, Filter: filter, Count: count, Stride: stride}
		size, sizeErr := v.Size(len(data))
		if size > 64*len(data) {
			t.Fatalf("%d bytes of %d", size, len(data))
		}
		if out, err := v.Decode(data); err == nil && (sizeErr != nil || len(out) != size) {
			t.Fatalf("%d bytes, want %d (%v)", len(out), size, sizeErr)
		}
	})
}
