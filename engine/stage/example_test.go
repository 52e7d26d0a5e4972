package stage_test

import (
	"fmt"

	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/engine/stage"
)

// One picture in memory. Rendering needs a driver, so this example is compiled and not run.
func ExampleOpen() {
	s, err := stage.Open(stage.Options{Width: 1280, Height: 720, Offscreen: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	b, err := body.New(&body.Rig{Names: []string{"foot", "top"}, Parents: []int16{-1, 0}, Offsets: []m3.Vec3{{}, {Y: 1}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	crowd, err := s.NewCrowd(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	s.SetGround(func(x, z float32) float32 { return 0.2 * m3.Sin(x) })
	// Each tick: every joint's world transform, one row of joints per character.
	poses := []m3.Xform{{Rot: m3.Ident}, {Pos: m3.V(0, 1, 0), Rot: m3.Ident}}
	if err := crowd.Set(poses, [][3]float32{{0.4, 0.2, 0.1}}); err != nil {
		fmt.Println(err)
		return
	}
	s.Camera.Track(m3.V(0, 0.5, 0), 0, 1.0/60, nil)
	if err := s.Draw(stage.View{Focus: m3.V(0, 0.5, 0), HUD: []string{"hello"}}); err != nil {
		fmt.Println(err)
		return
	}
	img, err := s.Capture(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(img.Bounds())
}
