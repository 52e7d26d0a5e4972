package netruntime_test

import (
	"bytes"
	"fmt"
	"log"

	"mannequin/netruntime"
)

// A network of two inputs and one output goes through a model file and runs on three rows at once.
// It has one expert, which adds the inputs if both are positive.
func ExampleNet_NewSession() {
	t := func(name string, shape []int, data ...float32) netruntime.Tensor {
		return netruntime.Tensor{Name: name, Shape: shape, Data: data}
	}
	net, err := netruntime.New(netruntime.Meta{Arch: "mann", Name: "sum", GatingColumns: []int{0}}, []netruntime.Tensor{
		t("x_mean", []int{2}, 0, 0), t("x_std", []int{2}, 1, 1), t("y_mean", []int{1}, 0), t("y_std", []int{1}, 1),
		t("gating.0.weight", []int{1, 1}, 0), t("gating.0.bias", []int{1}, 0),
		t("gating.1.weight", []int{1, 1}, 0), t("gating.1.bias", []int{1}, 0),
		t("gating.2.weight", []int{1, 1}, 0), t("gating.2.bias", []int{1}, 0),
		t("experts.0.weight", []int{1, 1, 2}, 1, 1), t("experts.0.bias", []int{1, 1}, 0),
		t("experts.1.weight", []int{1, 1, 1}, 1), t("experts.1.bias", []int{1, 1}, 0),
		t("experts.2.weight", []int{1, 1, 1}, 1), t("experts.2.bias", []int{1, 1}, 0),
	})
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := net.Encode(&file); err != nil {
		log.Fatal(err)
	}
	if net, err = netruntime.Decode(file.Bytes()); err != nil {
		log.Fatal(err)
	}
	s, err := net.NewSession(netruntime.SessionOptions{Batch: 3, Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	y := make([]float32, 3)
	if err := s.Run(y, []float32{1, 2, 3, 4, 0.5, 0.25}, 3); err != nil {
		log.Fatal(err)
	}
	fmt.Println(net.Meta().Name, y, s.Gating())
	// Output: sum [3 7 0.75] [1 1 1]
}

// Build a network: a convolution over time that averages three frames, then the larger of each
// pair. Sequences may have any even length up to the session's.
func ExampleGraph() {
	net, err := netruntime.New(netruntime.Meta{Arch: "graph", Name: "smooth", Graph: &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: "x", Channels: 1}},
		Nodes: []netruntime.Node{
			{Name: "mean", Op: netruntime.OpConv, In: []string{"x"}},
			{Name: "y", Op: netruntime.OpMaxPool, In: []string{"mean"}},
		},
		Outputs: []string{"y"},
	}}, []netruntime.Tensor{
		{Name: "mean.weight", Shape: []int{1, 1, 3}, Data: []float32{1. / 3, 1. / 3, 1. / 3}},
		{Name: "mean.bias", Shape: []int{1}, Data: []float32{0}},
	})
	if err != nil {
		log.Fatal(err)
	}
	s, err := net.NewSession(netruntime.SessionOptions{Batch: 2, Length: 100, Workers: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	frames, err := net.Graph().Length("y", 4)
	if err != nil {
		log.Fatal(err)
	}
	x, y := []float32{3, 0, 3, 6, 9, 9, 0, 3}, make([]float32, 2*frames) // two sequences of four frames
	if err := s.RunSequences([][]float32{y}, [][]float32{x}, 2, 4); err != nil {
		log.Fatal(err)
	}
	fmt.Println(y)
	// Output: [2 3 6 4]
}

// Split an autoencoder that keeps the larger of two frames into its encoder and decoder. The values
// between them have half of the frames, and can be edited.
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
