package stage

import (
	"errors"

	"mannequin/engine/internal/compute"
)

// Compute runs compute shaders in the OpenGL of a stage: agents of mannequin/animsys/resident live there, if it is their
// Options.OpenGL, and Crowd.SetFrom draws them.
type Compute = compute.Compute

// Compute returns the compute shaders of the stage's OpenGL. It is an error if that is older than 4.3, as on macOS, or a browser's. It
// belongs to the stage's goroutine, and is of no use once the stage is closed.
func (s *Stage) Compute() (*Compute, error) {
	if s.target == nil {
		return nil, errors.New("stage: compute shaders of a closed stage")
	}
	return compute.New()
}
