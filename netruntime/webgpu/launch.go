package webgpu

import (
	"errors"
	"log/slog"
	"time"
	"unsafe"
)

// WorkOptions are the options of a Work.
type WorkOptions struct {
	Log     *slog.Logger  // receives a line if the GPU is lost; nil is slog.Default()
	Timeout time.Duration // the longest wait for the GPU, after which it counts as lost; 0 is ten seconds

	// F16 computes networks in float16, as Options.F16 does. OpenGL leaves them in float32.
	F16 bool

	// OpenGL runs the kernels in place of WebGPU, in a context that draws what they make. nil is WebGPU. Timeout has no meaning then:
	// OpenGL's waits have no end.
	OpenGL OpenGL
}

// OpenGL is OpenGL 4.3 with a context that is current: see mannequin/engine/g3n.NewCompute. Buffers and programs are OpenGL's names. All
// calls belong to the thread that has the context.
type OpenGL interface {
	Name() string
	MaxBytes() int64 // of a storage buffer
	NewBuffer(bytes int64) (uint32, error)
	DeleteBuffer(buffer uint32)
	Write(buffer uint32, at int64, data []byte)
	Read(dst []byte, buffer uint32, at int64)
	Copy(from, to uint32, at, toAt, bytes int64)
	NewProgram(source string) (uint32, error) // of a compute shader
	DeleteProgram(program uint32)
	Begin()                                              // launches
	Uniform(binding int, buffer uint32, at, bytes int64) // binds a part of a uniform buffer
	Dispatch(program uint32, storage []uint32, x, y int) // with storage buffers at bindings 0, 1, …, after what was launched before
	End()                                                // gives back the state that Begin found
	Error() error                                        // the first of these calls since the last Error; those that others left are none
}

// ErrLost is wrapped by the errors of a Work that has no GPU, or no longer.
var ErrLost = errors.New("webgpu: the GPU was lost, or there is none")

// gpuError is an error that wraps ErrLost and says only why.
type gpuError struct {
	text string
	why  error
}

func (e *gpuError) Error() string   { return e.text }
func (e *gpuError) Unwrap() []error { return []error{ErrLost, e.why} }

// noGPU returns the error of a Work that cannot open because of err.
func noGPU(err error) error { return &gpuError{err.Error(), err} }

// Access is what kernels do with a memory.
type Access int

// The accesses.
const (
	ReadOnly Access = iota
	ReadWrite
)

// Launch is a part of a submission: workgroups of a kernel, or a run of a network.
type Launch struct {
	Kernel         *Kernel
	Bound          *Bound
	Groups, Layers int // workgroups along x and y; 0 layers are 1

	Network *Network
	Rows    int
}

// Copy is a part of a memory that a submission copies for the processor, a multiple of four bytes at one.
type Copy struct {
	From      *Memory
	At, Bytes int64
}

// Bytes returns the memory of numbers, as Write and Read take it.
func Bytes[T float32 | uint32](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}
