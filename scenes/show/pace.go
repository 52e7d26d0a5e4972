package show

import (
	"fmt"
	"slices"
	"time"
)

// pace is the playback speed of a scene. The zero value is real time.
type pace struct {
	paused bool
	slow   int // time passes at 1/2^slow of its speed
	steps  int // single steps requested while paused
}

// slowest is the largest value of pace.slow: an eighth of real time.
const slowest = 3

// scale returns the time that passes in the scene in dt.
func (p *pace) scale(dt time.Duration) time.Duration {
	if p.paused {
		return 0
	}
	return dt >> p.slow
}

// takeSteps returns the number of single steps requested since the last call.
func (p *pace) takeSteps() int {
	n := p.steps
	p.steps = 0
	return n
}

// String describes the speed; it is empty at real time.
func (p *pace) String() string {
	switch {
	case p.paused:
		return "paused"
	case p.slow > 0:
		return fmt.Sprintf("slow motion: 1/%d", 1<<p.slow)
	}
	return ""
}

// notices are lines that are shown for a few seconds.
type notices []notice

type notice struct {
	line string
	left time.Duration // remaining time on screen
}

// pass adds lines and drops the lines whose time is over.
func (n *notices) pass(dt time.Duration, lines []string) {
	for i := range *n {
		(*n)[i].left -= dt
	}
	*n = slices.DeleteFunc(*n, func(l notice) bool { return l.left <= 0 })
	const shown = 5 * time.Second
	for _, l := range lines {
		*n = append(*n, notice{l, shown})
	}
}
