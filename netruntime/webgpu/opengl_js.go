//go:build webgpu && js

package webgpu

import (
	"errors"

	"mannequin/netruntime"
	"mannequin/netruntime/internal/program"
)

// WebGL has no compute shaders: nobody makes these in a browser.
type (
	glWork struct {
		OpenGL
		lost error
	}
	glNetwork struct {
		layout *program.Layout
		plan   *program.Program
		memory uint32
	}
)

var errWebGL = noGPU(errors.New("webgpu: a browser's OpenGL has no compute shaders"))

func openGL(WorkOptions, []Access) (*Work, error)                  { return nil, errWebGL }
func (w *glWork) check() error                                     { return errWebGL }
func (w *glWork) program(string, string) (uint32, error)           { return 0, errWebGL }
func (w *glWork) buffer(int64) (uint32, error)                     { return 0, errWebGL }
func (w *glWork) network(*netruntime.Net, int) (*glNetwork, error) { return nil, errWebGL }
func (w *glWork) submit([]Launch, []Copy, *Results) error          { return errWebGL }
func (w *glWork) read([]byte, *Results) error                      { return errWebGL }
func (w *glWork) free(uint32)                                      {}
func (w *glWork) close()                                           {}
