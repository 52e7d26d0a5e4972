package fbx

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/jpeg" // the two formats of glTF
	_ "image/png"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"mannequin/internal/boundedfile"
)

// baseColours are the properties of materials that a picture of the colour is connected to.
var baseColours = []string{"DiffuseColor", "Maya|baseColor", "Maya|base_color", "Maya|TEX_color_map", "3dsMax|Parameters|base_color_map"}

// material returns the number of a material in the document. texture is one that a model of version 6
// has for all its materials, or 0.
func (c *characterReader) material(id, texture int64) (int, error) {
	key := [2]int64{id, texture}
	if n, ok := c.materials[key]; ok {
		return n, nil
	}
	r := c.objects[id]
	values, err := c.all(r, 2)
	if err != nil {
		return 0, err
	}
	p, err := c.properties(r)
	if err != nil {
		return 0, err
	}
	find := func(name string) []value {
		if v, ok := p[name]; ok {
			return v
		}
		return c.templates["Material"][name]
	}
	one := func(name string, otherwise float64) float64 {
		if x, ok := number(find(name), 0); ok && !math.IsNaN(x) {
			return x
		}
		return otherwise
	}
	colour := func(otherwise float64, names ...string) (rgb [3]float64) {
		rgb = [3]float64{otherwise, otherwise, otherwise}
		for _, name := range names {
			v := find(name)
			for k := range rgb {
				if x, ok := number(v, k); ok && !math.IsNaN(x) {
					rgb[k] = x
				}
			}
			if v != nil {
				break
			}
		}
		return rgb
	}
	scaled := func(rgb [3]float64, by float64) [3]float64 {
		for k := range rgb {
			rgb[k] = min(max(rgb[k]*by, 0), 1)
		}
		return rgb
	}
	name := text(values, 0)
	if c.version >= 7000 {
		name = text(values, 1)
	}
	m := &gltf.Material{Name: cleanName(name), PBRMetallicRoughness: &gltf.PBRMetallicRoughness{MetallicFactor: gltf.Float(0)}}
	base := scaled(colour(0.8, "DiffuseColor", "Diffuse", "Maya|baseColor", "Maya|base_color"), one("DiffuseFactor", 1))
	// A shininess of Phong's model as roughness: Karis 2013, "Specular BRDF Reference", equation for n.
	m.PBRMetallicRoughness.RoughnessFactor = gltf.Float(min(math.Sqrt(2/(2+max(one("Shininess", one("ShininessExponent", 0)), 0))), 1))
	m.EmissiveFactor = scaled(colour(0, "EmissiveColor"), one("EmissiveFactor", 1))
	use := func(properties ...string) (int64, *int, error) {
		for _, name := range properties {
			for _, t := range c.below(id, name, "") {
				n, err := c.texture(m.Name, t)
				if n != nil || err != nil {
					return t, n, err
				}
			}
		}
		return 0, nil, nil
	}
	painted, t, err := use(baseColours...)
	if err == nil && t == nil && texture != 0 {
		t, err = c.texture(m.Name, texture)
	}
	if err != nil {
		return 0, err
	}
	if t != nil { // it replaces the colour
		m.PBRMetallicRoughness.BaseColorTexture = &gltf.TextureInfo{Index: *t}
		base = [3]float64{1, 1, 1}
	}
	through := scaled(colour(1, "TransparentColor"), one("TransparencyFactor", 0))
	opacity := min(max(one("Opacity", 1-(through[0]+through[1]+through[2])/3), 0), 1)
	if opacity == 0 {
		opacity = 1 // a transparency that means opacity, as some programs write it
	}
	m.PBRMetallicRoughness.BaseColorFactor = &[4]float64{base[0], base[1], base[2], opacity}
	if hidden := c.below(id, "TransparentColor", "Texture/"); opacity < 1 || painted != 0 && slices.Contains(hidden, painted) {
		m.AlphaMode = gltf.AlphaBlend
	}
	if _, t, err = use("NormalMap", "Maya|normalCamera", "Maya|TEX_normal_map", "3dsMax|Parameters|norm_map"); err != nil {
		return 0, err
	}
	if t != nil {
		m.NormalTexture = &gltf.NormalTexture{Index: t}
	}
	if _, t, err = use("EmissiveColor"); err != nil {
		return 0, err
	}
	if t != nil {
		m.EmissiveTexture, m.EmissiveFactor = &gltf.TextureInfo{Index: *t}, scaled([3]float64{1, 1, 1}, one("EmissiveFactor", 1))
	}
	n := len(c.doc.Materials)
	c.doc.Materials = append(c.doc.Materials, m)
	c.materials[key] = n
	return n, nil
}

// texture returns the number of a texture in the document, or nil if it has no picture that is read.
func (c *characterReader) texture(material string, id int64) (*int, error) {
	if n, ok := c.textures[id]; ok {
		return n, nil
	}
	c.textures[id] = nil
	if strings.HasPrefix(c.kinds[id], "LayeredTexture/") {
		for _, t := range c.below(id, "", "Texture/") { // the lowest layer
			n, err := c.texture(material, t)
			c.textures[id] = n
			return n, err
		}
	}
	r := c.objects[id]
	if r == nil || !strings.HasPrefix(c.kinds[id], "Texture/") {
		return nil, nil
	}
	source, err := c.picture(material, id, r)
	if err != nil || source < 0 {
		return nil, err
	}
	d := c.doc
	t := &gltf.Texture{Source: gltf.Index(source)}
	p, err := c.properties(r)
	if err != nil {
		return nil, err
	}
	u, _ := number(p["WrapModeU"], 0)
	v, _ := number(p["WrapModeV"], 0)
	if u == 1 || v == 1 {
		s := &gltf.Sampler{}
		if u == 1 {
			s.WrapS = gltf.WrapClampToEdge
		}
		if v == 1 {
			s.WrapT = gltf.WrapClampToEdge
		}
		t.Sampler = gltf.Index(len(d.Samplers))
		d.Samplers = append(d.Samplers, s)
	}
	d.Textures = append(d.Textures, t)
	c.textures[id] = gltf.Index(len(d.Textures) - 1)
	return c.textures[id], nil
}

// picture returns the number of a texture's picture in the document, or −1 if there is none.
func (c *characterReader) picture(material string, id int64, texture *record) (int, error) {
	var names []string
	add := func(r *record) error {
		for _, key := range []string{"RelativeFilename", "FileName", "Filename"} {
			if f := r.child(key); f != nil {
				v, err := c.all(f, 1)
				if err != nil {
					return err
				}
				if s := strings.ReplaceAll(text(v, 0), `\`, "/"); s != "" {
					names = append(names, s)
				}
			}
		}
		return nil
	}
	if err := add(texture); err != nil {
		return 0, err
	}
	videos := c.below(id, "", "Video/")
	if m := texture.child("Media"); m != nil && len(videos) == 0 {
		v, err := c.all(m, 1)
		if err != nil {
			return 0, err
		}
		if n := c.ids[text(v, 0)]; n != 0 && strings.HasPrefix(c.kinds[n], "Video/") {
			videos = append(videos, n)
		}
	}
	name := func() string {
		if len(names) == 0 {
			return "unnamed"
		}
		return boundedfile.Printable(path.Base(names[0]))
	}
	for _, id := range videos {
		r := c.objects[id]
		if err := add(r); err != nil {
			return 0, err
		}
		key := fmt.Sprint("video ", id)
		if n, ok := c.images[key]; ok {
			return n, nil
		}
		data, err := c.content(r)
		if err != nil {
			return 0, err
		}
		if len(data) > 0 {
			c.images[key] = c.image(material, name(), data)
			return c.images[key], nil
		}
	}
	return c.beside(material, name(), names)
}

// image writes a picture into the document and returns its number, or −1 if its format is none of glTF's.
func (c *characterReader) image(material, name string, data []byte) int {
	_, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		c.note("the material %.60q: the picture %.100q is left out: want PNG or JPEG", material, name)
		return -1
	}
	view := modeler.WriteBufferView(c.doc, gltf.TargetNone, data)
	c.doc.Images = append(c.doc.Images, &gltf.Image{Name: name, MimeType: "image/" + format, BufferView: gltf.Index(view)})
	return len(c.doc.Images) - 1
}

// content returns what a record has of a file within this one.
func (c *characterReader) content(r *record) ([]byte, error) {
	at := r.child("Content")
	if at == nil {
		return nil, nil
	}
	var out []byte
	var coded strings.Builder // text
	err := c.each(at, func(v *value) bool {
		switch v.kind {
		case 'r':
			out = append(out, v.text...)
		case 's':
			coded.WriteString(v.text)
		}
		return true
	})
	if err != nil || coded.Len() == 0 {
		return out, err
	}
	if out, err = base64.StdEncoding.DecodeString(coded.String()); err != nil {
		return nil, c.errorf(at.at, "the picture in it is not in base64")
	}
	return out, nil
}

// beside returns the number of the first picture that there is: by its name, in the file's folder, or in one
// of the folders below it in which programs put pictures. It returns −1 if there is none.
func (c *characterReader) beside(material, name string, names []string) (int, error) {
	stem := path.Base(strings.ReplaceAll(c.name, `\`, "/"))
	stem = strings.TrimSuffix(stem, path.Ext(stem))
	var all []string
	for _, n := range names {
		base := path.Base(n)
		all = append(all, path.Clean(n), base, stem+".fbm/"+base, "textures/"+base, "Textures/"+base)
	}
	for i, n := range all {
		if c.folder == nil || !fs.ValidPath(n) || n == "." || strings.Contains(n, ":") || slices.Contains(all[:i], n) {
			continue
		}
		key := "file " + n
		if k, ok := c.images[key]; ok {
			return k, nil
		}
		data, err := boundedfile.ReadBeside(c.folder, c.name, n, c.room)
		if err == nil && len(data) > 0 {
			c.room -= int64(len(data))
			c.images[key] = c.image(material, name, data)
			return c.images[key], nil
		}
	}
	c.note("the material %.60q: no picture %.100q in the file or beside it", material, name)
	return -1, nil
}
