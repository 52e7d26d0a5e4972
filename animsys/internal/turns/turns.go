// Package turns spreads the turns in which people go on, from one piece of motion to the
// next, evenly over the ticks of a cycle, and keeps for whom the next piece is being made.
package turns

import "fmt"

// None is no row, and no piece.
const None = -1

// Turns are those of many people. Turns come in some of the ticks of the cycle; what
// somebody plays from their turn on is made from the ticks of the turns before theirs on.
type Turns struct {
	Due []int32 // rows for whom something is being made; None where they are gone

	every, from int
	tick        int     // of the cycle
	count       []int   // (cycle) how many have their turn at each tick
	turn        []int32 // (rows)
	piece       []int32 // (rows) which of Due they are, or None
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
	t.Due = make([]int32, 0, t.Most())
	return t, nil
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

// Now reports whether turns come in this tick: then what is due is to be played, Clear
// called, and what is due next begun.
func (t *Turns) Now() bool { return t.tick%t.every == t.from }

// Missed reports whether it is row's turn, without anything made for it: they were not
// there yet when it should have been begun, or nothing was to be made for them.
func (t *Turns) Missed(row int) bool { return int(t.turn[row]) == t.tick && t.piece[row] == None }

// Clear empties Due.
func (t *Turns) Clear() {
	for _, row := range t.Due {
		if row != None {
			t.piece[row] = None
		}
	}
	t.Due = t.Due[:0]
}

// Order puts those of the first rows into Due whose turn comes next and who are not still.
func (t *Turns) Order(still []bool) {
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

// Tick goes on to the next tick.
func (t *Turns) Tick() { t.tick = (t.tick + 1) % len(t.count) }
