//go:build webgpu && !js

package webgpu

import (
	"errors"
	"testing"

	"mannequin/internal/testing/must"
)

// counting is OpenGL that only counts what is there, and whose program of a number does not compile.
type counting struct {
	OpenGL   // nil: nothing else is called
	programs map[uint32]bool
	made     int
	bad      int // from 1 on; 0 is none
}

func (c *counting) Name() string                 { return "counting" }
func (c *counting) Error() error                 { return nil }
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
