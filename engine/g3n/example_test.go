package g3n_test

import (
	"fmt"

	"github.com/g3n/engine/camera"
	"github.com/g3n/engine/core"
	"github.com/g3n/engine/experimental/collision"
	"github.com/g3n/engine/math32"

	"mannequin/engine/body"
	"mannequin/engine/g3n"
	"mannequin/engine/m3"
)

// A game's scene with two agents. It is not rendered here; see examples/g3n-game.
func Example() {
	scene := core.NewNode() // the game's
	rig := &body.Rig{Names: []string{"foot", "top"}, Parents: []int16{-1, 0}, Offsets: []m3.Vec3{{}, {Y: 1}}}
	grown, err := body.New(rig)
	if err != nil {
		fmt.Println(err)
		return
	}
	view, err := g3n.NewCrowd(grown)
	if err != nil {
		fmt.Println(err)
		return
	}
	scene.Add(view)

	// Looks are by agent, and may change at any time.
	view.SetLooks([]g3n.Look{{Tint: [3]float32{0.5, 0.1, 0.1}}, g3n.DefaultLook})
	view.SetShadow(func(x, z float32) float32 { return 0 }, 0.5)
	flag := view.Attach(core.NewNode(), 0, 1, m3.Xform{Pos: m3.V(0, 0.1, 0)})

	// Each frame: the bones of all agents, as animsys.Crowd.Interpolate returns them.
	bones := []m3.Xform{
		{Pos: m3.V(-1, 0, 0), Rot: m3.Ident}, {Pos: m3.V(-1, 1, 0), Rot: m3.Ident},
		{Pos: m3.V(1, 0, 0), Rot: m3.Ident}, {Pos: m3.V(1, 1, 0), Rot: m3.Ident},
	}
	flag.Agent = 1
	if err := view.Update(bones); err != nil {
		fmt.Println(err)
		return
	}

	// Who is under the mouse, at x and y from −1 to 1?
	cam := camera.New(1)
	cam.SetPosition(1, 0.5, 3)
	cam.UpdateMatrixWorld() // as rendering does
	mouse := collision.NewRaycaster(&math32.Vector3{}, &math32.Vector3{})
	if err := mouse.SetFromCamera(cam, 0, 0); err != nil {
		fmt.Println(err)
		return
	}
	if hit, ok := view.Raycast(&mouse.Ray); ok {
		fmt.Printf("agent %d, joint %s\n", hit.Agent, rig.Names[hit.Joint])
	}
	// Output: agent 1, joint foot
}
