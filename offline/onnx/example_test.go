package onnx_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"mannequin/models"
	"mannequin/offline/onnx"
)

// The shipped dog for a program that likes blends as a product of stacked inputs.
func ExampleMarshal() {
	net, err := models.Open("dog")
	if err != nil {
		log.Fatal(err)
	}
	b, err := onnx.Marshal(net, onnx.Form{"blend": "inputs"})
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "onnx")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "dog.onnx"), b, 0o666); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(b) > 4*net.Parameters(), net.Meta().License)
	// Output: true CC BY-NC 4.0
}

// Every way to write the dog's network.
func ExampleFormsOf() {
	net, err := models.Open("dog")
	if err != nil {
		log.Fatal(err)
	}
	for _, form := range onnx.FormsOf(net.Graph()) {
		fmt.Println(form)
	}
	// Output:
	// map[blend:outputs]
	// map[blend:inputs]
	// map[blend:weights]
}
