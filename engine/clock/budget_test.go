package clock

import (
	"testing"
	"time"

	"mannequin/internal/testing/must"
)

// If saving shortens ticks, nearly all stay below the limit, without saving more than necessary.
func TestBudget(t *testing.T) {
	const limit = 10 * time.Millisecond
	for _, full := range []time.Duration{2, 6, 12, 40, 200} { // ms if nothing is saved
		b := must.Get(NewBudget(limit))(t)
		var saving float32
		over, last := 0, time.Duration(0)
		for tick := range 4000 {
			// Work grows with the area of a circle whose radius is saved; each fourth tick has a little more.
			last = time.Duration(float32(full*time.Millisecond) * (1 - saving) * (1 - saving))
			if tick%4 == 0 {
				last += last / 10
			}
			if saving = b.Spent(last); saving < 0 || saving > 1 {
				t.Fatalf("the saving is %g", saving)
			}
			if tick > 200 && last > limit {
				over++
			}
		}
		if over > 0 {
			t.Errorf("with %d ms if nothing is saved %d ticks are over %v", full, over, limit)
		}
		if wants := full > 6; wants && last < limit/2 || !wants && saving > 0.1 {
			t.Errorf("with %d ms if nothing is saved %g is saved, ticks take %v", full, saving, last)
		}
	}
}

// A single delayed tick changes nothing, and the saving after many of them goes back.
func TestBudgetForgives(t *testing.T) {
	b := must.Get(NewBudget(10 * time.Millisecond))(t)
	b.Spent(3 * time.Second)
	for range budgetTicks {
		if saving := b.Spent(time.Millisecond); saving != 0 {
			t.Fatalf("a tick that was held up has %g saved", saving)
		}
	}
	var saving float32
	for range 40 {
		saving = b.Spent(time.Second)
	}
	if saving != budgetMost {
		t.Errorf("where all ticks are far too long %g is saved", saving)
	}
	for range 600 {
		saving = b.Spent(time.Millisecond)
	}
	if saving != 0 {
		t.Errorf("after ten seconds of time enough %g is saved", saving)
	}
	if _, err := NewBudget(0); err == nil {
		t.Error("a budget of nothing is taken")
	}
}
