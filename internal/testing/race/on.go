//go:build race

package race

// Enabled says that the race detector is on, which slows arithmetic down by a factor of ten and more.
const Enabled = true
