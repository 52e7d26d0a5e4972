package manifold_test

import (
	"fmt"
	"log"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
	"mannequin/models/human"
	humanfootstep "mannequin/models/human-footstep"
	humanlocomotion "mannequin/models/human-locomotion"
	humanpunch "mannequin/models/human-punch"
	"mannequin/netruntime"
)

// Make two seconds of a walk round a circle.
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
	ahead := func(int) float32 { return 0 }  // facing the direction of travel
	trajectory, err := manifold.AlongPath(circle, frames, walk, ahead)
	if err != nil {
		log.Fatal(err)
	}
	l, err := model.With(open(humanfootstep.Open()), open(humanlocomotion.Open())).NewLocomotion(manifold.LocomotionOptions{Batch: 1, Frames: frames, Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	made, _, err := l.Make([]manifold.Trajectory{trajectory}, nil, manifold.DefaultIterations, nil)
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

// Fill two missing seconds of the left arm in a walk of four seconds, and lift the right hand to a
// place in front of the body from 1.5 to 2 s.
func ExampleModel_AddTargets() {
	net, err := human.Open()
	if err != nil {
		log.Fatal(err)
	}
	model, err := manifold.NewModel(net)
	if err != nil {
		log.Fatal(err)
	}
	rows := walk(model) // (240, columns)
	gap := manifold.Gap{Joints: []string{"LeftForeArm", "LeftHand", "LeftHandIndex1"}, From: 60, To: 180}
	if rows, err = model.Fill(rows, []manifold.Gap{gap}, manifold.DefaultIterations, 2); err != nil {
		log.Fatal(err)
	}
	reach := manifold.Target{Joint: "RightHand", Body: true, At: m3.V(-0.2, 1.4, 0.4), From: 1.5, To: 2, Ease: 0.4}
	job := &manifold.Edit{Batch: 1, Length: 240, Rows: rows, Iterations: manifold.DefaultIterations}
	if err := model.AddTargets(job, 0, feature.Place{}, []manifold.Target{reach}); err != nil {
		log.Fatal(err)
	}
	editor, err := model.NewEditor(manifold.EditorOptions{Batch: 1, Length: 240, Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer editor.Close()
	if _, err := editor.Run(job); err != nil {
		log.Fatal(err)
	}
	hand := job.Rows[105*model.Layout.Columns()+model.Layout.Pos(model.Layout.Joint("RightHand")):]
	fmt.Printf("after 1.75 s the hand is at %.2f %.2f %.2f\n", hand[0], hand[1], hand[2])
	// Output: after 1.75 s the hand is at -0.20 1.40 0.40
}

// Hold the fists at chest height for three seconds and punch once.
func ExampleActionSynthesizer() {
	base, err := human.Open()
	if err != nil {
		log.Fatal(err)
	}
	net, err := humanpunch.Open()
	if err != nil {
		log.Fatal(err)
	}
	model, err := manifold.NewModel(base)
	if err != nil {
		log.Fatal(err)
	}
	const frames = 180
	actor, err := model.NewActionSynthesizer(net, manifold.EditorOptions{Batch: 1, Length: frames, Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer actor.Close()
	given := make([]float32, 0, frames*actor.Inputs())
	for f := range frames {
		reach := manifold.Target{From: 1.5, To: 1.5, Ease: 0.4}
		given = append(given, 0.2, 1.25, 0.25) // LeftHand, in the body's frame, m
		given = append(given, -0.2, 1.25, 0.25+0.4*reach.Influence(f))
	}
	rows := make([]float32, frames*model.Layout.Columns())
	if _, err := actor.Run(rows, given, 1, frames, manifold.ActionIterations); err != nil {
		log.Fatal(err)
	}
	hand := rows[90*model.Layout.Columns()+model.Layout.Pos(model.Layout.Joint("RightHand")):]
	fmt.Println(actor.Joints())
	fmt.Printf("%.2f %.2f %.2f\n", hand[0], hand[1], hand[2])
	// Output:
	// [LeftHand RightHand]
	// -0.20 1.25 0.65
}

// walk returns four seconds of a walk straight ahead.
func walk(model *manifold.Model) []float32 {
	steps, err := humanfootstep.Open()
	if err != nil {
		log.Fatal(err)
	}
	motion, err := humanlocomotion.Open()
	if err != nil {
		log.Fatal(err)
	}
	l, err := model.With(steps, motion).NewLocomotion(manifold.LocomotionOptions{Batch: 1, Frames: 240, Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	trajectory := make(manifold.Trajectory, 240)
	for f := range trajectory {
		trajectory[f].Pos.Z = 1.3 * float32(f) / manifold.Rate
	}
	made, _, err := l.Make([]manifold.Trajectory{trajectory}, nil, manifold.DefaultIterations, nil)
	if err != nil {
		log.Fatal(err)
	}
	return made[0].Rows
}
