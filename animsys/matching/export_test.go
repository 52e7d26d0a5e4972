package matching

// Uppers reports which actions the upper body can play by itself.
func (l *Learned) Uppers() (can []bool) {
	for _, turns := range l.uppers() {
		can = append(can, turns != nil)
	}
	return can
}

// With returns the character with other networks.
func (l *Learned) With(n Networks) (*Learned, error) {
	other := &Learned{Character: l.Character, net: n}
	return other, other.finish()
}

// Stands returns a bit for each leg that stands in the features of a row.
func (s *LearnedStream) Stands(row int) uint8 { return s.of.stands(s.row(row)) }
