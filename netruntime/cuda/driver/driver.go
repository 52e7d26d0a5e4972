//go:build cuda

// Package driver has the functions of a CUDA driver, which go on to the real one if there is one. With it Go's own linker can link a
// program, as the tag webgpu wants: that linker does not look for them in libcuda.a.
package driver

// #cgo CFLAGS: -I${SRCDIR}/include
// #cgo LDFLAGS: -ldl -lpthread
import "C"
