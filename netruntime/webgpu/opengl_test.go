//go:build webgpu && !js

package webgpu

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

// counting is OpenGL that only counts what is there, and whose program of a number does not compile.
type counting struct {
	OpenGL   // nil: nothing else is called
	programs map[uint32]bool
	buffers  map[uint32]bool
	made     int
	bad      int // from 1 on; 0 is none
	err      error
}

func (c *counting) Name() string                 { return "counting" }
func (c *counting) Error() error                 { return c.err }
func (c *counting) MaxBytes() int64              { return 1 << 20 }
func (c *counting) DeleteBuffer(buffer uint32)   { delete(c.buffers, buffer) }
func (c *counting) DeleteProgram(program uint32) { delete(c.programs, program) }

func (c *counting) NewProgram(string) (uint32, error) {
	if c.made++; c.made == c.bad {
		return 0, errors.New("the driver does not like it")
	}
	c.programs[uint32(c.made)] = true
	return uint32(c.made), nil
}

func (c *counting) NewBuffer(int64) (uint32, error) {
	name := uint32(1) // as OpenGL does, it gives names out again
	for c.buffers[name] {
		name++
	}
	c.buffers[name] = true
	return name, nil
}

// TestFree: what Free has freed is gone, once, and nothing else is.
func TestFree(t *testing.T) {
	c := &counting{programs: map[uint32]bool{}, buffers: map[uint32]bool{}}
	for _, o := range []WorkOptions{{OpenGL: c}, {}} {
		if _, err := Device(); o.OpenGL == nil && err != nil {
			t.Skip(err)
		}
		w := must.Get(NewWork(o, ReadWrite))(t)
		left := func() int {
			if o.OpenGL != nil {
				return len(c.buffers)
			}
			return len(w.memory) + len(w.results)
		}
		stays, goes := must.Get(w.Memory("stays", 512))(t), must.Get(w.Memory("goes", 512))(t)
		bound, results := must.Get(w.Bind(goes))(t), must.Get(w.Results(64))(t)
		if left() != 3 {
			t.Fatal("there are ", left())
		}
		for range 2 {
			must.Do(t, w.Free([]*Memory{goes, nil}, []*Bound{bound, nil}, []*Results{results, nil}))
			if left() != 1 || len(w.groups) > 0 {
				t.Error("there are ", left(), " and ", len(w.groups))
			}
		}
		other := must.Get(w.Memory("comes in its place", 512))(t)
		if must.Do(t, w.Free([]*Memory{goes}, nil, nil)); left() != 2 {
			t.Error("memory that was freed takes another's with it: there are ", left())
		}
		must.Do(t, w.Free([]*Memory{other}, nil, nil))
		if o.OpenGL == nil {
			must.Do(t, w.Write(stays, 0, make([]byte, 512)))
		}
		w.Close()
		if len(c.buffers) > 0 {
			t.Error("after Close there are ", len(c.buffers))
		}
		if err := w.Free([]*Memory{stays}, nil, nil); err == nil {
			t.Error("Free after Close: no error")
		}
	}
}

// TestOpenGLPrograms: no program stays in an OpenGL that does not compile one of them.
func TestOpenGLPrograms(t *testing.T) {
	all := &counting{programs: map[uint32]bool{}}
	w := must.Get(NewWork(WorkOptions{OpenGL: all}))(t)
	if all.made < 3 || len(all.programs) != all.made {
		t.Fatalf("%d programs of %d", len(all.programs), all.made)
	}
	if w.Close(); len(all.programs) > 0 {
		t.Errorf("%d programs are there after Close", len(all.programs))
	}
	for bad := 1; bad <= all.made; bad++ {
		c := &counting{programs: map[uint32]bool{}, bad: bad}
		if _, err := NewWork(WorkOptions{OpenGL: c}); err == nil || c.made != bad || len(c.programs) > 0 {
			t.Errorf("program %d does not compile: error %v, %d programs were made, %d are left", bad, err, c.made, len(c.programs))
		}
	}
}

// TestWorkErrors: errors of a Work say once why there is no GPU, and that it was lost, and wrap ErrLost.
func TestWorkErrors(t *testing.T) {
	right := theDevice
	defer func() { theDevice = right }()
	theDevice = func() (*device, error) { return nil, errors.New("webgpu: no Vulkan driver") }
	_, err := NewWork(WorkOptions{})
	if !errors.Is(err, ErrLost) || err.Error() != "webgpu: no Vulkan driver" {
		t.Error("no driver: ", err)
	}
	theDevice = right

	var log strings.Builder
	c := &counting{programs: map[uint32]bool{}}
	w := must.Get(NewWork(WorkOptions{OpenGL: c, Log: slog.New(slog.NewTextHandler(&log, nil))}))(t)
	defer w.Close()
	c.err = errFault
	for range 2 {
		err := w.Write(&Memory{}, 0, nil)
		if !errors.Is(err, ErrLost) || !errors.Is(err, errFault) || err.Error() != "webgpu: OpenGL of counting is lost: the driver's error" {
			t.Error("an error of OpenGL: ", err)
		}
	}
	if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "the driver's error") {
		t.Errorf("the log of a loss: %q", log.String())
	}

	f := openFaulty(t)
	w = must.Get(NewWork(WorkOptions{Log: slog.New(slog.DiscardHandler)}, ReadWrite))(t)
	defer w.Close()
	to := must.Get(w.Results(64))(t)
	f.left.Store(1)
	err = w.Submit(nil, nil, to)
	if !errors.Is(err, ErrLost) || !strings.HasPrefix(err.Error(), "webgpu: the GPU was lost: ") || strings.Count(err.Error(), "webgpu") != 1 || strings.Count(err.Error(), "lost") != 1 {
		t.Error("an error of the driver: ", err)
	}
}
