//go:build !linux

package stage

import "errors"

func (s *Stage) openOffscreen(Options) error {
	return errors.New("stage: rendering without a window needs EGL, which only Linux has: run it with a display")
}

func (s *Stage) closeOffscreen() {}
