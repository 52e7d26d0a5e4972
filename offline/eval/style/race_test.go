//go:build race

package style

// raced says that the race detector is on, which slows arithmetic down by a factor of ten and more.
const raced = true
