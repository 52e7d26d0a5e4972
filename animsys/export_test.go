package animsys

import "mannequin/netruntime"

// Wrapped is a session of a crowd that a test may put another in the place of.
type Wrapped = netruntime.Session

// Count calls f with the session of each stride.
func (c *Crowd) Count(f func(stride int, s *Wrapped)) {
	f(1, &c.Session)
	for stride := range c.far {
		if c.far[stride] != nil {
			f(stride, &c.far[stride])
		}
	}
}

// WantedRate returns what SetRate was told.
func (b *Bodies) WantedRate(row int) Rate { return b.rates[row].want }
