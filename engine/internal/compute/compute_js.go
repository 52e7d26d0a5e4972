package compute

import "errors"

// Compute is for OpenGL 4.3, which browsers have not.
type Compute struct{}

// New returns an error.
func New() (*Compute, error) { return nil, errors.New("compute: WebGL has no compute shaders") }
