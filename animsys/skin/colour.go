package skin

import (
	"fmt"
	"image"
	"math"

	"github.com/qmuntal/gltf"

	"mannequin/engine/body"
	"mannequin/internal/boundedfile"
)

// material is a material of a file, and which texture coordinates it uses.
type material struct {
	body.Material
	texCoord int // of all its textures; −1 without textures
}

// defaultMaterial is the one without a material: light grey.
var defaultMaterial = material{Material: body.Material{Name: "default", BaseColor: [4]float32{0.6, 0.6, 0.6, 1}, Roughness: 1}, texCoord: -1}

// plain reports whether a colour is all that the material has.
func (m *material) plain() bool {
	return m.texCoord < 0 && m.Metallic == 0 && m.Emissive == [3]float32{} && !(m.Cutoff > 0 && m.BaseColor[3] < m.Cutoff) && !(m.Blend && m.BaseColor[3] < 1) && !m.DoubleSided
}

func (r *reader) material(where string, i int) (*material, error) {
	if i < 0 || i >= len(r.doc.Materials) {
		return nil, r.errorf(where+".material", "there is no materials[%d]: there are %d", i, len(r.doc.Materials))
	}
	if m := r.materials[i]; m != nil {
		return m, nil
	}
	doc := r.doc.Materials[i]
	m := &material{texCoord: -1, Material: body.Material{Name: boundedfile.Printable(doc.Name), BaseColor: [4]float32{1, 1, 1, 1}, Roughness: 1, NormalScale: 1, DoubleSided: doc.DoubleSided}}
	r.materials[i] = m
	where = fmt.Sprintf("materials[%d]", i)
	if pbr := doc.PBRMetallicRoughness; pbr != nil {
		if err := r.rough(m, where+".pbrMetallicRoughness", pbr); err != nil {
			return nil, err
		}
	}
	if n := doc.NormalTexture; n != nil && n.Index != nil {
		var err error
		if m.NormalMap, err = r.texture(m, where+".normalTexture", *n.Index, n.TexCoord); err != nil {
			return nil, err
		}
		if n.Scale != nil {
			m.NormalScale = float32(*n.Scale)
		}
	}
	for c, x := range doc.EmissiveFactor {
		if !(x >= 0 && x <= 1) {
			return nil, r.errorf(where+".emissiveFactor", "has the value %g, want 0 to 1", x)
		}
		m.Emissive[c] = float32(x)
	}
	if t := doc.EmissiveTexture; t != nil {
		var err error
		if m.Emission, err = r.texture(m, where+".emissiveTexture", t.Index, t.TexCoord); err != nil {
			return nil, err
		}
	}
	switch doc.AlphaMode {
	case gltf.AlphaMask:
		m.Cutoff = float32(doc.AlphaCutoffOrDefault())
	case gltf.AlphaBlend:
		m.Cutoff, m.Blend = 0.5, true
	}
	if math.IsNaN(float64(m.Cutoff)) || math.IsInf(float64(m.NormalScale), 0) || math.IsNaN(float64(m.NormalScale)) {
		return nil, r.errorf(where, "has a number that is not finite")
	}
	return m, nil
}

// rough reads base colour, metal and roughness.
func (r *reader) rough(m *material, where string, pbr *gltf.PBRMetallicRoughness) (err error) {
	if f := pbr.BaseColorFactor; f != nil {
		for c, x := range f {
			if !(x >= 0 && x <= 1) {
				return r.errorf(where+".baseColorFactor", "has the value %g, want 0 to 1", x)
			}
			m.BaseColor[c] = float32(x)
		}
	}
	metallic, roughness := pbr.MetallicFactorOrDefault(), pbr.RoughnessFactorOrDefault()
	if !(metallic >= 0 && metallic <= 1) {
		return r.errorf(where+".metallicFactor", "has the value %g, want 0 to 1", metallic)
	}
	if !(roughness >= 0 && roughness <= 1) {
		return r.errorf(where+".roughnessFactor", "has the value %g, want 0 to 1", roughness)
	}
	m.Metallic, m.Roughness = float32(metallic), float32(roughness)
	if t := pbr.BaseColorTexture; t != nil {
		if m.BaseTexture, err = r.texture(m, where+".baseColorTexture", t.Index, t.TexCoord); err != nil {
			return err
		}
	}
	if t := pbr.MetallicRoughnessTexture; t != nil {
		m.MetalRough, err = r.texture(m, where+".metallicRoughnessTexture", t.Index, t.TexCoord)
	}
	return err
}

// look reads what a primitive's vertices have of colours: the material, their own linear colours, and
// their texture coordinates, which are nil without textures.
func (r *reader) look(where string, p *gltf.Primitive, count int) (m *material, colour [][3]float32, uv [][2]float32, err error) {
	m = &defaultMaterial
	if p.Material != nil {
		if m, err = r.material(where, *p.Material); err != nil {
			return nil, nil, nil, err
		}
	}
	own, err := r.attribute(where, p, "COLOR_0", count, MaxVertices, gltf.AccessorVec3, gltf.AccessorVec4)
	if err != nil {
		return nil, nil, nil, err
	}
	if own != nil && p.Material == nil {
		m = &material{Material: body.Material{Name: "default", BaseColor: [4]float32{1, 1, 1, 1}, Roughness: 1}, texCoord: -1}
	}
	colour = make([][3]float32, count)
	for v := range colour {
		colour[v] = [3]float32{1, 1, 1}
		for c := 0; own != nil && c < 3; c++ {
			colour[v][c] = float32(min(max(own.at(v, c), 0), 1))
		}
	}
	if m.texCoord < 0 {
		return m, colour, nil, nil
	}
	e, err := r.attribute(where, p, fmt.Sprintf("TEXCOORD_%d", m.texCoord), count, MaxVertices, gltf.AccessorVec2)
	if e == nil || err != nil {
		return m, colour, nil, err
	}
	uv = make([][2]float32, count)
	for v := range uv {
		uv[v] = [2]float32{float32(e.at(v, 0)), float32(e.at(v, 1))}
	}
	return m, colour, uv, nil
}

// finish decides how the mesh is coloured: plain colours go into the vertices, and the whole mesh
// becomes one part. Otherwise it keeps its materials.
func (s *Skin) finish(parts []body.Part, used []*material, vertices []int) {
	plain := true
	for _, m := range used {
		plain = plain && m.plain()
	}
	if !plain {
		s.mesh.parts = parts
		number := map[*material]int{}
		for i, m := range used {
			k, ok := number[m]
			if !ok {
				k = len(s.materials)
				number[m] = k
				s.materials = append(s.materials, m.Material)
			}
			s.mesh.parts[i].Material = k
		}
		return
	}
	s.mesh.uv = nil
	from := 0
	for i, m := range used {
		for v := from; v < vertices[i]; v++ {
			for c := range 3 {
				s.mesh.colour[v][c] *= m.BaseColor[c]
			}
		}
		from = vertices[i]
	}
}

// vertexColours returns a colour for each vertex of m: the product of the vertex's colour, the material's
// base colour and the texture's colour at the vertex.
func vertexColours(b *body.Body, m *body.Mesh, tint [3]float32) [][4]float32 {
	out := make([][4]float32, len(m.Coat))
	for v, c := range m.Coat {
		rgb := b.Cover.Colour(c, tint)
		out[v] = [4]float32{rgb[0], rgb[1], rgb[2], 1}
	}
	done := make([]bool, len(out))
	for _, p := range m.Parts {
		mat := &b.Materials[p.Material]
		for _, v := range m.Index[p.Start : p.Start+p.Count] {
			if done[v] {
				continue
			}
			done[v] = true
			t := [3]float64{1, 1, 1}
			if mat.BaseTexture != nil && m.UV != nil {
				t = sample(mat.BaseTexture, float64(m.UV[v][0]), float64(m.UV[v][1]))
			}
			for k := range t {
				out[v][k] *= mat.BaseColor[k] * float32(t[k])
			}
		}
	}
	return out
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
