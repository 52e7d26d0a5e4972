// Command characters lets characters of any size walk side by side in one crowd, each with its own bones, and
// records them.
//
//	go run ./examples/characters -out walk.gif
//	go run ./examples/characters -out walk.mp4 dwarf.glb hero.glb
package main

import (
	"context"
	"flag"
	"fmt"
	"image"
	"log"
	"math"

	"github.com/g3n/engine/camera"
	"github.com/g3n/engine/core"
	"github.com/g3n/engine/geometry"
	"github.com/g3n/engine/graphic"
	"github.com/g3n/engine/light"
	"github.com/g3n/engine/material"
	"github.com/g3n/engine/math32"
	"github.com/g3n/engine/renderer"

	"mannequin/animsys"
	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/engine/media"
	"mannequin/engine/offscreen"
)

// width, height and fps are of the recording.
const width, height, fps = 640, 320, 20

func main() {
	out := flag.String("out", "characters.gif", "the recording's `FILE`: .gif, .mp4, or a folder for pictures")
	seconds := flag.Float64("seconds", 5, "walk for that many `seconds`")
	flag.Parse()
	if err := record(*out, *seconds, flag.Args()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(*out)
}

// record writes a recording of the characters in files, or of grown ones without files.
func record(out string, seconds float64, files []string) error {
	yard, err := newYard(func(sk *skel.Skeleton) (all []*skin.Skin, err error) {
		if len(files) == 0 {
			return grown(sk)
		}
		for _, path := range files {
			s, err := skin.Open(path)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
		return all, nil
	})
	if err != nil {
		return err
	}
	defer yard.close()
	film, err := media.Create(context.Background(), out, media.Options{Width: width, Height: height, FPS: fps})
	if err != nil {
		return err
	}
	defer film.Abort()
	for range int(seconds * fps) {
		picture, err := yard.walk(animsys.TickRate / fps)
		if err != nil {
			return err
		}
		if err := film.Frame(picture); err != nil {
			return err
		}
	}
	return film.Close()
}

// yard is a scene with a cast.
type yard struct {
	*cast
	screen *offscreen.Screen
	render *renderer.Renderer
	scene  *core.Node
	cam    *camera.Camera
}

func newYard(skins func(sk *skel.Skeleton) ([]*skin.Skin, error)) (*yard, error) {
	screen, err := offscreen.Open(width, height, 4)
	if err != nil {
		return nil, err
	}
	y := &yard{screen: screen, scene: core.NewNode(), cam: camera.New(float32(width) / height)}
	if y.render, err = screen.Renderer(); err == nil {
		y.cast, err = newCast(y.scene, skins)
	}
	if err != nil {
		screen.Close()
		return nil, err
	}
	screen.GLS.ClearColor(0.62, 0.72, 0.82, 1)
	y.scene.Add(light.NewAmbient(&math32.Color{R: 0.9, G: 0.95, B: 1}, 0.45))
	sun := light.NewDirectional(&math32.Color{R: 1, G: 0.95, B: 0.85}, 0.8)
	sun.SetPosition(1, 2, 2)
	y.scene.Add(sun)
	ground := graphic.NewMesh(geometry.NewPlane(60, 60), material.NewStandard(&math32.Color{R: 0.36, G: 0.42, B: 0.3}))
	ground.RotateX(-math.Pi / 2)
	y.scene.Add(ground)
	return y, nil
}

func (y *yard) close() {
	y.crowd.Close()
	y.screen.Close()
}

// walk returns a picture after some ticks, from ahead of the characters.
func (y *yard) walk(ticks int) (*image.RGBA, error) {
	for range ticks {
		if err := y.step(); err != nil {
			return nil, err
		}
	}
	var middle math32.Vector3
	n := float32(y.crowd.Agents())
	for row := range y.crowd.Agents() {
		p := y.crowd.Roots[row].Pos
		middle.Add(&math32.Vector3{X: p.X / n, Z: p.Z / n})
	}
	y.cam.SetPosition(middle.X-1.2, 1.3, middle.Z+2.4+0.45*n)
	y.cam.LookAt(&math32.Vector3{X: middle.X, Y: 0.9, Z: middle.Z}, &math32.Vector3{Y: 1})
	return y.screen.Draw(y.render, y.scene, y.cam, nil)
}
