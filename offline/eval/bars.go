// Package eval is shared by the evaluations of all networks: figures with the bars that they have to
// reach, and the tables of reports.
package eval

import (
	"fmt"
	"math"
	"slices"
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

// Most adds a figure that has to be at most bar. One that is not finite is never reached.
func (b *Bars) Most(measure, of string, v, bar float64) { b.add(measure, of, v, bar, false) }

// Least adds a figure that has to be at least bar.
func (b *Bars) Least(measure, of string, v, bar float64) { b.add(measure, of, v, bar, true) }

func (b *Bars) add(measure, of string, v, bar float64, least bool) {
	row := Bar{Measure: measure, Of: of, Bar: bar, Least: least}
	if finite(v) {
		row.Value = &v
		row.Pass = least && v >= bar || !least && v <= bar
	}
	*b = append(*b, row)
}

// Over returns v as a share of truth, NaN if truth is 0.
func Over(v, truth float64) float64 {
	if truth == 0 {
		return math.NaN()
	}
	return v / truth
}

// OrNaN returns a figure that may be missing.
func OrNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

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
			text := v.Of + " " + OrNever("%.2f", OrNaN(v.Value))
			if !same {
				text += fmt.Sprintf(" %s %.2f", sign, v.Bar)
			}
			if !v.Pass {
				text = "*" + text
			}
			of = append(of, text)
		}
		rows = append(rows, b[first].Measure+"\t"+bar+"\t"+strings.Join(of, "   "))
	}
	return rows
}

// Sorted returns the bars by measure, in the order in which each measure came first.
func (b Bars) Sorted() Bars {
	first := map[string]int{}
	for i, v := range b {
		if _, ok := first[v.Measure]; !ok {
			first[v.Measure] = i
		}
	}
	slices.SortStableFunc(b, func(a, c Bar) int { return first[a.Measure] - first[c.Measure] })
	return b
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
