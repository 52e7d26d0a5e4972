//go:build !linux

package soak

// Elsewhere only the heap and the goroutines are watched.

func rss() int                      { return 0 }
func openFiles() int                { return 0 }
func descriptors(int) (back func()) { return func() {} }
