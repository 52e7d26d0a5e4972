package routines_test

import (
	"fmt"
	"log"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/animsys/keypose/routines"
	humankeypose "mannequin/models/human-keypose"
)

// An agent talks, and then claps.
func Example() {
	net, err := humankeypose.Open()
	if err != nil {
		log.Fatal(err)
	}
	model, err := keypose.NewModel(net)
	if err != nil {
		log.Fatal(err)
	}
	person, err := routines.NewAuthor(model.Layout, 7)
	if err != nil {
		log.Fatal(err)
	}
	talk, err := person.Write("talk")
	if err != nil {
		log.Fatal(err)
	}
	clap, err := person.Write("clap")
	if err != nil {
		log.Fatal(err)
	}
	stream, err := model.NewStream(keypose.StreamOptions{Capacity: 1, Workers: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()
	row, err := stream.Add(feature.Place{}, &keypose.Performance{Loop: talk})
	if err != nil {
		log.Fatal(err)
	}
	for tick := range 600 {
		if tick == 120 {
			stream.Controls()[row].Loop = clap
		}
		if err := stream.Generate(nil); err != nil {
			log.Fatal(err)
		}
		// In a game an animsys.Crowd does this, and stream.Sample poses the agent.
	}
	fmt.Println("rounds of clapping:", stream.Loops(row))
	// Output: rounds of clapping: 1
}
