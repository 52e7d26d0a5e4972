package metrics_test

import (
	"fmt"

	"mannequin/animsys/control"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/metrics"
)

// A paw on the ground that is dragged along at half a centimetre per frame.
func ExampleSkate() {
	c := skel.NewClip(&skel.Skeleton{
		Names: []string{"Leg", "LegSite"}, Parents: []int16{-1, 0},
		Offsets: []m3.Vec3{{Y: 0.4}, {Y: -0.4}}, EndSite: []bool{false, true},
	}, 60, 3)
	for f := range c.Frames {
		c.Pos[2*f].Z = 0.005 * float32(f)
	}
	fmt.Printf("%.2f cm per frame\n", metrics.Skate(c, []int{1}))
	// Output: [0.00 0.50 0.50] cm per frame
}

// Standing half a metre outside the circle, facing away from its centre.
func ExamplePathDeviation() {
	path, err := control.Circle(1.5)
	if err != nil {
		fmt.Println(err)
		return
	}
	d := metrics.PathDeviation(path, []m3.Vec3{{X: 2}}, []m3.Vec3{{X: 1}})
	fmt.Printf("%.2f m, %.2f rad\n", d.Distance, d.Angle)
	// Output: 0.50 m, 1.57 rad
}
