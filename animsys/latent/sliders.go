package latent

import "mannequin/engine/m3"

// MaxSliders is how many components a Sliders has room for.
const MaxSliders = 32

// Sliders is the component of somebody who walks by values that a game sets: what
// their next clip shall be. A change shows within half a second and the ticks of
// StreamOptions.Every.
type Sliders struct {
	Components [MaxSliders]float32 // in deviations of the recordings; Model.Components names the first
	Controlled uint32              // bit k: component k is asked for; the others follow from how the last clip ends
}

// Ask asks for a component. One that is not among the first MaxSliders, such as the −1
// of Components.Index, is passed over, as it is by Release.
func (s *Sliders) Set(component int, deviations float32) {
	if component >= 0 && component < MaxSliders {
		s.Components[component] = deviations
		s.Controlled |= 1 << component
	}
}

// Release lets a component follow.
func (s *Sliders) Release(component int) {
	if component >= 0 && component < MaxSliders {
		s.Controlled &^= 1 << component
	}
}

func (s *Sliders) asks(component int) bool { return s.Controlled>>component&1 == 1 }

// Who asks for more than this many deviations gets so many: what lies beyond no
// recording shows.
const mostAsked = 3

// sane returns what is asked for of a component, 0 in place of NaN.
func (s *Sliders) sane(component int) float32 {
	v := s.Components[component]
	if v != v {
		return 0
	}
	return m3.Clamp(v, -mostAsked, mostAsked)
}
