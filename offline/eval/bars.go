// Package eval is shared by the evaluations of all networks: figures with the bars that they have to
// reach, and the tables of reports.
package eval

import (
	"fmt"
	"strings"
)

// Bar is a figure and the bar that it has to reach.
type Bar struct {
	Measure string   `json:"measure"`
	Of      string   `json:"of"`    // the measured clip, gait or path
	Value   *float64 `json:"value"` // nil is never
	Bar     float64  `json:"bar"`
	Least   bool     `json:"least"` // the bar is the least value that passes, else the largest
	Pass    bool     `json:"pass"`
}

// Bars collects bars.
type Bars []Bar

// Most adds a figure that passes up to bar.
func (b *Bars) Most(measure, of string, v *float64, bar float64) {
	*b = append(*b, Bar{measure, of, v, bar, false, v != nil && *v <= bar})
}

// Least adds a figure that passes from bar.
func (b *Bars) Least(measure, of string, v *float64, bar float64) {
	*b = append(*b, Bar{measure, of, v, bar, true, v != nil && *v >= bar})
}

// Over returns v as a share of truth, nil if there is none.
func Over(v, truth float64) *float64 {
	if truth == 0 {
		return nil
	}
	v /= truth
	return &v
}

// Rows returns a row for each measure, with all its values. * marks a value that misses its bar.
func (b Bars) Rows() []string {
	var rows []string
	for i := 0; i < len(b); {
		first, same := i, true
		for ; i < len(b) && b[i].Measure == b[first].Measure; i++ {
			same = same && b[i].Bar == b[first].Bar
		}
		sign, bar := "≤", ""
		if b[first].Least {
			sign = "≥"
		}
		if same {
			bar = fmt.Sprintf("%s %.2f", sign, b[first].Bar)
		}
		var of []string
		for _, v := range b[first:i] {
			text := v.Of + " " + OrNever("%.2f", v.Value)
			if !same {
				text += fmt.Sprintf(" %s %.2f", sign, v.Bar)
			}
			if !v.Pass {
				text = "*" + text
			}
			of = append(of, text)
		}
		rows = append(rows, Cells(b[first].Measure, bar, strings.Join(of, "   ")))
	}
	return rows
}

// Sorted returns the bars grouped by measure.
func (b Bars) Sorted() (out Bars) {
	done := map[string]bool{}
	for _, first := range b {
		for _, v := range b {
			if v.Measure == first.Measure && !done[v.Measure] {
				out = append(out, v)
			}
		}
		done[first.Measure] = true
	}
	return out
}

// Missed counts the missed bars.
func (b Bars) Missed() (n int) {
	for _, v := range b {
		if !v.Pass {
			n++
		}
	}
	return n
}
