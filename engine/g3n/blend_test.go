//go:build !race

package g3n

import (
	"image"
	"math"
	"testing"

	"github.com/g3n/engine/geometry"
	"github.com/g3n/engine/graphic"
	"github.com/g3n/engine/material"
	"github.com/g3n/engine/math32"

	"mannequin/engine/body"
	"mannequin/engine/m3"
)

// glass is a material that lets through what lies behind.
func glass(opacity float32) *body.Material {
	return &body.Material{BaseColor: [4]float32{0.7, 0.2, 0.1, opacity}, Roughness: 0.6, Cutoff: 0.5, Blend: true}
}

// What blends looks as g3n's own material does: over the background, over what is opaque and behind it, and behind what is
// opaque and before it. What is solid is drawn as ever.
func TestBlendsAsPhysicalMaterial(t *testing.T) {
	for _, opacity := range []float32{0.2, 0.6, 1} {
		g := newGame(t, 160, 120)
		g.look(m3.V(0, 0.3, 2), m3.Vec3{})
		g.light()
		for i, z := range []float32{-1, 0.9} {
			crate := graphic.NewMesh(geometry.NewCube(0.4), material.NewStandard(&math32.Color{G: 1}))
			crate.SetPosition(0.5*float32(1-2*i), 0.1, z)
			g.scene.Add(crate)
		}
		theirs := material.NewPhysical()
		theirs.SetBaseColorFactor(&math32.Color4{R: 0.7, G: 0.2, B: 0.1, A: opacity})
		theirs.SetMetallicFactor(0)
		theirs.SetRoughnessFactor(0.6)
		theirs.SetTransparent(opacity < 1)
		theirs.SetDepthMask(opacity == 1)
		compare(t, "glass", g, graphic.NewMesh(geometry.NewSphere(0.6, 40, 30), theirs), ball(t, [4]float32{1, 1, 1}, glass(opacity)))
		g.screen.Close()
	}
}

// The nearest of three agents lies over the others, whatever their order, at all levels of detail.
func TestBlendsFromBackToFront(t *testing.T) {
	b := ball(t, [4]float32{1, 1, 1}, glass(0.6))
	b.Materials[0].BaseColor = [4]float32{1, 1, 1, 0.6}
	for i, p := range b.Levels[0].Pos { // its back has another colour than its front
		b.Levels[0].Coat[i] = [4]float32{0.8, 0, 0}
		if p.Z < 0 {
			b.Levels[0].Coat[i] = [4]float32{0, 0.8, 0}
		}
	}
	b.Levels = append(b.Levels, b.Levels[0])
	g := newGame(t, 80, 80)
	g.light()
	g.look(m3.V(0, 0, 4), m3.Vec3{})
	turned := m3.YawQuat(math.Pi)
	draw := func(bones ...m3.Xform) *image.RGBA {
		c := newCrowd(t, b, bones)
		g.scene.Add(c)
		defer g.scene.Remove(c)
		return g.shoot(t)
	}
	near, middle, far := m3.Xform{Pos: m3.V(0, 0, 1), Rot: turned}, m3.Xform{Pos: m3.V(0.2, 0, 0), Rot: m3.Ident}, m3.Xform{Pos: m3.V(0, 0, -6), Rot: turned}
	want := draw(far, middle, near)
	one := *b
	one.Levels = b.Levels[:1]
	single := newCrowd(t, &one, []m3.Xform{near, middle, far})
	g.scene.Add(single)
	if _, n := changed(want, g.shoot(t)); n != 0 {
		t.Errorf("%d pixels differ between agents of two levels and of one", n)
	}
	g.scene.Remove(single)
	c := newCrowd(t, b, []m3.Xform{far, middle, near})
	g.scene.Add(c)
	g.shoot(t)
	if n := c.Drawn(); n[0] != 2 || n[1] != 1 {
		t.Fatalf("%v agents of the levels are drawn, want two and one", n)
	}
	g.scene.Remove(c)
	for _, order := range [][]m3.Xform{{near, middle, far}, {middle, near, far}, {far, near, middle}} {
		if _, n := changed(want, draw(order...)); n != 0 {
			t.Errorf("%d pixels depend on the order of the agents", n)
		}
	}
	green, red, both := draw(near).RGBAAt(40, 40), draw(middle).RGBAAt(40, 40), want.RGBAAt(40, 40)
	if green.G <= green.R || red.R <= red.G || both.G <= both.R {
		t.Errorf("the near one is %v, the next %v, and the near one over the others %v", green, red, both)
	}
}
