package authors

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/sbinet/npyio/npz"

	"mannequin/internal/testing/must"
)

// An archive of arrays is refused, or has an array of the size that is wanted.
func FuzzNPZ(f *testing.F) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		w := must.Get(z.CreateHeader(&zip.FileHeader{Name: "a.npy", Method: method}))(f)
		must.Get(w.Write(npyArray{[]int{2, 1, 3}, "<f4", []float64{1, 2, 3, 4, 5, 6}}.bytes()))(f)
		must.Do(f, z.Close())
		f.Add(out.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		z, err := npz.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		s := source{array: "a", tensor: "t", shape: []int{2, 1, 3}}
		if b, err = arrayBytes(z, s); err != nil {
			return
		}
		if x, err := s.decode(b); err == nil && len(x.Data) != s.values() {
			t.Fatalf("%+v", x)
		}
	})
}

// A file of weights has all of its values or is refused, and so has one of frames.
func FuzzValues(f *testing.F) {
	f.Add(make([]byte, 12))
	f.Add(make([]byte, 4*2*HoldenFeatures))
	f.Fuzz(func(t *testing.T, b []byte) {
		w := file{n: 3, dst: make([]float32, 3)}
		if err := w.decode(b); (err == nil) != (len(b) == 12) {
			t.Fatalf("%d bytes: %v", len(b), err)
		} else if err == nil && math.Float32bits(w.dst[2]) != binary.LittleEndian.Uint32(b[8:]) {
			t.Fatalf("%v from % x", w.dst, b)
		}
		values, frames, err := decodeFrames("a.f32", b)
		if err == nil && (frames == 0 || frames%2 != 0 || len(values) != frames*HoldenFeatures || 4*len(values) != len(b)) {
			t.Fatalf("%d frames, %d values of %d bytes", frames, len(values), len(b))
		}
	})
}
