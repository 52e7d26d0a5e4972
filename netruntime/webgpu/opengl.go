//go:build webgpu && !js

package webgpu

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/gogpu/naga"
	"github.com/gogpu/naga/glsl"

	"mannequin/netruntime"
	"mannequin/netruntime/internal/program"
)

// glWork is a Work on OpenGL. All is done at once, on the thread that has the context.
type glWork struct {
	OpenGL
	products [halves][len(tiles)]uint32
	chain    uint32
	buffers  []uint32
	programs []uint32
	lost     error
	log      *slog.Logger
}

// glNetwork is a network in buffers of OpenGL.
type glNetwork struct {
	plan                              *program.Program
	layout                            *program.Layout
	writer                            writer
	memory, constants, ops, args, run uint32
	rows                              int // that run has
}

// The uniform buffers of the network's kernels.
const glRun, glCall = 3, 4

func newGLWork(gl OpenGL, log *slog.Logger) (w *glWork, err error) {
	w = &glWork{OpenGL: gl, log: log}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.chain, err = w.program("chain", commonSource+chainSource); err != nil {
		return w, err
	}
	for f := range halves {
		for i, t := range tiles {
			if w.products[f][i], err = w.program("product", t.source(f)); err != nil {
				return w, err
			}
		}
	}
	return w, nil
}

// check returns an error if OpenGL has one: the context is not used from then on.
func (w *glWork) check() error {
	if w.lost == nil {
		if err := w.Error(); err != nil {
			w.lost = &gpuError{fmt.Sprintf("webgpu: OpenGL of %s is lost: %v", w.Name(), err), err}
			w.log.Error("OpenGL is lost for compute shaders, the processor goes on from here", "err", err)
		}
	}
	return w.lost
}

// program compiles an entry point.
func (w *glWork) program(name, source string) (uint32, error) {
	fail := func(err error) (uint32, error) {
		return 0, fmt.Errorf("webgpu: %s: %s: %w: %w", w.Name(), name, errKernel, err)
	}
	ast, err := naga.Parse(source)
	if err != nil {
		return fail(err)
	}
	module, err := naga.Lower(ast)
	if err != nil {
		return fail(err)
	}
	bindings := map[glsl.BindingMapKey]uint8{{Group: 1, Binding: bindCall}: glCall}
	for i := range uint8(8) {
		bindings[glsl.BindingMapKey{Binding: uint32(i)}] = i
	}
	text, _, err := glsl.Compile(module, glsl.Options{LangVersion: glsl.Version{Major: 4, Minor: 30}, EntryPoint: name, BindingMap: bindings})
	if err != nil {
		return fail(err)
	}
	p, err := w.NewProgram(text)
	if err != nil {
		return fail(err)
	}
	w.programs = append(w.programs, p)
	return p, w.check()
}

// buffer makes memory.
func (w *glWork) buffer(bytes int64) (uint32, error) {
	if bytes > w.MaxBytes() {
		return 0, fmt.Errorf("webgpu: %s: %d bytes, at most %d are possible: %w", w.Name(), bytes, w.MaxBytes(), errPlan)
	}
	b, err := w.NewBuffer(max(bytes, 256))
	if err != nil {
		return 0, fmt.Errorf("webgpu: %d bytes: %w: %w", bytes, err, errPlan)
	}
	w.buffers = append(w.buffers, b)
	return b, w.check()
}

// network puts a network into memory.
func (w *glWork) network(n *netruntime.Net, rows int) (*glNetwork, error) {
	p, err := program.Compile(n, program.Plain, 0, program.Exact)
	if err != nil {
		return nil, fmt.Errorf("webgpu: %w: %w", err, errPlan)
	}
	k := &glNetwork{plan: p, layout: program.NewLayout(p)}
	if !k.layout.Place(rows, 1) {
		return nil, fmt.Errorf("webgpu: a network of frames that cannot be single: %w", errPlan)
	}
	k.writer.Layout = k.layout
	k.writer.writeAll()
	for _, b := range []struct {
		to   *uint32
		size int64
		data []byte
	}{{&k.memory, k.layout.Size, nil}, {&k.constants, int64(len(p.Data)), p.Data}, {&k.ops, int64(len(k.writer.ops)), k.writer.ops},
		{&k.args, int64(len(k.writer.args)), k.writer.args}, {&k.run, runBytes, nil}} {
		if *b.to, err = w.buffer(b.size); err != nil {
			return nil, err
		}
		if len(b.data) > 0 {
			w.OpenGL.Write(*b.to, 0, b.data)
		}
	}
	p.Data = nil
	return k, w.check()
}

// encode runs the network.
func (w *glWork) encode(k *glNetwork, rows int) {
	if k.rows != rows {
		w.OpenGL.Write(k.run, 0, Bytes([]uint32{uint32(rows), 0, 0, 0}))
		k.rows = rows
	}
	storage := [...]uint32{k.memory, k.constants, k.ops}
	w.Uniform(glRun, k.run, 0, runBytes)
	for i := range k.writer.calls {
		call := &k.writer.calls[i]
		n := rows * call.rows
		p, x, y := w.chain, (n+chainRows-1)/chainRows, 1
		if call.columns > 0 {
			t := tileOf(n)
			p = w.products[call.format][t]
			x, y = (call.columns+tileColumns-1)/tileColumns, (n+tiles[t].rows()-1)/tiles[t].rows()
		}
		w.Uniform(glCall, k.args, int64(i*callStride), callBytes)
		w.Dispatch(p, storage[:], x, y)
	}
}

// submit launches and copies.
func (w *glWork) submit(launches []Launch, copies []Copy, to *Results) error {
	if w.lost != nil {
		return w.lost
	}
	w.Begin()
	for i := range launches {
		switch l := &launches[i]; {
		case l.Network != nil && l.Rows > 0:
			w.encode(l.Network.gl, l.Rows)
		case l.Kernel != nil && l.Groups > 0:
			w.Dispatch(l.Kernel.gl, l.Bound.gl, l.Groups, max(1, l.Layers))
		}
	}
	w.End()
	to.bytes = 0
	for _, c := range copies {
		w.OpenGL.Copy(c.From.gl, to.gl, c.At, to.bytes, c.Bytes)
		to.bytes += c.Bytes
	}
	to.pending = true
	return w.check()
}

func (w *glWork) read(dst []byte, from *Results) error {
	from.pending = false
	if w.lost != nil {
		return w.lost
	}
	if n := min(int64(len(dst)), from.bytes); n > 0 {
		w.OpenGL.Read(dst[:n], from.gl, 0)
	}
	return w.check()
}

// free frees a buffer, once.
func (w *glWork) free(buffer uint32) {
	if i := slices.Index(w.buffers, buffer); i >= 0 && w.lost == nil {
		w.DeleteBuffer(buffer)
		w.buffers = slices.Delete(w.buffers, i, i+1)
	}
}

func (w *glWork) close() {
	for _, b := range w.buffers {
		w.DeleteBuffer(b)
	}
	for _, p := range w.programs {
		w.DeleteProgram(p)
	}
	w.lost = errors.New("webgpu: the work is closed")
}

// openGL returns a Work on OpenGL.
func openGL(o WorkOptions, access []Access) (*Work, error) {
	gl, err := newGLWork(o.OpenGL, o.Log)
	if err != nil {
		return nil, err
	}
	return &Work{opt: o, access: access, gl: gl}, nil
}
