package fbx

// beyond says how a curve goes on before its first key or after its last.
type beyond struct {
	how   byte  // C or 0 stays, R repeats, A repeats and goes on from where it ended, M goes back and forth, K keeps the slope
	times int64 // of repetitions; −1: for ever
}

// beyond reads how a curve goes on; r may be nil.
func (s *scene) beyond(r *record) (b beyond, err error) {
	kind, times := r.child("Type"), r.child("Repetition")
	if kind == nil {
		return b, nil
	}
	v, err := s.all(kind, 1)
	if err != nil || len(v) == 0 {
		return b, err
	}
	letter := text(v, 0)
	if v[0].kind == 'n' && v[0].whole > 0 && v[0].whole < 128 { // binary files have its code
		letter = string(rune(v[0].whole))
	}
	if letter != "R" && letter != "A" && letter != "M" && letter != "K" {
		return b, nil
	}
	b = beyond{letter[0], -1}
	if times != nil {
		n, err := s.wholes(times, 1)
		if err != nil {
			return beyond{}, err
		}
		if len(n) > 0 {
			b.times = n[0]
		}
	}
	return b, nil
}

// at returns a curve's value at a time before its keys, or after them, as Autodesk's SDK has it: a curve that has
// repeated as often as it shall stays at its end, and one that keeps its slope does so for ever or not at all.
func (b beyond) at(c *curve, t int64, before bool) float64 {
	n := len(c.times) - 1
	first, last := c.times[0], c.times[n]
	end, out, side := c.values[n], t-last, 1.0
	if before {
		end, out, side = c.values[0], first-t, -1
	}
	span := last - first
	if b.how == 0 || span == 0 {
		return end
	}
	if b.how == 'K' {
		if b.times >= 0 {
			return end
		}
		return end + side*c.endSlope(before)*float64(out)/ticks
	}
	rise := 0.0 // per repetition
	if b.how == 'A' {
		rise = side * (c.values[n] - c.values[0])
	}
	times, rest := out/span, out%span
	if b.times >= 0 && times >= b.times {
		return end + float64(b.times)*rise
	}
	back := before
	if b.how == 'M' && times%2 == 0 {
		back = !back
	}
	at := first + rest
	if back {
		at = last - rest
	}
	return c.between(at) + float64(times+1)*rise
}

// endSlope returns the slope of a curve at its first or last key.
func (c *curve) endSlope(first bool) float64 {
	k := len(c.shape) - 2
	if first {
		k = 0
	}
	switch w := &c.shape[k]; {
	case w.kind == 0:
		return 0
	case w.kind == 1:
		return (c.values[k+1] - c.values[k]) * ticks / float64(c.times[k+1]-c.times[k])
	case first:
		return w.out
	default:
		return w.in
	}
}
