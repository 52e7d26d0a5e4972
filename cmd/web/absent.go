//go:build !js

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "web: runs in a browser only: run make web, then mannequin serve")
	os.Exit(1)
}
