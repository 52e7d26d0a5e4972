package registration

import (
	"fmt"

	"mannequin/animsys/mar"
)

// Database makes a database for style translation from the results of Register.
func Database(takes []*Take, lines map[string]Timeline) (*mar.Database, error) {
	var own []*mar.Take
	periods := map[string]float64{}
	for _, t := range takes {
		l, ok := lines[t.Action]
		if !ok {
			return nil, fmt.Errorf("registration: take %q is of action %q, which has no timeline: register it first", t.Name, t.Action)
		}
		own, periods[t.Action] = append(own, &t.Take), l.Period
	}
	return mar.NewDatabase(own, periods)
}
