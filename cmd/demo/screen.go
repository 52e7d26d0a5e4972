package main

import (
	"fmt"
	"io"

	"mannequin/animsys/mann/resident"
	"mannequin/animsys/skel"
	"mannequin/engine/body"
	"mannequin/engine/stage"
	"mannequin/internal/backend"
)

// screen is the stage that shows a scene, once something asks for it.
type screen struct {
	title         string
	width, height int
	window        bool // if there is a display; after open, whether there is a window
	stderr        io.Writer

	stage *stage.Stage
}

// open returns the stage: in a window if there is a display, else in memory.
func (s *screen) open() (_ *stage.Stage, err error) {
	if s.stage != nil {
		return s.stage, nil
	}
	if s.window = s.window && stage.HasDisplay(); s.window {
		pads, err := stage.GamepadMappings()
		if err != nil {
			return nil, err
		}
		if s.stage, err = stage.Open(stage.Options{Title: s.title, Width: s.width, Height: s.height, Gamepads: pads}); err == nil {
			return s.stage, nil
		}
		fmt.Fprintf(s.stderr, "demo: %v; recording instead\n", err)
		s.window = false
	}
	s.stage, err = stage.Open(stage.Options{Width: s.width, Height: s.height, Offscreen: true})
	return s.stage, err
}

// gpu lets dogs live in the stage's OpenGL, which draws them.
func (s *screen) gpu(of *skel.Skeleton) (o resident.Options, err error) {
	if _, err := backend.Open(backend.WebGPU, nil); err != nil { // which has the compiler of the kernels
		return o, err
	}
	st, err := s.open()
	if err != nil {
		return o, err
	}
	compute, err := st.Compute()
	if err != nil {
		return o, err
	}
	o.OpenGL = compute
	o.Bind, err = body.Stand(&body.Rig{Names: of.Names, Parents: of.Parents, Offsets: of.Offsets})
	return o, err
}

// close closes the stage.
func (s *screen) close() {
	if s.stage != nil {
		s.stage.Close()
	}
}
