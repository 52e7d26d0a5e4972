package netruntime_test

import (
	"fmt"
	"log"

	"mannequin/netruntime"
)

// The encoder and the decoder of an autoencoder that keeps the larger of two
// frames. What is between them has half of the frames, and may be changed.
func ExampleNet_Part() {
	whole, err := netruntime.New(netruntime.Meta{Arch: "graph", Graph: &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: "x", Channels: 1}},
		Nodes: []netruntime.Node{
			{Name: "hidden", Op: netruntime.OpMaxPool, In: []string{"x"}},
			{Name: "depooled", Op: netruntime.OpDepool, In: []string{"hidden"}},
			{Name: "y", Op: netruntime.OpDense, In: []string{"depooled"}},
		},
		Outputs: []string{"y"},
	}}, []netruntime.Tensor{
		{Name: "y.weight", Shape: []int{1, 1}, Data: []float32{2}},
		{Name: "y.bias", Shape: []int{1}, Data: []float32{0}},
	})
	if err != nil {
		log.Fatal(err)
	}
	run := func(from, to string, x []float32) []float32 {
		part, err := whole.Part([]string{from}, []string{to})
		if err != nil {
			log.Fatal(err)
		}
		frames, err := part.Graph().Length(to, len(x))
		if err != nil {
			log.Fatal(err)
		}
		s, err := part.NewSession(netruntime.SessionOptions{Batch: 1, Length: len(x), Workers: 1})
		if err != nil {
			log.Fatal(err)
		}
		defer s.Close()
		y := make([]float32, frames)
		if err := s.RunSequences([][]float32{y}, [][]float32{x}, 1, len(x)); err != nil {
			log.Fatal(err)
		}
		return y
	}
	hidden := run("x", "hidden", []float32{1, 2, 5, 3})
	hidden[1] = 10
	fmt.Println(hidden, run("hidden", "y", hidden))
	// Output: [2 10] [2 2 10 10]
}
