//go:build !race

package g3n

import (
	"image"
	"image/draw"
	"math"
	"testing"

	"github.com/g3n/engine/core"
	"github.com/g3n/engine/geometry"
	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/graphic"
	"github.com/g3n/engine/material"
	"github.com/g3n/engine/math32"
	"github.com/g3n/engine/texture"

	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// ball returns g3n's sphere as a body with one joint.
func ball(t *testing.T, coat [4]float32, mat *body.Material) *body.Body {
	g := geometry.NewSphere(0.6, 40, 30)
	var m body.Mesh
	g.ReadVertices(func(v math32.Vector3) bool {
		m.Pos = append(m.Pos, m3.V(v.X, v.Y, v.Z))
		m.Joints, m.Weights, m.Coat = append(m.Joints, [4]uint8{}), append(m.Weights, [4]float32{1}), append(m.Coat, coat)
		return false
	})
	g.ReadVertexNormals(func(v math32.Vector3) bool {
		m.Normal = append(m.Normal, m3.V(v.X, v.Y, v.Z))
		return false
	})
	uv := g.VBO(gls.VertexTexcoord).Buffer()
	for i := range m.Pos {
		m.UV = append(m.UV, [2]float32{(*uv)[2*i], (*uv)[2*i+1]})
	}
	m.Index = g.Indices()
	b := must.Get(body.Adopt([]m3.Xform{{Rot: m3.Ident}}, m, body.Paint))(t)
	b.Levels = b.Levels[:1]
	if mat != nil {
		b.Materials = []body.Material{*mat}
		b.Levels[0].UV, b.Levels[0].Parts = m.UV, []body.Part{{Count: len(m.Index)}}
	}
	return b
}

// compare draws a g3n mesh and our crowd, which should look the same.
func compare(t *testing.T, what string, g *game, theirs core.INode, ours *body.Body) {
	t.Helper()
	none := g.shoot(t)
	g.scene.Add(theirs)
	want := g.shoot(t)
	g.scene.Remove(theirs)
	c := newCrowd(t, ours, []m3.Xform{{Rot: m3.Ident}})
	g.scene.Add(c)
	got := g.shoot(t)
	g.scene.Remove(c)
	_, area := changed(none, want)
	worst, sum := 0.0, 0.0
	for i := range got.Pix {
		d := math.Abs(float64(got.Pix[i]) - float64(want.Pix[i]))
		worst, sum = max(worst, d), sum+d
	}
	t.Logf("%s: %d pixels, largest difference %g, mean %.3f", what, area, worst, sum/float64(4*area))
	if area < 2000 || worst > 3 {
		t.Errorf("%s: of %d pixels the largest difference from g3n's own is %g of 255", what, area, worst)
	}
}

// A painted body looks as g3n's standard material does in the same colour, in every light.
func TestAsStandardMaterial(t *testing.T) {
	linear := [4]float32{0.5, 0.2, 0.05}
	sRGB := func(x float32) float32 { return 1.055*float32(math.Pow(float64(x), 1/2.4)) - 0.055 }
	b := ball(t, linear, nil)
	for _, lit := range []bool{false, true} {
		g := newGame(t, 160, 120)
		g.look(m3.V(0, 0.3, 2), m3.Vec3{})
		if lit {
			g.light()
		}
		mat := material.NewStandard(&math32.Color{R: sRGB(linear[0]), G: sRGB(linear[1]), B: sRGB(linear[2])})
		mat.SetSpecularColor(&math32.Color{})
		mesh := graphic.NewMesh(geometry.NewSphere(0.6, 40, 30), mat)
		compare(t, map[bool]string{false: "no lights", true: "all lights"}[lit], g, mesh, b)
		g.screen.Close()
	}
}

// Materials look as g3n's physical material, with which its own loader shows glTF.
func TestAsPhysicalMaterial(t *testing.T) {
	picture := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	for y := range 64 {
		for x := range 64 {
			i := picture.PixOffset(x, y)
			copy(picture.Pix[i:], []byte{byte(80 + 2*x), byte(200 - 2*y), byte(60 + x + y), 255})
		}
	}
	rgba := image.NewRGBA(picture.Rect)
	draw.Draw(rgba, rgba.Rect, picture, image.Point{}, draw.Src)
	for _, c := range []struct {
		name         string
		metal, rough float32
		picture      bool
	}{{"plastic", 0, 0.4, false}, {"chalk", 0, 1, false}, {"metal", 1, 0.3, false}, {"textured", 0, 0.6, true}} {
		g := newGame(t, 160, 120)
		g.look(m3.V(0, 0.3, 2), m3.Vec3{})
		g.light()
		mat := &body.Material{BaseColor: [4]float32{0.7, 0.4, 0.3, 1}, Metallic: c.metal, Roughness: c.rough, Emissive: [3]float32{0.02, 0, 0.05}}
		theirs := material.NewPhysical()
		theirs.SetBaseColorFactor(&math32.Color4{R: 0.7, G: 0.4, B: 0.3, A: 1})
		theirs.SetMetallicFactor(c.metal)
		theirs.SetRoughnessFactor(c.rough)
		theirs.SetEmissiveFactor(&math32.Color{R: 0.02, B: 0.05})
		if c.picture {
			mat.BaseTexture = picture
			theirs.SetBaseColorMap(texture.NewTexture2DFromRGBA(rgba))
		}
		b := ball(t, [4]float32{1, 1, 1}, mat)
		compare(t, c.name, g, graphic.NewMesh(geometry.NewSphere(0.6, 40, 30), theirs), b)
		g.screen.Close()
	}
}

// What the game draws keeps its pixels, wherever our crowd is on the screen.
func TestHostKeepsItsPixels(t *testing.T) {
	g := newGame(t, 200, 120)
	g.light()
	floor := graphic.NewMesh(geometry.NewPlane(6, 6), material.NewStandard(&math32.Color{R: 0.4, G: 0.5, B: 0.3}))
	floor.RotateX(-math.Pi / 2)
	stripes := image.NewRGBA(image.Rect(0, 0, 32, 32))
	for i := range stripes.Pix {
		stripes.Pix[i] = byte(80 * (i / 16 % 3))
	}
	box := material.NewStandard(&math32.Color{R: 1, G: 1, B: 1})
	box.AddTexture(texture.NewTexture2DFromRGBA(stripes))
	crate, glass := graphic.NewMesh(geometry.NewCube(0.6), box), material.NewStandard(&math32.Color{B: 1})
	crate.SetPosition(-0.8, 0.3, 0.5)
	glass.SetOpacity(0.5)
	glass.SetTransparent(true)
	window := graphic.NewMesh(geometry.NewPlane(1, 1), glass)
	window.SetPosition(-1, 0.6, 1)
	for _, n := range []core.INode{floor, crate, window} {
		g.scene.Add(n)
	}
	alone := g.shoot(t)
	bones := stand(stand(stand(nil, m3.V(1.2, 0, 0)), m3.V(1.5, 0, -20)), m3.V(0, 0, 30))
	people := newCrowd(t, textured(t), []m3.Xform{{Pos: m3.V(1.2, 0, -1), Rot: m3.Ident}})
	dogs := newCrowd(t, post(t), bones)
	dogs.SetShadow(func(x, z float32) float32 { return 0 }, 0.5)
	must.Do(t, dogs.Update(bones))
	g.scene.Add(people)
	g.scene.Add(dogs)
	for range 2 { // the first picture uploads
		both := g.shoot(t)
		if where, n := changed(alone, both); n < 200 || where.Min.X < 100 {
			t.Errorf("a crowd on the right changes %d pixels in %v", n, where)
		}
	}
	// Behind the camera: the whole picture is the game's, to the byte.
	people.SetPosition(0, 0, 100)
	dogs.SetPosition(0, 0, 100)
	if where, n := changed(alone, g.shoot(t)); n != 0 {
		t.Errorf("crowds behind the camera change %d pixels in %v", n, where)
	}
	g.scene.Remove(people)
	g.scene.Remove(dogs)
	people.Dispose()
	dogs.Dispose()
	if where, n := changed(alone, g.shoot(t)); n != 0 {
		t.Errorf("%d pixels in %v are not as before the crowds", n, where)
	}
}
