package mann_test

import (
	"fmt"
	"runtime"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// A hundred dogs that walk straight ahead for a second.
func Example() {
	net, err := netruntime.Open("dog.safetensors")
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
	pos, rot := b.Pose(0)
	fmt.Println(model.Skel.Names[0], "at", pos[0], "turned by", rot[0])
}
