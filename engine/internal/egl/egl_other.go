//go:build !linux

package egl

import (
	"errors"

	"github.com/g3n/engine/gls"
)

// Open fails: only Linux has EGL everywhere.
func Open() (*gls.GLS, error) {
	return nil, errors.New("cannot render offscreen: this needs EGL, which only Linux has: run it with a display")
}

// Close does nothing.
func Close() {}
