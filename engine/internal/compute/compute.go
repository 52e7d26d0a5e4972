//go:build !js

package compute

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/go-gl/gl/v4.3-core/gl"

	context "mannequin/engine/internal/gl"
)

// Compute runs compute shaders in the current context: OpenGL 4.3 and newer. Buffers and programs are OpenGL's names. Programs and buffers
// that were bound stay bound, but for the numbered bindings of storage and uniform buffers and those for copies. Errors that others left in
// the context are dropped.
type Compute struct {
	name    string
	version string
	most    int64
	program uint32 // that Begin found
	calling bool   // since the last Error
}

// New finds the functions of OpenGL 4.3 for the current context.
func New() (*Compute, error) {
	if err := context.Init(); err != nil {
		return nil, err
	}
	major, minor := context.GetInteger(gl.MAJOR_VERSION), context.GetInteger(gl.MINOR_VERSION)
	if major < 4 || major == 4 && minor < 3 {
		return nil, fmt.Errorf("compute: OpenGL %d.%d of %s has no compute shaders: want 4.3", major, minor, context.Renderer())
	}
	if err := gl.Init(); err != nil {
		return nil, err
	}
	c := &Compute{name: context.Renderer(), version: fmt.Sprintf("%d.%d", major, minor)}
	gl.GetInteger64v(gl.MAX_SHADER_STORAGE_BLOCK_SIZE, &c.most)
	if n := context.GetInteger(gl.MAX_COMPUTE_SHADER_STORAGE_BLOCKS); n < 8 {
		return nil, fmt.Errorf("compute: %s has %d storage blocks, want 8", c.name, n)
	}
	return c, nil
}

// Name returns the name of the renderer.
func (c *Compute) Name() string { return c.name }

// Version returns the version of OpenGL, such as 4.6.
func (c *Compute) Version() string { return c.version }

// MaxBytes returns the most bytes of a storage buffer.
func (c *Compute) MaxBytes() int64 { return c.most }

// NewBuffer makes a buffer.
func (c *Compute) NewBuffer(bytes int64) (uint32, error) {
	c.call()
	var b uint32
	gl.GenBuffers(1, &b)
	gl.BindBuffer(gl.COPY_WRITE_BUFFER, b)
	gl.BufferData(gl.COPY_WRITE_BUFFER, int(bytes), nil, gl.DYNAMIC_COPY)
	if err := c.Error(); err != nil {
		gl.DeleteBuffers(1, &b)
		return 0, err
	}
	return b, nil
}

// DeleteBuffer deletes a buffer.
func (c *Compute) DeleteBuffer(b uint32) { gl.DeleteBuffers(1, &b) }

// Write copies data into a buffer.
func (c *Compute) Write(b uint32, at int64, data []byte) {
	c.call()
	gl.BindBuffer(gl.COPY_WRITE_BUFFER, b)
	gl.BufferSubData(gl.COPY_WRITE_BUFFER, int(at), len(data), unsafe.Pointer(unsafe.SliceData(data)))
}

// Read waits for what was launched, and copies from a buffer.
func (c *Compute) Read(dst []byte, b uint32, at int64) {
	c.call()
	gl.BindBuffer(gl.COPY_READ_BUFFER, b)
	gl.GetBufferSubData(gl.COPY_READ_BUFFER, int(at), len(dst), unsafe.Pointer(unsafe.SliceData(dst)))
}

// Copy copies from buffer to buffer.
func (c *Compute) Copy(from, to uint32, at, toAt, bytes int64) {
	c.call()
	gl.BindBuffer(gl.COPY_READ_BUFFER, from)
	gl.BindBuffer(gl.COPY_WRITE_BUFFER, to)
	gl.CopyBufferSubData(gl.COPY_READ_BUFFER, gl.COPY_WRITE_BUFFER, int(at), int(toAt), int(bytes))
}

// NewProgram compiles a compute shader.
func (c *Compute) NewProgram(source string) (uint32, error) {
	c.call()
	shader := gl.CreateShader(gl.COMPUTE_SHADER)
	defer gl.DeleteShader(shader)
	text, free := gl.Strs(source + "\x00")
	gl.ShaderSource(shader, 1, text, nil)
	free()
	gl.CompileShader(shader)
	var ok int32
	var log [2048]byte
	var n int32
	if gl.GetShaderiv(shader, gl.COMPILE_STATUS, &ok); ok == 0 {
		gl.GetShaderInfoLog(shader, int32(len(log)), &n, &log[0])
		return 0, errors.New("compute: a compute shader: " + strings.TrimSpace(string(log[:n])))
	}
	p := gl.CreateProgram()
	gl.AttachShader(p, shader)
	gl.LinkProgram(p)
	if gl.GetProgramiv(p, gl.LINK_STATUS, &ok); ok == 0 {
		gl.GetProgramInfoLog(p, int32(len(log)), &n, &log[0])
		gl.DeleteProgram(p)
		return 0, errors.New("compute: a compute program: " + strings.TrimSpace(string(log[:n])))
	}
	return p, nil
}

// DeleteProgram deletes a program.
func (c *Compute) DeleteProgram(p uint32) { gl.DeleteProgram(p) }

// Begin begins launches.
func (c *Compute) Begin() {
	c.call()
	c.program = uint32(context.GetInteger(gl.CURRENT_PROGRAM))
}

// Uniform binds a part of a buffer as a uniform buffer.
func (c *Compute) Uniform(binding int, b uint32, at, bytes int64) {
	gl.BindBufferRange(gl.UNIFORM_BUFFER, uint32(binding), b, int(at), int(bytes))
}

// Dispatch launches workgroups of a program, which see what was launched before, with storage buffers at bindings 0, 1, ….
func (c *Compute) Dispatch(p uint32, storage []uint32, x, y int) {
	gl.UseProgram(p)
	for i, b := range storage {
		gl.BindBufferBase(gl.SHADER_STORAGE_BUFFER, uint32(i), b)
	}
	gl.DispatchCompute(uint32(x), uint32(y), 1)
	gl.MemoryBarrier(gl.SHADER_STORAGE_BARRIER_BIT)
}

// End gives back the program that Begin found, and lets copies and pictures see what was launched.
func (c *Compute) End() {
	gl.MemoryBarrier(gl.ALL_BARRIER_BITS)
	gl.UseProgram(c.program)
}

// call begins calls of our own. OpenGL has one error for all, and a game and its renderer may have left theirs: it is not ours.
func (c *Compute) call() {
	if !c.calling {
		forget()
	}
	c.calling = true
}

// forget drops errors. A context that is gone may have one for ever.
func forget() {
	for range 16 {
		if gl.GetError() == gl.NO_ERROR {
			return
		}
	}
}

// Error returns the first error of the calls since the last Error.
func (c *Compute) Error() error {
	if !c.calling {
		return nil
	}
	c.calling = false
	code := gl.GetError()
	if code == gl.NO_ERROR {
		return nil
	}
	forget()
	return fmt.Errorf("compute: OpenGL's error %#x", code)
}
