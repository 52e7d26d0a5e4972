package keypose

import (
	"math"

	"mannequin/engine/m3"
)

// first starts a row at from seconds into its loop, with an interpolated window.
func (s *Stream) first(row int, from float64) {
	b, t := &s.body[row], s.track
	r := b.part.Loop
	if r.every > 0 {
		from = math.Mod(from, r.every)
	}
	c := cursor{routine: r, at: float64(s.sched.At(row)) - tickRate*from/float64(b.part.Speed)}
	for n := c.next(b.part); n.at <= -before; n = c.next(b.part) {
		c = n
	}
	// The keys before the window count as passed.
	b.last, b.next = c, c
	b.last.at += cycle
	b.next.at += cycle
	s.own.lay(t, &b.progress, b.part, func() {
		t.put(0, c)
		if n := c.next(b.part); c.at < -before {
			t.put(1, n)
			u := m3.Clamp(float32((-before-c.at)/(n.at-c.at)), 0, 1)
			for g := range t.Layout.Groups() {
				t.mix(g, 0, 0, 1, u)
			}
			clear(t.Weight[t.Layout.Groups():][:t.Layout.Groups()])
		}
		t.Key(0)
	})
	s.interpolated(row, false)
}

// take puts a Performance into effect, from the next key on.
func (b *progress) take(asked Performance) {
	if asked.Loop != nil {
		b.part.Loop = asked.Loop
	}
	if b.part.Speed = 1; asked.Speed > 0 {
		b.part.Speed = m3.Clamp(asked.Speed, MinPlaybackSpeed, MaxPlaybackSpeed)
	}
}

// lay interpolates the next window of b. recall writes its first frame.
func (w *windowMaker) lay(t *Track, b *progress, asked Performance, recall func()) {
	clear(t.Weight)
	clear(w.last)
	recall()
	was, c := b.last, b.next
	was.at -= cycle
	c.at -= cycle
	for ; c.at <= 0; was, c = c, c.next(b.part) {
		w.key(t, was, c)
		b.pass(c)
	}
	b.take(asked)
	b.last, b.next = was, c
	for ; frameAt(was.at) < window; was, c = c, c.next(b.part) {
		w.key(t, was, c)
	}
	w.beyond(t, was, b.part)
	t.Interpolate()
}

// pass counts the rounds when an agent reaches key c.
func (b *progress) pass(c cursor) {
	switch last := int(c.key) == len(c.routine.time)-1; {
	case !b.begun.Equal(c.routine):
		b.begun, b.rounds = c.routine, 0
		if last {
			b.rounds = 1
		}
	case last && (c.routine.every > 0 || b.rounds == 0):
		b.rounds++
	}
}

// frameAt returns the frame of a window at a time in ticks from its start.
func frameAt(at float64) int { return before + int(math.Round(at)) }

// key keys the frame of c, which follows was, if it lies in the window behind the first frame.
// Light keys make a transition to another loop begin and end slowly.
func (w *windowMaker) key(t *Track, was, c cursor) {
	if !c.routine.Equal(was.routine) {
		for _, ease := range [2][2]float64{{0.25, 0.16}, {0.75, 0.84}} {
			if f := frameAt(was.at + ease[0]*(c.at-was.at)); f > 0 && f < window {
				t.between(f, was, c, float32(ease[1]))
				w.keyed(t, f)
			}
		}
	}
	if f := frameAt(c.at); f > 0 && f < window {
		t.put(f, c)
		w.keyed(t, f)
	}
}

// keyed records the keyed groups of frame f.
func (w *windowMaker) keyed(t *Track, f int) {
	groups := t.Layout.Groups()
	for g, k := range t.Weight[f*groups:][:groups] {
		if k > 0 {
			w.last[g] = int32(f)
		}
	}
}

// hint is the weight of frames between two keys that only guide the motion.
const hint = 0.3

// beyond keys the last frame lightly, on the way to the keys after the window, from c on.
func (w *windowMaker) beyond(t *Track, c cursor, p Performance) {
	groups, n := t.Layout.Groups(), len(t.Layout.Joints)
	end := window - 1
	weight := t.Weight[end*groups:][:groups]
	for open := groups; open > 0; c = c.next(p) {
		r, k := c.routine, int(c.key)
		open = 0
		for g := range groups {
			switch {
			case weight[g] > 0:
			case r.weight[k*groups+g] == 0:
				open++
			default:
				switch {
				case g == GroupPath:
					t.Place[end] = r.place[k]
				case g == GroupRoot:
					t.Height[end] = r.height[k]
					fallthrough
				default:
					t.Rot[end*n+g-groupJoint] = r.rot[k*n+g-groupJoint]
				}
				prev := w.last[g]
				u := (float64(end) - float64(prev)) / (c.at + before - float64(prev))
				t.mix(g, end, int(prev), end, float32(u))
				weight[g] = hint
			}
		}
	}
}
