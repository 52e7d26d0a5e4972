package gl

import "errors"

// Compute is for OpenGL 4.3, which browsers have not.
type Compute struct{}

// NewCompute returns an error.
func NewCompute() (*Compute, error) { return nil, errors.New("gl: WebGL has no compute shaders") }
