package g3n_test

import (
	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/animsys/resident"
	"mannequin/engine/body"
	"mannequin/engine/g3n"
	"mannequin/engine/m3"
	"mannequin/ik"
	dogfree "mannequin/models/dog-free"
)

// Dogs far away live in the OpenGL that draws them: from their goals to the picture no pose leaves the graphics card. It needs a window with
// OpenGL 4.3, and the build tag webgpu.
func ExampleCrowd_UpdateFrom() {
	model := get(mann.NewModel(get(dogfree.Open())))
	dog := get(body.New(&body.Rig{Names: model.Skel.Names, Parents: model.Skel.Parents, Offsets: model.Skel.Offsets}))
	view := get(g3n.NewCrowd(dog)) // a node of the scene

	compute, err := g3n.NewCompute() // of the current context
	check(err)
	far := get(resident.New(model, resident.Options{Capacity: 1000, Ground: ik.Level(0), Bind: dog.Bind, OpenGL: compute}))
	defer far.Close()
	agent := get(far.Add(feature.Place{Pos: m3.V(0, 0, 60)}))
	check(far.SetGoal(agent, control.Goal{Move: m3.V(0, 0, 1), Speed: control.TrotSpeed, Action: control.Move}))

	var hips []m3.Vec3
	tick := func() {
		check(far.Step())
		hips = far.Hips(hips) // for culling and levels of detail
		if m := far.Matrices(); m != nil {
			check(view.UpdateFrom(m.OpenGL(), hips))
		} else { // OpenGL is lost: the processor moves them
			check(view.Update(get(far.Bones(nil, agent))))
		}
	}
	tick()
}

func get[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
