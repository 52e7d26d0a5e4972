package script

import (
	"cmp"
	"slices"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// together checks entries against each other, and fills in what follows from them.
func (p *parser) together() {
	for i := range p.Shots {
		s, end := &p.Shots[i], p.Length
		if i+1 < len(p.Shots) {
			end = p.Shots[i+1].From
		}
		s.Eye.spread(s.From, end)
		if len(s.Target.Points) == len(s.Eye.Points) {
			s.Target.Times = s.Eye.Times
		}
		s.Target.spread(s.From, end)
	}
	slices.SortStableFunc(p.Captions, func(a, b Caption) int { return cmp.Compare(a.From, b.From) })
	for i := range p.Captions {
		if i > 0 && p.Captions[i].From < p.Captions[i-1].To {
			p.fail(p.Captions[i].Line, "begins at %g s, while the caption on line %d is there until %g s", p.Captions[i].From, p.Captions[i-1].Line, p.Captions[i-1].To)
		}
	}
	for i := range p.Actions {
		a := &p.Actions[i]
		for k := range p.Actions[:i] {
			if b := &p.Actions[k]; a.Actor == b.Actor && a.From < b.To && b.From < a.To {
				p.fail(a.Line, "%q acts already from %g to %g s, on line %d", p.Actors[a.Actor].Name, b.From, b.To, b.Line)
			}
		}
		for k := range p.Moves {
			m := &p.Moves[k]
			if a.Actor == m.Actor && a.Do != control.Jump && a.From < m.To() && m.From() < a.To && (a.Do != control.Idle || p.Actors[a.Actor].Kind == Dog) {
				p.fail(a.Line, "%q moves from %g to %.2f s, on line %d: it can only jump then", p.Actors[a.Actor].Name, m.From(), m.To(), m.Line)
			}
		}
	}
	for i := range p.Reaches {
		for k := range p.Reaches[:i] {
			if a, b := &p.Reaches[i], &p.Reaches[k]; a.Actor == b.Actor && a.Right == b.Right {
				p.oneAtATime(a.Line, b.Line, &a.Span, &b.Span, "that hand is in use")
			}
		}
	}
	for i := range p.Looks {
		for k := range p.Looks[:i] {
			if a, b := &p.Looks[i], &p.Looks[k]; a.Actor == b.Actor {
				p.oneAtATime(a.Line, b.Line, &a.Span, &b.Span, "the actor looks elsewhere")
			}
		}
	}
}

// oneAtATime checks that two spans, on lines la and lb, do not overlap. If one begins when the
// other ends it takes over.
func (p *parser) oneAtATime(la, lb int, a, b *Span, what string) {
	if a.From < b.To && b.From < a.To {
		p.fail(la, "%s from %g to %g s, on line %d", what, b.From, b.To, lb)
		return
	}
	a.follows(b)
	b.follows(a)
}

// spread gives a curve without times even ones, from from to to.
func (c *Curve) spread(from, to float32) {
	if len(c.Times) > 0 {
		return
	}
	n := len(c.Points)
	for i := range n {
		c.Times = append(c.Times, m3.Lerp(from, to, float32(i)/float32(max(n-1, 1))))
	}
}
