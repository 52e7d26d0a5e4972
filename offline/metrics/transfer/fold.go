package transfer

import (
	"cmp"
	"fmt"
	"slices"

	"mannequin/animsys/mar"
	"mannequin/offline/registration"
)

// Set is a set of takes to evaluate: of one action, or of several that are learnt from together.
type Set struct {
	Name  string
	From  string // the input style
	Takes []*registration.Take
	Lines map[string]registration.Timeline
}

// Fold is one split of a set.
type Fold struct {
	Cases []Case
	Train []*registration.Take // none of them in a case
}

// Case is a held-out input and its truth.
type Case struct {
	In, Out *registration.Take
}

// Folds returns at most most folds, spread over the takes of the input style.
//
// A fold holds out one take of every action and content, and its counterpart in every other style.
// The k-th take of a content goes with the k-th of the other style, as in a [mar.Database]; fewer
// takes are reused from the start. If nothing of a content in a style would be left to learn from,
// the style is not translated into, and its take is learnt from.
func (s *Set) Folds(most int) ([]Fold, error) {
	type content struct{ action, content string }
	type key struct {
		content
		style string
	}
	by := map[key][]*registration.Take{}
	var contents []content
	var styles []string
	for _, t := range s.Takes {
		c := content{t.Action, t.Content}
		k := key{c, t.Style}
		if by[k] = append(by[k], t); !slices.Contains(contents, c) {
			contents = append(contents, c)
		}
		if !slices.Contains(styles, t.Style) {
			styles = append(styles, t.Style)
		}
	}
	for _, takes := range by {
		slices.SortStableFunc(takes, func(a, b *registration.Take) int { return cmp.Compare(a.Name, b.Name) })
	}
	slices.SortFunc(contents, func(a, b content) int {
		return cmp.Or(cmp.Compare(a.action, b.action), cmp.Compare(a.content, b.content))
	})
	slices.Sort(styles)
	longest := 0
	for _, c := range contents {
		longest = max(longest, len(by[key{c, s.From}]))
	}
	n := min(most, longest)
	var folds []Fold
	for k := range n {
		var f Fold
		out := map[*registration.Take]bool{}
		for _, c := range contents {
			in := by[key{c, s.From}]
			if len(in) < 2 {
				continue
			}
			i := min((2*k+1)*len(in)/(2*n), len(in)-1)
			if n >= len(in) {
				i = k % len(in)
			}
			for _, st := range styles {
				to := by[key{c, st}]
				if st == s.From || len(to) < 2 {
					continue
				}
				f.Cases = append(f.Cases, Case{in[i], to[i%len(to)]})
				out[in[i]], out[to[i%len(to)]] = true, true
			}
		}
		for _, t := range s.Takes {
			if !out[t] {
				f.Train = append(f.Train, t)
			}
		}
		if len(f.Cases) > 0 {
			folds = append(folds, f)
		}
	}
	if len(folds) == 0 {
		return nil, fmt.Errorf("transfer: %s: no action has two takes in style %q and two in another: "+
			"one is held out, another learnt from", s.Name, s.From)
	}
	return folds, nil
}

// Halve returns takes, with halves of those whose action and content has only one take in some
// style. Each half can be held out while the other is learnt from. This is a hard test, because
// poses may be missing in the other half. Halves keep the takes' Times.
func Halve(takes []*registration.Take) []*registration.Take {
	type key struct{ action, content, style string }
	count, single := map[key]int{}, map[key]bool{}
	for _, t := range takes {
		count[key{t.Action, t.Content, t.Style}]++
	}
	for k, n := range count {
		if n == 1 {
			single[key{k.action, k.content, ""}] = true
		}
	}
	var out []*registration.Take
	for _, t := range takes {
		if !single[key{t.Action, t.Content, ""}] || t.Clip.Frames < 4*(mar.Window+1) {
			out = append(out, t)
			continue
		}
		half := t.Clip.Frames / 2
		out = append(out, part(t, "a", 0, half), part(t, "b", half, t.Clip.Frames))
	}
	return out
}

func part(t *registration.Take, name string, from, to int) *registration.Take {
	p := *t
	p.Name += name
	p.Clip = t.Clip.Section(from, to)
	p.Times, p.Stands = t.Times[from:to], t.Stands[from:to]
	return &p
}
