//go:build !unix

package serve

// maxFiles returns the number of files and connections that the program may hold open.
func maxFiles() int { return 1 << 20 }
