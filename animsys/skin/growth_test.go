//go:build unix

package skin

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"mannequin/internal/testing/growth"
	"mannequin/internal/testing/must"
)

// The reader of skins allocates a multiple of the file, for odd files, too.
func TestGrowth(t *testing.T) {
	vertices := func(n int) []byte {
		d := small()
		a := d.Meshes[0].Primitives[0].Attributes
		a[gltf.POSITION] = modeler.WritePosition(d, make([][3]float32, 3*n))
		a[gltf.JOINTS_0] = modeler.WriteJoints(d, make([][4]uint8, 3*n))
		a[gltf.WEIGHTS_0] = modeler.WriteWeights(d, slices.Repeat([][4]float32{{1}}, 3*n))
		d.Meshes[0].Primitives[0].Indices = nil
		return encode(t, d, true)
	}
	picture := func(n int) image.Image {
		img, r := image.NewNRGBA(image.Rect(0, 0, 100, n/10)), rand.New(rand.NewPCG(1, 2))
		for i := range img.Pix {
			img.Pix[i] = uint8(r.Uint32())
		}
		return img
	}
	growth.Check(t, 100, func(b []byte) error { _, err := readAlone("f.glb", b); return err },
		growth.Accepted("vertices", vertices),
		growth.Accepted("nodes", func(n int) []byte {
			d, bin := plain()
			d["nodes"] = append(d["nodes"].([]any), slices.Repeat([]any{object{"name": "a"}}, n)...)
			return packed(t, d, bin)
		}),
		growth.Accepted("unused accessors", func(n int) []byte {
			d, bin := plain()
			d["accessors"] = append(d["accessors"].([]any), slices.Repeat([]any{part(d, "accessors", 0)}, n)...)
			return packed(t, d, bin)
		}),
		growth.Accepted("primitives of lines", func(n int) []byte {
			d, bin := plain()
			m := part(d, "meshes", 0)
			m["primitives"] = append(m["primitives"].([]any), slices.Repeat([]any{object{"mode": 1, "attributes": object{}}}, n)...)
			return packed(t, d, bin)
		}),
		growth.Accepted("animations", func(n int) []byte {
			d, bin := plain()
			d["animations"] = slices.Repeat(d["animations"].([]any), n)
			return packed(t, d, bin)
		}),
		growth.Refused("open brackets", growth.Repeat(`{"a":`, "[", ""), "f.glb"),
		growth.Accepted("PNG", func(n int) []byte {
			var b bytes.Buffer
			must.Do(t, png.Encode(&b, picture(n)))
			return textured(t, b.Bytes(), 1)
		}),
		growth.Accepted("JPEG", func(n int) []byte {
			var b bytes.Buffer
			must.Do(t, jpeg.Encode(&b, picture(n), &jpeg.Options{Quality: 100}))
			return textured(t, b.Bytes(), 1)
		}),
	)
}
