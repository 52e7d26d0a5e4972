package ecs_test

import (
	"fmt"

	"mannequin/ecs"

	arche "github.com/mlange-42/arche/ecs"
)

// When an entity leaves, the last row's entity takes over its row, and the caller moves the data.
func ExampleRows() {
	world := arche.NewWorld()
	rows := ecs.NewRows(&world, 3)
	names := make([]string, 3)
	var dogs []arche.Entity
	for _, name := range []string{"Ajax", "Bello", "Cora"} {
		e := world.NewEntity()
		row, err := rows.Add(e)
		if err != nil {
			panic(err)
		}
		names[row] = name
		dogs = append(dogs, e)
	}
	row, last, err := rows.Remove(dogs[0])
	if err != nil {
		panic(err)
	}
	names[row] = names[last]
	world.RemoveEntity(dogs[0])
	fmt.Println(names[:rows.Len()])
	// Output: [Cora Bello]
}
