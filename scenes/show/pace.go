package show

import (
	"fmt"
	"time"
)

// pace is how fast time goes in a scene. The zero value is as fast as outside.
type pace struct {
	paused bool
	slow   int // time goes 1/2^slow as fast
	steps  int // that were asked for while paused
}

// slowest is the most that pace.slow can be: an eighth.
const slowest = 3

// pause stops time, or lets it go on.
func (p *pace) pause() { p.paused = !p.paused }

// step lets a paused scene take one step.
func (p *pace) step() {
	if p.paused {
		p.steps++
	}
}

// slower halves the speed; after the slowest comes the full one again.
func (p *pace) slower() { p.slow = (p.slow + 1) % (slowest + 1) }

// scale returns how much time passes in the scene in dt.
func (p *pace) scale(dt time.Duration) time.Duration {
	if p.paused {
		return 0
	}
	return dt >> p.slow
}

// takeSteps returns how many steps were asked for since the last call.
func (p *pace) takeSteps() int {
	n := p.steps
	p.steps = 0
	return n
}

// String tells how fast time goes, where that is not as usual.
func (p *pace) String() string {
	switch {
	case p.paused:
		return "paused"
	case p.slow > 0:
		return fmt.Sprintf("slow motion: 1/%d", 1<<p.slow)
	}
	return ""
}

// news are lines that are shown for a while.
type news []newsLine

type newsLine struct {
	line string
	left time.Duration // that it is shown
}

// pass takes lines in, and drops those that were shown long enough.
func (n *news) pass(dt time.Duration, lines []string) {
	kept := (*n)[:0]
	for _, l := range *n {
		if l.left -= dt; l.left > 0 {
			kept = append(kept, l)
		}
	}
	const shown = 5 * time.Second
	for _, l := range lines {
		kept = append(kept, newsLine{l, shown})
	}
	*n = kept
}
