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
		g := script.At(t, m3.Ident)
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

// Two people walk towards each other. Each passes the other.
func ExampleAvoidance() {
	var avoid control.Avoidance
	people := []control.Walker{{Radius: 0.36, Lag: 0.3, MaxTurn: 1}, {Radius: 0.36, Lag: 0.3, MaxTurn: 1}}
	at := []m3.Xform{{Rot: m3.YawQuat(0)}, {Pos: m3.V(0, 0, 6), Rot: m3.YawQuat(math.Pi)}}
	goals := []m3.Vec3{m3.V(0, 0, 8), m3.V(0, 0, -2)}
	nearest := float32(6)
	for range 360 { // six seconds
		avoid.Begin()
		for i := range people {
			avoid.Add(&people[i], at[i])
		}
		avoid.Sort()
		for i := range people {
			turn, speed := avoid.Steer(i, goals[i].Sub(at[i].Pos).Normalize(m3.V(0, 0, 1)), 1.2)
			at[i].Rot = m3.YawQuat(at[i].Rot.Yaw() + turn/60)
			at[i].Pos = at[i].Pos.Add(at[i].Rot.Forward().Scale(speed / 60))
		}
		nearest = min(nearest, at[0].Pos.Dist(at[1].Pos))
	}
	fmt.Println(nearest > 0.72, at[0].Pos.Z > 5, at[1].Pos.Z < 1)
	// Output: true true true
}
