package human_test

import (
	"fmt"

	"mannequin/offline/procgen/human"
)

// A proud and an old walk, registered.
func Example() {
	takes, lines, err := human.Generate(human.Options{
		Seed: 1, Minutes: 0.1, Actions: []string{human.Walk}, Styles: []string{"proud", "old"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(takes), "takes, such as", takes[0].Name)
	fmt.Println(len(takes[0].Times) == takes[0].Clip.Frames, lines[human.Walk].Period)
	// Output:
	// 24 takes, such as walk-straight_proud_001
	// true 60
}
