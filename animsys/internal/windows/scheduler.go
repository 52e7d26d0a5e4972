// Package windows schedules motion that is made in windows. It spreads the ticks at which agents
// start their windows evenly over a cycle, and computes the windows of the next tick beside the
// ticks before it.
package windows

import (
	"cmp"
	"errors"
	"fmt"

	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
)

// None is no row, and no index.
const None = -1

// Scheduler counts the rows of a stream, decides at which tick of the cycle each starts its windows,
// and has them computed until then. All methods belong to one goroutine; Work.Compute may read the
// length of Due.
type Scheduler struct {
	Rows     int    // agents
	Capacity int    // maximum number of rows
	Frozen   []bool // (capacity) rows that do not move

	// Restarted are the rows whose motion does not continue the one before, (capacity): their window
	// was not made in time. The stream resets it when it shows the row.
	Restarted []bool

	Due     []int32 // rows whose windows are being computed; None for removed rows
	Missed  []int32 // rows that start a window in this tick for which none was computed: they were frozen, or not there yet, when it was requested
	Skipped []int32 // rows that start no window in this tick, as they are frozen

	name   string // of the stream's package, for errors
	work   Work
	worker *worker
	again  bool // rows were restored: what is due must be computed again

	every, from int
	tick        int     // of the cycle
	count       []int   // (cycle) rows that start their windows at each tick
	start       []int32 // (rows) tick of the cycle
	index       []int32 // (rows) in Due, or None
}

// Work is what a stream does for the rows that are due.
type Work struct {
	// Begin keeps what a row is asked for in this tick. The row has just become due.
	Begin func(row int) error
	// Request writes the inputs of the rows in Due. They follow from what Begin kept and from the
	// state of the rows before their windows, so that it can be called again.
	Request func()
	// Compute computes the windows from the inputs, on another goroutine. It touches nothing else
	// of the stream.
	Compute func() error
	// Commit starts the windows of the rows in Due, or something else if Compute failed with err,
	// and something else for the rows in Missed.
	Commit func(err error) error
	// Visit writes or reads the state of a row, except its schedule.
	Visit func(st *generator.State, row int)
	// Check returns an error if the state that was read for row is none.
	Check func(row int) error
}

// New returns a scheduler for up to capacity rows with windows of cycle ticks. Windows start only in
// ticks that are every apart, the first of them from; every 0 is 1. name is the stream's package.
func New(name string, capacity, cycle, every, from int) (Scheduler, error) {
	every = cmp.Or(every, 1)
	if every < 0 || cycle%every != 0 || from < 0 || from >= every {
		return Scheduler{}, fmt.Errorf("%s: a stream: windows start every %d ticks from tick %d on: want a divisor of %d, and less than it", name, every, from, cycle)
	}
	s := Scheduler{Capacity: capacity, Frozen: make([]bool, capacity), Restarted: make([]bool, capacity), name: name, every: every, from: from, count: make([]int, cycle), start: make([]int32, capacity), index: make([]int32, capacity)}
	s.Due, s.Missed, s.Skipped = make([]int32, 0, s.Most()), make([]int32, 0, s.Most()), make([]int32, 0, s.Most())
	return s, nil
}

// Do sets the work. Close must be called after it.
func (s *Scheduler) Do(w Work) { s.work, s.worker = w, newWorker(w.Compute) }

// Close waits for what is being computed and ends the goroutine. Closing twice, or before Do, is
// harmless.
func (s *Scheduler) Close() {
	if s.worker != nil {
		s.worker.close()
		s.worker = nil
	}
}

// Step is a tick, in which rows are frozen, (rows). If windows start in it, Step commits those that
// are due, and requests those of the next such tick, except of rows that are frozen. It returns the
// errors of all work.
func (s *Scheduler) Step(frozen []bool) error {
	copy(s.Frozen, frozen)
	if err := s.step(); err != nil {
		return fmt.Errorf("%s: a stream: %w", s.name, err)
	}
	return nil
}

func (s *Scheduler) step() error {
	if s.worker == nil {
		return errors.New("the stream is closed")
	}
	if s.Rows == 0 { // see empty
		return nil
	}
	if s.again {
		s.again = false
		s.compact()
		s.request()
	}
	var err error
	if s.tick%s.every == s.from {
		computed := s.worker.wait()
		s.missed(computed)
		err = errors.Join(computed, s.work.Commit(computed))
		s.Clear()
		next := int32((s.tick + s.every) % len(s.count))
		for row, frozen := range s.Frozen[:s.Rows] {
			if s.start[row] == next && !frozen {
				s.Begin(row)
				err = errors.Join(err, s.work.Begin(row))
			}
		}
		s.request()
	}
	s.tick = (s.tick + 1) % len(s.count)
	return err
}

func (s *Scheduler) request() {
	if len(s.Due) > 0 {
		s.work.Request()
		s.worker.begin()
	}
}

// Identity returns what the schedule of saved rows depends on; see generator.Rig.
func (s *Scheduler) Identity() string {
	return fmt.Sprintf("windows of %d, every %d from %d", len(s.count), s.every, s.from)
}

// Most returns how many windows start in one tick at most.
func (s *Scheduler) Most() int { return (len(s.start)*s.every + len(s.count) - 1) / len(s.count) }

// Room returns an error if no agent can be added at a place.
func (s *Scheduler) Room(at feature.Place) error {
	switch {
	case !at.Finite():
		return fmt.Errorf("%s: no agent can stand at %+v", s.name, at)
	case s.Rows == s.Capacity:
		return fmt.Errorf("%s: all %d rows of the stream are taken", s.name, s.Rows)
	}
	return nil
}

// Add returns a new row, which moves.
func (s *Scheduler) Add() (row int) {
	s.empty()
	row = s.add(s.quietest())
	s.Frozen[row], s.Restarted[row] = false, false
	return row
}

// quietest returns the tick at which the fewest rows start, the first after the next: windows of
// the next are being computed.
func (s *Scheduler) quietest() (start int) {
	cycle := len(s.count)
	n, next := cycle/s.every, s.tick+(s.from-s.tick%s.every+s.every)%s.every
	start = (next + s.every) % cycle
	for k := 2; k <= n; k++ {
		if other := (next + k%n*s.every) % cycle; s.count[other] < s.count[start] {
			start = other
		}
	}
	return start
}

func (s *Scheduler) add(start int) (row int) {
	row = s.Rows
	s.Rows++
	s.count[start]++
	s.start[row], s.index[row] = int32(start), None
	return row
}

// empty makes a scheduler without rows as new.
func (s *Scheduler) empty() {
	if s.Rows == 0 {
		if s.worker != nil {
			s.worker.wait() // for rows that are gone
		}
		s.tick, s.again, s.Due = 0, false, s.Due[:0]
	}
}

// Remove takes row out. It returns the last row, which becomes this one.
func (s *Scheduler) Remove(row int) (last int) {
	s.Rows--
	last = s.Rows
	s.count[s.start[row]]--
	if i := s.index[row]; i != None {
		s.Due[i] = None
	}
	if row == last {
		return last
	}
	s.start[row], s.index[row], s.Frozen[row], s.Restarted[row] = s.start[last], s.index[last], s.Frozen[last], s.Restarted[last]
	if i := s.index[row]; i != None {
		s.Due[i] = int32(row)
	}
	return last
}

// Save writes the state of a row, and when it starts its next window.
func (s *Scheduler) Save(st *generator.State, row int) {
	if len(s.count) == 0 {
		return
	}
	s.work.Visit(st, row)
	cycle := len(s.count)
	p := phase{int32(s.tick), int32((int(s.start[row]) - s.tick + cycle) % cycle), 0}
	if s.index[row] != None {
		p.due = 1
	}
	generator.Value(st, &p)
}

// phase is when a row starts its next window.
type phase struct {
	tick int32 // of the cycle, when it was saved
	left int32 // ticks until then
	due  int32 // 1 if the window was being computed
}

// Restore adds a row in a saved state. The first row of a scheduler also restores the tick.
// scheduled is false if the windows of that tick are as many as can be: then the row restarts, and
// starts its window at another tick, as a new one does. After an error no row is added.
func (s *Scheduler) Restore(st *generator.State) (row int, scheduled bool, err error) {
	if err := s.Room(feature.Place{}); err != nil {
		return 0, false, err
	}
	row = s.Rows
	s.work.Visit(st, row)
	st.Check(row, s.work.Check)
	var p phase
	generator.Value(st, &p)
	cycle := len(s.count)
	if p.tick < 0 || int(p.tick) >= cycle || p.left < 0 || int(p.left) >= cycle || p.due < 0 || p.due > 1 {
		st.Fail(fmt.Errorf("the state has a window at %d + %d of %d ticks", p.tick, p.left, cycle))
	}
	if err := st.Err(); err != nil {
		return row, false, fmt.Errorf("%s: %w", s.name, err)
	}
	if s.empty(); s.Rows == 0 {
		s.tick = int(p.tick)
	}
	start := (s.tick + int(p.left)) % cycle
	if start%s.every != s.from || s.count[start] >= s.Most() || p.due == 1 && int(p.left) >= s.every {
		s.Restarted[row] = true
		return s.add(s.quietest()), false, nil
	}
	s.add(start)
	if p.due == 1 {
		s.worker.wait()
		s.compact()
		s.Begin(row)
		s.again = true
	}
	return row, true, nil
}

// At returns for how many ticks row has played its window, 1 to the cycle.
func (s *Scheduler) At(row int) int {
	cycle := len(s.count)
	return (s.tick+cycle-1-int(s.start[row]))%cycle + 1
}

// missed lists the rows that should start a window in this tick and have none: Missed, and Skipped for those that are
// frozen. err is the error of Compute.
func (s *Scheduler) missed(err error) {
	if err != nil {
		for _, row := range s.Due {
			if row != None {
				s.Restarted[row] = true
			}
		}
	}
	s.Missed, s.Skipped = s.Missed[:0], s.Skipped[:0]
	for row, frozen := range s.Frozen[:s.Rows] {
		switch {
		case int(s.start[row]) != s.tick || s.index[row] != None:
		case frozen:
			s.Skipped = append(s.Skipped, int32(row))
		default:
			s.Missed, s.Restarted[row] = append(s.Missed, int32(row)), true
		}
	}
}

// Clear empties Due.
func (s *Scheduler) Clear() {
	for _, row := range s.Due {
		if row != None {
			s.index[row] = None
		}
	}
	s.Due = s.Due[:0]
}

// compact takes removed rows out of Due.
func (s *Scheduler) compact() {
	n := 0
	for _, row := range s.Due {
		if row != None {
			s.Due[n], s.index[row] = row, int32(n)
			n++
		}
	}
	s.Due = s.Due[:n]
}

// Begin puts row into Due.
func (s *Scheduler) Begin(row int) {
	s.index[row] = int32(len(s.Due))
	s.Due = append(s.Due, int32(row))
}

// Swap changes the places of two rows in Due.
func (s *Scheduler) Swap(i, k int) {
	s.Due[i], s.Due[k] = s.Due[k], s.Due[i]
	s.index[s.Due[i]], s.index[s.Due[k]] = int32(i), int32(k)
}
