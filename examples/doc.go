// Package examples is the folder of whole programs: dog, people, park, headless-server and rollback. The
// README shows the first two. Run one with go run ./examples/NAME.
package examples
