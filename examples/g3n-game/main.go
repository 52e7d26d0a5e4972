// Command g3n-game is a program of g3n with its own window, meshes, lights, camera and text. All of
// mannequin in it is in herd.go.
//
//	go run ./examples/g3n-game
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"time"

	"github.com/g3n/engine/app"
	"github.com/g3n/engine/camera"
	"github.com/g3n/engine/core"
	"github.com/g3n/engine/geometry"
	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/graphic"
	"github.com/g3n/engine/gui"
	"github.com/g3n/engine/light"
	"github.com/g3n/engine/material"
	"github.com/g3n/engine/math32"
	"github.com/g3n/engine/renderer"
	"github.com/g3n/engine/window"
)

func main() {
	seconds := flag.Float64("seconds", math.Inf(1), "run for that many `seconds`")
	flag.Parse()
	a := app.App()
	scene, cam, lantern := newScene()
	camera.NewOrbitControl(cam)
	label := gui.NewLabel("")
	label.SetPosition(10, 10)
	scene.Add(label)
	gui.Manager().Set(scene)
	resize := func(string, any) {
		w, h := a.GetSize()
		a.Gls().Viewport(0, 0, int32(w), int32(h))
		cam.SetAspect(float32(w) / float32(h))
	}
	a.Subscribe(window.OnWindowSize, resize)
	resize("", nil)

	herd := newHerd(scene, lantern)
	a.Gls().ClearColor(0.10, 0.12, 0.20, 1)
	a.Run(func(r *renderer.Renderer, dt time.Duration) {
		if err := herd.update(dt); err != nil {
			log.Fatal(err)
		}
		label.SetText(fmt.Sprintf("%.0f frames a second   drag: turn, wheel: zoom", 1/max(dt.Seconds(), 0.001)))
		a.Gls().Clear(gls.DEPTH_BUFFER_BIT | gls.COLOR_BUFFER_BIT)
		if err := r.Render(scene, cam); err != nil {
			log.Fatal(err)
		}
		if a.RunTime().Seconds() > *seconds {
			a.Exit()
		}
	})
}

// newScene returns a yard at night, its camera, and a lantern for somebody to carry.
func newScene() (scene *core.Node, cam *camera.Camera, lantern core.INode) {
	scene = core.NewNode()
	cam = camera.New(16.0 / 9)
	cam.SetPosition(2.4, 1.4, -0.2)
	cam.LookAt(&math32.Vector3{X: 0.6, Y: 0.8, Z: -1.5}, &math32.Vector3{Y: 1})

	scene.Add(light.NewAmbient(&math32.Color{R: 0.6, G: 0.7, B: 1}, 0.45))
	moon := light.NewDirectional(&math32.Color{R: 0.7, G: 0.8, B: 1}, 0.6)
	moon.SetPosition(-2, 3, -1)
	scene.Add(moon)

	yard := graphic.NewMesh(geometry.NewPlane(40, 40), standard(0.42, 0.40, 0.36))
	yard.RotateX(-math.Pi / 2)
	scene.Add(yard)
	for i := range 5 {
		crate := graphic.NewMesh(geometry.NewCube(0.8), standard(0.5, 0.35, 0.2))
		crate.SetPosition(1.1*float32(i)-2.5, 0.4, -8)
		crate.RotateY(0.3 * float32(i))
		scene.Add(crate)
	}

	glass := standard(1, 0.8, 0.4)
	glass.SetEmissiveColor(&math32.Color{R: 1, G: 0.8, B: 0.4})
	lamp := graphic.NewMesh(geometry.NewSphere(0.07, 16, 12), glass)
	lamp.SetPosition(-0.1, -0.07, 0) // in the palm: at rest the right arm points along −X, the palm down
	shine := light.NewPoint(&math32.Color{R: 1, G: 0.75, B: 0.4}, 3)
	shine.SetLinearDecay(0.3)
	shine.SetQuadraticDecay(0.4)
	lamp.Add(shine)
	return scene, cam, lamp
}

func standard(r, g, b float32) *material.Standard {
	return material.NewStandard(&math32.Color{R: r, G: g, B: b})
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
