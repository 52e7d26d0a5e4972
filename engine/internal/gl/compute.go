//go:build !js

package gl

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	compute "github.com/go-gl/gl/v4.3-core/gl"
)

// Compute runs compute shaders in the current context: OpenGL 4.3 and newer. Buffers and programs are OpenGL's names. Programs and buffers
// that were bound stay bound, but for the numbered bindings of storage and uniform buffers and those for copies.
type Compute struct {
	name    string
	most    int64
	program uint32 // that Begin found
}

// NewCompute finds the functions of OpenGL 4.3 for the current context.
func NewCompute() (*Compute, error) {
	if err := Init(); err != nil {
		return nil, err
	}
	major, minor := GetInteger(compute.MAJOR_VERSION), GetInteger(compute.MINOR_VERSION)
	if major < 4 || major == 4 && minor < 3 {
		return nil, fmt.Errorf("gl: OpenGL %d.%d of %s has no compute shaders: want 4.3", major, minor, Renderer())
	}
	if err := compute.Init(); err != nil {
		return nil, err
	}
	c := &Compute{name: Renderer()}
	compute.GetInteger64v(compute.MAX_SHADER_STORAGE_BLOCK_SIZE, &c.most)
	if n := GetInteger(compute.MAX_COMPUTE_SHADER_STORAGE_BLOCKS); n < 8 {
		return nil, fmt.Errorf("gl: %s has %d storage blocks, want 8", c.name, n)
	}
	return c, nil
}

// Name returns the name of the renderer.
func (c *Compute) Name() string { return c.name }

// MaxBytes returns the most bytes of a storage buffer.
func (c *Compute) MaxBytes() int64 { return c.most }

// NewBuffer makes a buffer.
func (c *Compute) NewBuffer(bytes int64) (uint32, error) {
	c.forget()
	var b uint32
	compute.GenBuffers(1, &b)
	compute.BindBuffer(compute.COPY_WRITE_BUFFER, b)
	compute.BufferData(compute.COPY_WRITE_BUFFER, int(bytes), nil, compute.DYNAMIC_COPY)
	if err := c.Error(); err != nil {
		compute.DeleteBuffers(1, &b)
		return 0, err
	}
	return b, nil
}

// DeleteBuffer deletes a buffer.
func (c *Compute) DeleteBuffer(b uint32) { compute.DeleteBuffers(1, &b) }

// Write copies data into a buffer.
func (c *Compute) Write(b uint32, at int64, data []byte) {
	compute.BindBuffer(compute.COPY_WRITE_BUFFER, b)
	compute.BufferSubData(compute.COPY_WRITE_BUFFER, int(at), len(data), unsafe.Pointer(unsafe.SliceData(data)))
}

// Read waits for what was launched, and copies from a buffer.
func (c *Compute) Read(dst []byte, b uint32, at int64) {
	compute.BindBuffer(compute.COPY_READ_BUFFER, b)
	compute.GetBufferSubData(compute.COPY_READ_BUFFER, int(at), len(dst), unsafe.Pointer(unsafe.SliceData(dst)))
}

// Copy copies from buffer to buffer.
func (c *Compute) Copy(from, to uint32, at, toAt, bytes int64) {
	compute.BindBuffer(compute.COPY_READ_BUFFER, from)
	compute.BindBuffer(compute.COPY_WRITE_BUFFER, to)
	compute.CopyBufferSubData(compute.COPY_READ_BUFFER, compute.COPY_WRITE_BUFFER, int(at), int(toAt), int(bytes))
}

// NewProgram compiles a compute shader.
func (c *Compute) NewProgram(source string) (uint32, error) {
	shader := compute.CreateShader(compute.COMPUTE_SHADER)
	defer compute.DeleteShader(shader)
	text, free := compute.Strs(source + "\x00")
	compute.ShaderSource(shader, 1, text, nil)
	free()
	compute.CompileShader(shader)
	var ok int32
	var log [2048]byte
	var n int32
	if compute.GetShaderiv(shader, compute.COMPILE_STATUS, &ok); ok == 0 {
		compute.GetShaderInfoLog(shader, int32(len(log)), &n, &log[0])
		return 0, errors.New("gl: a compute shader: " + strings.TrimSpace(string(log[:n])))
	}
	p := compute.CreateProgram()
	compute.AttachShader(p, shader)
	compute.LinkProgram(p)
	if compute.GetProgramiv(p, compute.LINK_STATUS, &ok); ok == 0 {
		compute.GetProgramInfoLog(p, int32(len(log)), &n, &log[0])
		compute.DeleteProgram(p)
		return 0, errors.New("gl: a compute program: " + strings.TrimSpace(string(log[:n])))
	}
	return p, nil
}

// DeleteProgram deletes a program.
func (c *Compute) DeleteProgram(p uint32) { compute.DeleteProgram(p) }

// Begin begins launches.
func (c *Compute) Begin() { c.program = uint32(GetInteger(compute.CURRENT_PROGRAM)) }

// Uniform binds a part of a buffer as a uniform buffer.
func (c *Compute) Uniform(binding int, b uint32, at, bytes int64) {
	compute.BindBufferRange(compute.UNIFORM_BUFFER, uint32(binding), b, int(at), int(bytes))
}

// Dispatch launches workgroups of a program, which see what was launched before, with storage buffers at bindings 0, 1, ….
func (c *Compute) Dispatch(p uint32, storage []uint32, x, y int) {
	compute.UseProgram(p)
	for i, b := range storage {
		compute.BindBufferBase(compute.SHADER_STORAGE_BUFFER, uint32(i), b)
	}
	compute.DispatchCompute(uint32(x), uint32(y), 1)
	compute.MemoryBarrier(compute.SHADER_STORAGE_BARRIER_BIT)
}

// End gives back the program that Begin found, and lets copies and pictures see what was launched.
func (c *Compute) End() {
	compute.MemoryBarrier(compute.ALL_BARRIER_BITS)
	compute.UseProgram(c.program)
}

// forget drops errors of others.
func (c *Compute) forget() {
	for range 16 {
		if compute.GetError() == compute.NO_ERROR {
			return
		}
	}
}

// Error returns the first error since the last call.
func (c *Compute) Error() error {
	code := compute.GetError()
	if code == compute.NO_ERROR {
		return nil
	}
	c.forget()
	return fmt.Errorf("gl: OpenGL's error %#x", code)
}
