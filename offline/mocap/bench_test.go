package mocap

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
)

// syntheticBVH writes a chain of joints that swing, with six decimals a value:
// the worst of what exporters produce.
func syntheticBVH(joints, frames int) []byte {
	s := &skel.Skeleton{}
	for j := range joints {
		s.Names = append(s.Names, "joint"+string(rune('A'+j)))
		s.Parents = append(s.Parents, int16(j-1))
		s.Offsets = append(s.Offsets, m3.V(0, 10, 0))
		s.EndSite = append(s.EndSite, false)
	}
	c := skel.NewClip(s, 60, frames)
	for f := range frames {
		pos, rot := c.Frame(f)
		pos[0] = m3.V(float32(f)*0.37, 90+m3.Sin(float32(f)*0.1), -3)
		for j := range joints {
			t := float64(f)*0.05 + float64(j)
			rot[j] = m3.FromRotationVector(m3.V(float32(math.Sin(t)), float32(math.Cos(1.3*t)), float32(math.Sin(0.7*t))))
		}
	}
	var b bytes.Buffer
	if err := WriteClip(&b, c); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func benchRead(b *testing.B, data []byte) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadBVH("bench", data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadBVH(b *testing.B) {
	b.Run("synthetic", func(b *testing.B) { benchRead(b, syntheticBVH(31, 3000)) })
	for _, name := range []string{"dog/D1_001_KAN01_001.bvh", "cmu-locomotion/07_12.bvh", "bandai1/dataset-1_bow_active_001.bvh"} {
		b.Run(filepath.Base(name), func(b *testing.B) {
			data, err := os.ReadFile(filepath.Join(mocapdata.Dir(b), name))
			if err != nil {
				b.Skip(err)
			}
			benchRead(b, data)
		})
	}
}

func BenchmarkWriteBVH(b *testing.B) {
	bvh := must.Get(ReadBVH("bench", syntheticBVH(31, 1000)))(b)
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		must.Do(b, bvh.Write(&out))
	}
	b.SetBytes(int64(out.Len()))
}
