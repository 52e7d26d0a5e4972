package windows

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// However agents come and go, never more windows are due than a batch holds, each agent starts its
// own, and starts one in each cycle.
func TestScheduler(t *testing.T) {
	const cycle, capacity = 12, 7
	rapid.Check(t, func(t *rapid.T) {
		every := rapid.SampledFrom([]int{0, 1, 3, 6, 12}).Draw(t, "every")
		from := rapid.IntRange(0, max(every, 1)-1).Draw(t, "from")
		s, err := New("test", capacity, cycle, every, from)
		if err != nil {
			t.Fatal(err)
		}
		var agent []int // (rows)
		var made []int
		since, started := map[int]int{}, map[int]bool{} // ticks of their last window, or else of Add
		frozen, tick := make([]bool, capacity), 0
		s.Do(Work{
			Begin: func(int) error { return nil },
			Request: func() {
				made = made[:0]
				if len(s.Due) > s.Most() {
					t.Fatalf("tick %d: %d are due, at most %d", tick, len(s.Due), s.Most())
				}
				for _, row := range s.Due {
					made = append(made, agent[row])
				}
			},
			Compute: func() error { return nil },
			Commit: func(error) error {
				for i, row := range s.Due {
					if row == None {
						continue
					}
					if agent[row] != made[i] {
						t.Fatalf("tick %d: agent %d starts the window of %d", tick, made[i], agent[row])
					}
					since[agent[row]], started[agent[row]] = tick, true
				}
				for _, row := range s.Missed {
					since[agent[row]], started[agent[row]] = tick, true
				}
				return nil
			},
		})
		defer s.Close()
		for ; tick < 60; tick++ {
			for range rapid.IntRange(0, 2).Draw(t, "changes") {
				if n := len(agent); rapid.Bool().Draw(t, "add") && n < capacity {
					s.Add()
					agent = append(agent, 100*tick+n)
					since[agent[n]] = tick
				} else if n > 0 {
					row := rapid.IntRange(0, n-1).Draw(t, "row")
					s.Remove(row)
					agent[row] = agent[n-1]
					agent = agent[:n-1]
				}
			}
			if err := s.Step(frozen[:len(agent)]); err != nil {
				t.Fatal(err)
			}
			for row, w := range agent {
				if ago := tick - since[w]; ago >= cycle+max(every, 1) {
					t.Fatalf("tick %d: agent %d started its window %d ticks ago", tick, w, ago)
				} else if at := s.At(row); at < 1 || at > cycle || started[w] && at != ago+1 {
					t.Fatalf("tick %d: agent %d has played for %d ticks, its window started %d ticks ago", tick, w, at, ago)
				}
			}
		}
	})
}

func TestSchedulerRefuses(t *testing.T) {
	for _, o := range [][2]int{{5, 0}, {-1, 0}, {3, 3}, {1, 1}, {3, -1}} {
		if _, err := New("test", 1, 12, o[0], o[1]); err == nil || !strings.Contains(err.Error(), "want a divisor of 12") {
			t.Errorf("every %d from %d: %v", o[0], o[1], err)
		}
	}
}

// Step returns the error of a failed Compute once, and one after Close.
func TestSchedulerErrors(t *testing.T) {
	s, err := New("test", 1, 4, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	lost := errors.New("lost")
	var took []error
	s.Do(Work{
		Begin:   func(int) error { return nil },
		Request: func() {},
		Compute: func() error { return lost },
		Commit:  func(err error) error { took = append(took, err); return nil },
	})
	s.Add()
	times := 0
	for range 9 {
		if err := s.Step([]bool{false}); errors.Is(err, lost) {
			times++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if times != 2 || len(took) != 9 || took[1] != lost && took[2] != lost {
		t.Errorf("%d errors of two failures; committed %v", times, took)
	}
	if n := testing.AllocsPerRun(20, func() { s.Step([]bool{true}) }); n != 0 {
		t.Errorf("a tick allocates %g times", n)
	}
	s.Step([]bool{false}) // leaves a window being computed
	s.Close()
	s.Close()
	if err := s.Step([]bool{false}); err == nil {
		t.Error("a closed scheduler steps")
	}
}
