package clock

import (
	"fmt"
	"slices"
	"time"
)

// Budget keeps ticks within a time limit. It sets the share of the work to save by the durations of
// recent ticks. Time is injected, as for Fixed.
//
// The zero value is not usable; see NewBudget.
type Budget struct {
	limit  time.Duration
	recent [budgetTicks]time.Duration
	next   int
	saving float32
}

const (
	budgetTicks = 16    // recent ticks considered: work is spread over up to four ticks
	budgetSpare = 2     // longest ticks ignored: something else may have delayed them
	budgetFull  = 0.70  // share of the limit above which more is saved, so that few ticks exceed the limit
	budgetFree  = 0.55  // share below which less is saved
	budgetSave  = 0.06  // increase per tick, per excess of one limit
	budgetEase  = 0.002 // decrease per tick
	budgetMost  = 0.95
)

// NewBudget returns a budget with the time limit of a tick.
func NewBudget(limit time.Duration) (*Budget, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("clock: a budget of %v per tick: want more than 0", limit)
	}
	return &Budget{limit: limit}, nil
}

// Spent records a tick's duration and returns the share of work that the next should save, 0 to 1.
func (b *Budget) Spent(d time.Duration) (saving float32) {
	b.recent[b.next] = max(d, 0)
	b.next = (b.next + 1) % budgetTicks
	sorted := b.recent
	slices.Sort(sorted[:])
	switch share := float32(sorted[budgetTicks-1-budgetSpare]) / float32(b.limit); {
	case share > budgetFull:
		b.saving = min(b.saving+budgetSave*min(share-budgetFull, 1), budgetMost)
	case share < budgetFree:
		b.saving = max(b.saving-budgetEase, 0)
	}
	return b.saving
}
