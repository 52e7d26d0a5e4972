package skin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	_ "image/jpeg" // the two formats of glTF
	_ "image/png"

	"github.com/qmuntal/gltf"
	_ "golang.org/x/image/webp" // and that of EXT_texture_webp
)

// texture returns a texture's picture, or nil if it uses other coordinates than the material's first
// texture.
func (r *reader) texture(m *material, where string, i, texCoord int) (image.Image, error) {
	d := &r.doc
	if i < 0 || i >= len(d.Textures) {
		return nil, r.errorf(where, "there is no textures[%d]: there are %d", i, len(d.Textures))
	}
	if m.texCoord >= 0 && m.texCoord != texCoord {
		r.skin.note("%s: is left out, because it uses TEXCOORD_%d and not TEXCOORD_%d", where, texCoord, m.texCoord)
		return nil, nil
	}
	source := sourceOf(d.Textures[i])
	if source == nil && len(d.Textures[i].Extensions) > 0 {
		r.skin.note("%s: is left out: textures[%d] has no image of PNG, JPEG or WebP", where, i)
		return nil, nil
	}
	if source == nil || *source < 0 || *source >= len(d.Images) {
		return nil, r.errorf(where, "textures[%d] has no readable image: want PNG, JPEG or WebP", i)
	}
	if s := d.Textures[i].Sampler; s != nil && *s >= 0 && *s < len(d.Samplers) {
		for k, w := range [2]gltf.WrappingMode{d.Samplers[*s].WrapS, d.Samplers[*s].WrapT} {
			m.Clamped[k], m.Mirrored[k] = w == gltf.WrapClampToEdge, w == gltf.WrapMirroredRepeat
		}
	}
	img, err := r.picture(*source)
	if errors.Is(err, image.ErrFormat) {
		r.skin.note("%s: is left out: images[%d] is no PNG, JPEG or WebP", where, *source)
		return nil, nil
	}
	if errors.As(err, new(notBeside)) {
		r.skin.note("%s: is left out: images[%d]: %v", where, *source, err)
		return nil, nil
	}
	m.texCoord = texCoord
	if err != nil {
		return nil, r.errorf(where, "images[%d]: %v", *source, err)
	}
	return img, nil
}

// sourceOf returns the image of a texture, as WebP if it has that.
func sourceOf(t *gltf.Texture) *int {
	if webp, ok := t.Extensions["EXT_texture_webp"].(json.RawMessage); ok {
		var x struct{ Source *int }
		if json.Unmarshal(webp, &x) == nil && x.Source != nil {
			return x.Source
		}
	}
	return t.Source
}

// picture decodes an image of the file.
func (r *reader) picture(i int) (image.Image, error) {
	if img := r.pictures[i]; img != nil {
		return img, nil
	}
	if r.pictureRoom == nil {
		r.pictureRoom = r.newPictureRoom()
	}
	data, err := r.pictureData(i)
	if err != nil {
		return nil, err
	}
	halve, err := r.pictureRoom.take(data)
	if err != nil {
		return nil, err
	}
	decoded, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if halve {
		decoded = halved(decoded)
	}
	r.pictures[i] = decoded
	return decoded, nil
}

func (r *reader) pictureData(i int) ([]byte, error) {
	img := r.doc.Images[i]
	if img.BufferView == nil {
		return r.load(img.URI)
	}
	data, _, err := r.view(*img.BufferView)
	return data, err
}

// newPictureRoom returns the room of all pictures. If those of the materials have too many pixels they are
// shown at half of their size.
func (r *reader) newPictureRoom() *pictureRoom {
	room, sum, seen := allPictures, int64(0), map[int]bool{}
	add := func(texture int) {
		if texture < 0 || texture >= len(r.doc.Textures) {
			return
		}
		i := sourceOf(r.doc.Textures[texture])
		if i == nil || *i < 0 || *i >= len(r.doc.Images) || seen[*i] || r.doc.Images[*i].BufferView == nil { // what is beside is read once
			return
		}
		seen[*i] = true
		if data, err := r.pictureData(*i); err == nil {
			if size, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
				sum += min(int64(size.Width)*int64(size.Height), MaxPixels+1)
			}
		}
	}
	for _, m := range r.doc.Materials {
		if p := m.PBRMetallicRoughness; p != nil {
			if p.BaseColorTexture != nil {
				add(p.BaseColorTexture.Index)
			}
			if p.MetallicRoughnessTexture != nil {
				add(p.MetallicRoughnessTexture.Index)
			}
		}
		if m.NormalTexture != nil && m.NormalTexture.Index != nil {
			add(*m.NormalTexture.Index)
		}
		if m.EmissiveTexture != nil {
			add(m.EmissiveTexture.Index)
		}
	}
	switch {
	case sum > allPictures.decoded:
		room.pixels = 0 // too many: the first one is refused
	case sum > MaxPixels:
		room.halve = true
		r.skin.note("its pictures have %d million pixels: they are shown at half of their size", sum/1e6)
	}
	return &room
}

// smallPicture is the side up to which a picture is never halved.
const smallPicture = 256

// halved returns a picture of half the size: means of four pixels, by their alpha.
func halved(img image.Image) image.Image {
	b := img.Bounds()
	out := image.NewNRGBA(image.Rect(0, 0, b.Dx()/2, b.Dy()/2))
	rows := image.NewNRGBA(image.Rect(0, 0, b.Dx(), 2))
	var into draw.Image = rows
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		into = &image.RGBA{Pix: rows.Pix, Stride: rows.Stride, Rect: rows.Rect} // the same bytes, and the fast way
	}
	for y := range out.Rect.Dy() {
		draw.Draw(into, rows.Rect, img, image.Pt(b.Min.X, b.Min.Y+2*y), draw.Src)
		for x := range out.Rect.Dx() {
			one, two := rows.Pix[8*x:8*x+8], rows.Pix[rows.Stride+8*x:rows.Stride+8*x+8]
			four := [4][]uint8{one[:4], one[4:], two[:4], two[4:]}
			var sum, plain [3]int
			alpha := 0
			for _, p := range four {
				for c := range sum {
					sum[c] += int(p[c]) * int(p[3])
					plain[c] += int(p[c])
				}
				alpha += int(p[3])
			}
			to := out.Pix[y*out.Stride+4*x:]
			for c := range sum {
				if to[c] = uint8((plain[c] + 2) / 4); alpha > 0 {
					to[c] = uint8((sum[c] + alpha/2) / alpha)
				}
			}
			to[3] = uint8((alpha + 2) / 4)
		}
	}
	return out
}

// pictureRoom is what remains for the pictures of a file.
type pictureRoom struct {
	bytes, pixels int64
	decoded       int64 // pixels before they are halved
	memory        int64 // bytes of decoded pictures
	scanned       int64 // pixels times scans of JPEGs: a scan of some bytes goes over all pixels
	halve         bool  // whether large pictures are halved
}

var allPictures = pictureRoom{bytes: MaxFile, pixels: MaxPixels, decoded: 4 * MaxPixels, memory: 8 * MaxPixels, scanned: 16 * MaxPixels}

// take takes the room that the decoding of a picture needs, or returns an error, and whether to halve it.
func (r *pictureRoom) take(data []byte) (halve bool, err error) {
	size, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return false, fmt.Errorf("%w: want PNG, JPEG or WebP", err)
	}
	// A byte cannot encode more than some thousand pixels: a header may be wrong.
	const dense = 8192
	n := int64(size.Width) * int64(size.Height)
	halve = r.halve && size.Width > smallPicture && size.Height > smallPicture
	kept := n
	if halve {
		kept = n / 4
	}
	if size.Width < 1 || size.Height < 1 || n > MaxPixels || kept > r.pixels || n > r.decoded || n > dense*int64(len(data)) {
		return false, fmt.Errorf("%d × %d pixels in %d bytes: at most %d of a picture and %d in all are read", size.Width, size.Height, len(data), MaxPixels, allPictures.decoded)
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
	case format == "webp":
		decoding += 4 // pieces on the way
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
		return false, fmt.Errorf("%d × %d pixels in %d scans: at most %d pixels times scans in all are read: save it as PNG", size.Width, size.Height, scans, allPictures.scanned)
	case n*decoding > r.memory || int64(len(data)) > r.bytes:
		return false, fmt.Errorf("%d × %d pixels in %d bytes: all pictures may take %d MB, and %d MB of memory: make it smaller",
			size.Width, size.Height, len(data), allPictures.bytes>>20, allPictures.memory>>20)
	}
	r.bytes -= int64(len(data))
	r.pixels -= kept
	r.decoded -= n
	if halve {
		depth = 4
	}
	r.memory -= kept * depth
	r.scanned -= n * scans
	return halve, nil
}
