package turns

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// However people come and go, never more are due than there is room for, what is made is
// played by those for whom it was begun, and everyone's turn comes once in a cycle.
func TestTurns(t *testing.T) {
	const cycle, people = 12, 7
	rapid.Check(t, func(t *rapid.T) {
		every := rapid.SampledFrom([]int{0, 1, 3, 6, 12}).Draw(t, "every")
		from := rapid.IntRange(0, max(every, 1)-1).Draw(t, "from")
		turns, err := New(people, cycle, every, from)
		if err != nil {
			t.Fatal(err)
		}
		var who []int // (rows)
		var made []int
		since, turned := map[int]int{}, map[int]bool{} // their last turn, or else their coming
		still, tick := make([]bool, people), 0
		turns.Do(Work{
			Order: func() error {
				made = made[:0]
				if len(turns.Due) > turns.Most() {
					t.Fatalf("tick %d: %d are due, room for %d", tick, len(turns.Due), turns.Most())
				}
				for _, row := range turns.Due {
					made = append(made, who[row])
				}
				return nil
			},
			Make: func() error { return nil },
			Take: func(error) error {
				for i, row := range turns.Due {
					if row == None {
						continue
					}
					if who[row] != made[i] {
						t.Fatalf("tick %d: what was made for %d is due for %d", tick, made[i], who[row])
					}
					since[who[row]], turned[who[row]] = tick, true
				}
				for _, row := range turns.Late {
					since[who[row]], turned[who[row]] = tick, true
				}
				return nil
			},
		})
		defer turns.Close()
		for ; tick < 60; tick++ {
			for range rapid.IntRange(0, 2).Draw(t, "changes") {
				if n := len(who); rapid.Bool().Draw(t, "come") && n < people {
					turns.Add(n)
					who = append(who, 100*tick+n)
					since[who[n]] = tick
				} else if n > 0 {
					row := rapid.IntRange(0, n-1).Draw(t, "row")
					turns.Remove(row, n-1)
					who[row] = who[n-1]
					who = who[:n-1]
				}
			}
			if err := turns.Continue(still[:len(who)]); err != nil {
				t.Fatal(err)
			}
			for row, w := range who {
				if ago := tick - since[w]; ago >= cycle+max(every, 1) {
					t.Fatalf("tick %d: the turn of %d was %d ticks ago", tick, w, ago)
				} else if at := turns.At(row); at < 1 || at > cycle || turned[w] && at != ago+1 {
					t.Fatalf("tick %d: %d plays for %d ticks, their turn was %d ago", tick, w, at, ago)
				}
			}
		}
	})
}

func TestTurnsRefuse(t *testing.T) {
	for _, o := range [][2]int{{5, 0}, {-1, 0}, {3, 3}, {1, 1}, {3, -1}} {
		if _, err := New(1, 12, o[0], o[1]); err == nil || !strings.Contains(err.Error(), "want a divisor of 12") {
			t.Errorf("every %d from %d: %v", o[0], o[1], err)
		}
	}
}

// What fails is told, and who is closed says so.
func TestTurnsTell(t *testing.T) {
	turns, err := New(1, 4, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	turns.Close()
	lost := errors.New("lost")
	var took []error
	turns.Do(Work{
		Order: func() error { return nil },
		Make:  func() error { return lost },
		Take:  func(err error) error { took = append(took, err); return nil },
	})
	turns.Add(0)
	told := 0
	for range 9 {
		if err := turns.Continue([]bool{false}); errors.Is(err, lost) {
			told++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if told != 2 || len(took) != 9 || took[1] != lost && took[2] != lost {
		t.Errorf("told %d times of what failed twice; taken %v", told, took)
	}
	if n := testing.AllocsPerRun(20, func() { turns.Continue([]bool{true}) }); n != 0 {
		t.Errorf("a tick allocates %g times", n)
	}
	turns.Continue([]bool{false}) // and leaves something under way
	turns.Close()
	turns.Close()
	if err := turns.Continue([]bool{false}); err == nil {
		t.Error("closed, people go on")
	}
}
