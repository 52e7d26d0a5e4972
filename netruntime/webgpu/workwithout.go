//go:build !webgpu

package webgpu

import "mannequin/netruntime"

// Work is work of one's own on the GPU; see the build with the tag.
type Work struct{}

// Memory is memory of the GPU.
type Memory struct{}

// OpenGL returns no name.
func (m *Memory) OpenGL() uint32 { return 0 }

// Kernel is a compiled kernel.
type Kernel struct{}

// Bound is the memory that kernels of a Work see.
type Bound struct{}

// Network is a network in the memory of the GPU.
type Network struct {
	Values  *Memory
	In, Out int
	Rows    int
}

// Results is what a submission copies for the processor.
type Results struct{}

var errNoWork = noGPU(errNotBuilt)

// NewWork returns an error that wraps ErrLost.
func NewWork(o WorkOptions, access ...Access) (*Work, error) { return nil, errNoWork }

// Device returns no name.
func (w *Work) Device() string { return "" }

// MaxBytes returns 0.
func (w *Work) MaxBytes() int64 { return 0 }

// Memory returns an error.
func (w *Work) Memory(label string, bytes int64) (*Memory, error) { return nil, errNoWork }

// Kernel returns an error.
func (w *Work) Kernel(name, source string) (*Kernel, error) { return nil, errNoWork }

// Network returns an error.
func (w *Work) Network(n *netruntime.Net, rows int) (*Network, error) { return nil, errNoWork }

// Bind returns an error.
func (w *Work) Bind(memory ...*Memory) (*Bound, error) { return nil, errNoWork }

// Results returns an error.
func (w *Work) Results(bytes int64) (*Results, error) { return nil, errNoWork }

// Write returns an error.
func (w *Work) Write(to *Memory, at int64, data []byte) error { return errNoWork }

// Submit returns an error.
func (w *Work) Submit(launches []Launch, copies []Copy, to *Results) error { return errNoWork }

// Start returns an error.
func (w *Work) Start(launches []Launch, to *Results) error { return errNoWork }

// Pending returns false.
func (r *Results) Pending() bool { return false }

// Read returns an error.
func (w *Work) Read(dst []byte, from *Results) error { return errNoWork }

// Free does nothing.
func (w *Work) Free(memory []*Memory, bound []*Bound, results []*Results) error { return nil }

// Close does nothing.
func (w *Work) Close() {}
