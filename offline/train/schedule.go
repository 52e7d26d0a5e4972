package train

import (
	"fmt"
	"math"
)

// WarmRestarts is the schedule of AdamWR (Loshchilov and Hutter 2017) as MANN
// uses it: a multiplier of learning rate and weight decay that falls from 1
// along a half cosine and jumps back to 1 at every restart. For First 10 and
// Mult 2 the restarts are at the 0-based epochs 11, 31 and 71.
type WarmRestarts struct {
	First int     // epochs of the first cycle's cosine, > 0; the cycle itself is one epoch longer
	Mult  int     // how much longer every next cycle is, ≥ 1
	Clamp float64 // the cosine's phase goes no further than this fraction of a half turn, in (0, 1]
}

// Validate reports the first field that is out of range.
func (s WarmRestarts) Validate() error {
	switch {
	case s.First < 1:
		return fmt.Errorf("train: schedule: First is %d, want at least 1 epoch", s.First)
	case s.Mult < 1:
		return fmt.Errorf("train: schedule: Mult is %d, want at least 1", s.Mult)
	case !(s.Clamp > 0 && s.Clamp <= 1):
		return fmt.Errorf("train: schedule: Clamp is %v, want a value in (0, 1]", s.Clamp)
	}
	return nil
}

// Cycle returns the 0-based epoch at which the cycle of epoch began, and the
// length in epochs of the cycle's cosine.
func (s WarmRestarts) Cycle(epoch int) (start, length int) {
	length = s.First
	next := s.First + 1
	for epoch >= next {
		length *= s.Mult
		start, next = next, next+length
	}
	return start, length
}

// At returns the multiplier for a moment given as a 0-based epoch and the
// fraction of it that is over.
func (s WarmRestarts) At(epoch int, fraction float64) float64 {
	start, length := s.Cycle(epoch)
	t := (float64(epoch-start) + fraction) / float64(length)
	return 0.5 * (1 + math.Cos(math.Pi*min(t, s.Clamp)))
}
