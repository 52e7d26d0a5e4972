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
	made     int
	bad      int // from 1 on; 0 is none
	err      error
}

func (c *counting) Name() string                 { return "counting" }
func (c *counting) Error() error                 { return c.err }
func (c *counting) DeleteProgram(program uint32) { delete(c.programs, program) }

func (c *counting) NewProgram(string) (uint32, error) {
	if c.made++; c.made == c.bad {
		return 0, errors.New("the driver does not like it")
	}
	c.programs[uint32(c.made)] = true
	return uint32(c.made), nil
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
