package remote_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"mannequin/animsys/mann"
	"mannequin/models/dog"
	"mannequin/netruntime/remote"
)

// A game hands the client's Open to its generators.
func Example() {
	net, err := dog.Open()
	if err != nil {
		log.Fatal(err)
	}
	model, err := mann.NewModel(net)
	if err != nil {
		log.Fatal(err)
	}
	client, err := remote.Dial("localhost:8001", remote.Options{Deadline: 5 * time.Millisecond})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	dogs, err := model.NewController(mann.ControllerOptions{Capacity: 64, Open: client.Open})
	if err != nil {
		log.Fatal(err)
	}
	defer dogs.Close()

	// Optional: without it, the processor computes until the server has answered.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := client.Wait(ctx); err != nil {
		log.Print("no server: ", err)
	}
	fmt.Printf("%+v\n", client.Stats())
}
