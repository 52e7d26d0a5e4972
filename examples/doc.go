// Package examples is the folder of whole programs: dog, people, characters, g3n-game, park, headless-server and rollback. The
// README shows the first two. Run one with go run ./examples/NAME.
package examples
