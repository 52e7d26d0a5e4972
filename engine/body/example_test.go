package body_test

import (
	"fmt"

	"mannequin/engine/body"
	"mannequin/engine/m3"
)

// Any skeleton gets a body: one with a dog's joints a dog, one with a human's a person.
func ExampleNew() {
	b, err := body.New(&body.Rig{
		Names:   []string{"base", "lamp", "shade"},
		Parents: []int16{-1, 0, 1},
		Offsets: []m3.Vec3{{}, {Y: 0.4}, {Y: 0.3, Z: 0.2}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, m := range b.Levels {
		fmt.Printf("level %d: at most 4000 triangles: %v\n", i, m.Triangles() <= 4000)
	}
	// Output:
	// level 0: at most 4000 triangles: true
	// level 1: at most 4000 triangles: true
	// level 2: at most 4000 triangles: true
}
