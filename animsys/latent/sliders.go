package latent

import "mannequin/engine/m3"

// MaxSliders is the maximum number of components in Sliders.
const MaxSliders = 32

// Sliders is the component with which a game controls an agent: the wanted components of its next
// clip. A change shows after at most half a second plus StreamOptions.Every ticks.
type Sliders struct {
	Components [MaxSliders]float32 // in standard deviations of the training data; Model.Components names the first
	Controlled uint32              // bit k: component k is set; the others follow from the end of the last clip
}

// Set sets a component. Indices outside 0 to MaxSliders−1, such as the −1 of Components.Index, are
// ignored, also by Release.
func (s *Sliders) Set(component int, deviations float32) {
	if component >= 0 && component < MaxSliders {
		s.Components[component] = deviations
		s.Controlled |= 1 << component
	}
}

// Release lets a component follow from the motion.
func (s *Sliders) Release(component int) {
	if component >= 0 && component < MaxSliders {
		s.Controlled &^= 1 << component
	}
}

func (s *Sliders) isSet(component int) bool { return s.Controlled>>component&1 == 1 }

// maxDeviations bounds set values. The training data show nothing beyond.
const maxDeviations = 3

// clamped returns the wanted value of a component in range, 0 for NaN.
func (s *Sliders) clamped(component int) float32 {
	v := s.Components[component]
	if v != v {
		return 0
	}
	return m3.Clamp(v, -maxDeviations, maxDeviations)
}
