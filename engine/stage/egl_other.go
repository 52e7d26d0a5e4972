//go:build !linux

package stage

import "errors"

func openEGL() error {
	return errors.New("stage: rendering without a window needs EGL, which only Linux has: run it with a display")
}

func closeEGL() {}
