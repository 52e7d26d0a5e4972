//go:build !js

package gl

import (
	"unsafe"

	"github.com/go-gl/gl/v3.3-core/gl"
)

// Precision begins every shader.
const Precision = ""

// SlowErrors reports that GetError waits until all is drawn.
const SlowErrors = false

// Init finds OpenGL's functions for the current context.
func Init() error { return gl.Init() }

// Load is Init for a context that somebody else made.
func Load() error { return Init() }

// Renderer returns the name of the renderer.
func Renderer() string { return gl.GoStr(gl.GetString(gl.RENDERER)) }

// GetInteger returns the value of one of OpenGL's limits.
func GetInteger(name uint32) int32 {
	var v int32
	gl.GetIntegerv(name, &v)
	return v
}

// Binding returns the object that is bound, such as gl.TEXTURE_BINDING_2D of the active unit.
func Binding(name uint32) uint32 { return uint32(GetInteger(name)) }

// GetError returns the first error since the last call, and forgets it.
func GetError() uint32 { return gl.GetError() }

func Enable(capability uint32) { gl.Enable(capability) }

func Disable(capability uint32) { gl.Disable(capability) }

func generate(f func(n int32, ids *uint32)) (id uint32) {
	f(1, &id)
	return id
}

func GenTexture() uint32 { return generate(gl.GenTextures) }

func DeleteTexture(id uint32) { gl.DeleteTextures(1, &id) }

func BindTexture(target, id uint32) { gl.BindTexture(target, id) }

func TexParameteri(target, name uint32, value int32) { gl.TexParameteri(target, name, value) }

// TexImage2D gives the bound texture its size, and its contents where data is not nil.
func TexImage2D(target uint32, level, internal, w, h int32, format, kind uint32, data []byte) {
	gl.TexImage2D(target, level, internal, w, h, 0, format, kind, pointer(data))
}

func GenerateMipmap(target uint32) { gl.GenerateMipmap(target) }

func TexSubImage2D(target uint32, level, x, y, w, h int32, format, kind uint32, data []byte) {
	gl.TexSubImage2D(target, level, x, y, w, h, format, kind, pointer(data))
}

// CopiesBuffers reports whether TexSubImage2DFrom works.
const CopiesBuffers = true

// TexSubImage2DFrom is TexSubImage2D with data from a buffer, from an offset in bytes on, whose rows begin rowLength pixels apart.
func TexSubImage2DFrom(buffer uint32, offset, rowLength int, target uint32, x, y, w, h int32, format, kind uint32) {
	was := Binding(gl.PIXEL_UNPACK_BUFFER_BINDING)
	length := GetInteger(gl.UNPACK_ROW_LENGTH)
	gl.BindBuffer(gl.PIXEL_UNPACK_BUFFER, buffer)
	gl.PixelStorei(gl.UNPACK_ROW_LENGTH, int32(rowLength))
	//lint:ignore SA1019 there is no other way to give this function an offset
	gl.TexSubImage2D(target, 0, x, y, w, h, format, kind, gl.PtrOffset(offset))
	gl.PixelStorei(gl.UNPACK_ROW_LENGTH, length)
	gl.BindBuffer(gl.PIXEL_UNPACK_BUFFER, was)
}

func GenBuffer() uint32 { return generate(gl.GenBuffers) }

func DeleteBuffer(id uint32) { gl.DeleteBuffers(1, &id) }

func BindBuffer(target, id uint32) { gl.BindBuffer(target, id) }

func BufferData(target uint32, data []byte, usage uint32) {
	gl.BufferData(target, len(data), pointer(data), usage)
}

func GenVertexArray() uint32 { return generate(gl.GenVertexArrays) }

func DeleteVertexArray(id uint32) { gl.DeleteVertexArrays(1, &id) }

func BindVertexArray(id uint32) { gl.BindVertexArray(id) }

func EnableVertexAttribArray(index uint32) { gl.EnableVertexAttribArray(index) }

// VertexAttribPointer says where in the bound buffer an attribute lies, in bytes.
func VertexAttribPointer(index uint32, size int32, kind uint32, normalized bool, stride int32, offset int) {
	gl.VertexAttribPointerWithOffset(index, size, kind, normalized, stride, uintptr(offset))
}

func DrawElementsInstanced(mode uint32, count int32, kind uint32, instances int32) {
	gl.DrawElementsInstanced(mode, count, kind, nil, instances)
}

func GenFramebuffer() uint32 { return generate(gl.GenFramebuffers) }

func DeleteFramebuffer(id uint32) { gl.DeleteFramebuffers(1, &id) }

// BindFramebuffer directs drawing, reading or both to a framebuffer; 0 is the window's.
func BindFramebuffer(target, id uint32) { gl.BindFramebuffer(target, id) }

func FramebufferTexture2D(target, attachment, kind, id uint32, level int32) {
	gl.FramebufferTexture2D(target, attachment, kind, id, level)
}

func FramebufferRenderbuffer(target, attachment, kind, id uint32) {
	gl.FramebufferRenderbuffer(target, attachment, kind, id)
}

func CheckFramebufferStatus(target uint32) uint32 { return gl.CheckFramebufferStatus(target) }

func BlitFramebuffer(x0, y0, x1, y1, toX0, toY0, toX1, toY1 int32, mask, filter uint32) {
	gl.BlitFramebuffer(x0, y0, x1, y1, toX0, toY0, toX1, toY1, mask, filter)
}

func DrawBuffer(buffer uint32) { gl.DrawBuffer(buffer) }

func ReadBuffer(buffer uint32) { gl.ReadBuffer(buffer) }

func GenRenderbuffer() uint32 { return generate(gl.GenRenderbuffers) }

func DeleteRenderbuffer(id uint32) { gl.DeleteRenderbuffers(1, &id) }

func BindRenderbuffer(target, id uint32) { gl.BindRenderbuffer(target, id) }

// RenderbufferStorage gives the bound renderbuffer its size; 0 samples are one.
func RenderbufferStorage(target uint32, samples int32, format uint32, w, h int32) {
	if samples == 0 {
		gl.RenderbufferStorage(target, format, w, h)
		return
	}
	gl.RenderbufferStorageMultisample(target, samples, format, w, h)
}

func PixelStorei(name uint32, value int32) { gl.PixelStorei(name, value) }

// ReadPixels reads a rectangle, its lowest row first, into dst.
func ReadPixels(x, y, w, h int32, format, kind uint32, dst []byte) {
	gl.ReadPixels(x, y, w, h, format, kind, pointer(dst))
}

func pointer(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
