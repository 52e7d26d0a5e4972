package human

import "mannequin/offline/procgen/internal/smooth"

// Actions, in the order of Generate's takes.
const (
	Walk  = "walk"
	Run   = "run"
	Stand = "stand"
)

// Actions returns the names of all actions.
func Actions() []string { return []string{Walk, Run, Stand} }

// ramp is a smooth change of a track.
type ramp struct {
	at, over float64 // canonical time, cycles
	by       float64
}

// track is a number over canonical time with two continuous derivatives.
type track struct {
	from  float64
	ramps []ramp
}

func (t *track) at(c float64) float64 {
	x := t.from
	for _, r := range t.ramps {
		x += r.by * smooth.Step((c-r.at)/r.over)
	}
	return x
}

// script is a content over canonical time in cycles of the gait, from 0 to cycles. The left foot
// lands at whole numbers, the right one halfway between.
type script struct {
	name   string
	action string
	cycles float64
	pace   track // −1 slow, 0 usual, 1 fast
	turn   track // radians to the left per cycle
	moving track // 0 stands, 1 goes
	look   track // head, radians to the left of the course's own turn
	shift  track // of the weight in a stand: 1 on the left foot, −1 on the right
	first  float64
	last   float64 // no foot lands before first or after last
}

const forever = 1e3

// level is a constant track.
func level(x float64) track { return track{from: x} }

// change is a track that changes once.
func change(from, at, over, by float64) track { return track{from, []ramp{{at, over, by}}} }

// pulse is a track that changes, stays a while and comes back.
func pulse(at, over, hold, by float64) track {
	return track{0, []ramp{{at, over, by}, {at + over + hold, over, -by}}}
}

func scripts() []script {
	var all []script
	add := func(action, content string, cycles float64, edit func(*script)) {
		s := script{name: action + "-" + content, action: action, cycles: cycles, moving: level(1), first: -forever, last: forever}
		if edit != nil {
			edit(&s)
		}
		all = append(all, s)
	}
	for _, a := range []struct {
		action string
		cycles float64
		turn   float64 // radians per cycle of a wide circle
	}{{Walk, 4, 0.32}, {Run, 6, 0.34}} {
		n := a.cycles
		add(a.action, "straight", n, nil)
		add(a.action, "slow", n, func(s *script) { s.pace = level(-1) })
		add(a.action, "fast", n, func(s *script) { s.pace = level(1) })
		add(a.action, "circle-left", n, func(s *script) { s.turn = level(a.turn) })
		add(a.action, "circle-right", n, func(s *script) { s.turn = level(-a.turn) })
		add(a.action, "slalom", n, func(s *script) {
			w := 2.4 * a.turn
			s.turn = track{0, []ramp{{0.2, 1, w}, {n/2 - 0.9, 1.8, -2 * w}, {n - 1.2, 1, w}}}
		})
		for _, side := range []struct {
			name string
			turn float64
		}{{"left", 1.15}, {"right", -1.15}} {
			add(a.action, "turn-"+side.name, n, func(s *script) {
				s.turn, s.pace = pulse(n/2-1.3, 1.2, 0.2, side.turn), pulse(n/2-1.8, 1.4, 0.4, -1)
			})
		}
		add(a.action, "faster", n, func(s *script) { s.pace = change(-0.9, n/2-1.5, 3, 1.9) })
		add(a.action, "slower", n, func(s *script) { s.pace = change(1, n/2-1.5, 3, -1.9) })
	}
	add(Walk, "start", 5, func(s *script) {
		s.moving, s.first = change(0, 0.45, 1.7, 1), 1.25
	})
	add(Walk, "stop", 5, func(s *script) {
		s.moving, s.last = change(1, 2.4, 1.5, -1), 3.75
	})
	add(Stand, "still", 5, func(s *script) {
		s.moving, s.first, s.last = level(0), forever, -forever
		s.shift = track{0.5, []ramp{{1.4, 1.6, -0.9}}}
	})
	add(Stand, "look", 5, func(s *script) {
		s.moving, s.first, s.last = level(0), forever, -forever
		s.shift = track{-0.4, []ramp{{2.2, 1.5, 0.8}}}
		s.look = track{0, []ramp{{0.5, 0.9, 0.6}, {2.1, 1.3, -1.1}, {4, 0.9, 0.5}}}
	})
	return all
}
