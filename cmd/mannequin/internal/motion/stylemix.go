package motion

import (
	"slices"
	"strconv"
	"strings"

	"mannequin/animsys/mar"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/closest"
	"mannequin/internal/command"
)

// ownStyle is the name in --style of the content's own style.
const ownStyle = "own"

// styleMix is the weights of styles over time: the value of --style.
type styleMix struct {
	at      []float64   // s, increasing
	weights [][]float32 // (times, styles)
}

// parseMix reads proud, proud:0.7,old:0.3 or 0:proud,3:old,5:proud:0.5+angry:0.5.
func parseMix(text string, db *mar.Database, amount float64) (*styleMix, error) {
	items := strings.Split(text, ",")
	first, _, timed := strings.Cut(items[0], ":")
	if _, err := strconv.ParseFloat(strings.TrimSpace(first), 64); err != nil || slices.Contains(db.Styles, strings.TrimSpace(first)) {
		timed = false
	}
	m := &styleMix{}
	add := func(at float64, blend []string) error {
		w, err := parseBlend(blend, db, amount)
		if err != nil {
			return err
		}
		m.at, m.weights = append(m.at, at), append(m.weights, w)
		return nil
	}
	if !timed {
		return m, add(0, strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '+' }))
	}
	for i, item := range items {
		time, blend, ok := strings.Cut(item, ":")
		at, err := strconv.ParseFloat(strings.TrimSpace(time), 64)
		switch {
		case !ok || err != nil || !(at >= 0 && at <= 1e6):
			return nil, command.Usagef("--style: %.60q: want TIME:STYLE, the time in seconds", item)
		case i > 0 && at <= m.at[i-1]:
			return nil, command.Usagef("--style: %g s comes after %g s: want times that increase", at, m.at[i-1])
		}
		if err := add(at, strings.Split(blend, "+")); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// parseBlend reads styles, each with a weight or without.
func parseBlend(items []string, db *mar.Database, amount float64) ([]float32, error) {
	if len(items) == 0 {
		return nil, command.Usagef("--style names no style: want some of %s", strings.Join(db.Styles, ", "))
	}
	w := make([]float32, len(db.Styles))
	sum := 0.0
	for _, item := range items {
		name, weight, ok := strings.Cut(strings.TrimSpace(item), ":")
		v := 1.0
		if ok {
			var err error
			if v, err = strconv.ParseFloat(weight, 64); err != nil || !(v >= 0 && v <= 1) {
				return nil, command.Usagef("--style: the weight of %.60q is %.60q, want a number from 0 to 1", name, weight)
			}
		}
		i := slices.Index(db.Styles, name)
		if i < 0 {
			if name == ownStyle {
				continue // the rest to 1
			}
			return nil, command.Usagef("--style: no style %.60q in the database: it has %s, and %s for the content's own%s", name, strings.Join(db.Styles, ", "), ownStyle, closest.Hint(name, db.Styles))
		}
		w[i] += float32(v * amount)
		sum += v * amount
	}
	if sum > 1+1e-6 {
		return nil, command.Usagef("--style: weights add up to %.3g, want at most 1 in all", sum)
	}
	return w, nil
}

// fill writes the weights at a time in seconds. They change linearly between two times.
func (m *styleMix) fill(dst []float32, at float64) {
	i, _ := slices.BinarySearch(m.at, at)
	switch {
	case i == 0:
		copy(dst, m.weights[0])
	case i == len(m.at):
		copy(dst, m.weights[i-1])
	default:
		a := float32((at - m.at[i-1]) / (m.at[i] - m.at[i-1]))
		for s := range dst {
			dst[s] = m.weights[i-1][s] + a*(m.weights[i][s]-m.weights[i-1][s])
		}
	}
}

// wants returns the indices of the styles that have a weight at any time.
func (m *styleMix) wants() (list []int) {
	for s := range m.weights[0] {
		if slices.ContainsFunc(m.weights, func(w []float32) bool { return w[s] > 0 }) {
			list = append(list, s)
		}
	}
	return list
}

// parseLabel reads the label of the content: names of actions and styles, or none.
func parseLabel(db *mar.Database, actions, styles []string) (l mar.Label, err error) {
	for _, name := range actions {
		i := slices.Index(db.Actions, name)
		if i < 0 {
			return l, command.Usagef("--action: no action %.60q in the database: it has %s%s", name, strings.Join(db.Actions, ", "), closest.Hint(name, db.Actions))
		}
		l.Actions[i/64] |= 1 << (i % 64)
	}
	for _, name := range styles {
		i := slices.Index(db.Styles, name)
		if i < 0 {
			return l, command.Usagef("--from-style: no style %.60q in the database: it has %s%s", name, strings.Join(db.Styles, ", "), closest.Hint(name, db.Styles))
		}
		l.Styles |= 1 << i
	}
	return l, nil
}

// checkLabel returns an error if the database has no takes for the labels and styles.
func checkLabel(classes []input.StyleAction, actions, from []string, to []string) error {
	known, reached := len(from) == 0, len(to) == 0
	var have []string
	for _, a := range classes {
		if len(actions) > 0 && !slices.Contains(actions, a.Action) {
			continue
		}
		for _, c := range a.Styles {
			known = known || slices.Contains(from, c.Style)
			reached = reached || slices.Contains(to, c.Style)
			if !slices.Contains(have, c.Style) {
				have = append(have, c.Style)
			}
		}
	}
	what := "no action"
	if len(actions) > 0 {
		what = strings.Join(actions, ", ")
	}
	switch {
	case !known:
		return command.Usagef("--from-style %s: the database has no take of %s in it: there are %s", strings.Join(from, ","), what, strings.Join(have, ", "))
	case !reached:
		return command.Usagef("--style: the database has no take of %s in %s: there are %s", what, strings.Join(to, ", "), strings.Join(have, ", "))
	}
	return nil
}

// styleNames returns the names of styles.
func styleNames(db *mar.Database, list []int) (names []string) {
	for _, s := range list {
		names = append(names, db.Styles[s])
	}
	return names
}
