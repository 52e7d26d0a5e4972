// Package gl is the part of OpenGL that the stage uses besides g3n, with the same names on the
// desktop (OpenGL 3.3 core) and in a browser (WebGL2). Functions and constants have OpenGL's names
// and meanings; data is passed as bytes.
//
// In a browser, textures, buffers, vertex arrays and framebuffers are numbers that only this
// package knows: bind them here, not through g3n. Texture units belong to g3n, which remembers the
// active one. All calls belong to the thread that has the context.
package gl

import "unsafe"

// Bytes returns the memory of v as it is, for the functions that take data.
func Bytes[T byte | int32 | uint32 | float32](v []T) []byte {
	var t T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(t)))
}
