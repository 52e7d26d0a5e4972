// Package turns spreads the turns in which people go on, from one piece of motion to the
// next, evenly over the ticks of a cycle, and has the next pieces made beside the ticks.
package turns

import (
	"errors"
	"fmt"
)

// None is no row, and no piece.
const None = -1

// Turns are those of many people. Turns come in some of the ticks of the cycle. What
// somebody plays from their turn on is begun when those before them have theirs. All
// methods belong to one goroutine; Make may ask how many are Due, not who.
type Turns struct {
	Due  []int32 // rows for whom a piece is being made; None where they are gone
	Late []int32 // rows whose turn it is, and for whom nothing was made: they were still, or not there yet, when it should have been begun

	work   Work
	errand *errand

	every, from int
	tick        int     // of the cycle
	count       []int   // (cycle) how many have their turn at each tick
	turn        []int32 // (rows)
	piece       []int32 // (rows) which of Due they are, or None
}

// Work is what is done for those who are due.
type Work struct {
	Order func() error          // sees what their pieces follow, and what is asked of these
	Make  func() error          // makes the pieces, on a goroutine of its own: what others use meanwhile it leaves alone
	Take  func(err error) error // has them play the pieces, or something else where making them has failed; and those play something who are late
}

// New returns turns every so many ticks of a cycle, the first of them from; every 0 is 1.
func New(people, cycle, every, from int) (Turns, error) {
	if every == 0 {
		every = 1
	}
	if every < 0 || cycle%every != 0 || from < 0 || from >= every {
		return Turns{}, fmt.Errorf("people go on every %d ticks from %d on: want a divisor of %d, and less than it", every, from, cycle)
	}
	t := Turns{every: every, from: from, count: make([]int, cycle), turn: make([]int32, people), piece: make([]int32, people)}
	t.Due, t.Late = make([]int32, 0, t.Most()), make([]int32, 0, t.Most())
	return t, nil
}

// Do says what is done. Close must be called some time.
func (t *Turns) Do(w Work) { t.work, t.errand = w, newErrand(w.Make) }

// Close ends the goroutine of Make, after what is under way. Closing twice, or before
// Do, is harmless.
func (t *Turns) Close() {
	if t.errand != nil {
		t.errand.close()
		t.errand = nil
	}
}

// Continue is a tick. Where it is somebody's turn, it has them play what was made, and has
// the pieces begun of those whose turn comes next, but for those of the first rows who are
// still. It returns the errors of all work.
func (t *Turns) Continue(still []bool) error {
	if t.errand == nil {
		return errors.New("closed, nobody goes on")
	}
	var err error
	if t.now() {
		made := t.errand.wait()
		t.late(still)
		err = errors.Join(made, t.work.Take(made))
		t.Clear()
		t.order(still)
		if len(t.Due) > 0 {
			err = errors.Join(err, t.work.Order())
			t.errand.begin()
		}
	}
	t.tick = (t.tick + 1) % len(t.count)
	return err
}

// Most returns how many have their turn at once at most: somebody new gets the turn that
// the fewest have.
func (t *Turns) Most() int { return (len(t.turn)*t.every + len(t.count) - 1) / len(t.count) }

// Add gives row a turn: the first of those that the fewest have, but for the very next,
// for which things are being made already.
func (t *Turns) Add(row int) {
	cycle := len(t.count)
	n, next := cycle/t.every, t.tick+(t.from-t.tick%t.every+t.every)%t.every
	turn := (next + t.every) % cycle
	for k := 2; k <= n; k++ {
		if other := (next + k%n*t.every) % cycle; t.count[other] < t.count[turn] {
			turn = other
		}
	}
	t.count[turn]++
	t.turn[row], t.piece[row] = int32(turn), None
}

// Remove takes row out and gives it to the one in the last.
func (t *Turns) Remove(row, last int) {
	t.count[t.turn[row]]--
	if p := t.piece[row]; p != None {
		t.Due[p] = None
	}
	if row == last {
		return
	}
	t.turn[row], t.piece[row] = t.turn[last], t.piece[last]
	if p := t.piece[row]; p != None {
		t.Due[p] = int32(row)
	}
}

// At returns for how many ticks row has played what it plays, 1 to the cycle's.
func (t *Turns) At(row int) int {
	cycle := len(t.count)
	return (t.tick+cycle-1-int(t.turn[row]))%cycle + 1
}

// now reports whether turns come in this tick.
func (t *Turns) now() bool { return t.tick%t.every == t.from }

// late fills Late.
func (t *Turns) late(still []bool) {
	t.Late = t.Late[:0]
	for row, still := range still {
		if int(t.turn[row]) == t.tick && t.piece[row] == None && !still {
			t.Late = append(t.Late, int32(row))
		}
	}
}

// Clear empties Due.
func (t *Turns) Clear() {
	for _, row := range t.Due {
		if row != None {
			t.piece[row] = None
		}
	}
	t.Due = t.Due[:0]
}

// order puts those into Due whose turn comes next.
func (t *Turns) order(still []bool) {
	next := int32((t.tick + t.every) % len(t.count))
	for row, still := range still {
		if t.turn[row] == next && !still {
			t.Begin(row)
		}
	}
}

// Begin puts row into Due.
func (t *Turns) Begin(row int) {
	t.piece[row] = int32(len(t.Due))
	t.Due = append(t.Due, int32(row))
}

// Swap changes the places of two in Due.
func (t *Turns) Swap(i, k int) {
	t.Due[i], t.Due[k] = t.Due[k], t.Due[i]
	t.piece[t.Due[i]], t.piece[t.Due[k]] = int32(i), int32(k)
}
