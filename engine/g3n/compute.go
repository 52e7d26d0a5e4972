package g3n

import "mannequin/engine/internal/compute"

// Compute runs compute shaders in the context that draws the scene: agents of mannequin/animsys/resident live there, if it is their
// Options.OpenGL, and Crowd.UpdateFrom draws them without their poses leaving the graphics card.
type Compute = compute.Compute

// NewCompute returns the compute shaders of the current context. It is an error if that is older than OpenGL 4.3, as on macOS, or a
// browser's. Call it on the thread that draws.
func NewCompute() (*Compute, error) { return compute.New() }
