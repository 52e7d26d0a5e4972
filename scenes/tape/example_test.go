package tape_test

import (
	"bytes"
	"context"
	"fmt"

	"mannequin/models"
	"mannequin/scenes"
	"mannequin/scenes/open"
	"mannequin/scenes/tape"
)

// Example records half a second of a dog that walks, and plays it again.
func Example() {
	setup := open.Default("quadruped")
	setup.Agents, setup.Terrain = 0, "flat"
	resources := open.Resources{Net: models.Open}
	dog, _, header, err := tape.OpenScene(setup, resources)
	if err != nil {
		panic(err)
	}
	defer dog.Close()
	var file bytes.Buffer
	w, err := tape.NewWriter(&file, header)
	if err != nil {
		panic(err)
	}
	recorded := tape.Record(dog, w)
	for range 30 {
		if err := recorded.Step(scenes.Input{Forward: 1}); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	r, err := tape.NewReader(&file)
	if err != nil {
		panic(err)
	}
	resources.Workers = 1 // changes nothing
	again, _, now, err := tape.OpenScene(r.Header.Setup, resources)
	if err != nil {
		panic(err)
	}
	defer again.Close()
	fmt.Println(r.Header.Differs(now))
	fmt.Println(tape.Verify(context.Background(), again, r))
	// Output:
	// <nil>
	// 30 <nil>
}
