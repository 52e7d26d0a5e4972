// Package latent makes people's motion from a few sliders.
package latent

// Lengths of clips, in frames.
const (
	Frames = 61 // of a clip: one second at 60 frames per second
	Padded = 64 // of what the networks see of it, which can be halved three times: its last frame is held
	Coarse = 8  // of what the encoder makes of that before the latent values
	centre = 3  // of those, where the filter over all of them has its result
)
