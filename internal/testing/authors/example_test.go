package authors_test

import (
	"fmt"
	"log"

	"mannequin/internal/testing/authors"
	"mannequin/netruntime"
)

// Compute the hidden values of the release's own clips. There is no output to compare with, because
// the release is not part of the repository.
func ExampleReadHolden() {
	const dir = "data/reference/holden2016"
	h, err := authors.ReadHolden(dir)
	if err != nil {
		log.Fatal(err)
	}
	clips, err := authors.ReadHoldenGolden(dir)
	if err != nil {
		log.Fatal(err)
	}
	encoder, err := h.Autoencoder.Part([]string{"x"}, []string{"hidden"})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range clips {
		s, err := encoder.NewSession(netruntime.SessionOptions{Batch: 1, Length: c.Frames, Workers: 1})
		if err != nil {
			log.Fatal(err)
		}
		hidden := make([]float32, c.Frames/2*encoder.Outputs())
		if err := s.RunSequences([][]float32{hidden}, [][]float32{c.Features}, 1, c.Frames); err != nil {
			log.Fatal(err)
		}
		fmt.Println(c.Name, len(hidden))
		s.Close()
	}
}
