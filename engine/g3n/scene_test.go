package g3n

import (
	"image"
	"strings"
	"testing"

	"github.com/g3n/engine/camera"
	"github.com/g3n/engine/core"
	"github.com/g3n/engine/light"
	"github.com/g3n/engine/math32"
	"github.com/g3n/engine/renderer"

	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/engine/offscreen"
	"mannequin/internal/testing/must"
)

// game is a g3n program's scene, without our crowd.
type game struct {
	screen *offscreen.Screen
	render *renderer.Renderer
	scene  *core.Node
	cam    *camera.Camera
}

func newGame(t testing.TB, w, h int) *game {
	t.Helper()
	s, err := offscreen.Open(w, h, 1)
	if err != nil {
		if strings.Contains(err.Error(), "render offscreen") {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	g := &game{screen: s, render: must.Get(s.Renderer())(t), scene: core.NewNode(), cam: camera.New(float32(w) / float32(h))}
	s.GLS.ClearColor(0.3, 0.4, 0.5, 1)
	g.look(m3.V(0, 1, 4), m3.V(0, 0.5, 0))
	return g
}

func (g *game) look(from, at m3.Vec3) {
	g.cam.SetPosition(from.X, from.Y, from.Z)
	g.cam.LookAt(&math32.Vector3{X: at.X, Y: at.Y, Z: at.Z}, &math32.Vector3{Y: 1})
}

// light adds a light of each kind.
func (g *game) light() {
	g.scene.Add(light.NewAmbient(&math32.Color{R: 0.9, G: 0.9, B: 1}, 0.3))
	sun := light.NewDirectional(&math32.Color{R: 1, G: 0.95, B: 0.8}, 0.5)
	sun.SetPosition(1, 2, 1.5)
	g.scene.Add(sun)
	lamp := light.NewPoint(&math32.Color{R: 0.2, G: 0.9, B: 0.3}, 3)
	lamp.SetPosition(-1.5, 0.6, 1)
	g.scene.Add(lamp)
	spot := light.NewSpot(&math32.Color{R: 0.9, G: 0.2, B: 0.2}, 3)
	spot.SetPosition(1.5, 1.5, 1.5)
	spot.SetDirection(-0.57735, -0.57735, -0.57735) // g3n wants a unit vector
	spot.SetCutoffAngle(30)
	g.scene.Add(spot)
}

func (g *game) shoot(t testing.TB) *image.RGBA {
	t.Helper()
	return must.Get(g.screen.Draw(g.render, g.scene, g.cam, nil))(t)
}

// post is a rig that stands 1 m high: joint 0 on the ground, 1 half way up, 2 on top.
func post(t testing.TB) *body.Body {
	t.Helper()
	return must.Get(body.New(&body.Rig{Names: []string{"foot", "knee", "top"}, Parents: []int16{-1, 0, 1},
		Offsets: []m3.Vec3{{}, {Y: 0.5}, {Y: 0.5}}}))(t)
}

// stand appends the joints of a post at p.
func stand(bones []m3.Xform, p m3.Vec3) []m3.Xform {
	for k := range 3 {
		bones = append(bones, m3.Xform{Pos: p.Add(m3.V(0, 0.5*float32(k), 0)), Rot: m3.Ident})
	}
	return bones
}

func newCrowd(t testing.TB, b *body.Body, bones []m3.Xform) *Crowd {
	t.Helper()
	c := must.Get(NewCrowd(b))(t)
	must.Do(t, c.Update(bones))
	return c
}

// changed returns the box and the number of pixels that differ.
func changed(a, b *image.RGBA) (box image.Rectangle, n int) {
	for y := range a.Rect.Dy() {
		for x := range a.Rect.Dx() {
			if a.RGBAAt(x, y) != b.RGBAAt(x, y) {
				box = box.Union(image.Rect(x, y, x+1, y+1))
				n++
			}
		}
	}
	return box, n
}
