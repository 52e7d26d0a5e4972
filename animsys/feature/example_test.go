package feature_test

import (
	"fmt"

	"mannequin/animsys/feature"
)

// Where things stand in the rows of the dog's network.
func ExampleDog() {
	m := feature.Dog()
	fmt.Println(m.Inputs(), "inputs,", m.Outputs(), "outputs,", len(m.Gating()), "gating inputs")
	x := make([]float32, m.Inputs())
	x[m.InSample(feature.TrajNow)+feature.SampleSpeed] = 1.1 // m/s
	x[m.InActions(feature.TrajNow)+1] = 1
	for _, s := range m.InputSpans() {
		if s.Len == 1 && x[s.Start] != 0 {
			fmt.Println(s.Name, x[s.Start])
		}
	}
	// Output:
	// 480 inputs, 363 outputs, 19 gating inputs
	// trajectory[6].speed 1.1
	// trajectory[6].action.move 1
}

// The mirror image of a dog that goes ahead and to the left goes ahead and to the right.
func ExampleMirror() {
	m := feature.Dog()
	_, out, err := m.MirrorColumns()
	if err != nil {
		fmt.Println(err)
		return
	}
	y, image := make([]float32, m.Outputs()), make([]float32, m.Outputs())
	root := m.OutRoot()
	y[root+feature.RootX], y[root+feature.RootZ] = 0.2, 1 // m/s
	feature.Mirror(image, y, out)
	fmt.Println(image[root+feature.RootX], image[root+feature.RootZ])
	// Output: -0.2 1
}
