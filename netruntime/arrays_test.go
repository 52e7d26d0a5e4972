package netruntime

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

func nan() float32 { return float32(math.NaN()) }

func TestArraysComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rows, times := make([]float32, 12), []float32{1, 2.5, 3}
	for i := range rows {
		rows[i] = float32(r.NormFloat64())
	}
	var file bytes.Buffer
	meta := Meta{Arch: "motion", License: "CC0-1.0", Extra: map[string]string{"takes": "[]"}}
	must.Do(t, EncodeArrays(&file, meta, []Tensor{{"times", []int{3}, times}, {"rows", []int{3, 4}, rows}}, func(n string) Storage {
		if n == "rows" {
			return Float16
		}
		return Float32
	}))
	m, arrays, err := DecodeArrays(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if m.Arch != "motion" || m.License != "CC0-1.0" || m.Extra["takes"] != "[]" {
		t.Errorf("metadata came back as %+v", m)
	}
	if len(arrays) != 2 || arrays[0].Name != "rows" || arrays[1].Name != "times" || !slices.Equal(arrays[0].Shape, []int{3, 4}) || !slices.Equal(arrays[1].Data, times) {
		t.Fatalf("arrays came back as %v", arrays)
	}
	for i, v := range arrays[0].Data {
		if math.Abs(float64(v-rows[i])) > math.Abs(float64(rows[i]))/2048 {
			t.Errorf("value %d came back as %g, was %g", i, v, rows[i])
		}
	}
	bad := bytes.Clone(file.Bytes())
	bad[len(bad)-1] ^= 1
	if _, _, err := DecodeArrays(bad); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged file: %v", err)
	}
	var u *UnsupportedError
	if _, err := Decode(file.Bytes()); !errors.As(err, &u) {
		t.Errorf("arrays as a network: %v", err)
	}
	if err := EncodeArrays(&file, Meta{Arch: "graph"}, nil, nil); !errors.As(err, &u) {
		t.Errorf("arrays called a network: %v", err)
	}
	if err := EncodeArrays(&file, meta, []Tensor{{"rows", []int{2}, rows}}, nil); err == nil {
		t.Error("a shape that is not the data's was written")
	}
	must.FailWith(t, EncodeArrays(&file, meta, []Tensor{{"rows", []int{1}, []float32{7e4}}}, func(string) Storage { return Float16 }), "too large")
	whole := func(string) Storage { return Int16 }
	file.Reset()
	must.Do(t, EncodeArrays(&file, meta, []Tensor{{"whole", []int{3}, []float32{-32768, 0, 32767}}}, whole))
	if _, arrays, err := DecodeArrays(file.Bytes()); err != nil || !slices.Equal(arrays[0].Data, []float32{-32768, 0, 32767}) {
		t.Errorf("integers came back as %v, %v", arrays, err)
	}
	for _, v := range []float32{0.5, 32768, nan()} {
		must.FailWith(t, EncodeArrays(&file, meta, []Tensor{{"whole", []int{1}, []float32{v}}}, whole), "no integer")
	}

}

func FuzzDecodeArrays(f *testing.F) {
	var file bytes.Buffer
	if err := EncodeArrays(&file, Meta{Arch: "motion"}, []Tensor{{"a", []int{2}, []float32{1, 2}}}, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add(bytes.Replace(file.Bytes(), []byte("checksum"), []byte("comments"), 1)) // changed bytes get further
	f.Fuzz(func(t *testing.T, b []byte) {
		meta, arrays, err := DecodeArrays(b)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := EncodeArrays(&again, meta, arrays, nil); err != nil {
			t.Skip(err) // a size or a name that EncodeArrays refuses
		}
		if _, _, err := DecodeArrays(again.Bytes()); err != nil {
			t.Fatal(err)
		}
	})
}
