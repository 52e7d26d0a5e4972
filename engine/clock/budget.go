package clock

import (
	"fmt"
	"slices"
	"time"
)

// Budget keeps the time that ticks take below a limit: it says how much trouble is to be
// saved, by how long the last ones took. Time is injected, as for Fixed.
//
// The zero value is unusable; see NewBudget.
type Budget struct {
	limit  time.Duration
	recent [budgetTicks]time.Duration
	next   int
	saving float32
}

const (
	budgetTicks = 16    // that are looked at: work comes in turns, of four at the most,
	budgetSpare = 2     // and so many may be longer than what counts: those were held up by something else
	budgetFull  = 0.70  // share of the limit above which more is saved, so that hardly a tick goes beyond it,
	budgetFree  = 0.55  // and below which less is
	budgetSave  = 0.06  // more per tick, for each time that the limit is exceeded
	budgetEase  = 0.002 // less per tick
	budgetMost  = 0.95
)

// NewBudget returns a budget of so much time per tick.
func NewBudget(limit time.Duration) (*Budget, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("clock: a budget of %v per tick: want more than 0", limit)
	}
	return &Budget{limit: limit}, nil
}

// Spent notes how long a tick took and returns how much trouble the next one is to save,
// 0 to 1.
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
