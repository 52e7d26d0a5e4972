package ik_test

import (
	"fmt"
	"slices"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/testdog"
	"mannequin/terrain"
)

// newDog returns the job of one dog that stands in its rest pose, and its skeleton.
func newDog(ground ik.Ground) (*skel.Skeleton, *ik.Legged, error) {
	dog := testdog.Skeleton()
	tree, err := ik.NewTree(dog.Parents)
	if err != nil {
		return nil, nil, err
	}
	roles, err := ik.DogRoles(dog.Names) // or fill ik.Roles for a skeleton of your own
	if err != nil {
		return nil, nil, err
	}
	rig, err := ik.NewRig(tree, roles)
	if err != nil {
		return nil, nil, err
	}
	job := ik.DefaultDog()
	job.Rig, job.Ground = rig, ground
	job.Pos = append(job.Pos, dog.Offsets...)
	job.Rot = slices.Repeat([]m3.Quat{m3.Ident}, dog.Len())
	job.Model = make([]m3.Xform, dog.Len())
	job.Feet, job.Body = make([]ik.Foot, len(roles.Legs)), make([]ik.Body, 1)
	return dog, &job, job.Validate()
}

// A dog in its rest pose is put on a slope.
func ExampleLegged() {
	slope, err := terrain.Slope(terrain.Grid{Size: 10, Cell: 1}, 0.3, 0)
	if err != nil {
		panic(err)
	}
	dog, job, err := newDog(slope)
	if err != nil {
		panic(err)
	}
	job.Run(0, 1)

	paw := job.Model[dog.Index("LeftHandSite")].Pos
	fmt.Printf("the paw is %.0f mm above the slope\n", 1000*(paw.Y-slope.Height(paw.X, paw.Z)))
	// Output: the paw is 4 mm above the slope
}

// bridge is a game's own ground: a deck, 2 m wide and 10 m long, over a field.
type bridge struct {
	field *terrain.Field
	deck  float32 // height, m
}

func (b bridge) on(x, z float32) bool { return m3.Abs(x) < 1 && m3.Abs(z) < 5 }

func (b bridge) Height(x, z float32) float32 {
	if b.on(x, z) {
		return b.deck
	}
	return b.field.Height(x, z)
}

func (b bridge) Normal(x, z float32) m3.Vec3 {
	if b.on(x, z) {
		return m3.Up
	}
	return b.field.Normal(x, z)
}

// A dog stands on a bridge, and then in the field beside it.
func ExampleGround() {
	field, err := terrain.Hills(terrain.Grid{Size: 40, Cell: 0.5}, terrain.HillsOptions{Seed: 1, Wavelength: 12, MaxSlope: 0.2})
	if err != nil {
		panic(err)
	}
	ground := bridge{field: field, deck: 1.5}
	dog, job, err := newDog(ground)
	if err != nil {
		panic(err)
	}
	paw := dog.Index("LeftHandSite")
	for _, x := range []float32{0, 8} {
		job.Pos[0].X = x
		clear(job.Feet) // the dog was moved: its memory is out of date
		clear(job.Body)
		job.Run(0, 1)
		p := job.Model[paw].Pos
		fmt.Printf("x = %g: on the bridge: %t, the paw is %.0f mm above the ground\n", x, ground.on(p.X, p.Z), 1000*(p.Y-ground.Height(p.X, p.Z)))
	}
	// Output:
	// x = 0: on the bridge: true, the paw is 4 mm above the ground
	// x = 8: on the bridge: false, the paw is 4 mm above the ground
}

// A dog turns its head toward a ball.
func ExampleGaze() {
	dog, job, err := newDog(ik.Level(0))
	if err != nil {
		panic(err)
	}
	gaze, err := ik.DogGaze(job.Rig.Tree, dog.Names, dog.Offsets)
	if err != nil {
		panic(err)
	}
	if err := gaze.Validate(); err != nil {
		panic(err)
	}
	head, ball := dog.Index("Head"), m3.V(2, 0.5, 2)
	var state ik.GazeState // one for each agent
	for range 60 {         // one second
		job.Run(0, 1) // or any other way to make the pose of this tick
		gaze.Turn(job.Model, 0, ball, 1, job.DT, &state)
	}
	looks := job.Model[head].Rot.Rotate(gaze.Forward)
	to := ball.Sub(job.Model[head].Apply(gaze.Eye)).Normalize(m3.Up)
	fmt.Println("looks at the ball:", looks.Dot(to) > 0.999)
	// Output: looks at the ball: true
}

// A person reaches for a handle with the left hand.
func ExampleArms() {
	names, parents, rest := standingPerson()
	tree, err := ik.NewTree(parents)
	if err != nil {
		panic(err)
	}
	arms, err := ik.HumanArms(tree, names)
	if err != nil {
		panic(err)
	}
	if err := arms.Validate(); err != nil {
		panic(err)
	}
	handle, pose := m3.V(0.2, 1.3, 0.35), make([]m3.Xform, len(rest))
	var state [2]ik.HandState // one pair for each agent
	for range 90 {
		copy(pose, rest) // the animation's pose of this tick
		arms.Lean(pose, [2]m3.Vec3{handle}, [2]float32{1, 0}, 1.0/60, &state)
		arms.Bend(pose, &state)
	}
	hand := pose[slices.Index(names, "LeftHandIndex1")].Pos
	fmt.Println("the hand is there:", hand.Dist(handle) < 0.01)
	// Output: the hand is there: true
}
