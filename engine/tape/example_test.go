package tape_test

import (
	"bytes"
	"fmt"
	"log"

	"mannequin/engine/tape"
)

// A game that adds up its inputs is recorded, and played again.
func Example() {
	var file bytes.Buffer
	w, err := tape.NewWriter(&file, []byte("level 1"))
	if err != nil {
		log.Fatal(err)
	}
	state := 0
	for tick := range 100 {
		input := []byte{byte(tick / 10)}
		state += int(input[0])
		if err := w.Tick(input, uint64(state)); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := tape.NewReader(&file)
	if err != nil {
		log.Fatal(err)
	}
	again := 0
	ticks, err := tape.Verify(r, func(input []byte) (uint64, error) {
		again += int(input[0])
		return uint64(again), nil // in a game: crowd.Hash()
	})
	fmt.Println(string(r.Header), ticks, err)
	// Output: level 1 100 <nil>
}
