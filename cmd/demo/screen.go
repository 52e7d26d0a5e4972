package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mannequin/animsys/resident"
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

// gpu lets agents live in the stage's OpenGL, which draws them.
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

// newOpenGL returns the command that says whether pictures have compute shaders. mannequin doctor runs it, which has no OpenGL.
func newOpenGL() *cobra.Command {
	return &cobra.Command{
		Use:   "opengl",
		Short: "Report the OpenGL of windows and recordings, and whether it has the compute shaders of --gpu-beyond",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := screen{title: "mannequin", width: 64, height: 64, window: true, stderr: cmd.ErrOrStderr()}
			defer s.close()
			st, err := s.open()
			if err != nil {
				return err
			}
			c, err := st.Compute()
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "OpenGL %s, %s\n", c.Version(), c.Name())
			return nil
		},
	}
}

// close closes the stage.
func (s *screen) close() {
	if s.stage != nil {
		s.stage.Close()
	}
}
