package skin

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // the two formats of glTF
	_ "image/png"
	"math"

	"github.com/qmuntal/gltf"
)

// material is the colour of a material.
type material struct {
	factor   [3]float64
	picture  image.Image // base colour texture; nil for none
	texCoord int
}

// defaultMaterial is the colour without a material: light grey.
var defaultMaterial = material{factor: [3]float64{0.6, 0.6, 0.6}}

func (r *reader) material(where string, i int) (*material, error) {
	if i < 0 || i >= len(r.doc.Materials) {
		return nil, r.errorf(where+".material", "there is no materials[%d]: there are %d", i, len(r.doc.Materials))
	}
	if p := r.materials[i]; p != nil {
		return p, nil
	}
	p := &material{factor: [3]float64{1, 1, 1}}
	r.materials[i] = p
	pbr := r.doc.Materials[i].PBRMetallicRoughness
	if pbr == nil {
		return p, nil
	}
	where = fmt.Sprintf("materials[%d].pbrMetallicRoughness", i)
	if f := pbr.BaseColorFactor; f != nil {
		for c := range p.factor {
			if !(f[c] >= 0 && f[c] <= 1) {
				return nil, r.errorf(where+".baseColorFactor", "has the value %g, want 0 to 1", f[c])
			}
			p.factor[c] = f[c]
		}
	}
	t := pbr.BaseColorTexture
	if t == nil {
		return p, nil
	}
	picture, err := r.texture(t.Index)
	if err != nil {
		return nil, r.errorf(where+".baseColorTexture", "%v", err)
	}
	p.picture, p.texCoord = picture, t.TexCoord
	r.skin.note("%s: the texture is sampled at the vertices, and interpolated between them", where)
	return p, nil
}

func (r *reader) texture(i int) (image.Image, error) {
	d := &r.doc
	if i < 0 || i >= len(d.Textures) {
		return nil, fmt.Errorf("there is no textures[%d]: there are %d", i, len(d.Textures))
	}
	source := d.Textures[i].Source
	if source == nil || *source < 0 || *source >= len(d.Images) {
		return nil, fmt.Errorf("textures[%d] has no readable image: want PNG or JPEG", i)
	}
	if img := r.pictures[*source]; img != nil {
		return img, nil
	}
	img := d.Images[*source]
	where := fmt.Sprintf("images[%d]", *source)
	var data []byte
	var err error
	if img.BufferView != nil {
		data, _, err = r.view(*img.BufferView)
	} else {
		data, err = r.load(img.URI)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	if err := r.pictureRoom.take(data); err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	if r.pictures[*source], _, err = image.Decode(bytes.NewReader(data)); err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return r.pictures[*source], nil
}

// pictureRoom is what remains for the pictures of a file.
type pictureRoom struct {
	bytes, pixels int64
	memory        int64 // bytes of decoded pictures
	scanned       int64 // pixels times scans of JPEGs: a scan of some bytes goes over all pixels
}

var allPictures = pictureRoom{MaxFile, MaxPixels, 8 * MaxPixels, 16 * MaxPixels}

// take takes the room that the decoding of a picture needs, or returns an error.
func (r *pictureRoom) take(data []byte) error {
	size, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%w: want PNG or JPEG", err)
	}
	// A byte cannot encode more than some thousand pixels: a header may be wrong.
	const dense = 8192
	n := int64(size.Width) * int64(size.Height)
	if size.Width < 1 || size.Height < 1 || n > r.pixels || n > dense*int64(len(data)) {
		return fmt.Errorf("%d × %d pixels in %d bytes: at most %d in all are read", size.Width, size.Height, len(data), MaxPixels)
	}
	depth := int64(4) // bytes per pixel
	switch size.ColorModel {
	case color.GrayModel:
		depth = 1
	case color.Gray16Model:
		depth = 2
	case color.YCbCrModel:
		depth = 3
	case color.RGBA64Model, color.NRGBA64Model:
		depth = 8
	}
	scans, decoding := int64(1), depth // bytes per pixel while it is decoded
	switch {
	case format == "png" && data[28] == 1:
		decoding += (depth + 1) / 2 // interlaced: half of the picture is there twice
	case format == "jpeg":
		// In the data of a JPEG 0xff is followed by 0, so these are markers.
		scans = int64(bytes.Count(data, []byte{0xff, 0xda}))
		if bytes.Contains(data, []byte{0xff, 0xc2}) {
			decoding *= 5 // progressive: coefficients of four bytes
		} else if depth == 4 {
			decoding *= 2 // converted from other planes
		}
	}
	switch {
	case n*scans > r.scanned:
		return fmt.Errorf("%d × %d pixels in %d scans: at most %d pixels times scans in all are read: save it as PNG", size.Width, size.Height, scans, allPictures.scanned)
	case n*decoding > r.memory || int64(len(data)) > r.bytes:
		return fmt.Errorf("%d × %d pixels in %d bytes: all pictures may take %d MB, and %d MB of memory: make it smaller",
			size.Width, size.Height, len(data), allPictures.bytes>>20, allPictures.memory>>20)
	}
	r.bytes -= int64(len(data))
	r.pixels -= n
	r.memory -= n * depth
	r.scanned -= n * scans
	return nil
}

// colours returns each vertex's linear RGB colour: material times texture times its own.
func (r *reader) colours(where string, p *gltf.Primitive, count int) ([][3]float32, error) {
	look := &defaultMaterial
	if p.Material != nil {
		var err error
		if look, err = r.material(where, *p.Material); err != nil {
			return nil, err
		}
	}
	own, err := r.attribute(where, p, "COLOR_0", count, MaxVertices, gltf.AccessorVec3, gltf.AccessorVec4)
	if err != nil {
		return nil, err
	}
	if own != nil && p.Material == nil {
		look = &material{factor: [3]float64{1, 1, 1}}
	}
	var uv *elements
	if look.picture != nil {
		if uv, err = r.attribute(where, p, fmt.Sprintf("TEXCOORD_%d", look.texCoord), count, MaxVertices, gltf.AccessorVec2); err != nil {
			return nil, err
		}
	}
	out := make([][3]float32, count)
	for v := range out {
		c := look.factor
		if uv != nil {
			t := sample(look.picture, uv.at(v, 0), uv.at(v, 1))
			c = [3]float64{c[0] * t[0], c[1] * t[1], c[2] * t[2]}
		}
		for k := range c {
			if own != nil {
				c[k] *= min(max(own.at(v, k), 0), 1)
			}
			out[v][k] = float32(c[k])
		}
	}
	return out, nil
}

// sample returns the linear colour of a repeating picture at u, v.
func sample(img image.Image, u, v float64) [3]float64 {
	b := img.Bounds()
	x := b.Min.X + min(int((u-math.Floor(u))*float64(b.Dx())), b.Dx()-1)
	y := b.Min.Y + min(int((v-math.Floor(v))*float64(b.Dy())), b.Dy()-1)
	red, green, blue, _ := img.At(x, y).RGBA()
	return [3]float64{linear(red), linear(green), linear(blue)}
}

// linear converts a 16-bit sRGB value to linear light.
func linear(v uint32) float64 {
	x := float64(v) / 0xffff
	if x <= 0.04045 {
		return x / 12.92
	}
	return math.Pow((x+0.055)/1.055, 2.4)
}
