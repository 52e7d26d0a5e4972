package mann_test

import (
	"fmt"
	"runtime"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	dogfree "mannequin/models/dog-free"
	"mannequin/netruntime"
)

// A hundred dogs walk straight ahead for a second, without a crowd and its ground.
func Example() {
	net, err := dogfree.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := mann.NewModel(net)
	if err != nil {
		fmt.Println(err) // a *feature.SchemaError lists what does not fit
		return
	}
	const n = 100
	session, err := net.NewSession(netruntime.SessionOptions{Batch: n, Workers: runtime.NumCPU()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	b := mann.NewBatch(model, n)
	for r := range n {
		b.Reset(r, m3.V(2*float32(r%10), 0, 2*float32(r/10)), 0)
	}
	goals := make([]control.Goal, n)
	for r := range goals {
		goals[r] = control.Goal{Move: m3.V(0, 0, 1), Speed: control.PaceSpeed}
	}
	x, y := make([]float32, n*net.Inputs()), make([]float32, n*net.Outputs())
	for range mann.Rate {
		b.Plan(goals, 0, n)
		b.Gather(x, 0, n)
		if err := session.Run(y, x, n); err != nil {
			fmt.Println(err)
			return
		}
		b.Scatter(y, 0, n)
	}
	pos, _ := b.Pose(0) // local joints; the first is the hips, in world space
	fmt.Printf("the hips are %.1f m ahead and %.1f m high\n", pos[0].Z, pos[0].Y)
	// Output: the hips are 0.3 m ahead and 0.5 m high
}
