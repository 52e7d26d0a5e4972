package style

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"mannequin/animsys/manifold"
	"mannequin/internal/command"
	evalmanifold "mannequin/offline/eval/manifold"
	"mannequin/offline/retarget"
)

// styleClip is a recording of a style.
type styleClip struct {
	name, file string
	amount     float64
	from, to   float64 // s; to is 0 for the end
	rows       []float32
}

// parseStyleClip reads NAME[:AMOUNT]=FILE[@FROM:TO].
func parseStyleClip(text string) (c styleClip, err error) {
	name, file, ok := strings.Cut(text, "=")
	if !ok || name == "" || file == "" {
		return c, command.Usagef("%.60q: want NAME=FILE", text)
	}
	c.file, c.amount = file, 1
	var amount string
	if c.name, amount, ok = strings.Cut(name, ":"); ok {
		if c.amount, err = strconv.ParseFloat(amount, 64); err != nil || !(c.amount > 0 && c.amount <= 100) {
			return c, command.Usagef("%.60q: the amount is %.20q, want more than 0, up to 100", text, amount)
		}
	}
	at := strings.LastIndex(file, "@")
	from, to, _ := strings.Cut(file[at+1:], ":")
	a, e1 := strconv.ParseFloat(from, 64)
	b, e2 := strconv.ParseFloat(to, 64)
	if at < 0 || e1 != nil || e2 != nil { // an @ of the path
		return c, nil
	}
	if !(a >= 0 && b > a && b <= 1e6) {
		return c, command.Usagef("%.60q: %.20q is no part of a recording, want FROM:TO in seconds", text, file[at+1:])
	}
	c.file, c.from, c.to = file[:at], a, b
	return c, nil
}

// open reads the recording, or the part of it.
func (c *styleClip) open(m *manifold.Model, read retarget.Reading) error {
	rows, _, err := evalmanifold.OpenPerson(m, c.file, read)
	if err != nil {
		return err
	}
	cols := m.Layout.Columns()
	if c.to > 0 {
		lo, hi := int(math.Round(c.from*manifold.Rate)), int(math.Round(c.to*manifold.Rate))
		hi -= (hi - lo) % 2
		if hi > len(rows)/cols {
			return fmt.Errorf("%s: it ends at %.2f s, before %g", c.file, float64(len(rows)/cols)/manifold.Rate, c.to)
		}
		rows = rows[lo*cols : hi*cols]
	}
	c.rows = rows
	return nil
}
