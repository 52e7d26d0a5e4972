package judge

import "slices"

// Kind is a kind of frame, which is compared with its like. A frame has one of the first kinds, and
// may have some of the others.
type Kind int

// The kinds of frames.
const (
	Stand    Kind = iota // slower than 0.1 m/s for 2 s
	Slow                 // other frames up to 0.5 m/s, and up to 0.3 m/s aside and back
	Walk                 // up to 1.9 m/s, at most 30° aside
	Run                  // faster, at most 60° aside
	Diagonal             // up to 1.9 m/s, 30 to 60° aside
	Side                 // 60 to 120° aside
	Back                 // more than 120°
	Bend                 // walks at 1 to 1.6 m/s that turn by 35 to 60° per second
	Straight             // walks that turn by less than 12° per second
	Stop                 // starts and stops: between 0.25 and 0.9 m/s within 3 s, and a quarter of a second around
	numKinds
)

func (k Kind) String() string {
	return [numKinds]string{"stand", "slow", "walk", "run", "diagonal", "side", "back", "bend", "straight", "stop"}[k]
}

// kinds is a set of kinds.
type kinds uint16

func (s kinds) has(k Kind) bool { return s>>k&1 != 0 }

func (s *kinds) add(k Kind) { *s |= 1 << k }

// leastStand is the shortest stand, frames.
const leastStand = 2 * Rate

// sort finds the kinds of all frames.
func (b *body) sort() {
	b.kinds = make([]kinds, b.n)
	for f := range b.n {
		speed, away, turn := b.speed[f], b.away[f], b.turn[f]
		kind := Slow
		switch {
		case speed < 0.1:
			kind = Stand
		case away > 120 && speed >= 0.3:
			kind = Back
		case away > 60 && speed >= 0.3:
			kind = Side
		case speed >= 1.9:
			kind = Run
		case speed >= 0.5 && away > 30:
			kind = Diagonal
		case speed >= 0.5:
			kind = Walk
		}
		b.kinds[f].add(kind)
		if kind == Walk && speed >= 1 && speed <= 1.6 && turn >= 35 && turn <= 60 {
			b.kinds[f].add(Bend)
		}
		if kind == Walk && turn < 12 {
			b.kinds[f].add(Straight)
		}
	}
	var stands [][2]int
	b.runs(Stand, 0, func(from, to int) { stands = append(stands, [2]int{from, to}) })
	for _, s := range stands {
		for f := s[0]; f < s[1] && s[1]-s[0] < leastStand; f++ {
			b.kinds[f] = 1 << Slow // a pause
		}
	}
	for _, c := range b.changes() {
		for f := max(c.from-Rate/4, 0); f < min(c.to+Rate/4, b.n); f++ {
			b.kinds[f].add(Stop)
		}
	}
}

// change is a start or a stop: the frames at which the speed passes its two bounds.
type change struct {
	from, to int
	start    bool
}

const (
	stopSlow, stopFast = 0.25, 0.9    // m/s
	longestChange      = 3 * Rate     // frames
	stopFor            = Rate / 2     // frames that it stands
	changeWindow       = Rate * 2 / 5 // over which the speed is taken: about a step
)

// changes finds starts and stops.
func (b *body) changes() (out []change) {
	speed := func(f int) float64 {
		from, to := max(f-changeWindow/2, 0), min(f+changeWindow/2, b.n-1)
		return float64(b.at[hips][to].Sub(b.at[hips][from]).Flat().Len()) * Rate / float64(to-from)
	}
	last, was := 0, 0 // the last frame beyond a bound, and beyond which: 1 fast, −1 slow
	for f := range b.n {
		is := 0
		switch v := speed(f); {
		case v > stopFast:
			is = 1
		case v < stopSlow:
			is = -1
		default:
			continue
		}
		if is == -was && f-last <= longestChange {
			out = append(out, change{last, f, is > 0})
		}
		last, was = f, is
	}
	// The body stands for a while after a stop and before a start.
	stands := func(from, to int) bool {
		if from < 0 || to > b.n {
			return false
		}
		for f := from; f < to; f++ {
			if speed(f) > stopFast/2 {
				return false
			}
		}
		return true
	}
	return slices.DeleteFunc(out, func(c change) bool {
		if c.start {
			return !stands(c.from-stopFor, c.from)
		}
		return !stands(c.to, c.to+stopFor)
	})
}

// runs calls do with each stretch of frames of a kind that has at least least frames.
func (b *body) runs(k Kind, least int, do func(from, to int)) {
	from := 0
	for f := 0; f <= b.n; f++ {
		if f < b.n && b.kinds[f].has(k) {
			continue
		}
		if f-from >= least {
			do(from, f)
		}
		from = f + 1
	}
}
