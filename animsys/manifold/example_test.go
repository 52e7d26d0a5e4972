package manifold_test

import (
	"fmt"
	"log"

	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/models/human"
	humanfootstep "mannequin/models/human-footstep"
	humanlocomotion "mannequin/models/human-locomotion"
	"mannequin/netruntime"
)

// A person walks round a circle for two seconds.
func ExampleLocomotion() {
	open := func(net *netruntime.Net, err error) *netruntime.Net {
		if err != nil {
			log.Fatal(err)
		}
		return net
	}
	model, err := manifold.NewModel(open(human.Open()))
	if err != nil {
		log.Fatal(err)
	}
	circle, err := control.Circle(3) // m
	if err != nil {
		log.Fatal(err)
	}
	const frames = 120
	walk := func(int) float32 { return 1.4 } // m/s
	ahead := func(int) float32 { return 0 }  // faces where it goes
	course, err := manifold.Along(circle, frames, walk, ahead)
	if err != nil {
		log.Fatal(err)
	}
	l, err := model.NewLocomotion(open(humanfootstep.Open()), open(humanlocomotion.Open()),
		manifold.LocomotionOptions{Batch: 1, Frames: frames, Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	made, _, err := l.Make([]manifold.Course{course}, nil, manifold.DefaultIterations, nil)
	if err != nil {
		log.Fatal(err)
	}
	clip, err := model.Clip(made[0].Rows, manifold.Rate, made[0].Start)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(clip.Frames, "frames of", clip.Skel.Len(), "joints")
	// Output: 120 frames of 30 joints
}
