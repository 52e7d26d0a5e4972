package scenes

// Cue is an input that is held for some time.
type Cue struct {
	Seconds float64
	Input   Input
}

// Script is recorded input that replaces a player: cues one after the other, repeated from the
// first.
type Script []Cue

// Seconds returns the length of one round.
func (s Script) Seconds() float64 {
	var sum float64
	for _, c := range s {
		sum += c.Seconds
	}
	return sum
}

// At returns the input of a tick. The first tick is 0.
func (s Script) At(tick int64) Input {
	var ticks int64
	for _, c := range s {
		ticks += c.ticks()
	}
	if ticks == 0 {
		return Input{}
	}
	tick %= ticks
	for _, c := range s {
		if tick < c.ticks() {
			return c.Input
		}
		tick -= c.ticks()
	}
	return Input{}
}

func (c Cue) ticks() int64 { return max(int64(c.Seconds*TickRate+0.5), 0) }
