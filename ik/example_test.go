package ik_test

import (
	"fmt"

	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/testdog"
	"mannequin/terrain"
)

// One dog that stands in its rest pose is put on a slope.
func ExampleLegged() {
	dog := testdog.Skeleton()
	tree, err := ik.NewTree(dog.Parents)
	if err != nil {
		panic(err)
	}
	roles, err := ik.DogRoles(dog.Names) // or fill ik.Roles for a skeleton of your own
	if err != nil {
		panic(err)
	}
	rig, err := ik.NewRig(tree, roles)
	if err != nil {
		panic(err)
	}
	slope, err := terrain.Slope(terrain.Grid{Size: 10, Cell: 1}, 0.3, 0)
	if err != nil {
		panic(err)
	}

	job := ik.DefaultDog()
	job.Rig, job.Ground = rig, slope
	job.Pos = dog.Offsets
	job.Rot = make([]m3.Quat, dog.Len())
	for j := range job.Rot {
		job.Rot[j] = m3.Ident
	}
	job.Model = make([]m3.Xform, dog.Len())
	job.Feet, job.Body = make([]ik.Foot, len(roles.Legs)), make([]ik.Body, 1)
	if err := job.Validate(); err != nil {
		panic(err)
	}
	job.Run(0, 1)

	paw := job.Model[dog.Index("LeftHandSite")].Pos
	fmt.Printf("the paw is %.0f mm above the slope\n", 1000*(paw.Y-slope.Height(paw.X, paw.Z)))
	// Output: the paw is 4 mm above the slope
}
