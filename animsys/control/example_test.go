package control_test

import (
	"fmt"
	"math"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

func ExampleNewPath() {
	path, err := control.NewPath([]m3.Vec3{{}, {Z: 2}, {Z: 4}}, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, dist := path.Nearest(m3.V(0.5, 0, 1))
	pos, dir := path.At(s + 1)
	fmt.Printf("%.1f m long; %.1f m along, %.1f m off; a metre on: z = %.1f, facing z = %.0f\n", path.Length(), s, dist, pos.Z, dir.Z)
	// Output: 4.0 m long; 1.0 m along, 0.5 m off; a metre on: z = 2.0, facing z = 1
}

func ExampleReadScript() {
	script, err := control.ReadScript("scene.toml", []byte(`
[[goal]]
at = 0.0
action = "move"
speed = 2.0

[[goal]]
at = 3.0
action = "sit"
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range []float64{1, 5} {
		g := script.At(t)
		fmt.Println(t, g.Action, g.Speed)
	}
	// Output:
	// 1 move 2
	// 5 sit 1.1
}

// An AI that wants to face 30° to the left while walking.
func ExampleSteer() {
	yaw := float32(0) // facing +Z
	goal := control.Goal{Move: m3.V(0, 0, 1), Speed: control.PaceSpeed, Turn: control.Steer(yaw, math.Pi/6)}
	fmt.Println(goal.Turn)
	// Output: 0.5
}

func ExampleWander() {
	const n = 3
	w := control.NewWander(n, 42)
	goals, roots := make([]control.Goal, n), make([]m3.Xform, n)
	for i := range roots {
		roots[i] = m3.Identity
		w.Reset(i, uint64(i), m3.V(4*float32(i), 0, 0))
	}
	w.Update(goals, roots, 1./60, 0, n)
	for _, g := range goals {
		fmt.Println(g.Action)
	}
	// Output:
	// move
	// move
	// move
}
