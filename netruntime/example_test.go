package netruntime_test

import (
	"bytes"
	"fmt"
	"log"

	"mannequin/netruntime"
)

// A network of two inputs and one output, with one expert that adds the
// inputs where both are positive, goes through a model file and runs on three
// rows at once.
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
