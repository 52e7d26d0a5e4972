// Package gl is what the stage calls of OpenGL beside g3n, alike on the desktop
// (OpenGL 3.3 core) and in a browser (WebGL2). Functions and constants have OpenGL's
// names and meanings; data goes in and out as bytes.
//
// Textures, buffers, vertex arrays and framebuffers are numbers that only this package
// knows in a browser: bind them here, not through g3n. Texture units, on the other
// hand, are g3n's, which remembers the active one. All calls belong to the thread that
// has the context.
package gl

import "unsafe"

// Bytes returns the memory of v as it is, for the functions that take data.
func Bytes[T byte | int32 | uint32 | float32](v []T) []byte {
	var t T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(t)))
}
