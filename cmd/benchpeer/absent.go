//go:build !ort

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "benchpeer: built without ONNX Runtime: run make bench-peer")
	os.Exit(1)
}
