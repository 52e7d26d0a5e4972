// Package examples is the folder of whole programs: dog, people and park. The README shows the first
// two. Run one with go run ./examples/NAME.
package examples
